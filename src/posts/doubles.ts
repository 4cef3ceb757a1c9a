import { DAY, MINUTE, tellTime } from "../domain/time.ts";
import type { PostRow } from "../store/schema/tables.ts";
import type { Reader } from "../store/engine/store.ts";
import { findLiveText, findWaitingNear, findWaitingTwin } from "../store/queries/channel-posts.ts";
import { firstWords } from "../accounts/late-posts.ts";
import type { AppContext } from "../context.ts";

/** For so long a text on a channel is one that people have just read there. */
const REPETITION_MS = 30 * DAY;

interface Looked {
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
  { beside = [], isDone = false }: Looked = {},
): Promise<string[]> {
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
async function warnOfWaiting(reader: Reader, row: PostRow): Promise<string[]> {
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

type Timed = Pick<PostRow, "account_id" | "scheduled_at">;

/** Whether two posts go out on one channel at one minute. */
function isNeighbour(one: Timed, other: Timed): boolean {
  return one.account_id === other.account_id && minuteOf(one) === minuteOf(other);
}

function minuteOf({ scheduled_at: at }: Timed): number {
  return Math.floor(at / MINUTE);
}

export async function warnOfTwin(reader: Reader, row: PostRow): Promise<string[]> {
  const twin = await findWaitingTwin(reader, row);
  if (twin === null) return [];
  return [
    `The post ${twin} with the same account, media, caption and time is waiting already. Cancel one of them if that was not meant.`,
  ];
}

async function warnOfRepetition(ctx: AppContext, row: PostRow, isDone: boolean): Promise<string[]> {
  const since = ctx.clock.now() - REPETITION_MS;
  const live = await findLiveText(ctx.store, row, since);
  if (live === null) return [];
  const isOut = row.scheduled_at <= ctx.clock.now();
  const way = isDone
    ? isOut
      ? "Take this one down with cancel_post and fromPlatform"
      : "Cancel this one"
    : "Leave this one out";
  return [
    `The same text is live on this channel since ${tellTime(live.publishedAt, ctx.settings.timezone)} (post ${live.id}). ${way} if that was not meant.`,
  ];
}
