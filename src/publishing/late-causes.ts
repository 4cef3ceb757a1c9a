import { MINUTE, SECOND } from "../domain/time.ts";
import type { LateCause } from "../domain/posts/post.ts";
import type { Candidate } from "../store/engine/claims.ts";

/** Nobody asks why a post was less late than this. */
export const LATE_FROM_MS = SECOND;

/** A span in which nothing was claimed, whatever was due. */
interface Gap {
  readonly cause: LateCause;
  readonly from: number;
  to: number;
}

/** Spans of one cause this close together are one. */
const SAME_WITHIN_MS = 2 * SECOND;

const MAX_GAPS = 50;
const REMEMBERED_MS = 24 * 60 * MINUTE;

/**
 * Knows what kept posts from being claimed at their time: this process notes what happens to it, their rows
 * tell the rest.
 */
export class LateCauses {
  #gaps: Gap[] = [];

  /** Nothing was claimed between these moments. */
  note(cause: LateCause, from: number, to: number): void {
    const last = this.#gaps.at(-1);
    if (last?.cause === cause && from - last.to <= SAME_WITHIN_MS) {
      last.to = Math.max(last.to, to);
      return;
    }
    this.#gaps = [...this.#gaps, { cause, from, to }]
      .filter((gap) => gap.to >= to - REMEMBERED_MS)
      .slice(-MAX_GAPS);
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
    const since = this.#gaps.filter(({ to }) => to >= dueAt);
    const atItsTime = since.findLast(({ from }) => from <= dueAt + SAME_WITHIN_MS);
    if (atItsTime !== undefined) return atItsTime.cause;
    if (account.freed_at !== null && account.freed_at > dueAt) return "account_busy";
    return since.find(({ from }) => from <= now)?.cause ?? "load";
  }
}
