import { TIME_LIMITS } from "../../src/domain/time-limits.ts";
import type { FinalPost, Wish } from "./history.ts";
import type { Outcome } from "./judge.ts";
import { AT_ONCE, isInUnknownSlot, possibleAt, timesOf } from "./judge-times.ts";
import type { Sent } from "./network.ts";

/* In which order, and how soon after each other, posts are sent; and which are not begun at all. */

/** A post that nobody touched since, and when it was sent first. */
interface Plain {
  readonly wish: Wish;
  readonly dueAt: number;
  readonly sent: readonly Sent[];
}

export function judgeOrder(outcome: Outcome): string[] {
  const firsts = outcome.wishes.flatMap((wish) => firstOf(wish, outcome));
  const plain = outcome.mood === "wild" ? [] : outcome.wishes.flatMap((wish) => plainOf(wish, outcome));
  return [
    ...firsts.flatMap((one) => begunTooLate(one, outcome)),
    ...outcome.published.flatMap((one) => inGlitch(one, outcome)),
    ...plain.flatMap((one) => overtaken(one, plain)),
    ...plain.flatMap((one) => allAtOnce(one, plain)),
    ...(outcome.mood === "calm" ? outcome.posts.flatMap(brokenOff) : []),
  ];
}

function firstOf(wish: Wish, { sent }: Outcome): { wish: Wish; first: Sent }[] {
  const first = sent.find(({ text }) => wish.versions.some((version) => version.text === text));
  return first === undefined ? [] : [{ wish, first }];
}

/** Moments of a wish by its machine's clock are true times here: where nothing fails, no clock is set. */
function plainOf(wish: Wish, { sent }: Outcome): Plain[] {
  const [version] = wish.versions;
  const isTouched = wish.versions.length > 1 || wish.repeats.length > 0 || wish.cancels.length > 0;
  if (version === undefined || isTouched || wish.approvals !== null) return [];
  const { deed } = version;
  if (deed.outcome !== "done" || deed.answeredAt === null || isInUnknownSlot(wish)) return [];
  const dueAt = Math.max(wish.slotAt ?? version.scheduledAt, deed.answeredAt);
  const own = sent.filter(({ text, platform }) => text === version.text && AT_ONCE.includes(platform));
  return own.length === 0 ? [] : [{ wish, dueAt, sent: own }];
}

/** What could be due at once to the program is so to people. */
const NEAR_MS = 2_000;

/** Of two posts that waited for one channel, the one goes out first that was due first. */
function overtaken({ wish, dueAt, sent: [first] }: Plain, all: readonly Plain[]): string[] {
  return all
    .filter(({ wish: { channelId }, dueAt: otherDue, sent: [other] }) => {
      const otherAt = other?.at ?? Infinity;
      const hasWaited = channelId === wish.channelId && dueAt + NEAR_MS < Math.min(otherDue, otherAt);
      // Longer than that none holds up the others.
      return hasWaited && otherAt < (first?.at ?? 0) && otherAt < dueAt + TIME_LIMITS.headBlocks - NEAR_MS;
    })
    .map((other) => `${wish.name} was due before ${other.wish.name}, and was sent after it.`);
}

const SPACED_MS = TIME_LIMITS.spacing - 5_000;

/** What is left over from a time in which nothing ran does not go out all at once. */
function allAtOnce({ wish, dueAt, sent }: Plain, all: readonly Plain[]): string[] {
  const [first, ...more] = sent;
  if (first === undefined || more.length > 0 || first.at < dueAt + TIME_LIMITS.leftOver + 5_000) return [];
  return all
    .filter(
      ({ wish: { channelId, id }, sent: [other] }) =>
        channelId === wish.channelId &&
        id !== wish.id &&
        (other?.at ?? 0) >= first.at &&
        (other?.at ?? Infinity) < first.at + SPACED_MS,
    )
    .map((other) => `${wish.name} was left over, and ${other.wish.name} went out right after it.`);
}

/** Once its time is over, a post is not begun any more. */
function begunTooLate({ wish, first }: { wish: Wish; first: Sent }, { jumps }: Outcome): string[] {
  const isKnown = AT_ONCE.includes(first.platform) && jumps.length === 0 && wish.repeats.length === 0;
  if (!isKnown || isInUnknownSlot(wish) || wish.isForgotten) return [];
  const times = possibleAt(timesOf(wish), first.at).map(({ scheduledAt, deed }) =>
    Math.max(scheduledAt, deed.clockAt + ((deed.answeredAt ?? Infinity) - deed.invokedAt)),
  );
  const decided = (wish.approvals ?? []).map(({ clockAt }) => clockAt + 90_000);
  const lateMs = first.clockAt - Math.max(...times, ...decided, wish.slotAt ?? -Infinity);
  return lateMs > TIME_LIMITS.maxLateness + 1_000
    ? [`${wish.name} was begun ${Math.round(lateMs / 1_000)} s late, which is too late.`]
    : [];
}

/** A clock that was wrong for some seconds makes nothing due. */
function inGlitch(one: Outcome["published"][number], { glitches, wishes }: Outcome): string[] {
  const wish = wishes.find(({ versions }) => versions.some(({ text }) => text === one.text));
  const glitch = glitches.find(
    ({ from, to, hosts }) => one.leftAt > from + 1_500 && one.leftAt < to && hosts.includes(one.from),
  );
  if (wish === undefined || glitch === undefined || wish.repeats.length > 0 || wish.approvals !== null)
    return [];
  const isDue = possibleAt(timesOf(wish), one.leftAt).some(
    ({ scheduledAt }) => scheduledAt <= one.clockAt - glitch.byMs,
  );
  return isDue || wish.slotAt !== null ? [] : [`${wish.name} came out while the clock was wrong.`];
}

/** Where nothing fails, each post is finished by who began it, and it is known what became of it. */
function brokenOff({ caption, status, error, inDoubt, wasInterrupted }: FinalPost): string[] {
  return [
    ...(status === "failed" && inDoubt ? [`It is not known whether “${caption}” is out: ${error}`] : []),
    ...(wasInterrupted ? [`A process was asked to end, and did not finish “${caption}” before it did.`] : []),
  ];
}
