import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { AppError } from "../domain/errors.ts";
import { newId } from "../domain/ids.ts";
import {
  type Caller,
  DEFAULT_KEY_ROLE,
  DEFAULT_OWNER,
  type Permission,
  PERMISSIONS,
  roleOf,
  ROLES,
  readSignature,
} from "../domain/permissions.ts";
import { DAY, HOUR, MINUTE, toIso, toIsoOrNull } from "../domain/time.ts";
import { parseBound } from "../domain/parse-time.ts";
import { quote } from "../domain/text/plain-text.ts";
import {
  type ApiKeyRow,
  findApiKeyRow,
  hasApiKeys,
  insertApiKey,
  listApiKeyRows,
  revokeApiKeyRow,
  touchApiKey,
} from "../store/queries/access.ts";
import { insertMeta } from "../store/queries/meta.ts";
import type { Reader, Tx } from "../store/engine/store.ts";
import type { AppContext, CallContext } from "../context.ts";
import { listAccountRows } from "../store/queries/accounts.ts";

/** A key as lists show it. Its secret is not kept anywhere. */
export type ApiKey = Readonly<ReturnType<typeof toApiKey>>;

const SECRET_BYTES = 32;
const FIRST_KEY = "First key";
/** Under which name the database remembers that it was made. */
const FIRST_KEY_MADE = "first_key";
/** `phk_<id>_<secret>`; neither part holds an underscore. */
const KEY_TEXT = /^phk_([0-9a-z]{26})_([0-9a-f]{64})$/;

/**
 * The latest use is written at most this often: a write for each request would cost more than the request.
 */
const TOUCH_EVERY_MS = MINUTE;

/** Names the fixed key of the settings wherever a key's id is shown. */
const FIXED_KEY_ID = "key_fixed";

/** Names the person at the command line wherever a key's id is shown. */
const SHELL_ID = "shell";

/** Of callers that stand in no list of keys. */
const OWN_NAMES: Readonly<Record<string, string>> = {
  local: "This machine",
  [SHELL_ID]: "The command line",
  [FIXED_KEY_ID]: "POSTHORN_API_KEY",
};

/** Makes a key. `key` is shown this once. Throws `invalid` that names the field. */
export async function createKey(
  { ctx, caller: { ownerId } }: CallContext,
  input: KeyInput,
): Promise<{ key: string; apiKey: ApiKey }> {
  const { key, row } = makeKey(ctx, ownerId, {
    name: readName(input.name),
    permissions: readPermissions(input.permissions),
    accountIds: await readAccountIds(ctx, ownerId, input.accountIds),
    expiresAt: readExpiry(ctx, input.expires),
  });
  await ctx.store.write((tx) => insertApiKey(tx, row));
  return { key, apiKey: toApiKey(ctx, row) };
}

/** Where the first key is kept for scripts on this machine. Synchronous, to be part of a transaction. */
export interface KeyFile {
  /** "" where it is empty; null where it is not there, or where others can read it. */
  read(): string | null;
  /** Durable when it returns. */
  write(key: string): void;
}

/**
 * A full key of the default owner, once: null where any key was ever made. It stands in its file before it is
 * committed, so that a start that is killed in between leaves a key that is not taken yet, and the next one
 * takes that.
 */
export async function ensureFirstKey(ctx: AppContext, file: KeyFile): Promise<string | null> {
  return ctx.store.write(async (tx) => {
    const kept = file.read();
    const isAgain = await hasApiKeys(tx);
    if (isAgain && !(kept === "" && (await revokeUnseenKey(ctx, tx)))) return null;
    const all = { permissions: PERMISSIONS, accountIds: null, expiresAt: null };
    const { key, row } = makeKey(ctx, DEFAULT_OWNER, { name: FIRST_KEY, ...all }, kept ?? "");
    // Another process may start for the first time at this moment.
    if (!isAgain && !(await insertMeta(tx, FIRST_KEY_MADE, row.id))) return null;
    if (key !== kept) file.write(key);
    await insertApiKey(tx, row);
    return key;
  });
}

