import { judgeActs } from "./judge-acts.ts";
import {
  type Deed,
  type FinalPost,
  type Glitch,
  type Hook,
  type Mood,
  type Series,
  SETTLED_WITHIN_MS,
  type Wish,
} from "./history.ts";
import type { Told } from "./receivers.ts";
import { judgeOrder } from "./judge-order.ts";
import { judgeTimes, possibleAt, timesOf } from "./judge-times.ts";
import type { Sent } from "./network.ts";
import type { Channel } from "./people.ts";
import type { Publication } from "./platforms.ts";
import type { DeliveryRow } from "../../src/store/queries/webhooks.ts";
import { TIME_LIMITS } from "../../src/domain/time-limits.ts";
import { commentOn } from "./thread-platform.ts";

/** All that is left of a world when it is over. */
export interface Outcome {
  readonly wishes: readonly Wish[];
  readonly series: readonly Series[];
  readonly hooks: readonly Hook[];
  readonly told: readonly Told[];
  readonly events: readonly DeliveryRow[];
  /** Of posts: what the database has, and what was told. */
  readonly figures: readonly { text: string; stored: readonly string[]; told: readonly string[] }[];
  readonly published: readonly Publication[];
  /** What platforms refused as no careful client's. */
  readonly violations: readonly string[];
  readonly posts: readonly FinalPost[];
  /** The machine's clock at the end, in ms. */
  readonly clockAt: number;
  /** Something was thrown that nobody took. */
  readonly stray: readonly string[];
  readonly sent: readonly Sent[];
  readonly mood: Mood;
  readonly zone: string;
  readonly channels: readonly Channel[];
  readonly deeds: readonly Deed[];
  /** When the clock was set. */
  readonly jumps: readonly number[];
  readonly glitches: readonly Glitch[];
}

/** What cannot be in any world where the promises hold: a sentence for each. */
export function judge(outcome: Outcome): string[] {
  const publicOf = (wish: Wish): Publication[] =>
    outcome.published.filter(({ text }) => wish.versions.some((version) => version.text === text));
  return [
    ...outcome.violations.map((what) => `A platform was asked what nobody may ask: ${what}.`),
    ...outcome.stray.map((what) => `Something was thrown that nobody took: ${what}.`),
    ...outcome.published
      .filter(
        ({ text }) =>
          !outcome.wishes.some(({ versions }) =>
            versions.some((one) => one.text === text || commentOn(one.text) === text),
          ),
      )
      .map(({ text, platform }) => `“${text}” came out on ${platform}, and nobody wished for it.`),
    ...crowded(outcome),
    ...judgeActs(outcome),
    ...comments(outcome),
    ...(outcome.mood === "wild" ? [] : outcome.wishes.flatMap((wish) => again(wish, outcome))),
    ...judgeTimes(outcome),
    ...judgeOrder(outcome),
    ...outcome.wishes.flatMap((wish) => {
      const out = publicOf(wish);
      // What a copy does not know of, nobody can hold it to.
      if (wish.isForgotten) return [...twice(wish, out), ...unapproved(wish, out)];
      return [
        ...twice(wish, out),
        ...early(wish, out),
        ...unapproved(wish, out),
        ...cancelled(wish, out),
        ...lost(wish, out, outcome),
      ];
    }),
  ];
}

/** No effect twice, whoever sends it again: they look at the channel before they say that it is not there. */
function twice(wish: Wish, out: readonly Publication[]): string[] {
  // A copy that does not know of another text cannot look for it.
  const counted = wish.isForgotten ? out.filter(({ text }) => text === out[0]?.text) : out;
  return counted.length > 1 ? [`${wish.name} came out ${counted.length} times on ${wish.channel}.`] : [];
}

/** None early, and none as it was before somebody changed it and was told that it is changed. */
function early(wish: Wish, out: readonly Publication[]): string[] {
  if (wish.approvals !== null)
    return out
      .filter(({ text, sentAt }) =>
        wish.versions.some((one) => one.text === text && one.scheduledAt > sentAt),
      )
      .map(({ sentAt }) => `${wish.name} came out at ${new Date(sentAt).toISOString()}, before its time.`);
  // Another may have changed the one while somebody changed the other.
  const texts = wish.versions.filter(({ sets }) => sets?.includes("text") ?? true);
  return out.flatMap(({ text, sentAt, leftAt }) => {
    if (!possibleAt(texts, leftAt).some((version) => version.text === text))
      return [`${wish.name} came out as “${text}”, which had been changed before.`];
    return possibleAt(timesOf(wish), leftAt).some(({ scheduledAt }) => scheduledAt <= sentAt)
      ? []
      : [`${wish.name} came out at ${new Date(sentAt).toISOString()}, before its time.`];
  });
}

/** Nothing unapproved, and what a person approved is what went out. */
function unapproved(wish: Wish, out: readonly Publication[]): string[] {
  const { approvals } = wish;
  if (approvals === null) return [];
  return out
    .filter(({ text, at }) => {
      const revision = wish.versions.find((version) => version.text === text)?.revision ?? null;
      const isOf = ({ args }: Deed): boolean => revision === null || args["revision"] === revision;
      return !approvals.some((deed) => deed.outcome !== "refused" && deed.invokedAt <= at && isOf(deed));
    })
    .map(({ text }) => `“${text}” came out, and nobody had approved it.`);
}

