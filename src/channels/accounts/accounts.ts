import { type Account, type AccountStatus, atEarliest, isCut } from "../../domain/accounts/account.ts";
import { say } from "../../domain/sentences.ts";
import {
  foldName,
  isMistakable,
  nameChannels,
  type NamedChannel,
  namesFor,
  nearestChannelName,
  userNameOf,
} from "../../domain/accounts/channel-names.ts";
import { readPlan, type Schedule, type SlotPlan, type Utm } from "../../domain/accounts/schedule.ts";
import { showCapabilities } from "../../domain/accounts/capabilities.ts";
import { AppError } from "../../domain/errors.ts";
import { canReachAccount, type Caller } from "../../domain/permissions.ts";
import { didYouMean } from "../../domain/settings/nearest-name.ts";
import { DAY, formatTime, describeTry, toIso, toIsoOrNull } from "../../domain/time.ts";
import {
  findAccountRow,
  listAccountNames,
  listCountedAccounts,
  type AccountRow,
  listAccountRows,
} from "../../store/queries/accounts.ts";
import type { Reader } from "../../store/engine/store.ts";
import type { AppContext, CallContext } from "../../context.ts";
import { capabilitiesFor } from "../platform-io/connect-io.ts";
import { plainText, quote } from "../../domain/text/plain-text.ts";
import { inOne, keptUntil, whyItWaits } from "./late-posts.ts";

/** How long before its access ends an account asks for attention. */
export const EXPIRING_WITHIN_MS = 7 * DAY;

/** The accounts the caller may see, oldest first, or one of them. Throws `not_found` where that is none. */
export async function listAccounts(
  { ctx, caller }: CallContext,
  { accountId }: { readonly accountId?: string | undefined } = {},
): Promise<{ accounts: Account[] }> {
  const wanted = accountId === undefined ? null : (await findAccount(ctx, caller, accountId)).id;
  const rows = await listCountedAccounts(ctx.store, caller.ownerId);
  const visible = rows.filter(({ id }) => canReachAccount(caller, id) && (wanted === null || id === wanted));
  return { accounts: visible.map((row) => toAccount(ctx, row, row.queued)) };
}

/** What the channels that the caller may see are called, by their ids: see `nameChannels`. */
export async function namesOfAccounts({
  ctx,
  caller,
}: Pick<CallContext, "ctx" | "caller">): Promise<ReadonlyMap<string, string>> {
  const channels = await listAccountNames(ctx.store, caller.ownerId);
  return namesAmong(
    ctx,
    channels.filter(({ id }) => canReachAccount(caller, id)),
  );
}

/** Where posts with these ids of channels go, of those whose name alone means another channel, too. */
export async function describeNamesakes(
  { ctx, caller }: Pick<CallContext, "ctx" | "caller">,
  accountIds: readonly string[],
): Promise<string[]> {
  const channels = (await listAccountNames(ctx.store, caller.ownerId)).filter(({ id }) =>
    canReachAccount(caller, id),
  );
  const names = namesAmong(ctx, channels);
  return channels.flatMap(({ id, name, handle }) => {
    const called = names.get(id) ?? name;
    if (called === name || !accountIds.includes(id)) return [];
    const isName = channels.some((other) => other.id !== id && foldName(other.name) === foldName(name));
    if (isName && handle === null) return [];
    const has = isName ? "has that name" : `has the handle ${quote(name)}`;
    return [`It goes to ${plainText(called, MAX_NAME)}. Another channel ${has}, too.`];
  });
}

/** That a name alone does not mean this channel any more. Null: no other one has it as its name or handle. */
export async function describeNamesake(
  ctx: Pick<AppContext, "platforms">,
  reader: Reader,
  { owner_id, ...own }: NamedChannel & { readonly owner_id: string },
  isSeen: (id: string) => boolean = () => true,
): Promise<string | null> {
  const channels = (await listAccountNames(reader, owner_id)).filter(({ id }) => isSeen(id));
  const other = channels.find((one) => one.id !== own.id && isMistakable(own, one));
  if (other === undefined) return null;
  const names = namesAmong(ctx, channels);
  const [called, others] = [own, other].map(({ id, name }) => plainText(names.get(id) ?? name, MAX_NAME));
  if (foldName(other.name) === foldName(own.name))
    return `Another channel is called ${quote(own.name)}, too, so this one is called "${called}" here. It can be given another name.`;
  return `The name of one channel is the handle of another one: ${own.name}${own.handle === null ? "" : ` (${own.handle})`} and ${other.name}${other.handle === null ? "" : ` (${other.handle})`}. So this one is called "${called}" here, and that one "${others}". One can be given another name.`;
}