/** Beside an empty file the first key was never shown. False where there are others, or where it was used. */
async function revokeUnseenKey(ctx: AppContext, tx: Tx): Promise<boolean> {
  const [first, second] = await listApiKeyRows(tx, DEFAULT_OWNER);
  if (first === undefined || second !== undefined) return false;
  if (first.name !== FIRST_KEY || first.last_used_at !== null || first.revoked_at !== null) return false;
  const key = { ownerId: DEFAULT_OWNER, id: first.id, now: ctx.clock.now() };
  return (await revokeApiKeyRow(tx, key)) !== null;
}

/** The owner's keys, oldest first, revoked ones among them. */
export async function listKeys({ ctx, caller }: CallContext): Promise<{ keys: ApiKey[] }> {
  const rows = await listApiKeyRows(ctx.store, caller.ownerId);
  return { keys: rows.map((row) => toApiKey(ctx, row)) };
}

/** What the keys of an owner, or their signatures, are called, for those who read what was done with them. */
export async function namesOfKeys(reader: Reader, ownerId: string): Promise<(signature: string) => string> {
  const rows = await listApiKeyRows(reader, ownerId);
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  return (signature) => {
    const { keyId, program } = readSignature(signature);
    // A program may call itself as a key is called.
    if (program !== null) return `${program} (this machine)`;
    return names.get(keyId) ?? OWN_NAMES[keyId] ?? "A key";
  };
}

/** Takes the whole key, `key_<id>` or `<id>`. Revoking twice changes nothing. Throws `not_found`. */
export async function revokeKey(
  { ctx, caller: { ownerId } }: CallContext,
  args: { readonly key: string },
): Promise<{ apiKey: ApiKey }> {
  const id = `key_${KEY_TEXT.exec(args.key)?.[1] ?? args.key.replace(/^key_/, "")}`;
  const row = await ctx.store.write((tx) => revokeApiKeyRow(tx, { ownerId, id, now: ctx.clock.now() }));
  // The text may hold a secret: it is not repeated.
  if (row === null)
    throw new AppError(
      "not_found",
      `The owner ${quote(ownerId)} has no such key. Take its id from the list of keys.`,
    );
  ctx.log.info({ keyId: row.id, ownerId }, "An API key was revoked");
  return { apiKey: toApiKey(ctx, row) };
}

/**
 * The caller with this key; null for a key that is unknown, garbled, expired or revoked. `fixedKey` is the one of
 * the settings. Secrets are compared as hashes of equal length, in constant time.
 */
export async function authenticate(
  ctx: AppContext,
  keyText: string,
  fixedKey: string | null,
): Promise<Caller | null> {
  if (fixedKey !== null && timingSafeEqual(sha256(keyText), sha256(fixedKey))) return FIXED_CALLER;
  const match = KEY_TEXT.exec(keyText);
  if (match?.[1] === undefined || match[2] === undefined) return null;
  const row = await findApiKeyRow(ctx.store, `key_${match[1]}`);
  // An unknown id costs the same comparison as a known one.
  const isSecret = timingSafeEqual(sha256(match[2]), Buffer.from(row?.secret_hash ?? NO_HASH, "hex"));
  if (row === undefined || !isSecret || statusOf(ctx, row) !== "active") return null;
  return callerWith(ctx, row);
}

/** The caller with the key of this id, which they showed before; null where it is not good any more. */
export async function findKeyCaller(ctx: AppContext, keyId: string): Promise<Caller | null> {
  const row = await findApiKeyRow(ctx.store, keyId);
  return row !== undefined && statusOf(ctx, row) === "active" ? callerWith(ctx, row) : null;
}

/** How far this key reaches now, which is no use of it; null where it is not good any more. */
export async function findKeyReach(
  ctx: AppContext,
  keyId: string,
): Promise<Pick<Caller, "permissions" | "accountIds"> | null> {
  const row = await findApiKeyRow(ctx.store, keyId);
  if (row === undefined || statusOf(ctx, row) !== "active") return null;
  return { permissions: permissionsOf(row), accountIds: accountIdsOf(row) };
}