/** What was refused for certain is not sent again, unless somebody asks for it. */
function again(wish: Wish, { sent }: Outcome): string[] {
  const ofWish = sent.filter(({ text }) => wish.versions.some((version) => version.text === text));
  const repeats = [...wish.repeats, ...wish.versions.map(({ deed }) => deed)];
  return ofWish.flatMap((one, index) => {
    const refused = ofWish[index - 1];
    const isAsked = repeats.some(({ invokedAt }) => invokedAt > (refused?.at ?? 0) && invokedAt <= one.at);
    return refused?.isRefused === true && !isAsked ? [`${wish.name} was refused, and sent again.`] : [];
  });
}

/** What follows a post comes once, after it, and does come or is missed. */
function comments({ wishes, published, posts }: Outcome): string[] {
  return wishes.flatMap((wish) =>
    wish.versions.flatMap(({ text }) => {
      const [post] = published.filter((one) => one.text === text);
      const out = published.filter((one) => one.text === commentOn(text));
      const row = posts.find(({ id, caption }) => id === wish.id && caption === text);
      const isMissed =
        post?.platform === "class_g" && row?.status === "published" && !row.hasWarnings && !row.isTried;
      if (out.length > 1) return [`The comment on ${wish.name} came out ${out.length} times.`];
      if (out.some(({ at }) => post === undefined || at < post.at))
        return [`The comment on ${wish.name} came out before it.`];
      return isMissed && out.length === 0 && !wish.isForgotten
        ? [`The comment on ${wish.name} did not come out, and nothing says so.`]
        : [];
    }),
  );
}

/** No slot is held by two, and none is taken too close to a post that waits. */
function crowded({ wishes, channels, jumps }: Outcome): string[] {
  // By a clock that was set back, a slot is still to come in which something is out.
  const isSetBetween = (one: Wish, other: Wish): boolean => {
    const [from = 0, to = 0] = [one, other].map(takenAt).toSorted((a, b) => a - b);
    return jumps.some((at) => at > from && at < to);
  };
  const inSlots = wishes.filter(
    ({ slotAt, cancels, isForgotten }) => slotAt !== null && cancels.length === 0 && !isForgotten,
  );
  return inSlots.flatMap((wish, at) => {
    const { schedule } = channels.find(({ id }) => id === wish.channelId) ?? {};
    const isClose = (other: Wish): boolean => {
      const [first = 0, second = 0] = [wish.slotAt, other.slotAt].map(Number).toSorted((a, b) => a - b);
      const isWaiting = jumps.length === 0 && [wish, other].every((one) => slotTakenBy(one) < first);
      return (
        (first === second && !isSetBetween(wish, other)) ||
        (isWaiting && second - first < (schedule?.minGapMinutes ?? 0) * 60_000)
      );
    };
    return inSlots
      .slice(at + 1)
      .filter((other) => other.channelId === wish.channelId && isClose(other))
      .map((other) => `${wish.name} and ${other.name} have one slot, ${wish.slotAt} and ${other.slotAt}.`);
  });
}

/** True time. */
function takenAt({ versions: [first] }: Wish): number {
  return first?.deed.answeredAt ?? first?.deed.invokedAt ?? 0;
}

/** By its machine's clock. */
function slotTakenBy({ versions: [first] }: Wish): number {
  return first === undefined
    ? Infinity
    : first.deed.clockAt + ((first.deed.answeredAt ?? Infinity) - first.deed.invokedAt);
}

/** An answered cancel holds. */
function cancelled(wish: Wish, out: readonly Publication[]): string[] {
  const deed = wish.cancels.find(({ outcome }) => outcome === "done");
  if (deed === undefined || out.length === 0) return [];
  return [`${wish.name} was cancelled, and came out all the same.`];
}

/** None lost: what was taken is settled and said, and what is said is so. */
function lost(
  wish: Wish,
  out: readonly Publication[],
  { posts, clockAt, published, wishes }: Outcome,
): string[] {
  const texts = wish.versions.map(({ text }) => text);
  const rows = posts.filter(({ id, caption }) => id === wish.id || texts.includes(caption));
  const [row] = rows;
  if (rows.length > 1) return [`${wish.name} is in the database ${rows.length} times.`];
  const isApproved = wish.approvals?.some(({ outcome }) => outcome === "done") === true;
  if (row === undefined && isApproved) return [`${wish.name} was approved, and has no post.`];
  // A draft that nobody approved has none.
  if (row === undefined && wish.approvals !== null && wish.id === null && out.length === 0) return [];
  if (row === undefined)
    return wish.id === null && out.length === 0 ? [] : [`${wish.name} was taken, and is not there any more.`];
  const says = `${wish.name} is ${row.status}`;
  // Posts that are left over go out one by one.
  const isInTurn =
    row.status === "scheduled" &&
    published.some(
      (one) =>
        one.clockAt > clockAt - 2 * TIME_LIMITS.spacing &&
        wishes.some(
          ({ channelId, versions }) =>
            channelId === wish.channelId && versions.some(({ text }) => text === one.text),
        ),
    );
  switch (row.status) {
    case "published":
      return out.length === 0 ? [`${says}, and nobody can see it.`] : [];
    case "cancelled":
      return out.length > 0 ? [`${says}, and everybody can see it.`] : [];
    case "failed":
      if (row.error === null) return [`${says} without a reason.`];
      return out.length > 0 && !row.inDoubt
        ? [`${says} for certain, and everybody can see it: ${row.error}`]
        : [];
    default:
      return row.isHeld || isInTurn || row.scheduledAt > clockAt - SETTLED_WITHIN_MS
        ? []
        : [`${says} since ${new Date(row.scheduledAt).toISOString()}, and nothing keeps it.`];
  }
}