/** What these are called beside each other. */
export function namesAmong(
  ctx: Pick<AppContext, "platforms">,
  channels: readonly NamedChannel[],
): ReadonlyMap<string, string> {
  return nameChannels(channels, (provider) => titleOf(ctx, provider));
}

/** Its name, its title, and what else people call it. */
function wordsOfPlatform(ctx: Pick<AppContext, "platforms">, provider: string): string[] {
  return [provider, titleOf(ctx, provider), ...(ctx.platforms.get(provider)?.aliases ?? [])];
}

function titleOf({ platforms }: Pick<AppContext, "platforms">, provider: string): string {
  return platforms.get(provider)?.title ?? provider;
}

/**
 * The row of an account the caller may use: by its id, or by the channel's name, handle or platform where that
 * means one. `field`: where it stands in the arguments. `isReconnected`: as in `findChannel`. Throws `not_found` for every other text, and `invalid` where
 * several may be meant.
 */
export async function findAccount(
  ctx: AppContext,
  caller: Caller,
  id: string,
  field = "accountId",
  isReconnected = false,
): Promise<AccountRow> {
  if (!isAccountId(id)) return findMeantAccount(ctx, caller, { wanted: id, field, isReconnected });
  const row = canReachAccount(caller, id) ? await findAccountRow(ctx.store, caller.ownerId, id) : undefined;
  if (row === undefined) {
    throw new AppError(
      "not_found",
      say(`there is no account ${quote(id)}.`, { field, next: [{ do: "list", of: "accounts" }] }),
    );
  }
  return row;
}

/** The account with its count of waiting posts. */
export async function showAccount(ctx: AppContext, reader: Reader, row: AccountRow): Promise<Account> {
  const [counted] = await listCountedAccounts(reader, row.owner_id, row.id);
  return toAccount(ctx, row, counted?.queued ?? 0);
}

/** What `toAccount` shows of a row. */
export type ShownAccount = Pick<
  AccountRow,
  | "id"
  | "provider"
  | "name"
  | "handle"
  | "platform_account_id"
  | "profile_url"
  | "avatar_url"
  | "status"
  | "status_reason"
  | "token_expires_at"
  | "scopes"
  | "last_published_at"
  | "created_at"
  | "updated_at"
> &
  // Events of before do not hold them, and an account that must be reconnected needs no date.
  Partial<
    Pick<
      AccountRow,
      | "settings"
      | "limits"
      | "access_ends_at"
      | "schedule"
      | "paused"
      | "utm"
      | "next_allowed_at"
      | "wait_cause"
    >
  >;

/** A row as every face shows it: field by field, so that nothing secret can slip through. */
export function toAccount(ctx: AppContext, row: ShownAccount, queuedCount: number): Account {
  const { status, reason } = healthOf(ctx, row);
  return {
    id: row.id,
    provider: row.provider,
    name: row.name,
    handle: row.handle,
    platformAccountId: row.platform_account_id,
    profileUrl: row.profile_url,
    avatarUrl: row.avatar_url,
    status,
    statusReason: inOne(reason, describeSlowed(ctx, row)),
    tokenExpiresAt: toIsoOrNull(row.token_expires_at),
    scopes: JSON.parse(row.scopes) as string[],
    schedule: readSchedule(ctx, row),
    utm: readUtm(row),
    capabilities: showCapabilities(
      capabilitiesFor(ctx, { ...row, settings: row.settings ?? "{}", limits: row.limits ?? "{}" }, null),
      ctx.platforms.get(row.provider)?.remove !== undefined,
    ),
    queuedCount,
    lastPublishedAt: toIsoOrNull(row.last_published_at),
    createdAt: toIso(row.created_at),
    updatedAt: toIso(row.updated_at),
  };
}

