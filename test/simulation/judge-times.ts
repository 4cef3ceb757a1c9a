import type { Deed, FinalPost, Version, Wish } from "./history.ts";
import type { Outcome } from "./judge.ts";
import type { Publication } from "./platforms.ts";

/* What goes out neither too late, nor on a paused channel, nor in a slot that there is not. */

const HOUR = 3_600_000;

/** Where nothing fails, a post that is due and has its channel for itself is on its way, or public, by then. */
const ON_TIME_WITHIN_MS = { atOnce: 700, inSteps: 6_000 } as const;

/** What had begun when its channel was paused has ended by then, where nothing fails. */
const UNDER_WAY_MS = 3_000;

/** POSTHORN_MAX_LATENESS, the time after it in which a doubt is settled, and the way. */
const LATEST_MS = 71 * 60_000;

/** Where its platform tells what became of it, nothing is sent after POSTHORN_MAX_LATENESS, but for a slow disk. */
const LATEST_IF_TOLD_MS = HOUR + 6_000;
const TELLING = ["class_b", "class_e"];

/** A clock that was set is believed by then. */
const CLOCK_SET_MS = 60_000;

/** These have what is to become public in one request. */
export const AT_ONCE = ["class_a", "class_b", "class_e", "class_f"];

interface OfWish {
  readonly wish: Wish;
  readonly publication: Publication;
}

export function judgeTimes(outcome: Outcome): string[] {
  const all = outcome.published.flatMap((publication): OfWish[] => {
    const wish = outcome.wishes.find(({ versions }) =>
      versions.some(({ text }) => text === publication.text),
    );
    return wish === undefined ? [] : [{ wish, publication }];
  });
  return [
    ...all.flatMap((one) => tooLate(one, outcome)),
    ...(outcome.mood === "calm"
      ? all.flatMap((one) => [...notOnTime(one, all, outcome), ...paused(one, outcome)])
      : []),
    ...outcome.wishes.flatMap((wish) => inNoSlot(wish, outcome)),
    ...outcome.posts.flatMap(missedInTime),
  ];
}

/** Asked for by then, and no later one was answered before. */
export function possibleAt(versions: readonly Version[], at: number): Version[] {
  return versions.filter(({ deed }, index) => {
    if (deed.outcome === "refused" || deed.invokedAt > at) return false;
    return !versions.some(
      (later, other) =>
        other > index &&
        later.deed.outcome === "done" &&
        later.deed.invokedAt > (deed.answeredAt ?? deed.invokedAt) &&
        (later.deed.answeredAt ?? Infinity) < at,
    );
  });
}

/** What sets its time. */
export function timesOf({ versions }: Wish): Version[] {
  return versions.filter(({ sets }) => sets?.includes("time") ?? true);
}

/** All that may have decided when it goes out, the latest of it, by a clock of its deeds. */
function latestTime({ wish, publication }: OfWish, clock: (deed: Deed) => number): number {
  const ofVersion = ({ scheduledAt, deed }: Version): number => Math.max(scheduledAt, clock(deed));
  const texts = wish.versions.filter(({ text }) => text === publication.text).map(({ deed }) => clock(deed));
  const times = possibleAt(timesOf(wish), publication.leftAt).map(ofVersion);
  const deeds = [...wish.repeats, ...(wish.approvals ?? [])].map(clock);
  return Math.max(...texts, ...times, ...deeds, wish.slotAt ?? -Infinity);
}

function tooLate(one: OfWish, { jumps }: Outcome): string[] {
  const { wish, publication } = one;
  const { clockAt, at, platform } = publication;
  if (!AT_ONCE.includes(platform) || isInUnknownSlot(wish) || wish.isForgotten || wish.repeats.length > 0)
    return [];
  if (jumps.some((jump) => jump <= at && at - jump < CLOCK_SET_MS)) return [];
  const due = latestTime(one, (deed) => deed.clockAt);
  return clockAt <= due + (TELLING.includes(platform) ? LATEST_IF_TOLD_MS : LATEST_MS)
    ? []
    : [`${wish.name} came out ${Math.round((clockAt - due) / 60_000)} minutes late, which is too late.`];
}

/** It was moved, or the answer that told its slot was lost. */
export function isInUnknownSlot({ slotAt, versions }: Wish): boolean {
  return slotAt === null && versions.some(({ deed: { args } }) => "slot" in args || "posts" in args);
}

/** A post may be late by an hour, and is called missed only then. */
function missedInTime({ caption, error, updatedAt, scheduledAt }: FinalPost): string[] {
  const lateMs = updatedAt - scheduledAt;
  return error?.startsWith("It missed its time") === true && lateMs < HOUR
    ? [`“${caption}” is called missed ${Math.round(lateMs / 60_000)} minutes after its time.`]
    : [];
}

