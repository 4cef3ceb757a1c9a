import pLimit from "p-limit";
import { SECOND, MINUTE, deadline } from "../../domain/time.ts";
import type { Tokens, App, ConnectWay, RenewalIo, Secrets } from "../../ports/connect.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import type { AccountRow } from "../../store/queries/accounts.ts";
import type { Store } from "../../store/engine/store.ts";
import {
  endRenewal,
  findGrant,
  giveUpGrant,
  type GrantRow,
  listAccountsOfGrant,
  listGrantsToRenew,
  type SeenGrant,
  storeRenewed,
  takeRenewal,
} from "../../store/queries/grants.ts";
import type { AppContext } from "../../context.ts";
import { mergeSecrets, openGrant, openSecrets, scrub, sealGrant } from "../platform-io/secrets.ts";
import { accessEndsAt, renewAt, requirePlatform, wayOf, renewalOf } from "../platform-io/set-up.ts";
import { AppError } from "../../domain/errors.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import { findEndpoints, findUsedApp, forgetApp } from "./oauth.ts";
import { fitTokens } from "../platform-io/fit-answers.ts";
import { refreshTokens, SetupFault } from "./oauth-requests.ts";
import { createConnectIo, toPlatformAccount } from "../platform-io/connect-io.ts";

interface RenewalCause {
  /** A channel of the grant whose own secrets were opened. */
  readonly account: AccountRow;
  /** The platform refused what this channel sent: with tokens that it takes, the channel can be used again. */
  readonly isRefused: boolean;
}

/** How long a caller waits for another process that asks for new tokens. */
const WAIT_MS = 60 * SECOND;
const LOOK_EVERY_MS = 200;
/** Refreshes that run now in this process, by grant. */
const running = new WeakMap<Store, Map<string, Promise<void>>>();

/** Answers that could not be written yet (a full disk): the refresh token that gave them is spent. */
const unwritten = new WeakMap<Store, Map<string, Tokens>>();

function of<T>(maps: WeakMap<Store, Map<string, T>>, { store }: AppContext): Map<string, T> {
  const map = maps.get(store) ?? new Map<string, T>();
  maps.set(store, map);
  return map;
}

/**
 * Puts new tokens in the place of those that were seen, once for all who ask, in whatever process: one worker
 * takes the right to, the others wait for it. It outlives the caller that asked, for its answer must be stored.
 * Throws an `auth` fault once all of its channels ask to be reconnected, `not_sent` or `rate` where it may
 * work later.
 */
export function renewGrant(ctx: AppContext, seen: SeenGrant, cause: RenewalCause): Promise<void> {
  const jobs = of(running, ctx);
  const known = jobs.get(seen.id);
  if (known !== undefined) return known;
  const job = takeTurn(ctx, seen, cause).finally(() => jobs.delete(seen.id));
  jobs.set(seen.id, job);
  return job;
}

/** Resolves when no refresh runs in this process any more, or after so many milliseconds. */
export async function renewalsDone(ctx: AppContext, withinMs: number): Promise<void> {
  const jobs = [...of(running, ctx).values()];
  if (jobs.length === 0) return;
  await new Promise<void>((resolve) => {
    const cancel = ctx.clock.after(withinMs, resolve);
    void Promise.allSettled(jobs).then(() => {
      cancel();
      resolve();
    });
  });
}

async function takeTurn(ctx: AppContext, seen: SeenGrant, cause: RenewalCause): Promise<void> {
  const by = (): { worker: string; now: number } => ({ worker: ctx.workerId, now: ctx.clock.now() });
  for (let waited = 0; waited <= WAIT_MS; waited += LOOK_EVERY_MS) {
    const grant = await findGrant(ctx.store, seen);
    if (grant?.secrets_version !== seen.secrets_version) return;
    const turn = await ctx.store.write((tx) => takeRenewal(tx, seen, by()));
    if (turn === null) return;
    if (turn.isTaken) return renewNow(ctx, turn.grant, cause);
    await ctx.clock.sleep(LOOK_EVERY_MS);
  }
  throw new PlatformFault("not_sent", "Another process has not finished renewing the channel's access.");
}

async function renewNow(ctx: AppContext, grant: GrantRow, cause: RenewalCause): Promise<void> {
  const answers = of(unwritten, ctx);
  const key = `${grant.id} ${grant.secrets_version}`;
  let isLost = true;
  try {
    const tokens = answers.get(key) ?? (await askPlatform(ctx, grant, cause.account));
    answers.set(key, tokens);
    await keep(ctx, grant, { tokens, healed: cause.isRefused ? cause.account.id : null });
    answers.delete(key);
  } catch (error) {
    isLost = !(error instanceof PlatformFault) || error instanceof AnswerLost;
    if (error instanceof PlatformFault && error.kind === "auth") await giveUp(ctx, grant, error);
    throw error;
  } finally {
    // What could not be written is for this process to write: no other may ask meanwhile.
    if (!answers.has(key))
      await ctx.store.write((tx) => endRenewal(tx, grant, { worker: ctx.workerId, isLost }));
  }
}

