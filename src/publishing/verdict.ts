import { channelInFull } from "../domain/accounts/channel-names.ts";
import { fromStored, join, say, toStored } from "../domain/sentences.ts";
import { mustReconnect } from "../domain/accounts/account.ts";
import { AppError, AssertionFailed } from "../domain/errors.ts";
import { HOUR, SECOND, DAY, MINUTE, formatDuration } from "../domain/time.ts";
import { TIME_LIMITS } from "../domain/time-limits.ts";
import { MediaUnavailable } from "../ports/media.ts";
import type { PublishOutcome } from "../ports/platform.ts";
import { PlatformFault } from "../ports/platform-io.ts";
import { AskAgain, OutcomeUnknown, TooLate } from "./effect-steps.ts";
import { passing, reasonOf, warningOf, type LiveState } from "./follow-ups.ts";
import type { AttemptResult } from "../store/engine/ledger.ts";
import { MIN_WAIT_MS } from "../channels/platform-io/platform-request.ts";

/** What is known of a post when the work on it stops. */
export interface Situation {
  readonly now: number;
  readonly scheduledAt: number;
  readonly isUploaded: boolean;
  /** It is on a platform that shows it at its time by itself. */
  readonly showsItself: boolean;
  readonly isPublished: boolean;
  /** A step's outcome is open. */
  readonly isOpen: boolean;
  /** Some step reached the platform, or may have. */
  readonly hasTouchedPlatform: boolean;
  readonly tries: number;
  /** After it, nothing more is tried. */
  readonly giveUpAt: number;
  readonly account: {
    readonly name: string;
    readonly provider: string;
    readonly handle: string | null;
    readonly id: string;
    readonly profileUrl: string | null;
  };
  /** From 0 to 1, for the jitter. */
  readonly random: number;
}

/** How long a failing head may keep its account's later posts waiting (order before speed). */
const HEAD_BLOCKS_MS = TIME_LIMITS.headBlocks;

/** How soon a post is looked at again whose channel must be reconnected: it may be by then. */
const RECONNECT_RECHECK_MS = SECOND;

/** After an answer was lost, the platform gets this long before it is asked. */
const RECONCILE_AFTER_MS = SECOND;

/** The parts of a result that are named, the rest as it was. The attempt's error is the post's by default. */
export function resultOf(
  at: Situation,
  outcome: AttemptResult["attempt"]["outcome"],
  parts: Pick<AttemptResult, "trigger" | "nextAt"> & Partial<AttemptResult>,
): AttemptResult {
  return {
    attempt: { outcome, error: parts.error ?? null },
    error: null,
    isInDoubt: false,
    tries: at.tries,
    platformPostId: null,
    platformUrl: null,
    publishedAt: null,
    warnings: null,
    accountWait: null,
    at: at.now,
    ...parts,
  };
}

/** What a platform's answer makes of the post. */
export function verdictOnOutcome(outcome: PublishOutcome, at: Situation): AttemptResult {
  const ids =
    "platformPostId" in outcome
      ? { platformPostId: outcome.platformPostId, platformUrl: outcome.platformUrl }
      : {};
  const common = { ...ids, tries: 0 };
  switch (outcome.state) {
    case "live":
      return resultOf(at, "published", {
        ...common,
        trigger: "published",
        nextAt: null,
        publishedAt: at.now,
      });
    case "held":
      return resultOf(at, "uploaded", {
        ...common,
        trigger: at.isUploaded ? null : "uploaded",
        nextAt: recheckAt(outcome, at),
        error: at.now < at.scheduledAt ? null : (outcome.note ?? stillHidden(at)),
        attempt: { outcome: "uploaded", error: null },
      });
    case "prepared":
      return resultOf(at, "waiting", {
        ...common,
        trigger: backTo(at),
        nextAt: Math.max(at.scheduledAt, at.now + SECOND),
      });
    case "processing":
      return resultOf(at, "waiting", { ...common, trigger: null, nextAt: at.now + outcome.checkAgainMs });
  }
}

