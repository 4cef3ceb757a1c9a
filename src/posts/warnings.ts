import { isPaused, reconnectSentence, whyHeld } from "../domain/accounts/account.ts";
import type { PlatformCapabilities } from "../domain/accounts/capabilities.ts";
import { channelInFull } from "../domain/accounts/channel-names.ts";
import { plural } from "../domain/text/plain-text.ts";
import { join, type Said, say } from "../domain/sentences.ts";
import { DAY, MINUTE, formatTime } from "../domain/time.ts";
import type { AnyPlatform } from "../ports/platform.ts";
import type { PostRow } from "../store/schema/tables.ts";
import type { Reader } from "../store/engine/store.ts";
import { type AccountRow, findAccountRow } from "../store/queries/accounts.ts";
import {
  findWaitingNear,
  findWaitingTwin,
  listSameText,
  type SamePost,
} from "../store/queries/channel-posts.ts";
import { type DraftTexts, listDraftTexts } from "../store/queries/drafts.ts";
import type { PostContentRow } from "../store/queries/posts.ts";
import { firstWords, describeKept, describeLimit } from "../channels/accounts/late-posts.ts";
import type { AppContext, CallContext } from "../context.ts";
import { isServerRunning } from "../publishing/at-work.ts";
import { warnOfQuotas } from "../publishing/quotas.ts";

/* What to say of a post that may be stored: nothing of it keeps the post back. */

/** Begins what is said of a post without a time. */
export const AT_ONCE = "It goes out at once, because no time was given";

/** Said of a post that may be meant for later, while there is still something to be done about it. */
export const NO_TIME_GIVEN = `${AT_ONCE}. Give scheduledAt or slot if that was not meant.`;

/** A post on its channel, which is not stored yet. */
interface UnstoredPost {
  readonly account: AccountRow;
  readonly platform: AnyPlatform;
  readonly capabilities: PlatformCapabilities;
  readonly row: PostContentRow;
  /** Of a post that is there. Null: of a new one. */
  readonly id: string | null;
}

/** What its channel, or its platform, will do with it. */
export async function warnOfChannel(ctx: AppContext, planned: UnstoredPost): Promise<Said[]> {
  const { account, capabilities, row, id } = planned;
  const { scheduled_at: at } = row;
  return [
    ...warnOfHeld(ctx, account),
    ...warnOfAccess(ctx, account, at),
    ...warnOfKept(ctx, account, at),
    ...(await warnOfQuotas(ctx, account, { id, at, quotas: capabilities.quotas })),
    ...describeWhoPublishes(planned, ctx.clock.now()),
  ];
}

/** Of a channel that a person holds back, or has to reconnect. */
export function warnOfHeld({ settings }: AppContext, account: AccountRow): Said[] {
  const paused = account.paused === 1 ? [`${isPaused(account)} ${describeLimit(settings)}`] : [];
  return [...warnOfReconnect(account), ...paused];
}

const UNTIL_THEN: Readonly<Partial<Record<AccountRow["status"], string>>> = {
  reconnect_required: "Until then the post waits.",
  disconnected: "Until then it takes no post.",
};

function warnOfReconnect(account: AccountRow): Said[] {
  const until = UNTIL_THEN[account.status];
  return until === undefined ? [] : [join(reconnectSentence(account, account.status_reason), until)];
}

/** Of a channel that waits longer than until the post's time. One that a person holds back tells that. */
export function warnOfKept(ctx: AppContext, account: AccountRow, scheduledAt: number): string[] {
  const kept = whyHeld(account) === null ? describeKept(ctx, account, scheduledAt) : null;
  return kept === null ? [] : [kept];
}

/** What is on the platform before its time goes live there though nothing of ours may be running. */
function describeWhoPublishes({ platform, capabilities, row }: UnstoredPost, now: number): Said[] {
  const leadMinutes = (row.scheduled_at - row.due_at) / MINUTE;
  if (capabilities.scheduling !== "platform" || leadMinutes === 0 || row.scheduled_at <= now) return [];
  return [
    say(
      `From ${plural(leadMinutes, "minute")} before its time it is on ${platform.title}, still private. ${platform.title} publishes it by itself, even while Posthorn does not run.`,
      { next: [{ do: "take_down", postId: null }] },
    ),
  ];
}

/** What to say of a channel whose access is over by then. */
export function warnOfAccess({ settings }: AppContext, account: AccountRow, scheduledAt: number): Said[] {
  const expires = account.access_ends_at;
  if (expires === null || expires > scheduledAt) return [];
  return [
    say(
      `The access to ${channelInFull(account)} ends on ${formatTime(expires, settings.timezone)}, before this post goes out. Reconnect it before then.`,
      { next: [{ do: "reconnect", provider: account.provider, accountId: account.id }] },
    ),
  ];
}

/** What tells when a post goes out. */
const WHEN = ["scheduledAt", "slot"];

