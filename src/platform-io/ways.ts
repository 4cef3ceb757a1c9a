import type { ConnectWay, Renewal, Tokens } from "../ports/connect.ts";
import { PlatformFault } from "../ports/platform-io.ts";
import type { AnyPlatform } from "../ports/platform.ts";
import type { AccountRow } from "../store/queries/accounts.ts";
import type { AppContext } from "../context.ts";
import { AppError } from "../domain/errors.ts";

/** Not a caller's mistake: whoever asks has looked the platform up, or read its name from what is stored. */
export function requirePlatform(ctx: AppContext, name: string): AnyPlatform {
  const platform = ctx.platforms.get(name);
  if (platform === undefined)
    throw new PlatformFault("rejected", `This version of Posthorn does not know the platform "${name}".`);
  return platform;
}

/** The platform of what is stored. Throws `unavailable` where this version does not have it. */
export function findPlatform(ctx: AppContext, provider: string): AnyPlatform {
  const platform = ctx.platforms.get(provider);
  if (platform === undefined) {
    throw new AppError(
      "unavailable",
      `This Posthorn does not know the platform "${provider}" any more. Install the version that does.`,
    );
  }
  return platform;
}

/** The way that an account was connected by; its platform's first for one that does not say, or is gone. */
export function wayOf(platform: AnyPlatform, account: Pick<AccountRow, "way">): ConnectWay {
  return platform.connect.find((way) => way.name === account.way) ?? platform.connect[0];
}

/** How tokens of this way are renewed; null where only a person can. */
export function renewalOf(way: ConnectWay): Renewal | null {
  return "renewal" in way ? way.renewal : null;
}

type Ends = Pick<Tokens, "secrets" | "expiresAt" | "renewableUntil">;

/** Where a platform renews, it may still have given no refresh token (LinkedIn to ordinary apps). */
function canRenew(renewal: Renewal | null, { secrets }: Ends): renewal is Renewal {
  return renewal !== null && (renewal.renew !== undefined || (secrets["refreshToken"] ?? "") !== "");
}

/** When a person must connect again, in milliseconds since 1970; null: never, or nobody knows. */
export function accessEndsAt(way: ConnectWay, tokens: Ends): number | null {
  return canRenew(renewalOf(way), tokens) ? tokens.renewableUntil : tokens.expiresAt;
}

/** When maintenance renews tokens that were renewed at `now`; null: never. */
export function renewAt(way: ConnectWay, tokens: Ends, now: number): number | null {
  const renewal = renewalOf(way);
  if (!canRenew(renewal, tokens)) return null;
  const { beforeMs, everyMs } = renewal;
  const beforeEnd = tokens.expiresAt === null || beforeMs === 0 ? Infinity : tokens.expiresAt - beforeMs;
  const next = Math.min(beforeEnd, now + (everyMs ?? Infinity));
  return next === Infinity ? null : next;
}
