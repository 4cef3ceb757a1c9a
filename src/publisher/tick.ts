import { mustReconnect } from "../domain/accounts/account.ts";
import { MINUTE, SECOND } from "../domain/time.ts";
import type { AppContext } from "../services/context.ts";
import type { Claimed, ClaimedPost, MissedPost } from "../store/engine/claims.ts";
import type { LateCauses } from "./late-causes.ts";
import type { Probation } from "./probation.ts";
import type { UnderWay } from "./under-way.ts";
import { missedSentence } from "./verdict.ts";

/** From this lateness on, a post counts as left over from downtime, and an account's posts are spaced. */
const LEFT_OVER = { afterMs: MINUTE, spacingMs: 30 * SECOND } as const;

/**
 * Posts that missed their time, or wait for their channel, looked at in one tick; the rest follow in the
 * next.
 */
const SWEPT_PER_TICK = 500;

/** How soon a post is looked at again whose channel cannot be used; it starts at once when it can be. */
const UNUSABLE_RECHECK_MS = MINUTE;

export interface ClaimOptions {
  readonly limit: number;
  /** So many of them may bring media. Default: all. */
  readonly mediaLimit?: number;
  readonly whom?: "suspects" | "others";
  readonly isSteady?: boolean;
  /** What owners have shares of. Default: they take what they want. */
  readonly underWay?: UnderWay;
  readonly lateCauses: LateCauses;
}

/** Takes up to `limit` due posts, one an account, first due first. */
export function claimDue(ctx: AppContext, options: ClaimOptions): Promise<Claimed> {
  const { limit, mediaLimit = limit, whom, isSteady, underWay, lateCauses } = options;
  return ctx.store.claims.claim({
    workerId: ctx.workerId,
    now: () => ctx.clock.now(),
    limit,
    mediaLimit,
    whom,
    isSteady,
    owners: underWay,
    leftOver: LEFT_OVER,
    causeOf: (candidate, now) => lateCauses.causeOf(candidate, now),
  });
}

/**
 * Takes up posts that were under way when a process ended, as many as may be now. `isOpen`: others may be
 * taken up beside them.
 */
export async function claimSuspects(
  ctx: AppContext,
  probation: Probation,
  { underWay, lateCauses }: { underWay: UnderWay; lateCauses: LateCauses },
): Promise<{ readonly posts: readonly ClaimedPost[]; readonly isOpen: boolean }> {
  const { clock, store } = ctx;
  const isSteady = probation.isSteady(clock.monotonic());
  const due = await store.claims.suspects({ now: clock.now(), isSteady });
  const turn = probation.turn(due, underWay.count, clock.monotonic());
  const room = underWay.room();
  const limit = Math.min(turn.suspects, room.posts);
  const wish = { limit, mediaLimit: room.withMedia, whom: "suspects", isSteady, lateCauses } as const;
  const { posts } = limit > 0 ? await claimDue(ctx, wish) : { posts: [] };
  for (const { post } of posts) probation.begin(post.id, turn, clock.monotonic());
  // Whom somebody else has taken up meanwhile nobody needs to wait for.
  const isOpen = turn.isOpen || (limit > 0 && posts.length === 0);
  if (!isOpen) lateCauses.note("limit", clock.now(), clock.now());
  return { posts, isOpen };
}

/** Fails the posts whose time is over, and says on those that wait for their channel that they do. */
export async function sweep(ctx: AppContext): Promise<void> {
  const now = ctx.clock.now();
  const { maxLatenessMs } = ctx.settings;
  const { claims } = ctx.store;
  const selfPublishing = [...ctx.platforms.values()]
    .filter(({ capabilities }) => capabilities.scheduling === "platform")
    .map(({ name }) => name);
  const scheduledBefore = now - maxLatenessMs;
  const cutoff = { now, scheduledBefore, selfPublishing, limit: SWEPT_PER_TICK, why: whyMissed };
  for (const { id } of await claims.failMissed(cutoff))
    ctx.log.warn({ postId: id }, "a post missed its time");
  await claims.noteUnusable({
    now,
    limit: SWEPT_PER_TICK,
    lookAgainAt: now + UNUSABLE_RECHECK_MS,
    lastLookAfterMs: maxLatenessMs + 1,
    why: (account) => mustReconnect(account, account.status_reason),
  });
}

function whyMissed(missed: MissedPost): string {
  if (missed.account_status === "connected" || missed.account_status === "expiring")
    return missedSentence(missed.error);
  const reconnect = mustReconnect({ name: missed.account_name, provider: missed.provider });
  if (missed.status === "scheduled") return `It missed its time. ${reconnect} Then send it again.`;
  return `outcome unknown: it was on its way when its channel could not be used any more. ${reconnect} Then call retry_post, which asks the platform, or settle it with resolve_post.`;
}