/** Of a channel that can be used, and that its platform asked to wait. Null: it did not. */
function describeSlowed(ctx: AppContext, row: ShownAccount): string | null {
  const { paused = 0, wait_cause: cause = null } = row;
  const until = keptUntil(ctx, row, 0);
  if (until === null || cause !== "rate_limit" || paused === 1 || isCut(row)) return null;
  const when = describeTry(until, { now: ctx.clock.now(), ...ctx.settings });
  const why = whyItWaits(ctx, { provider: row.provider, wait_cause: cause }) ?? null;
  return inOne(why, atEarliest("The next one goes out", when));
}

/** Its slots and whether it is paused. Null: neither. */
export function readSchedule(
  { settings }: Pick<AppContext, "settings">,
  { schedule = null, paused = 0 }: Partial<Pick<AccountRow, "schedule" | "paused">>,
): Schedule | null {
  if (schedule === null && paused === 0) return null;
  const none: SlotPlan = { timezone: settings.timezone, slots: [], minGapMinutes: 0 };
  const { timezone, slots, minGapMinutes } = schedule === null ? none : readPlan(schedule);
  return { timezone, slots, minGapMinutes, paused: paused === 1 };
}

export function readUtm({ utm = null }: Partial<Pick<AccountRow, "utm">>): Utm | null {
  return utm === null ? null : (JSON.parse(utm) as Utm);
}

function healthOf(ctx: AppContext, row: ShownAccount): { status: AccountStatus; reason: string | null } {
  const platform = ctx.platforms.get(row.provider);
  if (platform === undefined && row.status !== "disconnected") {
    return {
      status: "reconnect_required",
      reason: `This version of Posthorn does not know the platform "${row.provider}".`,
    };
  }
  const endsAt = row.access_ends_at ?? null;
  if (row.status !== "connected" || endsAt === null || endsAt - ctx.clock.now() > EXPIRING_WITHIN_MS)
    return { status: row.status, reason: row.status_reason };
  return {
    status: "expiring",
    reason: `Its access ends on ${formatTime(endsAt, ctx.settings.timezone)}. Reconnect it before then.`,
  };
}

const MAX_NAMED = 10;
const MAX_NEAR = 3;
const MAX_NAME = 100;

/** What a channel is known by. */
export interface Channel extends NamedChannel {
  readonly status: AccountStatus;
}

/** A text that begins like an id is meant as one, also where no account has it. */
export function isAccountId(text: string): boolean {
  return text.startsWith("acc_");
}

/** How a channel was named. */
interface Meant {
  readonly wanted: string;
  /** Where it was given. */
  readonly field: string;
  /** It is to be connected again: of several, the only one without access is meant. */
  readonly isReconnected?: boolean;
}

/**
 * The channel that a text means: by its id, else by what `nameChannels` calls it, else by its name, its handle or the
 * user in that, else by its platform, where that is one channel. What begins with `@` is a handle. One that is disconnected counts as the
 * others do: what was meant for it does not go to another one of its name. Throws `invalid` that names all that may
 * be meant where several may, and `not_found` where none is, with those there are.
 */
export function findChannel<T extends Channel>(
  ctx: Pick<AppContext, "platforms">,
  channels: readonly T[],
  { wanted, field, isReconnected = false }: Meant,
): T {
  const names = namesAmong(ctx, channels);
  const word = foldName(wanted);
  const isWord = (text: string | null): boolean => word !== "" && foldName(text ?? "") === word;
  const isExact = channels.some(({ handle }) => isWord(handle));
  const isHandle = ({ handle }: T): boolean => isWord(isExact ? handle : userNameOf(handle));
  const called = (channel: T): string[] => wordsFor(ctx, channel);
  const ways: readonly ((channel: T) => boolean)[] = wanted.trim().startsWith("@")
    ? [isHandle, (channel) => called(channel).some((one) => one.startsWith("@") && isWord(one))]
    : [
        ({ id }) => id === wanted,
        ({ id }) => isWord(names.get(id) ?? ""),
        (channel) => called(channel).some(isWord) || isHandle(channel),
        ({ provider }) => wordsOfPlatform(ctx, provider).some(isWord),
      ];
  for (const isMeant of ways) {
    const found = channels.filter(isMeant);
    const lost = isReconnected ? found.filter(isCut) : [];
    const [one, ...others] = lost.length === 1 ? lost : found;
    if (one !== undefined && others.length === 0) return one;
    if (one !== undefined)
      throw new AppError(
        "invalid",
        `${field}: ${quote(wanted)} may be any of ${found.map((each) => describe(each, names)).join(", ")}. Give one of these names, or the id.`,
      );
  }
  throw new AppError(
    "not_found",
    `${field}: there is no channel ${quote(wanted)}.${sayNearest(ctx, channels, { word, names })}`,
  );
}