/** What an error makes of the post. A bug of ours: a lost answer where a step is open, else a failure. */
export function verdictOnError(error: unknown, at: Situation): AttemptResult {
  if (error instanceof OutcomeUnknown) return unknown(error.message, at);
  // A person looks: what stopped it would stop it again.
  if (error instanceof AssertionFailed && at.isOpen) return unknown(error.message, at);
  if (error instanceof AskAgain)
    return askLater(at, { afterMs: error.afterMs, why: "The platform has not settled it yet." });
  if (error instanceof TooLate) return failed(missedSentence(null, at.giveUpAt - at.scheduledAt), at);
  if (error instanceof PlatformFault) return verdictOnFault(error, at);
  if (at.isOpen) return askLater(at, { afterMs: null, why: reasonOf(error) });
  // Trouble of this machine, a full disk say, is no fault of the post's.
  if (error instanceof MediaUnavailable || (error instanceof AppError && error.kind === "unavailable"))
    return retryLater(error.message, at);
  return failed(reasonOf(error), at);
}

function verdictOnFault(fault: PlatformFault, at: Situation): AttemptResult {
  const { message: why } = fault;
  const ask = (): AttemptResult => askLater(at, { afterMs: null, why });
  switch (fault.kind) {
    case "rejected":
      return at.isOpen ? ask() : failed(why, at);
    case "auth":
      return waitForReconnect(fault, at);
    case "rate":
      return waitForRate(fault, at);
    case "ambiguous":
      return ask();
    case "transient":
    case "not_sent":
      return at.isOpen ? ask() : retryLater(why, at);
    case "setup":
      return {
        ...(at.isOpen ? ask() : retryLater(why, at, onceMended(at.tries, at.random))),
        setupProblem: why,
      };
  }
}

/**
 * Publishing goes back to scheduled, where it may be changed and cancelled; what is on the platform stays
 * uploaded.
 */
function backTo(at: Situation): "release" | null {
  return at.isUploaded || at.isOpen ? null : "release";
}

function retryLater(why: string, at: Situation, retry = soon(at.tries, at.random)): AttemptResult {
  const { tries, isLast } = retry;
  const nextAt = at.now + retry.afterMs;
  if (isLast || nextAt > at.giveUpAt)
    return at.showsItself ? unknown(why, at) : failed(`${why} ${retry.wayOut}`, at);
  const until = Math.min(nextAt, Math.max(at.now, at.scheduledAt + HEAD_BLOCKS_MS));
  const accountWait = { until, cause: "order" as const };
  return resultOf(at, "retrying", { trigger: backTo(at), nextAt, error: why, tries, accountWait });
}

/** A step is open: the platform is asked before anything is sent. The post stays where no one can cancel it. */
function askLater(at: Situation, ask: { afterMs: number | null; why: string }): AttemptResult {
  const tries = at.tries + 1;
  const nextAt = at.now + (ask.afterMs ?? Math.max(RECONCILE_AFTER_MS, backoffMs(at.tries, at.random)));
  if (nextAt > at.giveUpAt) return unknown(ask.why, at);
  const attempt = { outcome: "retrying" as const, error: ask.why };
  return resultOf(at, "retrying", { trigger: null, nextAt, isInDoubt: true, tries, attempt });
}

/** The sentence is the one that posts get which wait for the same channel. */
function waitForReconnect(fault: PlatformFault, at: Situation): AttemptResult {
  const error = mustReconnect(at.account, fault.message);
  const nextAt = at.now + RECONNECT_RECHECK_MS;
  return resultOf(at, "retrying", { trigger: backTo(at), nextAt, error, isInDoubt: at.isOpen });
}

