import { firstWords } from "../accounts/late-posts.ts";
import { namesOfAccounts } from "../accounts/accounts.ts";
import type { CallContext } from "../context.ts";
import { meantBound } from "../domain/arguments/spoken-times.ts";
import { plainText, plural } from "../domain/plain-text.ts";
import type { PostsChange } from "../domain/posts/post-body.ts";
import type { Post } from "../domain/posts/post.ts";
import { parseBound, tellTime } from "../domain/time.ts";
import type { Planned } from "./change-posts.ts";
import { listLatePosts, listPosts } from "./list-posts.ts";

/*
 * Who empties a time of posts is told of those that may appear in it all the same.
 */

/** So many are named. */
const MAX_NAMED = 3;
const MAX_NAME = 100;
const MAX_POSTS = 100;

/** Moved posts whose new time is still within the time that was asked for. */
export function tellStaying(
  { ctx }: Pick<CallContext, "ctx">,
  { ids, from, to }: PostsChange,
  planned: readonly Planned[],
): string[] {
  if (ids !== undefined || to === undefined) return [];
  const { timezone } = ctx.settings;
  const meant = meantBound({ now: ctx.clock.now(), timezone });
  const first = from === undefined ? -Infinity : parseBound("from", from, timezone, false, meant);
  const last = parseBound("to", to, timezone, true, meant);
  const named = planned.flatMap(({ row, scheduledAt: at }) =>
    at === null || at < first || at > last
      ? []
      : [`${firstWords(row)} (${row.id}), now due on ${tellTime(at, timezone)}`],
  );
  if (named.length === 0) return [];
  const goes = named.length === 1 ? "goes" : "go";
  return [`${plural(named.length, "moved post")} still ${goes} out within from and to: ${inAList(named)}.`];
}

/** Posts that fit and that no change reaches: they are on their way, or on the platform until their time. */
export async function tellOnTheWay(call: CallContext, input: PostsChange): Promise<string[]> {
  const { ids, accountId, label, from, to } = input;
  if (ids !== undefined) return [];
  const filter = { accountId, label, from, to, status: ["publishing" as const, "uploaded" as const] };
  const { posts } = await listPosts(call, { ...filter, limit: MAX_POSTS });
  const late = await listLatePosts(call, filter);
  const found = [...new Map([...late, ...posts].map((post) => [post.id, post])).values()];
  if (found.length === 0) return [];
  const names = await namesOfAccounts(call);
  const named = found.map((post) => nameOnTheWay(post, names.get(post.accountId) ?? post.accountId));
  const which = found.length === 1 ? "1 post is" : `${found.length} posts are`;
  const one = found.length === 1 ? "It" : "Each";
  return [
    `${which} under way and not changed by this, and may go out, or be out already: ${inAList(named)}. ${one} can be read with get_post.`,
  ];
}

function nameOnTheWay({ id, status, caption, mediaUrl }: Post, channel: string): string {
  const where = status === "uploaded" ? ", which is on the platform until its time" : "";
  return `${firstWords({ caption, media_url: mediaUrl })} on ${plainText(channel, MAX_NAME)} (${id})${where}`;
}

function inAList(named: readonly string[]): string {
  const more = named.length > MAX_NAMED ? `; and ${named.length - MAX_NAMED} more` : "";
  return `${named.slice(0, MAX_NAMED).join("; ")}${more}`;
}
