import * as z from "zod";
import { parseUrl } from "../../domain/parse-url.ts";
import { SECOND } from "../../domain/time.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import { ask, listOf, REDDIT } from "./api.ts";
import { communityOf, type RedditPost } from "./metadata.ts";
import { bodyOf } from "./text.ts";

const Count = z.int().min(0).nullish().catch(null);

/** A post as it stands in lists. */
export const Entry = z.looseObject({
  name: z.string().regex(/^t3_\w+$/),
  subreddit: z.string(),
  title: z.string(),
  selftext: z.string().catch(""),
  url: z.string().catch(""),
  is_self: z.boolean().catch(false),
  created_utc: z.number(),
  permalink: z.string().catch(""),
  removed_by_category: z.string().nullish().catch(null),
  score: z.int().nullish().catch(null),
  num_comments: Count,
  view_count: Count,
});
export type Entry = z.infer<typeof Entry>;

/** A post that is there. */
export const Placed = z.object({ id: z.string(), url: z.string() });
export type Placed = z.infer<typeof Placed>;

const MAX_PAGES = 4;

/** Looks among the account's own posts, the newest first. */
export async function findPost(post: RedditPost, since: number, io: PlatformIo): Promise<Placed | null> {
  const path = `/user/${encodeURIComponent(io.account.handle ?? "")}/submitted`;
  let after: string | null | undefined;
  for (let page = 0; page < MAX_PAGES && after !== null; page += 1) {
    const query = { sort: "new", limit: 25, after };
    const { data } = await ask(io, { path, query }, listOf(Entry));
    const entries = data.children.map(({ data: entry }) => entry);
    const fresh = entries.filter(({ created_utc: at }) => at * SECOND >= since);
    const found = fresh.find((entry) => isSame(entry, post));
    if (found !== undefined) return { id: found.name, url: addressOf(found.permalink) };
    if (fresh.length < entries.length) return null;
    after = data.after ?? null;
  }
  return null;
}

function isSame(entry: Entry, post: RedditPost): boolean {
  const { link, title } = post.metadata;
  return (
    entry.subreddit.toLowerCase() === communityOf(post).toLowerCase() &&
    plain(entry.title) === plain(title) &&
    plain(entry.selftext) === plain(bodyOf(post)) &&
    (link === undefined || parseUrl(entry.url)?.href === new URL(link).href)
  );
}

function plain(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** Where people find it. */
export function addressOf(permalink: string): string {
  return REDDIT + (parseUrl(permalink, REDDIT)?.pathname ?? "");
}
