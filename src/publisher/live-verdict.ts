import { HOUR, SECOND } from "../domain/time.ts";
import type { PublishOutcome } from "../ports/platform.ts";
import type { LiveState } from "../services/publishing/extras.ts";
import { passing, reasonOf, warningOf } from "../services/publishing/extras.ts";
import type { PostEnd } from "../store/engine/ledger.ts";
import { backoffMs } from "./backoff.ts";
import type { Situation } from "./verdict.ts";

/** How long what follows a live post is tried. */
const EXTRAS_FOR_MS = HOUR;

/** What the platform's file did not get to, for sentences. */
const THE_REST = "What follows the post";

/** How the work on a live post stopped: what the platform's file answered, or threw. */
export type LiveEnd = { readonly outcome: PublishOutcome } | { readonly error: unknown };

/**
 * Whatever happens to a post after it went live, it is published. What was refused is told in its warnings;
 * what may still work is tried again for an hour.
 */
export function verdictOnLive(live: LiveState, ended: LiveEnd, at: Situation): PostEnd {
  const { warnings, pending } = gather(live, ended);
  const askedFor = Math.max(0, ...pending.map(({ afterMs }) => afterMs ?? 0));
  const asked = Math.max(0, ...pending.map(({ isLimit, afterMs }) => (isLimit ? (afterMs ?? 0) : 0)));
  // Longer than that no post of the channel could wait.
  const limitMs = Math.min(asked, at.giveUpAt - at.scheduledAt);
  const nextAt = at.now + Math.max(askedFor, backoffMs(at.tries, at.random), SECOND);
  const isOver = pending.length === 0 || nextAt > live.since + EXTRAS_FOR_MS;
  const givenUp = isOver
    ? pending.map(({ name, why }) => warningOf(name, `${why} It was tried for an hour.`))
    : [];
  const place = "outcome" in ended && ended.outcome.state === "live" ? ended.outcome : live.at;
  return {
    trigger: at.isPublished ? null : "published",
    nextAt: isOver ? null : nextAt,
    error: null,
    isInDoubt: false,
    tries: isOver ? 0 : at.tries + 1,
    platformPostId: place.platformPostId,
    platformUrl: place.platformUrl,
    publishedAt: at.isPublished ? null : live.since,
    warnings: [...warnings, ...givenUp],
    attempt: { outcome: "published", error: null },
    accountWait: limitMs > 0 ? { until: at.now + limitMs, cause: "rate_limit" } : null,
    at: at.now,
  };
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