function notOnTime(one: OfWish, all: readonly OfWish[], { deeds }: Outcome): string[] {
  const { wish, publication } = one;
  if (isInUnknownSlot(wish)) return [];
  const before = all
    .filter((other) => other.wish.channelId === wish.channelId && other.publication.at < publication.at)
    .map((other) => other.publication.at + (isLeftOver(other) ? SPACED_MS : 0));
  const connected = deeds.filter(
    ({ tool, args }) => tool === "connect_channel" && args["accountId"] === wish.channelId,
  );
  const resumed = [...pausesOf(wish, deeds, false), ...connected]
    .filter(({ invokedAt }) => invokedAt < publication.at)
    .map(endOf);
  const may = Math.max(latestTime(one, endOf), ...before, ...resumed);
  const isAtOnce = AT_ONCE.includes(publication.platform);
  // The later steps of one that is left over wait as long as other posts of its channel.
  const ownSpacing = isLeftOver(one) ? SPACED_MS : 0;
  const within = isAtOnce ? ON_TIME_WITHIN_MS.atOnce : ON_TIME_WITHIN_MS.inSteps + ownSpacing;
  const at = isAtOnce ? publication.leftAt : publication.at;
  return at <= may + within ? [] : [`${wish.name} came out ${Math.round(at - may)} ms late for no reason.`];
}

/** Posts that are so late by the time that they were given go out one by one. */
function isLeftOver({ wish, publication }: OfWish): boolean {
  const times = possibleAt(timesOf(wish), publication.leftAt).map(({ scheduledAt, deed }) =>
    Number.isFinite(scheduledAt) ? scheduledAt : endOf(deed),
  );
  return publication.at > Math.min(...times, wish.slotAt ?? Infinity) + LEFT_OVER_MS;
}
const LEFT_OVER_MS = 175_000;
/** And the next look: no timer is set for the end of a channel's wait. */
const SPACED_MS = 31_000;

function endOf({ answeredAt, invokedAt }: Deed): number {
  return answeredAt ?? invokedAt;
}

function pausesOf({ channelId }: Wish, deeds: readonly Deed[], isPaused: boolean): Deed[] {
  return deeds.filter(({ args }) => args["accountId"] === channelId && args["paused"] === isPaused);
}

function paused({ wish, publication }: OfWish, { deeds }: Outcome): string[] {
  const resumes = pausesOf(wish, deeds, false);
  const isIn = ({ answeredAt, outcome, invokedAt }: Deed): boolean => {
    const from = outcome === "done" && answeredAt !== null ? answeredAt + UNDER_WAY_MS : Infinity;
    const until = Math.min(
      ...resumes.filter((deed) => endOf(deed) > invokedAt).map((deed) => deed.invokedAt),
    );
    return publication.at > from && publication.at < until;
  };
  return pausesOf(wish, deeds, true).some(isIn)
    ? [`${wish.name} came out while its channel was paused.`]
    : [];
}

function inNoSlot({ name, channelId, slotAt }: Wish, { channels, zone }: Outcome): string[] {
  const channel = channels.find(({ id }) => id === channelId);
  if (slotAt === null || channel === undefined) return [];
  const wall = wallTime(zone, slotAt);
  const isListed = channel.schedule.slots.some(({ times }) => times.includes(wall));
  // A time that the clocks skip is the first minute after it. One that comes twice is the first.
  const isSkipped = offsetIn(zone, slotAt) > offsetIn(zone, slotAt - 60_000);
  const isSecond = [HOUR / 2, HOUR].some((ms) => wallTime(zone, slotAt - ms) === wall);
  return (isListed || isSkipped) && !isSecond
    ? []
    : [`${name} has ${new Date(slotAt).toISOString()} as its slot, which is none in ${zone}.`];
}

const formats = new Map<string, Intl.DateTimeFormat>();

function partsIn(zone: string, at: number): Record<string, string> {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat("en-GB", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
    });
  formats.set(zone, format);
  return Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
}

/** As 09:30. */
function wallTime(zone: string, at: number): string {
  const { hour, minute } = partsIn(zone, at);
  return `${hour}:${minute}`;
}

/** In ms. */
function offsetIn(zone: string, at: number): number {
  const { year, month, day, hour, minute } = partsIn(zone, at);
  const wall = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:00Z`);
  return wall - Math.floor(at / 60_000) * 60_000;
}

/** When the clocks are put forward or back next; null: not within a year. */
export function offsetChangeAfter(zone: string, at: number): number | null {
  let from = at;
  let step = 24 * HOUR;
  for (const end = at + 366 * step; from < end;) {
    if (offsetIn(zone, from + step) === offsetIn(zone, from)) from += step;
    else if (step === 60_000) return Math.floor((from + step) / 60_000) * 60_000;
    else step = step > HOUR ? HOUR : 60_000;
  }
  return null;
}