function waitForRate(fault: PlatformFault, at: Situation): AttemptResult {
  const allowedAt = at.now + Math.max(fault.retryAfterMs ?? rateBackoffMs(at.tries, at.random), SECOND);
  const accountWait = { until: allowedAt, cause: "rate_limit", scope: fault.scope } as const;
  if (allowedAt > at.giveUpAt) {
    const ended =
      at.isOpen || at.showsItself
        ? unknown(fault.message, at)
        : failed(`${fault.message} That is past the post's time. Send it again later.`, at);
    // The channel waits all the same, unless it is for longer than any post of it could.
    return allowedAt - at.now > at.giveUpAt - at.scheduledAt ? ended : { ...ended, accountWait };
  }
  return resultOf(at, "retrying", {
    trigger: backTo(at),
    nextAt: allowedAt,
    error: at.isOpen ? null : fault.message,
    isInDoubt: at.isOpen,
    tries: at.tries + 1,
    attempt: { outcome: "retrying", error: fault.message },
    accountWait,
  });
}

function unknown(reason: string, at: Situation): AttemptResult {
  const where = at.account.profileUrl ?? channelInFull(at.account);
  const next = [{ do: "settle", postId: null }] as const;
  const error = toStored(say(`outcome unknown: ${reason} Look at ${where}.`, { next }));
  return resultOf(at, "unknown", { trigger: "fail", nextAt: null, error, isInDoubt: true, tries: 0 });
}

function failed(error: string, at: Situation): AttemptResult {
  return resultOf(at, "failed", { trigger: "fail", nextAt: null, error, tries: 0 });
}

/**
 * Why a post that waited was not sent in time. `lastError`: of its last try, null where there was none. What fails
 * behind a pause, or a lost channel, says that instead.
 */
export function missedSentence(lastError: string | null, maxLatenessMs: number): string {
  return lastError === null
    ? `It missed its time: nothing was running, or its channel had to wait, until it was more than ${formatDuration(maxLatenessMs)} late, which is later than posts may go out (POSTHORN_MAX_LATENESS). Send it again.`
    : toStored(
        join(
          "It could not be sent before its time ran out. The last reason:",
          fromStored(lastError),
          "Send it again.",
        ),
      );
}

/** How long what follows a live post is tried. */
const FOLLOW_UPS_FOR_MS = HOUR;

/** What the platform's file did not get to, for sentences. */
const THE_REST = "What follows the post";

/** How the work on a live post stopped: what the platform's file answered, or threw. */
type LiveEnd = { readonly outcome: PublishOutcome } | { readonly error: unknown };

/**
 * Whatever happens to a post after it went live, it is published. What was refused is told in its warnings;
 * what may still work is tried again for an hour.
 */
export function verdictOnLive(live: LiveState, ended: LiveEnd, at: Situation): AttemptResult {
  const { warnings, pending } = gather(live, ended);
  const askedFor = Math.max(0, ...pending.map(({ afterMs }) => afterMs ?? 0));
  const asked = Math.max(0, ...pending.map(({ isLimit, afterMs }) => (isLimit ? (afterMs ?? 0) : 0)));
  // Longer than that no post of the channel could wait.
  const limitMs = Math.min(asked, at.giveUpAt - at.scheduledAt);
  const nextAt = at.now + Math.max(askedFor, backoffMs(at.tries, at.random), SECOND);
  const isOver = pending.length === 0 || nextAt > live.since + FOLLOW_UPS_FOR_MS;
  const givenUp = isOver
    ? pending.map(({ name, why }) => warningOf(name, `${why} It was tried for an hour.`))
    : [];
  const place = "outcome" in ended && ended.outcome.state === "live" ? ended.outcome : live.at;
  return resultOf(at, "published", {
    trigger: at.isPublished ? null : "published",
    nextAt: isOver ? null : nextAt,
    tries: isOver ? 0 : at.tries + 1,
    platformPostId: place.platformPostId,
    platformUrl: place.platformUrl,
    publishedAt: at.isPublished ? null : live.since,
    warnings: [...warnings, ...givenUp],
    accountWait: limitMs > 0 ? { until: at.now + limitMs, cause: "rate_limit" } : null,
  });
}