/** All that one channel may be called. */
function wordsFor(ctx: Pick<AppContext, "platforms">, channel: Channel): string[] {
  const { provider, handle } = channel;
  return [
    ...namesFor(channel, titleOf(ctx, provider)),
    ...namesFor(channel, provider),
    ...(handle === null ? [] : [handle]),
  ];
}

/** The channels, the nearest first. A name that several have would be refused, so that of each is told which is its own. */
function sayNearest(
  ctx: Pick<AppContext, "platforms">,
  channels: readonly Channel[],
  { word, names }: { readonly word: string; readonly names: ReadonlyMap<string, string> },
): string {
  const wordsOf = (channel: Channel): string[] => [
    ...wordsFor(ctx, channel),
    channel.provider,
    userNameOf(channel.handle) ?? channel.name,
  ];
  const near = nearestChannelName(word, connected(channels).flatMap(wordsOf));
  if (near === null) return ` ${sayChannels(ctx, channels)}`;
  const meant = channels.filter((channel) =>
    wordsOf(channel).some((one) => foldName(one) === foldName(near)),
  );
  const all = sayChannels(ctx, [...meant, ...channels.filter((channel) => !meant.includes(channel))]);
  if (meant.length === 1) return ` ${didYouMean(quote(near))} ${all}`;
  const own = meant
    .slice(0, MAX_NEAR)
    .map(({ id, name }) => `"${plainText(names.get(id) ?? name, MAX_NAME)}"`);
  return ` ${didYouMean(own.join(" or "))} ${all}`;
}

/** The same among the caller's channels, by a text that is no id. */
async function findMeantAccount(ctx: AppContext, caller: Caller, meant: Meant): Promise<AccountRow> {
  const rows = await listAccountRows(ctx.store, caller.ownerId);
  const reachable = rows.filter(({ id }) => canReachAccount(caller, id));
  return findChannel(ctx, reachable, meant);
}

/**
 * Accounts that a list is narrowed to, as ids: one that no account has matches nothing. Throws `invalid` for
 * any other text that means no channel, or several.
 */
export async function meantAccountIds(
  ctx: AppContext,
  caller: Caller,
  wanted: readonly string[],
): Promise<string[]> {
  const ids: string[] = [];
  for (const text of wanted) {
    if (isAccountId(text)) ids.push(text);
    else {
      const found = await findMeantAccount(ctx, caller, { wanted: text, field: "accountId" }).catch(
        (error: unknown) => {
          // Of a filter it is the form that is wrong: nothing was looked up by it yet.
          if (!(error instanceof AppError) || error.kind !== "not_found") throw error;
          throw new AppError("invalid", error.message);
        },
      );
      ids.push(found.id);
    }
  }
  return ids;
}

/** The channels to choose from, as a sentence. */
export function sayChannels(ctx: Pick<AppContext, "platforms">, channels: readonly Channel[]): string {
  const usable = connected(channels);
  if (usable.length === 0) return "No channel is connected yet. Connect one first.";
  const names = namesAmong(ctx, channels);
  const named = usable.slice(0, MAX_NAMED).map((channel) => describe(channel, names));
  const more = usable.length > MAX_NAMED ? ` and ${usable.length - MAX_NAMED} more` : "";
  return `The channels are ${named.join(", ")}${more}. Give a name, handle or id, or a platform that has one channel.`;
}

function connected<T extends Channel>(channels: readonly T[]): T[] {
  return channels.filter(({ status }) => status !== "disconnected");
}

function describe(
  { id, name, handle, provider, status }: Channel,
  names: ReadonlyMap<string, string>,
): string {
  const called = names.get(id) ?? name;
  const isTold = handle === null || foldName(handle) === foldName(name) || called.includes(handle);
  const state = status === "disconnected" ? ", disconnected" : "";
  // A name that is told from others has its platform.
  const parts = [called === name ? provider : null, isTold ? null : plainText(handle, MAX_NAME), id];
  return `"${plainText(called, MAX_NAME)}" (${parts.filter((part) => part !== null).join(", ")}${state})`;
}
