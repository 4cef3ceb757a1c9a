import { mustReconnect, whyHeld } from "../domain/accounts/account.ts";
import { assert } from "../domain/errors.ts";
import { say, toStored } from "../domain/sentences.ts";
import { MINUTE, SECOND } from "../domain/time.ts";
import { TIME_LIMITS } from "../domain/time-limits.ts";
import type { AppContext } from "../context.ts";
import type { Candidate, ClaimedPost, MissedPost } from "../store/engine/claims.ts";
import { missedSentence } from "./verdict.ts";
import type { LateCause } from "../domain/posts/post.ts";
import { assertAgrees, isPending } from "../domain/posts/post-states.ts";
import { jsonIn } from "../domain/text/read-text.ts";

/** From this lateness on, a post counts as left over from downtime, and its account's posts are spaced. */
const LEFT_OVER = { afterMs: TIME_LIMITS.leftOver, spacingMs: TIME_LIMITS.spacing } as const;

/** Posts that one tick fails or notes as waiting for their channel. The rest follow in the next tick. */
const SWEPT_PER_TICK = 500;

/** How soon a post is looked at again whose channel cannot be used. It starts at once when it can be. */
const UNUSABLE_RECHECK_MS = MINUTE;

interface ClaimOptions {
  readonly limit: number;
  /** Only posts that were there at several crashes in a row. Default: all but them. */
  readonly isQuarantined?: boolean;
  readonly lateCauses: LateCauses;
}

/** A post that this process works on, and the latest that the clock had shown when it was claimed. */
export type PostAtWork = ClaimedPost & { readonly reachedAt: number };

/** Claims up to `limit` due posts, one an account, first due first. */
export async function claimDue(
  { store, clock, workerId }: AppContext,
  { limit, isQuarantined = false, lateCauses }: ClaimOptions,
): Promise<{ readonly posts: readonly PostAtWork[]; readonly isFull: boolean }> {
  const before = clock.now();
  const { posts, isFull } = await store.claims.claim({
    workerId,
    now: () => clock.now(),
    limit,
    isQuarantined,
    leftOver: LEFT_OVER,
    causeOf: (candidate, now) => lateCauses.causeOf(candidate, now),
  });
  const reachedAt = Math.max(before, clock.now());
  return { posts: posts.map((post) => ({ ...post, reachedAt })), isFull };
}

/** What a claim promises, looked at again in the rows that it gave. */
export function assertClaimed({ post, account, effects, lease, reachedAt }: PostAtWork): void {
  const { id, run, status } = post;
  const isFree = account.in_flight_post === null && account.next_allowed_at <= reachedAt;
  const areOwn = effects.every((step) => step.post_id === id && step.run === run);
  const isLast = effects.every(({ fence }) => fence <= post.fence) && post.fence < lease.fence;
  const isOpen = isPending(status) || status === "published";
  assert("claim_due", Math.max(post.due_at, post.next_at ?? Infinity) <= reachedAt, id);
  assert("claim_channel", isFree && whyHeld(account) === null, id);
  assert("claim_open", isOpen && post.lease_worker === null, id);
  assert("claim_fence", isLast, id);
  assert("ledger_own", areOwn, id);
  assert("ledger_readable", effects.every(isReadable), id);
  assertAgrees(post);
}

/** A step has a result once it is done, as JSON. */
export function isReadable({ result, state }: Candidate["effects"][number]): boolean {
  return result === null || (state === "done" && (result === "null" || jsonIn(result) !== null));
}

/** Fails the posts whose time is over, and says on those that wait for their channel that they do. */
export async function sweep({
  store: { claims },
  clock,
  log,
  platforms,
  settings,
}: AppContext): Promise<void> {
  const now = clock.now();
  const selfPublishing = [...platforms.values()]
    .filter(({ capabilities }) => capabilities.scheduling === "platform")
    .map(({ name }) => name);
  const scheduledBefore = now - settings.maxLatenessMs;
  const why = (missed: MissedPost): string => whyMissed(missed, settings.maxLatenessMs);
  const cutoff = { now, scheduledBefore, selfPublishing, limit: SWEPT_PER_TICK, why };
  for (const { id } of await claims.failMissed(cutoff)) log.warn({ postId: id }, "a post missed its time");
  await claims.noteUnusable({
    now,
    limit: SWEPT_PER_TICK,
    lookAgainAt: now + UNUSABLE_RECHECK_MS,
    lastLookAfterMs: settings.maxLatenessMs + 1,
    why: (account) => whyHeld(account) ?? "",
  });
}

function whyMissed(missed: MissedPost, maxLatenessMs: number): string {
  if (missed.account_status === "connected" || missed.account_status === "expiring")
    return missedSentence(missed.error, maxLatenessMs);
  const reconnect = mustReconnect({
    name: missed.account_name,
    provider: missed.provider,
    handle: missed.account_handle,
  });
  if (missed.status === "scheduled") return `It missed its time. ${reconnect} Then send it again.`;
  return toStored(
    say(`outcome unknown: it was on its way when its channel could not be used any more. ${reconnect}`, {
      next: [
        { do: "retry", postId: null, changed: false },
        { do: "settle", postId: null },
      ],
    }),
  );
}

/** A post that was less late than this needs no cause. */
export const LATE_FROM_MS = SECOND;

/** Spans of one cause this close together are one. */
const SAME_WITHIN_MS = 2 * SECOND;

/**
 * Knows what kept posts from being claimed at their time: this process notes what happens to it, their rows
 * tell the rest.
 */
export class LateCauses {
  /** By its cause, the last span in which nothing was claimed although posts may have been due; the latest last. */
  readonly #spans = new Map<LateCause, { readonly from: number; readonly to: number }>();

  /** Nothing was claimed between these moments. */
  note(cause: LateCause, from: number, to: number): void {
    const last = this.#spans.get(cause);
    const goesOn = last !== undefined && from - last.to <= SAME_WITHIN_MS;
    this.#spans.delete(cause);
    this.#spans.set(cause, { from: goesOn ? last.from : from, to });
  }

  /**
   * Null for a post that is on time. First what its channel waited for, then what this process did at its
   * time.
   */
  causeOf({ post, account }: Candidate, now: number): LateCause | null {
    const { due_at: dueAt } = post;
    if (now - dueAt < LATE_FROM_MS) return null;
    const waitedFor = account.next_allowed_at > dueAt ? account.wait_cause : null;
    if (waitedFor !== null && waitedFor !== "order") return waitedFor;
    if (post.tries > 0) return "retry";
    if (waitedFor !== null) return waitedFor;
    const since = [...this.#spans].filter(([, { to }]) => to >= dueAt);
    const atItsTime = since.findLast(([, { from }]) => from <= dueAt + SAME_WITHIN_MS);
    if (atItsTime !== undefined) return atItsTime[0];
    if (account.freed_at !== null && account.freed_at > dueAt) return "account_busy";
    return since.find(([, { from }]) => from <= now)?.[0] ?? "load";
  }
}