function gather(live: LiveState, ended: LiveEnd): Pick<LiveState, "warnings" | "pending"> {
  if ("outcome" in ended) {
    if (ended.outcome.state !== "processing") return live;
    const { checkAgainMs: afterMs } = ended.outcome;
    const waits = { name: THE_REST, why: "The platform is still at work on it.", afterMs, isLimit: false };
    return { warnings: live.warnings, pending: [...live.pending, waits] };
  }
  const waits = passing(THE_REST, ended.error);
  if (waits !== null) return { warnings: live.warnings, pending: [...live.pending, waits] };
  const warning = warningOf(THE_REST, reasonOf(ended.error));
  return { warnings: [...live.warnings, warning], pending: live.pending };
}

const BASE_MS = 2 * SECOND;
const CAP_MS = 10 * MINUTE;

/** Tries of a post before it is given up; a doubtful outcome that is asked about does not count. */
const MAX_TRIES = 8;

/** How a failed try is followed by another one. */
export interface Retry {
  readonly afterMs: number;
  /** Tries of the post from then on. */
  readonly tries: number;
  /** True where none follows. */
  readonly isLast: boolean;
  /** What to do once none follows, in a sentence. */
  readonly wayOut: string;
}

/** What failed may work by itself in a moment. */
export function soon(tries: number, random: number): Retry {
  const made = tries + 1;
  const wayOut = `It was tried ${made} times. Send it again.`;
  return { afterMs: outageMs(tries, random), tries: made, isLast: made >= MAX_TRIES, wayOut };
}

const SETUP_CAP_MS = 15 * MINUTE;
/** After so many tries the longest wait is reached; more are not counted, so that none is the last. */
const SETUP_TRIES = 4;

/** A person must mend something first: after a minute or two, then less often. */
function onceMended(tries: number, random: number): Retry {
  const ceiling = Math.min(SETUP_CAP_MS, MINUTE * 2 ** (tries + 1));
  const afterMs = Math.round((ceiling * (1 + random)) / 2);
  const counted = Math.max(tries, Math.min(tries + 1, SETUP_TRIES));
  return {
    afterMs,
    tries: counted,
    isLast: false,
    wayOut: "Once that is mended, send it again.",
  };
}

/**
 * Full jitter (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/), never below half a
 * second.
 */
function backoffMs(tries: number, random: number): number {
  const ceiling = Math.min(CAP_MS, BASE_MS * 2 ** tries);
  return Math.max(500, Math.round(random * ceiling));
}

/** A blip is over in seconds, a restart in minutes: all tries together last for a quarter of an hour. */
function outageMs(tries: number, random: number): number {
  const ceiling = Math.min(CAP_MS, BASE_MS * 3 ** tries);
  return Math.round((ceiling * (1 + random)) / 2);
}

/** Where a platform asks to slow down and does not say for how long. */
function rateBackoffMs(tries: number, random: number): number {
  return Math.max(backoffMs(tries + 2, random), MIN_WAIT_MS);
}

interface RecheckTimes {
  readonly now: number;
  readonly scheduledAt: number;
  readonly giveUpAt: number;
}

/** Backs off from checking posts that are still private after their time. */
const RECHECKS = { share: 1 / 10, leastMs: SECOND, mostMs: 15 * MINUTE, forMs: 7 * DAY } as const;

/** When a post is checked again that is on its platform and private. Null: never. */
function recheckAt({ checkAgainMs }: { checkAgainMs?: number }, at: RecheckTimes): number | null {
  const lateMs = at.now - at.scheduledAt;
  if (lateMs < 0) {
    const ahead = checkAgainMs === undefined ? at.scheduledAt : at.now + checkAgainMs;
    return Math.max(Math.min(ahead, at.scheduledAt), at.now + SECOND);
  }
  if (lateMs > RECHECKS.forMs) return null;
  const waitMs = Math.min(Math.max(lateMs * RECHECKS.share, RECHECKS.leastMs), RECHECKS.mostMs);
  return at.now + Math.round(Math.max(waitMs, checkAgainMs ?? 0));
}

/** Said once it should have been public for a while: platforms flip within some minutes. */
function stillHidden(at: RecheckTimes): string | null {
  return at.now <= at.giveUpAt
    ? null
    : "It is on the platform, but still private although its time is over. Look at it there.";
}
