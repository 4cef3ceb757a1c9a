import { isPaused, reconnectSentence, whyHeld } from "../domain/accounts/account.ts";
import type { PlatformCapabilities } from "../domain/accounts/capabilities.ts";
import { channelInFull } from "../domain/accounts/channel-names.ts";
import { plural } from "../domain/text/plain-text.ts";
import { join, type Said, say } from "../domain/sentences.ts";
import { DAY, MINUTE, tellTime } from "../domain/time.ts";
import type { AnyPlatform } from "../ports/platform.ts";
import type { PostRow } from "../store/schema/tables.ts";
import type { Reader } from "../store/engine/store.ts";
import type { AccountRow } from "../store/queries/accounts.ts";
import { findLiveText, findWaitingNear, findWaitingTwin } from "../store/queries/channel-posts.ts";
import type { PostContentRow } from "../store/queries/posts.ts";
import { firstWords, tellKept, tellLimit } from "../channels/accounts/late-posts.ts";
import type { AppContext, CallContext } from "../context.ts";
import { isServerRunning } from "../publishing/at-work.ts";
import { warnOfQuotas } from "../publishing/quotas.ts";

/* What to say of a post that may be stored: nothing of it keeps the post back. */

/** Said of a post that may be meant for later, while there is still something to be done about it. */
export const NO_TIME_GIVEN =
  "It goes out at once, because no time was given. Give scheduledAt or slot if that was not meant.";

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
    ...warnOfReconnect(account),
    ...(account.paused === 1 ? [`${isPaused(account)} ${tellLimit(ctx.settings)}`] : []),
    ...warnOfAccess(ctx, account, at),
    ...warnOfKept(ctx, account, at),
    ...(await warnOfQuotas(ctx, account, { id, at, quotas: capabilities.quotas })),
    ...tellWhoPublishes(planned, ctx.clock.now()),
  ];
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
  const kept = whyHeld(account) === null ? tellKept(ctx, account, scheduledAt) : null;
  return kept === null ? [] : [kept];
}

/** What is on the platform before its time goes live there though nothing of ours may be running. */
function tellWhoPublishes({ platform, capabilities, row }: UnstoredPost, now: number): Said[] {
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
      `The access to ${channelInFull(account)} ends on ${tellTime(expires, settings.timezone)}, before this post goes out. Reconnect it before then.`,
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
    say(`It goes out at once, because no time was given: ${empty} came empty.`, {
      next: [{ do: "stop_if_not_meant" }],
    }),
  ];
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
}

/**
 * What waits or is live on the channel already and says the same as a post, which is new or to be changed: it is never
 * its own double.
 */
export async function warnOfDoubles(
  ctx: AppContext,
  row: PostRow,
  { beside = [], isDone = false }: DoublesOptions = {},
): Promise<Said[]> {
  const isTwin = (other: PostRow): boolean =>
    other.account_id === row.account_id && other.content_hash === row.content_hash;
  const twins = beside.some(isTwin)
    ? [
        "Another post of this call has the same account, media, caption and time. Leave one of them out if that was not meant.",
      ]
    : [];
  const isNow = row.scheduled_at <= ctx.clock.now();
  const near = isNow ? [] : beside.filter((other) => isNeighbour(row, other));
  const [neighbour] = twins.length > 0 ? [] : near;
  const neighbours =
    neighbour === undefined
      ? []
      : [
          `Another post of this call goes out on the same channel at the same minute: ${firstWords(neighbour)}. Give one of them another time if that was not meant.`,
        ];
  const waiting = isNow ? await warnOfTwin(ctx.store, row) : await warnOfWaiting(ctx.store, row);
  return [...twins, ...neighbours, ...waiting, ...(await warnOfRepetition(ctx, row, isDone))];
}

/** What waits on the channel and says the same, or has the same minute. */
async function warnOfWaiting(reader: Reader, row: PostRow): Promise<Said[]> {
  const twin = await warnOfTwin(reader, row);
  return twin.length > 0 ? twin : warnOfNeighbour(reader, row);
}

export async function warnOfNeighbour(reader: Reader, row: PostRow): Promise<string[]> {
  const from = minuteOf(row) * MINUTE;
  const other = await findWaitingNear(reader, row, { from, to: from + MINUTE - 1 });
  if (other === undefined) return [];
  return [
    `Another post waits on the same channel for the same minute: ${firstWords(other)}. Give one of them another time if that was not meant.`,
  ];
}

type PostTime = Pick<PostRow, "account_id" | "scheduled_at">;

/** Whether two posts go out on one channel at one minute. */
function isNeighbour(one: PostTime, other: PostTime): boolean {
  return one.account_id === other.account_id && minuteOf(one) === minuteOf(other);
}

function minuteOf({ scheduled_at: at }: PostTime): number {
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

async function warnOfRepetition(ctx: AppContext, row: PostRow, isDone: boolean): Promise<Said[]> {
  const since = ctx.clock.now() - REPETITION_MS;
  const live = await findLiveText(ctx.store, row, since);
  if (live === null) return [];
  const isOut = row.scheduled_at <= ctx.clock.now();
  const way = isDone ? (isOut ? "Take this one down" : "Cancel this one") : "Leave this one out";
  const at = tellTime(live.publishedAt, ctx.settings.timezone);
  const isOver = isDone && isOut;
  return [
    join(
      say(`The same text is live on this channel since ${at}.`, { next: [{ do: "read", postId: live.id }] }),
      say(`${way} if that was not meant.`, { next: isOver ? [{ do: "take_down", postId: row.id }] : [] }),
    ),
  ];
}
