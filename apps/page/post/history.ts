import type { Attempt, LateCause, Post } from "../../../src/domain/posts/post.ts";
import { isDismissed } from "../../shared/statuses.ts";

/** A post is written a moment after it is made, or its attempt ends. */
const SAME_MOMENT_MS = 1_000;

/** Below this no one calls a post late. */
const LATE_MS = 1_000;

const CAUSES: Readonly<Record<LateCause, string>> = {
  no_worker: "no publisher ran at its time",
  account_busy: "the channel was busy with another post",
  spacing: "the channel keeps a pause between posts",
  rate_limit: "the platform allows only so many posts in a time",
  retry: "it had to be tried again",
  order: "an earlier post of the channel had to go first",
  media: "its media were not ready",
  clock: "the clock of the machine was changed",
  limit: "more posts were due than go out at once",
  channel: "the channel could not be used",
  load: "the publisher had other posts to do",
};

interface HistoryLine {
  readonly at: number;
  readonly text: string;
  readonly isBad: boolean;
}

type HistoryPost = Pick<Post, "status" | "error" | "createdAt" | "updatedAt" | "scheduledAt" | "publishedAt">;

/** The history of a post in order: scheduled, attempts, last change. `at`: the time beside each line. */
export function historyLines(
  attempts: readonly Attempt[],
  platform: string,
  post: HistoryPost,
  when: (ms: number) => string,
): readonly HistoryLine[] {
  const made = { at: Date.parse(post.createdAt), text: "Scheduled.", isBad: false };
  return [made, ...attemptLines(attempts, platform), ...lastChangeLines(attempts, post, when)];
}

/** The last change, if it was not an attempt. Earlier ones are not recorded. */
function lastChangeLines(
  attempts: readonly Attempt[],
  post: HistoryPost,
  when: (ms: number) => string,
): HistoryLine[] {
  const at = Date.parse(post.updatedAt);
  const line = (text: string): HistoryLine[] => [{ at, text, isBad: false }];
  if (post.status === "cancelled") {
    if (isDismissed(post)) return line("Dismissed.");
    if (post.publishedAt !== null) return line("Taken down.");
    return line(`Cancelled. It was planned for ${when(Date.parse(post.scheduledAt))}.`);
  }
  const tried = attempts.map(({ startedAt, finishedAt }) => Date.parse(finishedAt ?? startedAt));
  const isChanged = at > Math.max(Date.parse(post.createdAt), ...tried) + SAME_MOMENT_MS;
  // The publisher notes why a post waits, too.
  if (post.status !== "scheduled" || !isChanged || post.error !== null) return [];
  return line(`Last changed. Planned for ${when(Date.parse(post.scheduledAt))}.`);
}

function attemptLines(attempts: readonly Attempt[], platform: string): readonly HistoryLine[] {
  return attempts.map((attempt, index) => ({
    at: Date.parse(attempt.startedAt),
    isBad: ["failed", "unknown", "interrupted"].includes(attempt.outcome),
    text: [
      outcomeInWords(attempt, platform, index > 0),
      attempt.error === null ? null : sentence(attempt.error),
      delayInWords(attempt),
    ]
      .filter((part) => part !== null)
      .join(" "),
  }));
}

function outcomeInWords({ outcome }: Attempt, platform: string, isAgain: boolean): string {
  const tried = isAgain ? "Tried again" : "Tried";
  switch (outcome) {
    case "published":
      return isAgain ? `Tried again: published on ${platform}.` : `Published on ${platform}.`;
    case "uploaded":
      return `Uploaded to ${platform}, which shows it at its time.`;
    case "running":
      return "It is on its way.";
    case "waiting":
      return `Sent to ${platform}, which is still working on it.`;
    case "retrying":
      return `${tried}: it did not go through yet, and will be tried again.`;
    case "failed":
      return `${tried}: it failed.`;
    case "unknown":
      return `${tried}: no one knows whether it went through.`;
    case "interrupted":
      return `${tried}: Posthorn was stopped in the middle of it.`;
  }
}

function delayInWords({ latenessMs, lateCause }: Attempt): string | null {
  if (latenessMs === null || latenessMs < LATE_MS) return null;
  const because = lateCause === null ? "" : `, because ${CAUSES[lateCause]}`;
  return `It began ${durationInWords(latenessMs)} late${because}.`;
}

/** The largest unit that fits, and the next one below: "2 min 5 s". */
export function durationInWords(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return join(`${minutes} min`, seconds % 60, "s");
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return join(`${hours} h`, minutes % 60, "min");
  const days = Math.floor(hours / 24);
  return join(days === 1 ? "1 day" : `${days} days`, hours % 24, "h");
}

function join(large: string, rest: number, unit: string): string {
  return rest === 0 ? large : `${large} ${rest} ${unit}`;
}

/** Begins large and ends with a full stop. */
function sentence(text: string): string {
  const begun = text.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
