import { AppError } from "../domain/errors.ts";
import { deadline, MINUTE, SECOND } from "../domain/time.ts";
import type { App, ConnectWay, RenewalIo, Secrets, Tokens } from "../ports/connect.ts";
import { PlatformFault } from "../ports/platform-io.ts";
import type { AnyPlatform } from "../ports/platform.ts";
import type { AccountRow } from "../store/queries/accounts.ts";
import type { GrantRow } from "../store/queries/grants.ts";
import type { AppContext } from "../context.ts";
import { endpointsOf, findUsedApp, forgetApp } from "./apps.ts";
import { fitTokens } from "../platform-io/fit-answers.ts";
import { refreshTokens, SetupFault } from "./oauth-requests.ts";
import { openGrant } from "../platform-io/secrets.ts";
import { createConnectIo, toPlatformAccount } from "../platform-io/connect-io.ts";
import { renewalOf, requirePlatform, wayOf } from "../platform-io/ways.ts";

/** All requests of one refresh. */
const RENEW_WITHIN_MS = 2 * MINUTE;
/** The request whose answer was lost may still be on its way to the platform. */
const TRY_AGAIN_AFTER_MS = 2 * SECOND;

/** The platform may have given new tokens that never arrived. What was to be done with them was not done. */
export class AnswerLost extends PlatformFault {
  constructor(cause: PlatformFault) {
    super("not_sent", cause.message, { cause });
  }
}

/**
 * Asks for new tokens. Throws an `auth` fault where a person must connect again, and otherwise `not_sent` or
 * `rate`: it may work later. `grant`: as it was before the right to ask was taken.
 */
export async function askPlatform(ctx: AppContext, grant: GrantRow, account: AccountRow): Promise<Tokens> {
  const secrets = openGrant(ctx, grant);
  const { io, way, platform } = await prepare(ctx, { grant, account, secrets });
  const ask = { ctx, io, way, platform, secrets };
  const isSingleUse = renewalOf(way)?.isSingleUse === true;
  // A worker that was before us heard no answer.
  let wasLost = grant.renewing_since !== null;
  for (;;) {
    try {
      return await renewOnce(ask);
    } catch (error) {
      if (!(error instanceof PlatformFault)) throw error;
      const isLost = error.kind === "ambiguous" || error.kind === "transient";
      if (isLost && isSingleUse && !wasLost) {
        wasLost = true;
        await io.sleep(TRY_AGAIN_AFTER_MS);
        continue;
      }
      if (isLost) throw new AnswerLost(error);
      throw await explain(ask, error, isSingleUse && wasLost);
    }
  }
}

interface Ask {
  readonly ctx: AppContext;
  readonly io: RenewalIo;
  readonly way: ConnectWay;
  readonly platform: AnyPlatform;
  readonly secrets: Secrets;
}

async function prepare(ctx: AppContext, parts: RenewalParts): Promise<Omit<Ask, "ctx" | "secrets">> {
  try {
    return await createRenewalIo(ctx, parts, RENEW_WITHIN_MS);
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause;
    // The app that we registered is gone, or the settings do not name one any more.
    if (cause.kind === "invalid") throw new PlatformFault("auth", cause.message, { cause });
    throw new SetupFault(cause.message, { cause });
  }
}

async function renewOnce({ ctx, io, way, platform, secrets }: Ask): Promise<Tokens> {
  const renew = renewalOf(way)?.renew;
  if (renew !== undefined) return fitTokens(platform.title, await renew(secrets, io));
  const refreshToken = secrets["refreshToken"] ?? "";
  if (way.kind !== "oauth" || refreshToken === "") {
    throw new PlatformFault(
      "auth",
      `The access to ${platform.title} is over, and it gave nothing to renew it with. Reconnect the channel.`,
    );
  }
  const endpoints = await endpointsOf(ctx, { platform, way, place: io.place }, io);
  const tokens = await refreshTokens({ platform, way, app: io.app, endpoints }, io, refreshToken);
  return fitTokens(platform.title, tokens);
}

/** The fault as those who wait for tokens get it. */
async function explain(
  { ctx, io, way, platform }: Ask,
  fault: PlatformFault,
  mayBeSpent: boolean,
): Promise<PlatformFault> {
  const details = { cause: fault.cause ?? fault };
  if (fault instanceof SetupFault) {
    if (way.kind !== "oauth" || way.register === undefined) return fault;
    await forgetApp(ctx, { platform, way, place: io.place });
    return new PlatformFault("auth", `${fault.message} Reconnect the channel.`, details);
  }
  if (fault.kind === "rate" || fault.kind === "not_sent") return fault;
  if (!mayBeSpent) return new PlatformFault("auth", fault.sentence, { ...details, says: fault.says });
  return new PlatformFault(
    "auth",
    `${platform.title} takes each refresh token once, and its answer to the last one was lost on the way: the access cannot be renewed any more. Reconnect the channel.`,
    details,
  );
}

const NO_APP: App = { clientId: "", clientSecret: "" };

interface RenewalParts {
  readonly grant: GrantRow;
  /** One of its channels, whose own secrets were opened: they vouch for the server that its settings name. */
  readonly account: AccountRow;
  readonly secrets: Secrets;
}

/** What a platform gets to renew tokens or give them back, apart from whoever asked for that. */
async function createRenewalIo(
  ctx: AppContext,
  { grant, account, secrets }: RenewalParts,
  withinMs: number,
): Promise<{ readonly io: RenewalIo; readonly way: ConnectWay; readonly platform: AnyPlatform }> {
  const platform = requirePlatform(ctx, grant.provider);
  const way = wayOf(platform, grant);
  const place = { instanceUrl: grant.instance_url, redirectUrl: grant.redirect_url };
  const app = way.kind === "oauth" ? await findUsedApp(ctx, { platform, way, place }) : NO_APP;
  const knownSecrets = new Set([...Object.values(secrets), app.clientSecret]);
  const asking = { provider: account.provider, ownerId: account.owner_id, knownSecrets };
  const io = await createConnectIo(ctx, asking, deadline(withinMs));
  return { platform, way, io: { ...io, account: toPlatformAccount(account), app, place } };
}

const REVOKE_WITHIN_MS = 10 * SECOND;

/**
 * Tells the platform that the tokens are not needed any more; whatever comes of that, they are forgotten here.
 * `account`: the last channel of the grant. Never throws.
 */
export async function revokeGrant(
  ctx: AppContext,
  { grant, account }: { readonly grant: GrantRow; readonly account: AccountRow },
): Promise<void> {
  const fields = { provider: grant.provider, accountId: account.id };
  try {
    const secrets = openGrant(ctx, grant);
    const { io, way } = await createRenewalIo(ctx, { grant, account, secrets }, REVOKE_WITHIN_MS);
    if (!("revoke" in way) || way.revoke === undefined) return;
    await way.revoke(secrets, io);
    ctx.log.info(fields, "The tokens were given back to the platform");
  } catch (error) {
    ctx.log.warn({ ...fields, err: error }, "The tokens could not be given back to the platform");
  }
}