/**
 * Of a post that goes out at once, which may have been meant for later: its time was forgotten or overlooked easily, or
 * was thought of and came empty.
 */
export function warnOfNow(
  { leftEmpty = [] }: CallContext,
  how: { readonly isTimed: boolean; readonly isShown: boolean; readonly isDone: boolean },
): Said[] {
  const { isTimed, isShown, isDone } = how;
  if (isTimed) return [];
  if (isShown || !isDone) return isShown ? [NO_TIME_GIVEN] : [];
  const empty = WHEN.filter((field) => leftEmpty.includes(field)).join(", ");
  if (empty === "") return [];
  return [
    say(`${AT_ONCE}: ${empty} came empty.`, {
      next: [{ do: "stop_if_not_meant" }],
    }),
  ];
}

/** Who gave an empty dry run may have meant one. Told once the call is done. */
export function warnOfDone({ leftEmpty = [] }: CallContext): string[] {
  return leftEmpty.includes("dryRun")
    ? ["dryRun came empty, which counts as left out, so this was done."]
    : [];
}

const OVER_STDIO = "while this client is open";
const AT_SHELL = "if one, or an agent's client with Posthorn, is open";

/** Over stdio the publisher lives as long as the client: posts for later need a server that stays. */
export async function warnOfSilence({ ctx, caller }: CallContext, times: readonly number[]): Promise<Said[]> {
  const later = times.filter((at) => at > ctx.clock.now());
  if (!caller.isLocal || later.length === 0 || (await isServerRunning(ctx))) return [];
  const when = caller.isAtShell === true ? AT_SHELL : OVER_STDIO;
  const goes =
    times.length === 1
      ? `this post goes out only ${when} at that time`
      : `posts go out only ${when} at their time`;
  return [
    say(`No Posthorn server is running on this data folder, so ${goes}.`, {
      next: [{ do: "run", command: "serve", of: null }],
    }),
  ];
}

/** For so long a text on a channel is one that people have just read there. */
const REPETITION_MS = 30 * DAY;

interface DoublesOptions {
  /** Posts of the same call that are not stored yet. Default: none. */
  readonly beside?: readonly PostRow[];
  /** The call itself schedules the post, so that the warning comes when that is done. Default: it only looks. */
  readonly isDone?: boolean;
  /** The draft that it is made of, which is no double of itself. */
  readonly draftId?: string | null | undefined;
  /** Its text as it was given, before anything was added to links. Default: as it goes out. */
  readonly text?: string | null | undefined;
  /** Default: they are read. */
  readonly drafts?: readonly DraftTexts[] | undefined;
}

/**
 * What is or may be out on the channel, waits there or is drafted for it, and says the same as a post, which is new or
 * to be changed: it is never its own double.
 */
export async function warnOfDoubles(
  ctx: AppContext,
  row: PostRow,
  options: DoublesOptions = {},
): Promise<Said[]> {
  const { isDone = false } = options;
  const isNow = row.scheduled_at <= ctx.clock.now();
  const waiting = isNow ? await warnOfTwin(ctx.store, row) : await warnOfWaiting(ctx.store, row);
  return [
    ...warnOfBeside(ctx, row, options),
    ...waiting,
    ...(await warnOfSameText(ctx, row, { isDone })),
    ...(await warnOfDrafts(ctx, row, options)),
  ];
}

/** Of those of the same call. */
function warnOfBeside(
  ctx: AppContext,
  row: PostRow,
  { beside = [], isDone = false }: DoublesOptions,
): string[] {
  const own = beside.filter((other) => other.account_id === row.account_id);
  const way = isDone ? "Cancel" : "Leave";
  const out = `${way} one of them${isDone ? "" : " out"} if that was not meant.`;
  if (own.some((other) => other.content_hash === row.content_hash))
    return [`Another post of this call has the same account, media, caption and time. ${out}`];
  const isNow = row.scheduled_at <= ctx.clock.now();
  const neighbour = isNow ? undefined : own.find((other) => minuteOf(other) === minuteOf(row));
  const text = sameTextOf(row);
  const same = own.find((other) => text !== "" && sameTextOf(other) === text && isSoonAgain(other, row));
  return [
    ...(same === undefined
      ? []
      : [
          `Another post of this call says the same on the same channel, on ${formatTime(same.scheduled_at, ctx.settings.timezone)}. ${out}`,
        ]),
    ...(neighbour === undefined
      ? []
      : [
          `Another post of this call goes out on the same channel at the same minute: ${firstWords(neighbour)}. Give one of them another time if that was not meant.`,
        ]),
  ];
}

/** What two posts of a channel say alike: their text, or without one their media. */
export function sameTextOf({ caption, media_url: mediaUrl }: PostRow): string {
  return caption?.trim().normalize("NFC") || mediaUrl;
}

