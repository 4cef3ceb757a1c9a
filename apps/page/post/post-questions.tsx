import type { Post } from "../../../src/domain/posts/post.ts";
import { countPosts, listed } from "../../shared/texts.ts";
import { now } from "../../shared/clock.ts";
import { may } from "../data/session.ts";
import { learnPosts } from "../data/learned-posts.ts";
import { channelName, findAccount, isPaused, loadStatus } from "../data/shared-data.ts";
import { call } from "../data/tools.ts";
import { type AskedChange, POST_CHANGES } from "../../features/post/post-changes.ts";
import { AskToResume } from "../channel/ask-to-pause.tsx";
import { Ask, ask } from "../../ui/ask.tsx";
import { say } from "../../ui/toasts.tsx";
import { followPosts } from "../channel/follow-posts.ts";
import { updateAsSeen } from "./update-as-seen.ts";

interface AskToSendProps {
  /** A channel for each post. */
  readonly accountIds: readonly string[];
  /** It was tried before. */
  readonly isAgain?: boolean;
  /** What else there is to know. */
  readonly besides?: string;
  onYes(): Promise<unknown>;
  onClose(): void;
}

/** Before posts go out at once, wherever that is begun. */
export function AskToSend({ accountIds, isAgain = false, besides = "", onYes, onClose }: AskToSendProps) {
  const places = listed(new Set(accountIds.map(channelName)));
  const what = accountIds.length > 1 ? countPosts(accountIds.length) : "";
  const told = [
    `${what === "" ? "It goes" : "They go"} out at once on ${places}.`,
    besides,
    pauseWarning(accountIds),
    "A post that is live cannot be called back from those who saw it.",
  ];
  return (
    <Ask
      question={isAgain ? `Send ${what || "it"} again now?` : `Publish ${what === "" ? "" : `${what} `}now?`}
      text={told.filter((one) => one !== "").join(" ")}
      yes={isAgain ? "Send it now" : "Publish now"}
      no="Not yet"
      onYes={onYes}
      onClose={onClose}
    />
  );
}

/** Channels from which nothing goes out at once. */
function pauseWarning(accountIds: readonly string[]): string {
  const paused = [...new Set(accountIds)].filter(isPaused);
  if (paused.length === 0) return "";
  const places = listed(paused.map(channelName));
  return paused.length === 1
    ? `${places} is paused: there it waits until you resume it.`
    : `${places} are paused: there it waits until you resume them.`;
}

/** Asks whether a post that waits goes out now. On a paused channel it would not, and only lose its time. */
export function askToSendNow(post: Post, onChanged: () => void): void {
  if (isPaused(post.accountId)) return askToResume(post.accountId, onChanged, ALL_STAYS);
  ask((close) => (
    <AskToSend
      accountIds={[post.accountId]}
      onYes={async () => {
        await loadStatus();
        if (isPaused(post.accountId)) throw new Error(`Its channel is paused. ${ALL_STAYS}`);
        const args = { scheduledAt: new Date(now()).toISOString() };
        const seen = ["scheduledAt", "caption", "mediaUrl", "metadata"] as const;
        const sent = await updateAsSeen(post, args, seen);
        followPosts([sent]);
        onChanged();
      }}
      onClose={close}
    />
  ));
}

const ALL_STAYS = "Nothing goes out on it now, and the post keeps its time. Resume the channel first.";

/** Asks whether a paused channel goes on, if the person may say so. `told`: before what becomes of its posts. */
export function askToResume(accountId: string, onDone: () => void, told = ""): void {
  const account = findAccount(accountId);
  if (account === null || !may("accounts")) return;
  ask((close) => <AskToResume account={account} told={told} onDone={onDone} onClose={close} />);
}

/** Asks whether failed posts are sent again at once. `send`: sends all of them. */
export function askToSendAgain(
  posts: readonly Pick<Post, "accountId">[],
  send: () => Promise<unknown>,
  besides = "",
): void {
  const accountIds = posts.map(({ accountId }) => accountId);
  ask((close) => <AskToSend isAgain {...{ accountIds, besides }} onYes={send} onClose={close} />);
}

/** Asks whether a post is cancelled, taken down or dismissed. */
export function askTo(what: AskedChange, { id }: Pick<Post, "id">, onChanged: () => void): void {
  const { tool, args, said, question, text, yes, no } = POST_CHANGES[what];
  ask((close) => (
    <Ask
      {...{ question, text, yes, no }}
      isDanger
      onYes={async () => {
        await call(tool, { id, ...args });
        say(said);
        onChanged();
      }}
      onClose={close}
    />
  ));
}

/** Sends a failed post again, and says what becomes of it. */
export async function sendAgain(id: string): Promise<void> {
  const { post } = await call("retry_post", { id });
  learnPosts([post]);
  followPosts([post], true);
}
