import { reconnectSentence } from "../domain/account.ts";
import { MINUTE, SECOND } from "../domain/time.ts";
import type { AppContext } from "../services/context.ts";
import type { SqliteDatabase } from "../store/driver.ts";
import { claimPost, failMissed, readDueHeads, readMissed, type ClaimedPost, type DueHead, type MissedPost } from "../store/claims.ts";
import { missedSentence } from "./verdict.ts";

/** From this lateness on, a post counts as left over from downtime, and an account's posts are spaced. */
const OVERDUE_AFTER_MS = MINUTE;

/** Posts of one account that are left over go out at least this far apart. */
const OVERDUE_SPACING_MS = 30 * SECOND;

/** Missed posts failed in one tick; the rest follow in the next. */
const MISSED_PER_TICK = 500;

/** Takes up to `limit` due posts, one an account, first due first, in one durable transaction. */
export async function claimDue(ctx: AppContext, limit: number): Promise<ClaimedPost[]> {
  if (limit <= 0) return [];
  return ctx.db.commit((raw) => {
    const now = ctx.clock.now();
    failOverdue(ctx, raw, now);
    const claimed: ClaimedPost[] = [];
    for (const head of readDueHeads(raw, now)) {
      if (claimed.length >= limit) break;
      if (!isFree(head, now)) continue;
      const isLeftOver = head.status === "scheduled" && now - head.scheduled_at > OVERDUE_AFTER_MS;
      const post = claimPost(raw, head.id, { id: ctx.workerId, now, nextAllowedAt: isLeftOver ? now + OVERDUE_SPACING_MS : 0 });
      if (post !== null) claimed.push(post);
    }
    return claimed;
  });
}

function isFree(head: DueHead, now: number): boolean {
  const isHealthy = head.account_status === "connected" || head.account_status === "expiring";
  return isHealthy && head.in_flight_post === null && head.next_allowed_at <= now;
}

function failOverdue(ctx: AppContext, raw: SqliteDatabase, now: number): void {
  const scheduledBefore = now - ctx.settings.maxLatenessMs;
  for (const missed of readMissed(raw, { now, scheduledBefore, limit: MISSED_PER_TICK })) {
    failMissed(raw, { id: missed.id, error: whyMissed(missed), isInDoubt: missed.status !== "scheduled", now });
    ctx.log.warn({ postId: missed.id }, "a post missed its time");
  }
}

function whyMissed(missed: MissedPost): string {
  if (missed.account_status === "connected" || missed.account_status === "expiring") return missedSentence(missed.error);
  const reconnect = reconnectSentence({ id: missed.account_id, name: missed.account_name, provider: missed.provider });
  if (missed.status === "scheduled") return `It missed its time. ${reconnect} Then send it with retry_post.`;
  return `outcome unknown: it was on its way when its channel could not be used any more. ${reconnect} Then call retry_post, which asks the platform, or settle it with resolve_post.`;
}