function callerWith(ctx: AppContext, row: ApiKeyRow): Caller {
  touchLazily(ctx, row);
  return {
    ownerId: row.owner_id,
    permissions: permissionsOf(row),
    accountIds: accountIdsOf(row),
    keyId: row.id,
    isLocal: false,
  };
}

/** Whether the key that a caller came with is good still: neither revoked nor expired since. */
export async function isKeyActive(ctx: AppContext, { keyId }: Pick<Caller, "keyId">): Promise<boolean> {
  if (keyId === FIXED_KEY_ID) return true;
  const row = await findApiKeyRow(ctx.store, keyId);
  return row !== undefined && statusOf(ctx, row) === "active";
}

export const FIXED_CALLER: Caller = {
  ownerId: DEFAULT_OWNER,
  permissions: PERMISSIONS,
  accountIds: null,
  keyId: FIXED_KEY_ID,
  isLocal: false,
};

const NO_HASH = "0".repeat(64);

function touchLazily(ctx: AppContext, row: ApiKeyRow): void {
  const now = ctx.clock.now();
  if (row.last_used_at !== null && now - row.last_used_at < TOUCH_EVERY_MS) return;
  // A request does not wait for it and does not fail with it: the database may be busy or about to close.
  ctx.store
    .write((tx) => touchApiKey(tx, { ownerId: row.owner_id, id: row.id, now }))
    .catch((error: unknown) =>
      ctx.log.debug({ keyId: row.id, err: error }, "The latest use of a key was not written"),
    );
}

/** `text`: a key that was made already; another is made where it is none. */
function makeKey(
  ctx: AppContext,
  ownerId: string,
  limits: KeyLimits,
  text = "",
): { key: string; row: ApiKeyRow } {
  const [, known, knownSecret] = KEY_TEXT.exec(text) ?? [];
  const id = known === undefined ? newId("key") : `key_${known}`;
  const secret = knownSecret ?? randomBytes(SECRET_BYTES).toString("hex");
  const row = {
    id,
    owner_id: ownerId,
    name: limits.name,
    secret_hash: sha256(secret).toString("hex"),
    permissions: JSON.stringify(limits.permissions),
    account_ids: limits.accountIds === null ? null : JSON.stringify(limits.accountIds),
    created_at: ctx.clock.now(),
    expires_at: limits.expiresAt,
    revoked_at: null,
    last_used_at: null,
  };
  return { key: `phk_${id.slice("key_".length)}_${secret}`, row };
}

/** The row of a key whose secret is thrown away: a program comes with tokens of it, which end sooner. */
export function makeTokenKey(ctx: AppContext, ownerId: string, limits: KeyLimits): ApiKeyRow {
  return makeKey(ctx, ownerId, limits).row;
}

export function toApiKey(ctx: AppContext, row: ApiKeyRow) {
  const permissions = permissionsOf(row);
  return {
    id: row.id,
    ownerId: row.owner_id,
    name: row.name,
    status: statusOf(ctx, row),
    permissions,
    /** The name of this set of permissions; null: it has none. */
    role: roleOf(permissions),
    /** The only accounts it reaches; null: all. */
    accountIds: accountIdsOf(row),
    createdAt: toIso(row.created_at),
    expiresAt: toIsoOrNull(row.expires_at),
    revokedAt: toIsoOrNull(row.revoked_at),
    /** To the minute. */
    lastUsedAt: toIsoOrNull(row.last_used_at),
  };
}

function statusOf(ctx: AppContext, row: ApiKeyRow): "active" | "expired" | "revoked" {
  if (row.revoked_at !== null) return "revoked";
  return row.expires_at !== null && row.expires_at <= ctx.clock.now() ? "expired" : "active";
}

function permissionsOf(row: ApiKeyRow): readonly Permission[] {
  return JSON.parse(row.permissions) as Permission[];
}

function accountIdsOf(row: ApiKeyRow): readonly string[] | null {
  return row.account_ids === null ? null : (JSON.parse(row.account_ids) as string[]);
}

