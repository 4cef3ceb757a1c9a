import { DAY, tellTime } from "../domain/time.ts";
import type { PostRow } from "../store/schema/tables.ts";
import type { Reader } from "../store/engine/store.ts";
import { findLiveText, findWaitingTwin } from "../store/queries/channel-posts.ts";
import type { AppContext } from "../context.ts";

/** For so long a text on a channel is one that people have just read there. */
const REPETITION_MS = 30 * DAY;

/**
 * What waits or is live on the channel already and says the same as a post, which is new or to be changed: it is never
 * its own double. `beside`: posts of the same call that are not stored yet.
 */
export async function warnOfDoubles(
  ctx: AppContext,
  row: PostRow,
  beside: readonly PostRow[] = [],
): Promise<string[]> {
  const isTwin = (other: PostRow): boolean =>
    other.account_id === row.account_id && other.content_hash === row.content_hash;
  const twins = beside.some(isTwin)
    ? [
        "Another post of this call has the same account, media, caption and time. Leave one of them out if that was not meant.",
      ]
    : [];
  return [...twins, ...(await warnOfTwin(ctx.store, row)), ...(await warnOfRepetition(ctx, row))];
}

export async function warnOfTwin(reader: Reader, row: PostRow): Promise<string[]> {
  const twin = await findWaitingTwin(reader, row);
  if (twin === null) return [];
  return [
    `The post ${twin} with the same account, media, caption and time is waiting already. Cancel one of them if that was not meant.`,
  ];
}

async function warnOfRepetition(ctx: AppContext, row: PostRow): Promise<string[]> {
  const since = ctx.clock.now() - REPETITION_MS;
  const live = await findLiveText(ctx.store, row, since);
  if (live === null) return [];
  return [
    `The same text is live on this channel since ${tellTime(live.publishedAt, ctx.settings.timezone)} (post ${live.id}). Leave this one out if that was not meant.`,
  ];
}
