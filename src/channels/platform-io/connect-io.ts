import * as z from "zod";
import { settingName } from "../../domain/accounts/platform-settings.ts";
import { DAY, SECOND } from "../../domain/time.ts";
import type { Logger } from "../../ports/logger.ts";
import type { ConnectIo } from "../../ports/connect.ts";
import type { JsonObject, PlatformAccount, PlatformResponse } from "../../ports/platform-io.ts";
import type { AccountRow } from "../../store/queries/accounts.ts";
import type { AppContext } from "../../context.ts";
import { conversePlatform, readAnswer, requestPlatform } from "./platform-request.ts";
import { requirePlatform } from "./set-up.ts";
import { effectiveSettings } from "./effective-settings.ts";
import { completeCapabilities, type PlatformCapabilities } from "../../domain/accounts/capabilities.ts";
import type { AnyPlatform, PlatformPost } from "../../ports/platform.ts";
import { withPlainMentions } from "../../domain/posts/mentions.ts";

/** What a platform gets while no account is connected yet. */
export async function createConnectIo(
  ctx: AppContext,
  {
    provider,
    ownerId,
    knownSecrets = new Set(),
    fields = {},
  }: {
    readonly provider: string;
    readonly ownerId: string;
    /** Values that must not reach the log; more may be added later. */
    readonly knownSecrets?: ReadonlySet<string>;
    /** Stand on every line the platform logs. */
    readonly fields?: object;
  },
  signal: AbortSignal,
): Promise<ConnectIo> {
  const platform = requirePlatform(ctx, provider);
  const asking = { ctx, platform, title: platform.title, ownerId, signal, knownSecrets };
  const set = await effectiveSettings(ctx);
  let aheadMs = 0;
  const request: ConnectIo["request"] = async (asked) => {
    const response = await requestPlatform(asking, asked);
    aheadMs = aheadOf(response, ctx.clock.now()) ?? aheadMs;
    return response;
  };
  return {
    signal,
    publicUrl: await ctx.publicUrl(),
    ...(platform.isLocal === true ? { feed: ctx.feed } : {}),
    log: withFields(ctx.log, { provider, ...fields }),
    now: () => ctx.clock.now(),
    aheadMs: () => aheadMs,
    sleep: (ms) => ctx.clock.sleep(ms, signal),
    setting: (name, of = platform.name) => set[settingName(of, name)] ?? null,
    request,
    socket: (url, work) => conversePlatform(asking, url, work),
    ask: async (asked, schema) =>
      readAnswer(asking, { request: asked, response: await request(asked), schema }),
  };
}

/** Null where the answer does not tell a time of this day. One out of a cache is as old as it says. */
function aheadOf({ headers }: PlatformResponse, now: number): number | null {
  const aheadMs = now - Date.parse(headers["date"] ?? "") - Number(headers["age"] ?? 0) * SECOND;
  return Math.abs(aheadMs) <= DAY ? aheadMs : null;
}

function withFields(log: Logger, fields: object): Logger {
  const at =
    (level: keyof Logger) =>
    (more: object, message: string): void =>
      log[level]({ ...fields, ...more }, message);
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** The account as its platform's file sees it. */
export function toPlatformAccount(row: SeenAccount): PlatformAccount {
  return {
    id: row.id,
    name: row.name,
    handle: row.handle,
    platformAccountId: row.platform_account_id,
    settings: readSettings(row),
    limits: Fields.parse(JSON.parse(row.limits)),
    scopes: Scopes.parse(JSON.parse(row.scopes)),
  };
}

/** What `toPlatformAccount` reads of a row. */
type SeenAccount = Pick<
  AccountRow,
  "id" | "name" | "handle" | "platform_account_id" | "settings" | "limits" | "scopes"
>;

const Fields = z.record(z.string(), z.json());
const Scopes = z.array(z.string());

export function readSettings(row: Pick<AccountRow, "settings">): JsonObject {
  return Fields.parse(JSON.parse(row.settings));
}

/**
 * What the account can do, and with a post of this kind (null: in general). Where the account is known, ask
 * here and not its platform's data: servers, plans and permissions differ. Of an account whose platform is
 * not installed: nothing.
 */
export function capabilitiesFor(
  { platforms }: Pick<AppContext, "platforms">,
  row: SeenAccount & Pick<AccountRow, "provider">,
  post: PlatformPost | null,
): PlatformCapabilities {
  const platform = platforms.get(row.provider);
  if (platform === undefined) return NO_CAPABILITIES;
  return platform.capabilitiesOf?.(toPlatformAccount(row), post) ?? platform.capabilities;
}

const NO_CAPABILITIES = completeCapabilities({
  media: { required: false, maxItems: 0, accepts: [] },
  caption: { maxLength: 0, unit: "characters" },
  reconciles: "blind",
});

/** The post as its platform's file sees it: one without mentions gets names instead. */
export function asWritten<P extends PlatformPost>({ choices = {} }: AnyPlatform, post: P): P {
  return Object.hasOwn(choices, "mention") ? post : withPlainMentions(post);
}