async function keep(
  ctx: AppContext,
  grant: GrantRow,
  { tokens, healed }: { tokens: Tokens; healed: string | null },
): Promise<void> {
  const way = wayOf(requirePlatform(ctx, grant.provider), grant);
  const stored = openGrant(ctx, grant);
  const secrets = mergeSecrets(stored, tokens.secrets);
  // Its end is told with a refresh token, not again with each access token.
  const isSame = secrets["refreshToken"] === stored["refreshToken"];
  const renewableUntil = tokens.renewableUntil ?? (isSame ? grant.renewable_until : null);
  const ends = { secrets, expiresAt: tokens.expiresAt, renewableUntil };
  const now = ctx.clock.now();
  const isStored = await ctx.store.write((tx) =>
    storeRenewed(tx, grant, {
      worker: ctx.workerId,
      secretsEnc: sealGrant(ctx, grant, secrets),
      scopes: tokens.scopes === null ? grant.scopes : JSON.stringify(tokens.scopes),
      expiresAt: tokens.expiresAt,
      renewableUntil,
      renewAt: renewAt(way, ends, now),
      accessEndsAt: accessEndsAt(way, ends),
      healed,
      now,
    }),
  );
  if (isStored) ctx.log.info({ grantId: grant.id, provider: grant.provider }, "Tokens were renewed");
}

async function giveUp(ctx: AppContext, grant: GrantRow, fault: PlatformFault): Promise<void> {
  const end = { worker: ctx.workerId, reason: fault.message, now: ctx.clock.now() };
  if (!(await ctx.store.write((tx) => giveUpGrant(tx, grant, end)))) return;
  const cause = scrub(String(fault.cause ?? ""), Object.values(openGrant(ctx, grant)));
  const fields = { grantId: grant.id, provider: grant.provider, cause };
  ctx.log.warn(fields, "The channels of a consent must be reconnected");
}

/** Refreshes of one pass that run at a time. */
const MAX_RENEWING = 8;

/**
 * Renews the tokens whose time has come, before they end or die of idleness. What does not come through is
 * logged, and done again with the next pass.
 */
export async function renewDueGrants(ctx: AppContext, signal: AbortSignal): Promise<void> {
  const due = await listGrantsToRenew(ctx.store, ctx.clock.now());
  const limit = pLimit(MAX_RENEWING);
  const renew = async (grant: SeenGrant): Promise<void> => {
    if (!signal.aborted) await renewOne(ctx, grant);
  };
  await Promise.all(due.map((grant) => limit(() => renew(grant))));
}

async function renewOne(ctx: AppContext, grant: SeenGrant): Promise<void> {
  try {
    const accounts = await listAccountsOfGrant(ctx.store, grant);
    // Its settings name the server that gets the tokens: its own secrets prove that they are as they were.
    const account = accounts.find((row) => {
      try {
        openSecrets(ctx, row);
        return true;
      } catch {
        return false;
      }
    });
    if (account === undefined) return;
    await renewGrant(ctx, grant, { account, isRefused: false });
  } catch (err) {
    const cause = err instanceof PlatformFault ? { kind: err.kind, reason: err.message } : { err };
    ctx.log.warn({ grantId: grant.id, ...cause }, "Tokens could not be renewed ahead of their end");
  }
}

/** All requests of one refresh. */
const RENEW_WITHIN_MS = 2 * MINUTE;
/** The request whose answer was lost may still be on its way to the platform. */
const TRY_AGAIN_AFTER_MS = 2 * SECOND;

/** The platform may have given new tokens that never arrived. What was to be done with them was not done. */
class AnswerLost extends PlatformFault {
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

interface RenewalContext {
  readonly io: RenewalIo;
  readonly way: ConnectWay;
  readonly platform: AnyPlatform;
}

type Ask = RenewalContext & { readonly ctx: AppContext; readonly secrets: Secrets };

async function prepare(ctx: AppContext, parts: RenewalParts): Promise<RenewalContext> {
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
  const endpoints = await findEndpoints(ctx, { platform, way, place: io.place }, io);
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

/** What a platform gets to renew tokens or give them back, apart from the call that asked for that. */
async function createRenewalIo(
  ctx: AppContext,
  { grant, account, secrets }: RenewalParts,
  withinMs: number,
): Promise<RenewalContext> {
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
