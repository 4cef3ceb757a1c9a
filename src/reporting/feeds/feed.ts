import type { Readable } from "node:stream";
import { AppError } from "../../domain/errors.ts";
import type { FeedItem, FeedMedia } from "../../ports/feed-storage.ts";
import { findFeedAccount, findFeedItem, listFeedItems } from "../../store/queries/feeds.ts";
import type { AppContext, GuestCall } from "../../context.ts";

const PAGE_SIZE = 50;

/** A page of a feed as its readers see it: only public entries, newest first. */
export interface FeedPage {
  readonly accountId: string;
  readonly title: string;
  readonly items: readonly FeedItem[];
  /** Give it back as `before` for the older entries; null on the last page. */
  readonly next: string | null;
}

/** Throws `not_found` for an account that has no feed and for a position that is none. */
export async function readFeed(
  { ctx }: GuestCall,
  { accountId, before }: { readonly accountId: string; readonly before: string | null },
): Promise<FeedPage> {
  const title = await readTitle(ctx, accountId);
  const [, at, id] = /^(\d{1,15})-(\w{1,64})$/.exec(before ?? "") ?? [];
  if (before !== null && (at === undefined || id === undefined)) throw nothingHere();
  const position = id === undefined ? null : { publishedAt: Number(at), id };
  const found = await listFeedItems(ctx.store, accountId, { limit: PAGE_SIZE + 1, before: position });
  const items = found.slice(0, PAGE_SIZE);
  const last = items.at(-1);
  return {
    accountId,
    title,
    items,
    next: found.length > PAGE_SIZE && last !== undefined ? `${last.publishedAt}-${last.id}` : null,
  };
}

/** One public entry. Throws `not_found` for one that waits for its time, was taken down, or never was. */
export async function readFeedItem(
  { ctx }: GuestCall,
  { accountId, itemId }: { readonly accountId: string; readonly itemId: string },
): Promise<{ title: string; item: FeedItem }> {
  const title = await readTitle(ctx, accountId);
  return { title, item: await findPublic(ctx, accountId, itemId) };
}

interface FeedMediaBody {
  readonly media: FeedMedia;
  /** The bytes `start` to `end`, inclusive; all of them without a range. */
  open(range?: { start: number; end: number }): Readable;
}

export const THUMBNAIL = "thumbnail";

/** A picture, video or sound of a public entry; `position` counts from 0, or is "thumbnail". */
export async function openFeedMedia(
  { ctx }: GuestCall,
  place: { accountId: string; itemId: string; position: string },
): Promise<FeedMediaBody> {
  const item = await findPublic(ctx, place.accountId, place.itemId);
  const media =
    place.position === THUMBNAIL
      ? item.thumbnail
      : /^\d{1,3}$/.test(place.position)
        ? item.media[Number(place.position)]
        : null;
  if (media === undefined || media === null || (await ctx.files.size(media.key)) === null)
    throw nothingHere();
  return { media, open: (range) => ctx.files.read(media.key, range) };
}

async function readTitle(ctx: AppContext, accountId: string): Promise<string> {
  const account = await findFeedAccount(ctx.store, accountId);
  if (account === null) throw nothingHere();
  return account.name;
}

async function findPublic(ctx: AppContext, accountId: string, id: string): Promise<FeedItem> {
  const item = await findFeedItem(ctx.store, accountId, id);
  if (item === null || !item.isPublic) throw nothingHere();
  return item;
}

function nothingHere(): AppError {
  return new AppError("not_found", "There is nothing at this address of the feed.");
}
