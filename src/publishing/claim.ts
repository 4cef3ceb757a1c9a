import { mustReconnect } from "../domain/accounts/account.ts";
import { MINUTE, SECOND } from "../domain/time.ts";
import type { AppContext } from "../context.ts";
import type { Claimed, MissedPost } from "../store/engine/claims.ts";
import type { LateCauses } from "./late-causes.ts";
import { missedSentence } from "./verdict.ts";

/** From this lateness on, a post counts as left over from downtime, and an account's posts are spaced. */
const LEFT_OVER = { afterMs: MINUTE, spacingMs: 30 * SECOND } as const;

/** Posts that one tick fails or notes as waiting for their channel. The rest follow in the next tick. */
const SWEPT_PER_TICK = 500;

/** How soon a post is looked at again whose channel cannot be used. It starts at once when it can be. */
const UNUSABLE_RECHECK_MS = MINUTE;

export interface ClaimOptions {
  readonly limit: number;
  /** Only posts that one more crash makes fail. Default: all but them. */
  readonly isQuarantined?: boolean;
  readonly lateCauses: LateCauses;
}

/** Claims up to `limit` due posts, one an account, first due first. */
export function claimDue(
  { store, clock, workerId }: AppContext,
  { limit, isQuarantined = false, lateCauses }: ClaimOptions,
): Promise<Claimed> {
  return store.claims.claim({
    workerId,
    now: () => clock.now(),
    limit,
    isQuarantined,
    leftOver: LEFT_OVER,
    causeOf: (candidate, now) => lateCauses.causeOf(candidate, now),
  });
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
  const cutoff = { now, scheduledBefore, selfPublishing, limit: SWEPT_PER_TICK, why: whyMissed };
  for (const { id } of await claims.failMissed(cutoff)) log.warn({ postId: id }, "a post missed its time");
  await claims.noteUnusable({
    now,
    limit: SWEPT_PER_TICK,
    lookAgainAt: now + UNUSABLE_RECHECK_MS,
    lastLookAfterMs: settings.maxLatenessMs + 1,
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
