import type { Post } from "../../../src/domain/posts/post.ts";
import type { Message } from "../../ui/message.ts";

/** A post that was sent at once, as a draft or a post shows it. */
export type SentPost = Pick<Post, "id" | "accountId" | "status" | "scheduledAt" | "platformUrl" | "error">;

type ChannelNames = (accountId: string) => string;

export function isOver({ status }: Pick<Post, "status">): boolean {
  return status === "published" || status === "failed" || status === "cancelled";
}

/** Whether all that are not over wait for something that is known. */
export function isHeld(posts: readonly SentPost[]): boolean {
  const waiting = posts.filter((post) => !isOver(post));
  return waiting.length > 0 && waiting.every(({ error }) => error !== null);
}

/** What became of posts that were sent together. `isShown`: asked whenever the message is drawn. */
export function outcomeMessage(
  posts: readonly SentPost[],
  channelName: ChannelNames,
  isShown: (room: "plan" | "trouble") => boolean,
  isAgain = false,
): Message {
  const failed = posts.filter(({ status }) => status === "failed");
  if (failed.length > 0) {
    const rest = othersInWords(posts, channelName, false);
    return {
      text: [isAgain ? refusedAgain(failed, channelName) : notOut(failed, channelName), ...rest].join(" "),
      isBad: true,
      // Why, and what to do, is said there.
      link: { text: "See problems", href: "/app/trouble", isShown: () => isShown("trouble") },
    };
  }
  const [first] = posts;
  const href = first === undefined ? "/app/plan" : addressOf(first);
  const link = { text: "Show in plan", href, isShown: () => isShown("plan") };
  if (posts.some((post) => !isOver(post)))
    return { text: othersInWords(posts, channelName, true).join(" "), link };
  const url = posts.length === 1 ? (first?.platformUrl ?? null) : null;
  const isSeen = url !== null && /^https?:/.test(url);
  return {
    text: `Live on ${placesOf(posts, channelName)}.`,
    link: isSeen ? { text: "See it ↗", href: url, isOutside: true } : link,
  };
}

function notOut(failed: readonly SentPost[], channelName: ChannelNames): string {
  return `It did not go out on ${placesOf(failed, channelName)}.`;
}

/** What was refused before is said with its reason: only that tells whether it is another one. */
function refusedAgain(failed: readonly SentPost[], channelName: ChannelNames): string {
  const [reason = null, ...others] = new Set(failed.map(({ error }) => error));
  const isKnown = reason !== null && others.length === 0 && !reason.startsWith("outcome unknown:");
  return isKnown ? `Refused again: ${reason}` : notOut(failed, channelName);
}

/** What became of those that did not fail. What they wait for comes first: it is the news. */
function othersInWords(
  posts: readonly SentPost[],
  channelName: ChannelNames,
  hasReason: boolean,
): readonly string[] {
  const waiting = posts.filter((post) => !isOver(post));
  const live = posts.filter(({ status }) => status === "published");
  const why = (hasReason && waiting.find(({ error }) => error !== null)?.error) || "";
  return [
    ...(waiting.length > 0 ? [`${why} Still on its way to ${placesOf(waiting, channelName)}.`.trim()] : []),
    ...(live.length > 0 ? [`Live on ${placesOf(live, channelName)}.`] : []),
  ];
}

function addressOf({ id }: Pick<Post, "id">): string {
  return `/app/plan?post=${encodeURIComponent(id)}`;
}

/** The one channel, or how many. */
export function placesOf(posts: readonly Pick<Post, "accountId">[], channelName: ChannelNames): string {
  const ids = [...new Set(posts.map(({ accountId }) => accountId))];
  return ids.length === 1 ? channelName(ids[0] ?? "") : `${ids.length} channels`;
}
