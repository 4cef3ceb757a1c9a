import { hash, randomBytes } from "node:crypto";
import { AppError } from "../domain/errors.ts";
import { newId } from "../domain/ids.ts";
import { type Caller, DEFAULT_OWNER, isAllowed } from "../domain/permissions.ts";
import { DAY, MINUTE, toIso } from "../domain/time.ts";
import {
  deletePageSession,
  deletePageSessionOf,
  findPageSession,
  insertPageSession,
  insertSignIn,
  listPageSessionRows,
  type PageSessionRow,
  takeSignIn,
  touchPageSession,
} from "../store/queries/page-sessions.ts";
import { insertMeta, readMeta } from "../store/queries/meta.ts";
import type { Tx } from "../store/engine/store.ts";
import type { AppContext, CallContext } from "../context.ts";
import { authenticate, findKeyCaller, FIXED_CALLER, listKeys, localCaller, namesOfKeys } from "./api-keys.ts";

/** Without being used, a session ends after this. */
export const SESSION_LIFE_MS = 30 * DAY;
export const SIGN_IN_LIFE_MS = 10 * MINUTE;

/** When a session was last seen is written at most this often. */
const TOUCH_EVERY_MS = MINUTE;

const SECRET_BYTES = 32;

/** Who is signed in to the page, and in which session. */
interface PageVisitor {
  readonly sessionId: string;
  readonly caller: Caller;
}

/** A session with the token that its cookie holds. It is shown to no one else. */
interface SignedIn extends PageVisitor {
  readonly token: string;
}

/** The fixed key of the settings, and what the browser calls itself. */
interface SignInFrom {
  readonly fixedKey: string | null;
  readonly userAgent: string;
  /** The token of the session that this browser had until now. */
  readonly former: string | null;
}

/** A token that signs the person at this machine in, once, within 10 minutes. */
export async function makeSignIn(ctx: AppContext): Promise<string> {
  const token = newToken();
  const now = ctx.clock.now();
  const row = { token_hash: hashOf(token), owner_id: DEFAULT_OWNER, expires_at: now + SIGN_IN_LIFE_MS };
  await ctx.store.write((tx) => insertSignIn(tx, row, now));
  return token;
}

/** The address that a person opens. What follows the # never reaches a server, nor its log. */
export function signInAddress(publicUrl: string, token: string): string {
  return `${publicUrl}/app/sign-in#${token}`;
}

/** Uses the token of an address up. Null where it is not good (any more). */
export function signInByToken(ctx: AppContext, token: string, from: SignInFrom): Promise<SignedIn | null> {
  return ctx.store.write(async (tx) => {
    const signIn = await takeSignIn(tx, hashOf(token), ctx.clock.now());
    return signIn === null ? null : openSession(ctx, tx, { caller: personHere(signIn.owner_id), from });
  });
}

/** Null where the key is not good (any more). */
export async function signInByKey(ctx: AppContext, key: string, from: SignInFrom): Promise<SignedIn | null> {
  const caller = await authenticate(ctx, key, from.fixedKey);
  return caller === null ? null : ctx.store.write((tx) => openSession(ctx, tx, { caller, from }));
}

/** Whose session it is; null where there is none, it has expired, or its key is revoked. */
export async function findVisitor(
  ctx: AppContext,
  token: string,
  fixedKey: string | null,
): Promise<PageVisitor | null> {
  const row = await findPageSession(ctx.store, hashOf(token));
  if (row === undefined || row.expires_at <= ctx.clock.now()) return null;
  const caller = await callerOf(ctx, row, fixedKey);
  if (caller === null) return null;
  touchLazily(ctx, row);
  return { sessionId: row.id, caller };
}

/** Ends the session of the cookie, whether or not it was good. */
export async function signOut(ctx: AppContext, token: string): Promise<void> {
  await ctx.store.write((tx) => deletePageSessionOf(tx, hashOf(token)));
}

/** Of the caller's own key; for those who may do everything everywhere, of all keys of the owner. The latest first. */
export async function listPageSessions(call: CallContext, currentId: string) {
  const { ctx, caller } = call;
  const now = ctx.clock.now();
  const rows = await listPageSessionRows(ctx.store, { ownerId: caller.ownerId, keyId: reachOf(caller), now });
  const nameOf = await namesOfKeys(ctx.store, caller.ownerId);
  const { keys } = await listKeys(call);
  const isOver = (keyId: string): boolean =>
    keys.some(({ id, status }) => id === keyId && status !== "active");
  const open = rows.filter((row) => !isOver(row.key_id));
  return {
    sessions: open.map((row) => ({
      id: row.id,
      isCurrent: row.id === currentId,
      name: nameOf(row.key_id),
      browser: row.browser,
      createdAt: toIso(row.created_at),
      lastSeenAt: toIso(row.last_seen_at),
      expiresAt: toIso(row.expires_at),
    })),
  };
}

