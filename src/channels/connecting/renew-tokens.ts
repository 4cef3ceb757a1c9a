import { AppError } from "../../domain/errors.ts";
import type { Secrets, ConnectWay, Place, Tokens } from "../../ports/connect.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import {
  findAccountRow,
  giveGrant,
  requireReconnect,
  type AccountRow,
} from "../../store/queries/accounts.ts";
import {
  findGrant,
  findGrantOf,
  type GrantRow,
  type SeenGrant,
  insertGrant,
} from "../../store/queries/grants.ts";
import type { AppContext } from "../../context.ts";
import { renewGrant } from "./renewal.ts";
import { openGrant, openSecrets, sealSecrets, sealGrant } from "../platform-io/secrets.ts";
import { renewalOf, wayOf, renewAt } from "../platform-io/set-up.ts";
import { newId } from "../../domain/ids.ts";
import type { Reader, Tx } from "../../store/engine/store.ts";

export interface LoadedSecrets {
  readonly values: Secrets;
  /** Of the account: it rises with the grant's, too. */
  readonly version: number;
  readonly account: AccountRow;
  readonly grant: GrantRow | null;
}

interface AccountRef {
  readonly ownerId: string;
  readonly id: string;
}

/** An account with the settings that its secrets are used by: they say which server gets them. */
type ServerRef = AccountRef & { readonly settings: string };

/**
 * The account's secrets as they are now, over those of its grant. Throws an `auth` fault where they are gone
 * or cannot be opened, and `not_sent` where they belong to another server by now: they are none of the former
 * one's business.
 */
export async function loadSecrets(ctx: AppContext, ref: ServerRef): Promise<LoadedSecrets> {
  for (let reads = 1; reads <= MAX_READS; reads += 1) {
    const row = await findAccountRow(ctx.store, ref.ownerId, ref.id);
    if (row === undefined || row.status === "disconnected")
      throw new PlatformFault("auth", "The channel is disconnected.");
    if (row.settings !== ref.settings) break;
    if (row.grant_id === null) return openRows(ctx, row, null);
    // New tokens under the old version would be taken for the refused ones, and renewed once more.
    const grant = await findGrantOf(ctx.store, row);
    if (grant !== undefined) return openRows(ctx, row, grant);
  }
  throw new PlatformFault("not_sent", "The channel was reconnected while it was being used.");
}

/** Others may renew or reconnect between the reading of an account and that of its grant. */
const MAX_READS = 3;

async function openRows(ctx: AppContext, row: AccountRow, grant: GrantRow | null): Promise<LoadedSecrets> {
  try {
    const own = openSecrets(ctx, row);
    const values = grant === null ? own : { ...openGrant(ctx, grant), ...own };
    return { values, version: row.secrets_version, account: row, grant };
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause;
    const fault = new PlatformFault("auth", cause.message, { cause });
    await askToReconnect(ctx, { ownerId: row.owner_id, id: row.id, version: row.secrets_version }, fault);
    throw fault;
  }
}

/**
 * What the platform refused was sent with these secrets: the channel must be reconnected, unless they were
 * changed since. True where it now asks for it.
 */
export async function askToReconnect(
  ctx: AppContext,
  seen: AccountRef & { readonly version: number },
  fault: PlatformFault,
): Promise<boolean> {
  const change = { reason: fault.message, now: ctx.clock.now() };
  const isMarked = await ctx.store.write((tx) => requireReconnect(tx, seen, change));
  if (isMarked)
    ctx.log.warn({ accountId: seen.id, cause: String(fault.cause ?? "") }, "The account must be reconnected");
  return isMarked;
}

interface RefreshJob {
  readonly platform: AnyPlatform;
  readonly ref: ServerRef;
  /** What the platform refused, and the version of the secrets it was sent. */
  readonly seen: { readonly version: number; readonly fault: PlatformFault };
}

/**
 * Secrets newer than those that were refused: one refresh for all channels of a grant and all processes.
 * Throws an `auth` fault when the platform gives no new ones; the account then asks to be reconnected.
 */
