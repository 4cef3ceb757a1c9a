import type { Post } from "../../../src/domain/posts/post.ts";
import { upperFirst } from "../../../src/domain/posts/for-people.ts";
import { sentencesBehind } from "../../shared/sentences.ts";
import { inARow, listed, webAddress } from "../../shared/texts.ts";
import { withValues } from "../../shared/values.ts";
import type { Message, MessageLink } from "../../ui/message.ts";

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
  const seen = linksTo(posts, channelName);
  if (failed.length > 0) {
    const rest = othersInWords(posts, channelName, false);
    const problems = { text: "See problems", href: "/app/trouble", isShown: () => isShown("trouble") };
    return {
      text: inARow([...failuresInWords(failed, channelName, isAgain), ...rest]),
      isBad: true,
      links: [problems, ...seen],
    };
  }
  const [first] = posts;
  const href = first === undefined ? "/app/plan" : addressOf(first);
  const link = { text: "Show in plan", href, isShown: () => isShown("plan") };
  return {
    text: inARow(othersInWords(posts, channelName, true)),
    links: seen.length > 0 && posts.every(isOver) ? seen : [link],
  };
}

/** Where those that are live can be seen. */
function linksTo(posts: readonly SentPost[], channelName: ChannelNames): readonly MessageLink[] {
  return posts.flatMap(({ accountId, status, platformUrl }) => {
    const href = status === "published" && platformUrl !== null ? webAddress(platformUrl) : null;
    const text = posts.length === 1 ? "See it ↗" : `${channelName(accountId)} ↗`;
    return href === null ? [] : [{ text, href, isOutside: true }];
  });
}

/** As much of a reason as fits into two lines. */
const MAX_REASON = 160;
const UNKNOWN = /^outcome unknown:\s*/i;

/** Why they did not go out, those of one reason together. What to do about it is said under Trouble. */
function failuresInWords(
  failed: readonly SentPost[],
  channelName: ChannelNames,
  isAgain: boolean,
): readonly string[] {
  const [only = "", ...others] = new Set(failed.map(reasonOf));
  // The channel is known: only the reason tells whether it is another one.
  if (isAgain && only !== "" && others.length === 0 && !UNKNOWN.test(only)) return [`Refused again: ${only}`];
  return [only, ...others].map((reason) => {
    const ones = failed.filter((post) => reasonOf(post) === reason);
    const is = UNKNOWN.test(reason) ? "It is not known whether it went out" : "It did not go out";
    const why = upperFirst(reason.replace(UNKNOWN, ""));
    return `${is} on ${placesOf(ones, channelName)}. ${why}`.trim();
  });
}

function reasonOf(post: SentPost): string {
  const what = withValues(sentencesBehind(post, "error")[0]?.what ?? "");
  return what.length > MAX_REASON ? `${what.slice(0, MAX_REASON).trimEnd()}…` : what;
}

/** What became of those that did not fail. What they wait for comes first: it is the news. */
function othersInWords(
  posts: readonly SentPost[],
  channelName: ChannelNames,
  hasReason: boolean,
): readonly string[] {
  const waiting = posts.filter((post) => !isOver(post));
  const live = posts.filter(({ status }) => status === "published");
  const stopped = posts.filter(({ status }) => status === "cancelled");
  const why = (hasReason && waiting.find(({ error }) => error !== null)?.error) || "";
  return [
    ...(waiting.length > 0 ? [why, `Still on its way to ${placesOf(waiting, channelName)}.`] : []),
    ...(live.length > 0 ? [`Live on ${placesOf(live, channelName)}.`] : []),
    ...(stopped.length > 0 ? [`Cancelled on ${placesOf(stopped, channelName)}.`] : []),
  ];
}

function addressOf({ id }: Pick<Post, "id">): string {
  return `/app/plan?post=${encodeURIComponent(id)}`;
}

/** So many channels are named; of more, how many. */
const MAX_NAMED = 3;

/** The channels, or how many. */
export function placesOf(posts: readonly Pick<Post, "accountId">[], channelName: ChannelNames): string {
  const ids = [...new Set(posts.map(({ accountId }) => accountId))];
  return ids.length > MAX_NAMED ? `${ids.length} channels` : listed(ids.map(channelName));
}