/** Throws `not_found`. */
export async function endPageSession({ ctx, caller }: CallContext, id: string): Promise<void> {
  const where = { ownerId: caller.ownerId, keyId: reachOf(caller), id };
  if (await ctx.store.write((tx) => deletePageSession(tx, where))) return;
  throw new AppError("not_found", "There is no such session (any more). Load the list again.");
}

function reachOf(caller: Caller): string | null {
  return isAllowed(caller, "admin") && caller.accountIds === null ? null : caller.keyId;
}

/** Whether the greeting of the page was not dismissed yet. */
export async function isWelcome({ ctx, caller }: CallContext): Promise<boolean> {
  return (await readMeta(ctx.store, welcomedBy(caller))) === null;
}

/** Puts it away for good, for all who work for this owner. */
export async function putAwayWelcome({ ctx, caller }: CallContext): Promise<void> {
  await ctx.store.write((tx) => insertMeta(tx, welcomedBy(caller), toIso(ctx.clock.now())));
}

function welcomedBy({ ownerId }: Caller): string {
  return `welcomed:${ownerId}`;
}

async function openSession(
  ctx: AppContext,
  tx: Tx,
  { caller, from }: { readonly caller: Caller; readonly from: SignInFrom },
): Promise<SignedIn> {
  const token = newToken();
  const now = ctx.clock.now();
  const row = {
    id: newId("ses"),
    owner_id: caller.ownerId,
    key_id: caller.keyId,
    key_mark: caller.keyId === FIXED_CALLER.keyId ? markOfFixedKey(ctx, from.fixedKey) : null,
    token_hash: hashOf(token),
    browser: nameBrowser(from.userAgent),
    created_at: now,
    last_seen_at: now,
    expires_at: now + SESSION_LIFE_MS,
  };
  if (from.former !== null) await deletePageSessionOf(tx, hashOf(from.former));
  await insertPageSession(tx, row);
  return { sessionId: row.id, caller, token };
}

/** What a key may do is read anew with each request. */
async function callerOf(
  ctx: AppContext,
  row: PageSessionRow,
  fixedKey: string | null,
): Promise<Caller | null> {
  const here = personHere(row.owner_id);
  if (row.key_id === here.keyId) return here;
  if (row.key_id !== FIXED_CALLER.keyId) return findKeyCaller(ctx, row.key_id);
  // Another fixed key ends the sessions of the one before.
  return fixedKey !== null && row.key_mark === markOfFixedKey(ctx, fixedKey) ? FIXED_CALLER : null;
}

/** The browser may be on another machine: paths of this one mean nothing there. */
function personHere(ownerId: string): Caller {
  return { ...localCaller({ ownerId }), isLocal: false };
}

/** Tells one fixed key from the next. */
export function markOfFixedKey({ cipher }: AppContext, fixedKey: string | null): string | null {
  return fixedKey === null ? null : cipher.sign("page_session", fixedKey);
}

function touchLazily(ctx: AppContext, row: PageSessionRow): void {
  const now = ctx.clock.now();
  if (now - row.last_seen_at < TOUCH_EVERY_MS) return;
  // As with keys, a request neither waits for it nor fails with it.
  ctx.store
    .write((tx) => touchPageSession(tx, row, { now, expiresAt: now + SESSION_LIFE_MS }))
    .catch((error: unknown) =>
      ctx.log.debug({ sessionId: row.id, err: error }, "The latest use of a session was not written"),
    );
}

function newToken(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

function hashOf(token: string): string {
  return hash("sha256", token);
}

/** In the order in which they are looked for: each later one's words stand in those of others, too. */
const BROWSERS = [
  [/\bEdg/, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\b(Firefox|FxiOS)\//, "Firefox"],
  [/\b(Chrome|CriOS)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
] as const;

const SYSTEMS = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
] as const;

/** By what a person tells their sessions apart: "Firefox on Linux". */
function nameBrowser(userAgent: string): string {
  const find = (names: readonly (readonly [RegExp, string])[]): string | undefined =>
    names.find(([pattern]) => pattern.test(userAgent))?.[1];
  const browser = find(BROWSERS) ?? "A browser";
  const system = find(SYSTEMS);
  return system === undefined ? browser : `${browser} on ${system}`;
}
