import { AppError } from "../../domain/errors.ts";
import type { Renewal, RenewalIo } from "../../ports/connect.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import {
  findAccountRow,
  requireReconnect,
  storeRefreshed,
  type AccountRow,
} from "../../store/tables/accounts.ts";
import type { Store } from "../../store/engine/store.ts";
import type { AppContext } from "../context.ts";
import { mergeSecrets, openSecrets, sealSecrets, type SecretValues } from "./secrets.ts";

export interface LoadedSecrets {
  readonly values: SecretValues;
  readonly version: number;
}

export interface AccountRef {
  readonly ownerId: string;
  readonly id: string;
}

/** An account with the settings that whoever uses its secrets goes by: they say which server gets them. */
export interface ServerRef extends AccountRef {
  readonly settings: string;
}

/**
 * The account's secrets as they are now. Throws an `auth` fault where they are gone or cannot be opened, and
 * `not_sent` where they belong to another server by now: they are none of the former one's business.
 */
export async function loadSecrets(ctx: AppContext, ref: ServerRef): Promise<LoadedSecrets> {
  const row = await findAccountRow(ctx.store, ref.ownerId, ref.id);
  if (row === undefined || row.status === "disconnected")
    throw new PlatformFault("auth", "The channel is disconnected.");
  if (row.settings !== ref.settings)
    throw new PlatformFault("not_sent", "The channel was connected anew while it was being used.");
  return openRow(ctx, row);
}

async function openRow(ctx: AppContext, row: AccountRow): Promise<LoadedSecrets> {
  try {
    return { values: openSecrets(ctx, row), version: row.secrets_version };
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

export interface RefreshJob {
  readonly platform: AnyPlatform;
  readonly ref: ServerRef;
  /** Outlives the caller that was first: its tokens may be used up, so the answer must be stored. */
  readonly io: RenewalIo;
  /** What the platform refused, and the version of the secrets it was sent. */
  readonly seen: { readonly version: number; readonly fault: PlatformFault };
}

/** How the tokens of the platform's channels are renewed; null where only a person can. */
export function renewalOf(platform: AnyPlatform): Renewal | null {
  for (const way of platform.connect) if ("renewal" in way && way.renewal !== null) return way.renewal;
  return null;
}

/** Refreshes that run now in this process, by account. */
const running = new WeakMap<Store, Map<string, Promise<LoadedSecrets>>>();

/**
 * Secrets newer than those that were refused. Callers of one account share one refresh; between processes the
 * stored version decides. Throws an `auth` fault when the platform gives no new ones; the account then asks
 * to be reconnected.
 */
export function refreshSecrets(ctx: AppContext, job: RefreshJob): Promise<LoadedSecrets> {
  const jobs = running.get(ctx.store) ?? new Map<string, Promise<LoadedSecrets>>();
  running.set(ctx.store, jobs);
  const known = jobs.get(job.ref.id);
  if (known !== undefined) return known;
  const fresh = refreshOnce(ctx, job).finally(() => jobs.delete(job.ref.id));
  jobs.set(job.ref.id, fresh);
  return fresh;
}

async function refreshOnce(ctx: AppContext, job: RefreshJob): Promise<LoadedSecrets> {
  const stored = await loadSecrets(ctx, job.ref);
  if (stored.version !== job.seen.version) return stored;
  const renew = renewalOf(job.platform)?.renew;
  if (renew === undefined) return surrender(ctx, job, job.seen.fault);
  try {
    const answer = await renew(stored.values, job.io);
    return await keep(ctx, job, mergeSecrets(stored.values, answer.secrets), answer.expiresAt);
  } catch (error) {
    if (!(error instanceof PlatformFault)) throw error;
    if (error.kind === "auth" || error.kind === "rejected") return surrender(ctx, job, error);
    if (error.kind === "rate" || error.kind === "setup") throw error;
    // The platform refused what was to be done and the refresh did not come through: the deed itself was not
    // done.
    throw new PlatformFault("not_sent", error.message, { cause: error });
  }
}

async function keep(
  ctx: AppContext,
  job: RefreshJob,
  values: SecretValues,
  tokenExpiresAt: number | null,
): Promise<LoadedSecrets> {
  const { version } = job.seen;
  const { ownerId, id, settings } = job.ref;
  const account = { owner_id: ownerId, id, provider: job.platform.name, settings };
  const secretsEnc = sealSecrets(ctx, account, values);
  const change = { secretsEnc, tokenExpiresAt, now: ctx.clock.now() };
  if (await ctx.store.write((tx) => storeRefreshed(tx, { ...job.ref, version }, change)))
    return { values, version: version + 1 };
  return loadSecrets(ctx, job.ref);
}

/**
 * Another process may have refreshed with the very token that was refused here: then its secrets are taken.
 */
async function surrender(ctx: AppContext, job: RefreshJob, fault: PlatformFault): Promise<LoadedSecrets> {
  const refused = new PlatformFault("auth", fault.message, { cause: fault.cause ?? fault });
  if (await askToReconnect(ctx, { ...job.ref, version: job.seen.version }, refused)) throw refused;
  return loadSecrets(ctx, job.ref);
}
