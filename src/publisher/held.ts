import { DAY, MINUTE, SECOND } from "../domain/time.ts";

interface Held {
  readonly now: number;
  readonly scheduledAt: number;
  readonly giveUpAt: number;
}

/** A post that is private past its time is looked at the more seldom the later it gets. */
const HELD_LOOKS = { share: 1 / 10, leastMs: SECOND, mostMs: 15 * MINUTE, forMs: 7 * DAY } as const;

/** Null once nothing is to be expected any more. Before its time, as soon as the platform's file asks for. */
export function lookAgainAt({ checkAgainMs }: { checkAgainMs?: number }, at: Held): number | null {
  const lateMs = at.now - at.scheduledAt;
  if (lateMs < 0) {
    const ahead = checkAgainMs === undefined ? at.scheduledAt : at.now + checkAgainMs;
    return Math.max(Math.min(ahead, at.scheduledAt), at.now + SECOND);
  }
  if (lateMs > HELD_LOOKS.forMs) return null;
  const waitMs = Math.min(Math.max(lateMs * HELD_LOOKS.share, HELD_LOOKS.leastMs), HELD_LOOKS.mostMs);
  return at.now + Math.round(Math.max(waitMs, checkAgainMs ?? 0));
}

/** Said once it should have been public for a while: platforms flip within some minutes. */
export function stillHidden(at: Held): string | null {
  return at.now <= at.giveUpAt
    ? null
    : "It is on the platform, but still private although its time is over. Look at it there.";
}