export async function refreshSecrets(ctx: AppContext, job: RefreshJob): Promise<LoadedSecrets> {
  const stored = await loadSecrets(ctx, job.ref);
  if (stored.version !== job.seen.version) return stored;
  if (renewalOf(wayOf(job.platform, stored.account)) === null) return surrender(ctx, job);
  const grant = stored.grant ?? (await moveIntoGrant(ctx, job.platform, stored));
  if (grant === null) return loadSecrets(ctx, job.ref);
  await renewGrant(ctx, grant, { account: stored.account, isRefused: true });
  const fresh = await loadSecrets(ctx, job.ref);
  if (fresh.version !== job.seen.version) return fresh;
  throw new PlatformFault("auth", fresh.account.status_reason ?? job.seen.fault.message, {
    cause: job.seen.fault,
  });
}

/** Others may stand in their place meanwhile: then those are taken. */
async function surrender(ctx: AppContext, job: RefreshJob): Promise<LoadedSecrets> {
  const { fault, version } = job.seen;
  const refused = new PlatformFault("auth", fault.sentence, {
    cause: fault.cause ?? fault,
    says: fault.says,
  });
  if (await askToReconnect(ctx, { ...job.ref, version }, refused)) throw refused;
  return loadSecrets(ctx, job.ref);
}

/**
 * Channels of before keep all of their secrets themselves: with the first refresh they go into a grant, so
 * that there is one way to refresh. Null where the account was changed meanwhile.
 */
function moveIntoGrant(
  ctx: AppContext,
  platform: AnyPlatform,
  { account, values }: LoadedSecrets,
): Promise<SeenGrant | null> {
  const way = wayOf(platform, account);
  const tokens = {
    secrets: values,
    expiresAt: account.token_expires_at,
    renewableUntil: account.access_ends_at,
    scopes: null,
    answer: {},
  };
  const place = { instanceUrl: null, redirectUrl: "" };
  return ctx.store.write(async (tx) => {
    const now = await findAccountRow(tx, account.owner_id, account.id);
    if (now?.secrets_version !== account.secrets_version) return null;
    if (now.grant_id !== null)
      return (await findGrant(tx, { owner_id: now.owner_id, id: now.grant_id })) ?? null;
    const id = await keepGrant(ctx, tx, { ownerId: account.owner_id, platform, way, place, tokens });
    const own = sealSecrets(ctx, { ...account, grant_id: id }, {});
    // Another process has just done the same: the next try finds what it has stored.
    if (!(await giveGrant(tx, now, { grant_id: id, secrets_enc: own })))
      throw new PlatformFault("not_sent", "The channel was changed while its access was being renewed.");
    return { owner_id: account.owner_id, id, secrets_version: 1 };
  });
}

interface NewGrant {
  readonly ownerId: string;
  readonly platform: AnyPlatform;
  readonly way: ConnectWay;
  /** `redirectUrl` is "" where the way has none. */
  readonly place: Place;
  readonly tokens: Tokens;
}

/**
 * Stores the tokens of a consent, or of signing in, and answers the id for the `grant_id` of its channels,
 * whose `token_expires_at` is the tokens' `expiresAt` and `access_ends_at` what `accessEndsAt` says. Their own
 * secrets are sealed with `sealSecrets` once that id is in their row, `{}` too.
 */
export async function keepGrant(ctx: AppContext, tx: Tx, fresh: NewGrant): Promise<string> {
  const { ownerId, platform, way, place, tokens } = fresh;
  const now = ctx.clock.now();
  const owner = {
    id: newId("grt"),
    owner_id: ownerId,
    provider: platform.name,
    way: way.name,
    instance_url: place.instanceUrl,
  };
  await insertGrant(tx, {
    ...owner,
    redirect_url: place.redirectUrl,
    secrets_enc: sealGrant(ctx, owner, tokens.secrets),
    secrets_version: 1,
    scopes: tokens.scopes === null ? null : JSON.stringify(tokens.scopes),
    expires_at: tokens.expiresAt,
    renewable_until: tokens.renewableUntil,
    renewed_at: now,
    renew_at: renewAt(way, tokens, now),
    renewing_worker: null,
    renewing_since: null,
    created_at: now,
    updated_at: now,
  });
  return owner.id;
}

/**
 * The grant's secrets, and over them the account's own. Throws `conflict` where one of both was sealed with
 * another key, or for another server.
 */
export async function readSecrets(ctx: AppContext, reader: Reader, row: AccountRow): Promise<Secrets> {
  const own = openSecrets(ctx, row);
  if (row.grant_id === null) return own;
  const grant = await findGrant(reader, { owner_id: row.owner_id, id: row.grant_id });
  return grant === undefined ? own : { ...openGrant(ctx, grant), ...own };
}
