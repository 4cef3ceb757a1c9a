import { reconnectSentence } from "../domain/accounts/account.ts";
import { MINUTE, SECOND } from "../domain/time.ts";
import type { AppContext } from "../services/context.ts";
import type { SqliteDatabase } from "../store/engine/driver.ts";
import {
  claimPosts,
  failMissed,
  readMissed,
  type ClaimedPost,
  type MissedPost,
  type Wanted,
} from "../store/publishing/claims.ts";
import { readCandidates, readDueHeads, type Candidate } from "../store/publishing/due-posts.ts";
import type { ReadAhead } from "./read-ahead.ts";
import { missedSentence } from "./verdict.ts";

/** From this lateness on, a post counts as left over from downtime, and an account's posts are spaced. */
const OVERDUE_AFTER_MS = MINUTE;

/** Posts of one account that are left over go out at least this far apart. */
const OVERDUE_SPACING_MS = 30 * SECOND;

/** Missed posts failed in one tick; the rest follow in the next. */
const MISSED_PER_TICK = 500;

export interface ClaimOptions {
  readonly limit: number;
  /** So many of them may bring media. Default: all. */
  readonly mediaLimit?: number;
  /** Fails those that missed their time first. Default: true. */
  readonly failsMissed?: boolean;
  /** Posts that were read ahead of their time. Default: none. */
  readonly readAhead?: ReadAhead;
}

export interface Claims {
  readonly claimed: readonly ClaimedPost[];
  /** What was due; as many as the limit: there may be more. */
  readonly found: readonly Candidate[];
}

/** Takes up to `limit` due posts, one an account, first due first, in one durable transaction. */
export async function claimDue(ctx: AppContext, options: ClaimOptions): Promise<Claims> {
  const { limit, mediaLimit = limit } = options;
  if (limit <= 0) return { claimed: [], found: [] };
  return ctx.db.commit((raw) => {
    const now = ctx.clock.now();
    if (options.failsMissed !== false) failOverdue(ctx, raw, now);
    const found = findDue(raw, now, options);
    let withMedia = 0;
    const wanted = found
      .filter(({ isLight }) => isLight || ++withMedia <= mediaLimit)
      .map((candidate) => wantedOf(candidate, now));
    return { claimed: claimPosts(raw, wanted, { id: ctx.workerId, now }), found };
  });
}

/** What was read ahead saves reading now, but what has been due for longer comes first. */
function findDue(
  raw: SqliteDatabase,
  now: number,
  { limit, mediaLimit = limit, readAhead }: ClaimOptions,
): readonly Candidate[] {
  const ready = readAhead?.dueBy(now, limit) ?? [];
  const first = ready[0]?.post.next_at ?? null;
  const until = first === null ? now : first - 1;
  const heads = readDueHeads(raw, { after: 0, until, limit, isLightOnly: mediaLimit <= 0 });
  return heads.length === 0 ? ready : readCandidates(raw, heads);
}

function wantedOf(candidate: Candidate, now: number): Wanted {
  const { status, scheduled_at: scheduledAt } = candidate.post;
  const isLeftOver = status === "scheduled" && now - scheduledAt > OVERDUE_AFTER_MS;
  return { candidate, nextAllowedAt: isLeftOver ? now + OVERDUE_SPACING_MS : 0 };
}

function failOverdue(ctx: AppContext, raw: SqliteDatabase, now: number): void {
  const scheduledBefore = now - ctx.settings.maxLatenessMs;
  for (const missed of readMissed(raw, { now, scheduledBefore, limit: MISSED_PER_TICK })) {
    failMissed(raw, {
      id: missed.id,
      error: whyMissed(missed),
      isInDoubt: missed.status !== "scheduled",
      now,
    });
    ctx.log.warn({ postId: missed.id }, "a post missed its time");
  }
}

function whyMissed(missed: MissedPost): string {
  if (missed.account_status === "connected" || missed.account_status === "expiring")
    return missedSentence(missed.error);
  const reconnect = reconnectSentence({
    id: missed.account_id,
    name: missed.account_name,
    provider: missed.provider,
  });
  if (missed.status === "scheduled") return `It missed its time. ${reconnect} Then send it with retry_post.`;
  return `outcome unknown: it was on its way when its channel could not be used any more. ${reconnect} Then call retry_post, which asks the platform, or settle it with resolve_post.`;
}