function sha256(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

export interface KeyInput {
  readonly name?: string | undefined;
  /** Default: those of `DEFAULT_KEY_ROLE`. */
  readonly permissions?: readonly string[] | undefined;
  /** Default: every account of the owner, later ones too. */
  readonly accountIds?: readonly string[] | undefined;
  /** A time, a date (its end) or a span such as `90d`; default: never. */
  readonly expires?: string | undefined;
}

/** What a key may do, and for how long. */
interface KeyLimits {
  readonly name: string;
  readonly permissions: readonly Permission[];
  readonly accountIds: readonly string[] | null;
  readonly expiresAt: number | null;
}

const MAX_NAME_LENGTH = 100;

function readName(name: string | undefined): string {
  const trimmed = (name ?? "").trim();
  if (trimmed.length <= MAX_NAME_LENGTH) return trimmed === "" ? "API key" : trimmed;
  throw new AppError("invalid", `name: must be at most ${MAX_NAME_LENGTH} characters long.`);
}

function readPermissions(given: readonly string[] | undefined): readonly Permission[] {
  if (given === undefined) return ROLES[DEFAULT_KEY_ROLE];
  const unknown = given.find((name) => !PERMISSIONS.some((known) => known === name));
  if (unknown !== undefined) {
    throw new AppError(
      "invalid",
      `permissions: ${quote(unknown)} is not a permission. The permissions are ${PERMISSIONS.join(", ")}.`,
    );
  }
  if (given.length === 0)
    throw new AppError("invalid", `permissions: give at least one of ${PERMISSIONS.join(", ")}.`);
  return PERMISSIONS.filter((known) => given.includes(known));
}

async function readAccountIds(
  ctx: AppContext,
  ownerId: string,
  given: readonly string[] | undefined,
): Promise<readonly string[] | null> {
  if (given === undefined) return null;
  if (given.length === 0)
    throw new AppError(
      "invalid",
      "accounts: give at least one account id, or leave it out for all accounts.",
    );
  const known = (await listAccountRows(ctx.store, ownerId)).map(({ id }) => id);
  const unknown = given.find((id) => !known.includes(id));
  if (unknown === undefined) return [...new Set(given)];
  const hint =
    known.length === 0
      ? "There is none yet. Connect a channel first."
      : `The accounts are ${known.join(", ")}.`;
  throw new AppError(
    "invalid",
    `accounts: ${quote(unknown)} is not an account of the owner ${quote(ownerId)}. ${hint}`,
  );
}

const SPAN_UNITS: Readonly<Record<string, number>> = { m: MINUTE, h: HOUR, d: DAY };

const STARTS_WITH_DATE = /^\d{4}-\d{2}-\d{2}/;

function readExpiry(ctx: AppContext, text: string | undefined): number | null {
  if (text === undefined) return null;
  const span = /^(\d{1,6})([mhd])$/.exec(text.trim());
  if (span === null && !STARTS_WITH_DATE.test(text.trim())) {
    throw new AppError(
      "invalid",
      `expires: ${quote(text)} is neither a date, a time nor a span. Give for example 90d, 12h, 2027-01-31 or 2027-01-31T09:00:00Z.`,
    );
  }
  const now = ctx.clock.now();
  const at =
    span === null
      ? parseBound("expires", text, ctx.settings.timezone, true)
      : now + Number(span[1]) * (SPAN_UNITS[span[2] ?? ""] ?? Number.NaN);
  if (at > now) return at;
  throw new AppError("invalid", `expires: ${quote(text)} is not in the future. It is ${toIso(now)} now.`);
}

/** The user that the data folder belongs to, at this machine: the default owner, or the one that is named. */
export function localCaller({
  ownerId = DEFAULT_OWNER,
  permissions = PERMISSIONS,
}: { readonly ownerId?: string; readonly permissions?: readonly Permission[] } = {}): Caller {
  return { ownerId, permissions, accountIds: null, keyId: "local", isLocal: true };
}

/** The default owner at the command line, for whom one command is done. */
export function shellCaller(): Caller {
  return { ...localCaller(), keyId: SHELL_ID, isAtShell: true };
}
