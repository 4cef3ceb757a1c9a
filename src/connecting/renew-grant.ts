import pLimit from "p-limit";
import { SECOND } from "../domain/time.ts";
import type { Tokens } from "../ports/connect.ts";
import { PlatformFault } from "../ports/platform-io.ts";
import type { AccountRow } from "../store/queries/accounts.ts";
import type { Store } from "../store/engine/store.ts";
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
} from "../store/queries/grants.ts";
import type { AppContext } from "../context.ts";
import { AnswerLost, askPlatform } from "./ask-for-renewal.ts";
import { mergeSecrets, openGrant, openSecrets, scrub, sealGrant } from "../platform-io/secrets.ts";
import { accessEndsAt, renewAt, requirePlatform, wayOf } from "../platform-io/ways.ts";

interface RenewalCause {
  /** A channel of the grant whose own secrets were opened. */
  readonly account: AccountRow;
  /** The platform refused what this channel sent: with tokens that it takes, the channel can be used again. */
  readonly isRefused: boolean;
}

/** How long somebody waits for another process that asks for new tokens. */
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
 * takes the right to, the others wait for it. It outlives whoever asked, for its answer must be stored.
 * Throws an `auth` fault once all of its
 * channels ask to be reconnected, `not_sent` or `rate` where it may work later.
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
    // What could not be written is for this process to write: nobody else may ask meanwhile.
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
    const account = (await listAccountsOfGrant(ctx.store, grant)).find((row) => canVouch(ctx, row));
    if (account === undefined) return;
    await renewGrant(ctx, grant, { account, isRefused: false });
  } catch (err) {
    const cause = err instanceof PlatformFault ? { kind: err.kind, reason: err.message } : { err };
    ctx.log.warn({ grantId: grant.id, ...cause }, "Tokens could not be renewed ahead of their end");
  }
}

/** Its settings name the server that gets the tokens: its own secrets prove that they are as they were. */
function canVouch(ctx: AppContext, row: AccountRow): boolean {
  try {
    openSecrets(ctx, row);
    return true;
  } catch {
    return false;
  }
}