/** Whether two posts are so near to each other that the second is a repetition. */
export function isSoonAgain(one: PostRow, other: PostRow): boolean {
  return Math.abs(one.scheduled_at - other.scheduled_at) <= REPETITION_MS;
}

/** What waits on the channel and says the same, or has the same minute. */
async function warnOfWaiting(reader: Reader, row: PostRow): Promise<Said[]> {
  const twin = await warnOfTwin(reader, row);
  return twin.length > 0 ? twin : warnOfNeighbour(reader, row);
}

/** `told`: the pairs that were told of, each once. */
export async function warnOfNeighbour(
  reader: Reader,
  row: PostRow,
  told: Set<string> = new Set(),
): Promise<string[]> {
  const from = minuteOf(row) * MINUTE;
  const other = await findWaitingNear(reader, row, { from, to: from + MINUTE - 1 });
  const pair = [row.id, other?.id].toSorted().join(" ");
  if (other === undefined || told.has(pair)) return [];
  told.add(pair);
  return [
    `Another post waits on the same channel for the same minute: ${firstWords(other)}. Give one of them another time if that was not meant.`,
  ];
}

function minuteOf({ scheduled_at: at }: Pick<PostRow, "scheduled_at">): number {
  return Math.floor(at / MINUTE);
}

export async function warnOfTwin(reader: Reader, row: PostRow): Promise<Said[]> {
  const twin = await findWaitingTwin(reader, row);
  if (twin === null) return [];
  return [
    join(
      say("A post with the same account, media, caption and time is waiting already.", {
        next: [{ do: "read", postId: twin }],
      }),
      "Cancel one of them if that was not meant.",
    ),
  ];
}

interface SameTextOptions extends Pick<DoublesOptions, "isDone"> {
  /** Whether such a post is worth a word. Default: each is. */
  readonly isTold?: (post: SamePost) => boolean;
  /** What is done if it was not meant. Default: what undoes the call. */
  readonly way?: string;
}

export async function warnOfSameText(
  { clock, settings, store: reader }: Pick<AppContext, "clock" | "settings"> & { readonly store: Reader },
  row: PostRow,
  { isDone = false, isTold, way }: SameTextOptions = {},
): Promise<Said[]> {
  const now = clock.now();
  const found = await listSameText(reader, row, { now, ms: REPETITION_MS });
  const [other] = isTold === undefined ? found : found.filter(isTold);
  if (other === undefined) return [];
  const account = await findAccountRow(reader, row.owner_id, row.account_id);
  const isOut = row.scheduled_at <= now && (account === undefined || whyHeld(account) === null);
  const usual = isDone ? (isOut ? "Take this one down" : "Cancel this one") : "Leave this one out";
  const what = (row.caption ?? "").trim() === "" ? "The same media" : "The same text";
  const state = describeSame(other, { now, timezone: settings.timezone });
  return [
    join(
      say(`${what} ${state}.`, { next: [{ do: "read", postId: other.id }] }),
      say(`${way ?? usual} if that was not meant.`, {
        next: isDone && isOut ? [{ do: "take_down", postId: row.id }] : [],
      }),
    ),
  ];
}

/** Where a post stands that says the same, for "The same text …". */
function describeSame(
  post: SamePost,
  { now, timezone }: { readonly now: number; readonly timezone: string },
): string {
  const at = formatTime(post.published_at ?? post.scheduled_at, timezone);
  if (post.status === "published") return `is live on this channel since ${at}`;
  if (post.in_doubt === 1) return "was sent on this channel, and it is not known whether it is out";
  if (post.status === "publishing") return "is under way on this channel, and may be out already";
  if (post.status === "uploaded") return `is on the platform of this channel, and goes live on ${at}`;
  if (post.status === "failed")
    return `was to go out on this channel on ${at}, failed, and can be sent again`;
  return post.scheduled_at <= now ? "is about to go out on this channel" : `waits on this channel for ${at}`;
}

/** Of drafts that a person may still approve. */
async function warnOfDrafts(
  { store }: AppContext,
  row: PostRow,
  { isDone = false, draftId, text: given, drafts }: DoublesOptions,
): Promise<Said[]> {
  const text = ((given === undefined ? row.caption : given) ?? "").trim().normalize("NFC");
  if (text === "") return [];
  const other = (drafts ?? (await listDraftTexts(store, row.owner_id))).find(
    ({ id, texts }) =>
      id !== draftId && texts.some((one) => one.accountId === row.account_id && one.text === text),
  );
  if (other === undefined) return [];
  const state = other.state === "waiting" ? "waits for a decision" : "is being written";
  return [
    say(
      `A draft with the same text for this channel ${state}: both go out if it is approved.${isDone ? "" : " Leave one of them out if that was not meant."}`,
      { next: [{ do: "read_draft", revision: null, draftId: other.id }] },
    ),
  ];
}
