import { deleteUnusedGrant } from "../../store/queries/grants.ts";
import { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { Secrets, Target } from "../../ports/connect.ts";
import {
  type AccountRow,
  findAccountByIdentity,
  findAccountRow,
  insertAccount,
  reconnectAccount,
} from "../../store/queries/accounts.ts";
import type { Tx } from "../../store/engine/store.ts";
import type { AppContext, GuestCall } from "../../context.ts";
import { keepGrant } from "./renew-tokens.ts";
import { mergeSecrets, sealSecrets } from "../platform-io/secrets.ts";
import { accessEndsAt, wayOf } from "../platform-io/set-up.ts";
import { type ConnectTarget, storedSecrets, type ConnectionResult } from "./connect-target.ts";
import type { Account } from "../../domain/accounts/account.ts";
import { commitOnce } from "../../access/idempotency.ts";
import { describeNamesake, showAccount } from "../accounts/accounts.ts";
import { inspectConnected } from "./inspect.ts";
import { plainText, quote } from "../../domain/text/plain-text.ts";

interface Storing {
  readonly target: ConnectTarget;
  readonly found: ConnectionResult;
  /** Those of them that become channels here, at least one. */
  readonly chosen: readonly Target[];
}

/**
 * Stores what was chosen; all share the tokens. A channel that the owner has already is reconnected: its id and
 * its posts stay.
 */
export async function storeAccounts(ctx: AppContext, tx: Tx, storing: Storing): Promise<AccountRow[]> {
  const { target, chosen } = storing;
  const channels: Channel[] = [];
  for (const channel of chosen) channels.push({ channel, existing: await findExisting(tx, target, channel) });
  channels.push(...(await findSiblings(tx, storing)));
  const grant = await keepTokens(ctx, tx, { ...storing, channels });
  const rows: AccountRow[] = [];
  for (const one of channels) rows.push(await storeAccount(ctx, tx, { ...one, storing, grant }));
  for (const id of new Set(channels.map(({ existing }) => existing?.grant_id ?? null)))
    if (id !== null) await deleteUnusedGrant(tx, { owner_id: target.ownerId, id });
  return rows.slice(0, chosen.length);
}

/**
 * Those that were not chosen and that the owner has from an earlier consent: it may have ended with this one.
 * What was disconnected on request stays so.
 */
async function findSiblings(tx: Tx, { target, found, chosen }: Storing): Promise<Channel[]> {
  const siblings: Channel[] = [];
  for (const channel of found.tokens === null ? [] : found.targets) {
    if (chosen.includes(channel) || channel.problem !== undefined) continue;
    const existing = await findExisting(tx, target, channel);
    if (existing !== null && existing.grant_id !== null && existing.status !== "disconnected")
      siblings.push({ channel, existing });
  }
  return siblings;
}

interface Channel {
  readonly channel: Target;
  readonly existing: AccountRow | null;
}

async function findExisting(
  tx: Tx,
  { ownerId, platform, way, reconnecting }: ConnectTarget,
  channel: Target,
): Promise<AccountRow | null> {
  const isReconnected =
    way.kind === "none" || (reconnecting !== null && isSameChannel(reconnecting, channel));
  if (reconnecting !== null && isReconnected)
    return (await findAccountRow(tx, ownerId, reconnecting.id)) ?? reconnecting;
  const { platformAccountId, idServer = "" } = channel;
  const identity = { ownerId, provider: platform.name, platformAccountId, idServer };
  return (await findAccountByIdentity(tx, identity)) ?? null;
}

type GrantColumns = Pick<AccountRow, "grant_id" | "token_expires_at" | "access_ends_at" | "scopes">;

const NO_GRANT: GrantColumns = { grant_id: null, token_expires_at: null, access_ends_at: null, scopes: "[]" };

/** What the platform left out of its answer stays what it was: many give a refresh token only once. */
async function keepTokens(
  ctx: AppContext,
  tx: Tx,
  { target, found, channels }: Storing & { readonly channels: readonly Channel[] },
): Promise<GrantColumns> {
  if (found.tokens === null) return NO_GRANT;
  const former = channels.find(({ existing }) => existing !== null && isSameWay(target, existing));
  const stored = await storedSecrets(ctx, tx, former?.existing ?? null);
  const names = Object.keys(found.tokens.secrets);
  const tokens = { ...found.tokens, secrets: mergeSecrets(pick(stored, names), found.tokens.secrets) };
  const { ownerId, platform, way } = target;
  const grantId = await keepGrant(ctx, tx, { ownerId, platform, way, place: found.place, tokens });
  return {
    grant_id: grantId,
    token_expires_at: tokens.expiresAt,
    access_ends_at: accessEndsAt(way, tokens),
    scopes: JSON.stringify(tokens.scopes ?? []),
  };
}

function isSameWay(target: ConnectTarget, row: AccountRow): boolean {
  return wayOf(target.platform, row).name === target.way.name;
}

function pick(secrets: Secrets, names: readonly string[]): Secrets {
  return Object.fromEntries(Object.entries(secrets).filter(([name]) => names.includes(name)));
}

interface StoringOne extends Channel {
  readonly storing: Storing;
  readonly grant: GrantColumns;
}

async function storeAccount(ctx: AppContext, tx: Tx, one: StoringOne): Promise<AccountRow> {
  const { channel, existing } = one;
  const { target } = one.storing;
  const now = ctx.clock.now();
  const ref = { owner_id: target.ownerId, id: existing?.id ?? newId("acc"), provider: target.platform.name };
  const settings = JSON.stringify(channel.settings);
  const secrets = await ownSecrets(ctx, tx, one);
  const change = {
    name: nameOf(one),
    handle: channel.handle === null ? null : toShownName(channel.handle),
    profile_url: channel.profileUrl,
    avatar_url: channel.avatarUrl,
    status: "connected" as const,
    status_reason: null,
    settings,
    way: target.way.name,
    ...one.grant,
    secrets_enc: sealSecrets(ctx, { ...ref, settings, grant_id: one.grant.grant_id }, secrets),
    updated_at: now,
  };
  if (existing !== null) {
    if (!(await reconnectAccount(tx, existing, change))) throw connectedTwice();
    return { ...existing, ...change, secrets_version: existing.secrets_version + 1 };
  }
  const row: AccountRow = {
    ...ref,
    ...change,
    platform_account_id: channel.platformAccountId,
    id_server: channel.idServer ?? "",
    secrets_version: 1,
    in_flight_post: null,
    next_allowed_at: 0,
    wait_cause: null,
    freed_at: null,
    last_published_at: null,
    limits: "{}",
    inspected_at: 0,
    schedule: null,
    paused: 0,
    utm: null,
    is_renamed: 0,
    created_at: now,
  };
  if (!(await insertAccount(tx, row))) throw connectedTwice();
  return row;
}

function connectedTwice(): AppError {
  const why = "This channel was connected by another request at the same moment, and that one stands.";
  return new AppError("conflict", `${why} Connect it again only if it does not work.`);
}

/**
 * Over the stored ones, where they are of the same way. What stands in the grant stands only there: an
 * account's own secrets go before the grant's, and an old token would hide the new one.
 */
async function ownSecrets(
  ctx: AppContext,
  tx: Tx,
  { channel, existing, storing }: StoringOne,
): Promise<Secrets> {
  const isKept = existing !== null && isSameWay(storing.target, existing);
  const stored = isKept ? await storedSecrets(ctx, tx, existing) : {};
  const shared = Object.keys(storing.found.tokens?.secrets ?? {});
  const own = Object.keys(stored).filter((name) => !shared.includes(name));
  return mergeSecrets(pick(stored, own), channel.secrets);
}

function nameOf({ channel, existing, storing }: StoringOne): string {
  const { target, chosen } = storing;
  const { kind } = target.way;
  const isKept = kind === "none" || existing?.is_renamed === 1;
  if (isKept && target.name === null && existing !== null) return existing.name;
  // The other ways have it among what they are given.
  const isAsked = (kind === "oauth" || kind === "redirect") && chosen.length === 1;
  const name = toShownName((isAsked ? target.name : null) ?? channel.name);
  return name === "" ? target.platform.title : name;
}

export interface ConnectOutcome {
  /** The first of `accounts`. */
  readonly account: Account;
  readonly accounts: readonly [Account, ...Account[]];
  /** Shown once, to the person who connected. */
  readonly notice: string | null;
  /** A secret that we made; the notice says what it is for. */
  readonly shownOnce: string | null;
}

interface ConnectRun<T> extends Storing {
  /** Makes sure, first in that transaction, that no other does the same; what it throws undoes it. */
  readonly begin?: (tx: Tx) => Promise<void>;
  /** How much of an event it is for the log. Default: info. */
  readonly logLevel?: "debug" | "info";
  /** Makes the call's answer in the transaction that stores the accounts; what it throws undoes that. */
  readonly answer: (tx: Tx, outcome: ConnectOutcome) => Promise<T>;
}

/** Makes channels of what was chosen, and wakes the publisher for posts that waited for them. */
export async function connectAccounts<T>(call: GuestCall, run: ConnectRun<T>): Promise<T> {
  const { ctx } = call;
  let ids: readonly string[] = [];
  const done = await commitOnce(call, async (tx) => {
    await run.begin?.(tx);
    const rows = await storeAccounts(ctx, tx, run);
    const accounts: Account[] = [];
    for (const row of rows) accounts.push(await showAccount(ctx, tx, row));
    ids = accounts.map(({ id }) => id);
    const [account, ...more] = accounts;
    if (account === undefined) throw new Error("Nothing was chosen.");
    const twins: (string | null)[] = [];
    for (const row of rows) twins.push(await describeNamesake(ctx, tx, row));
    const notice = joined([...run.chosen.map((target) => target.notice), ...twins]);
    const shownOnce = joined(run.chosen.map((target) => target.shownOnce));
    return run.answer(tx, { account, accounts: [account, ...more], notice, shownOnce });
  });
  ctx.log[run.logLevel ?? "info"]({ accountIds: ids, provider: run.target.platform.name }, "Connected");
  ctx.wakePublisher();
  await Promise.all(ids.map((id) => inspectConnected(ctx, run.target.ownerId, id)));
  return done;
}

/** Each text once; null for none. */
function joined(texts: readonly (string | null | undefined)[]): string | null {
  const given = new Set(texts.filter((text) => typeof text === "string"));
  return given.size === 0 ? null : [...given].join("\n\n");
}

/** A channel as a person chooses it. */
export interface FoundChannel {
  /** A value of ours: its place among those found. */
  readonly key: string;
  /** The platform's own, for scripts that know it; no page shows it. */
  readonly id: string;
  readonly name: string;
  readonly handle: string | null;
  /** Why it cannot be chosen. */
  readonly problem: string | null;
}

/**
 * A name stands inside of sentences that agents read: on one line, without tricks, and not as long as a
 * story.
 */
const MAX_NAME_CHARS = 100;
const MAX_PROBLEM_CHARS = 300;

function toShownName(text: string): string {
  return plainText(text, MAX_NAME_CHARS);
}

export function toChannels(found: Pick<ConnectionResult, "targets">): FoundChannel[] {
  return found.targets.map(({ platformAccountId: id, name, handle, problem }, at) => ({
    key: String(at + 1),
    id,
    name: toShownName(name) || "(without a name)",
    handle: handle === null ? null : toShownName(handle),
    problem: problem === undefined ? null : plainText(problem, MAX_PROBLEM_CHARS),
  }));
}

/** What a page offers: all that were found, or only the channel that is reconnected. */
export function offeredChannels(
  target: ConnectTarget,
  found: Pick<ConnectionResult, "targets">,
): FoundChannel[] {
  const { reconnecting } = target;
  const channels = toChannels(found);
  if (reconnecting === null) return channels;
  return channels.filter((_channel, at) => {
    const one = found.targets[at];
    return one !== undefined && isSameChannel(reconnecting, one);
  });
}

/**
 * The channels that are connected without asking: the one that is reconnected, or the only one. Null where a
 * person chooses. Throws `invalid` where none can be used, and `conflict` where the one that is reconnected
 * is not among them.
 */
export function chooseAtOnce(target: ConnectTarget, found: ConnectionResult): readonly Target[] | null {
  const { way, reconnecting } = target;
  const usable = found.targets.filter(({ problem }) => problem === undefined);
  // What connects without a question has no identity that could differ, and no page to choose on.
  if (way.kind === "none" && usable.length > 0) return usable;
  if (reconnecting !== null && found.targets.length > 0) {
    const match = found.targets.find((target) => isSameChannel(reconnecting, target));
    if (match === undefined)
      throw new AppError("conflict", otherAccountSentence(reconnecting, found.targets));
    if (match.problem !== undefined) throw new AppError("conflict", toShownName(match.problem));
    return [match];
  }
  if (usable.length === 0) throw new AppError("invalid", noneUsable(found));
  return found.targets.length === 1 ? usable : null;
}

function otherAccountSentence(row: AccountRow, targets: readonly Target[]): string {
  const wanted = quote(row.handle ?? row.name);
  const [first, ...more] = targets.map(({ handle, name }) => quote(toShownName(handle ?? name)));
  const others = more.length === 0 ? first : `${first} and ${more.length} more`;
  return (
    `These credentials belong to another account (${others}). The channel that is being reconnected is ${wanted}. ` +
    `Use the credentials of ${wanted}, or ask for a new link that reconnects no channel. It connects the other account as a new channel.`
  );
}

function noneUsable(found: ConnectionResult): string {
  const reasons = toChannels(found)
    .slice(0, 5)
    .map(({ name, problem }) => `${quote(name)}: ${problem ?? ""}`);
  return reasons.length === 0
    ? "There is no channel that could be connected: this account has none."
    : `There is no channel that could be connected. ${reasons.join(" ")}`;
}

/**
 * The channels of these keys among those that are offered. Throws `invalid` that begins with `target: ` for
 * none, unknown and unusable ones.
 */
export function pickChannels(
  target: ConnectTarget,
  found: ConnectionResult,
  keys: readonly string[],
): readonly Target[] {
  const wanted = new Set(keys);
  if (wanted.size === 0) throw new AppError("invalid", "target: choose at least one channel.");
  const channels = offeredChannels(target, found);
  const known = new Set(channels.map(({ key }) => key));
  if ([...wanted].some((key) => !known.has(key)))
    throw new AppError("invalid", "target: one of those chosen is not on the list. Choose from it.");
  const barred = channels.find(({ key, problem }) => wanted.has(key) && problem !== null);
  if (barred !== undefined)
    throw new AppError("invalid", `target: ${quote(barred.name)} cannot be chosen. ${barred.problem}`);
  const all = toChannels(found);
  return found.targets.filter((_target, at) => wanted.has(all[at]?.key ?? ""));
}

/** Whether a channel that was found is the one of this row. */
function isSameChannel(
  row: Pick<AccountRow, "platform_account_id" | "id_server">,
  { platformAccountId, idServer = "" }: Target,
): boolean {
  return row.platform_account_id === platformAccountId && row.id_server === idServer;
}
