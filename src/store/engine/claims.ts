import type { LateCause } from "../../domain/posts/post.ts";
import type { EffectRow, Lease } from "./ledger.ts";
import type { PostRow, Tables } from "../schema/tables.ts";

/** How a worker claims and releases posts. */
export interface Claims {
  /** When the first post after this moment is due. Null when none waits. */
  nextAfter(moment: number): Promise<number | null>;
  /** Whether a due post waits that was there at several crashes in a row. */
  hasQuarantined(now: number): Promise<boolean>;
  /** Claims due posts for a worker, one an account, first due first, in one durable transaction. */
  claim(wish: ClaimWish): Promise<ClaimBatch>;
  /**
   * Fails posts that are too late, unless their channel is paused: those that still wait, and those that were on
   * their way to a lost channel.
   */
  failMissed(cutoff: MissedCutoff): Promise<readonly MissedPost[]>;
  /** Writes on due posts that their channel, lost or paused, keeps them waiting, and why. They are looked at again later. */
  noteUnusable(note: UnusableNote): Promise<number>;
  /** Releases what a worker that ends still holds. Its posts go on from their ledger. */
  freeWorker(workerId: string, now: number): Promise<number>;
  /**
   * Releases what a dead worker held, and counts a crash against its posts unless it was asked to end. A post
   * that crashed too often in a row fails, and waits for a while before. The engine proves the death in this transaction. Null where it
   * does not, or where another worker has taken over.
   */
  takeOver(workerId: string, now: number): Promise<TakeOver | null>;
  /** Releases own posts whose result could not be written. Does nothing where the lease is gone. */
  abandon(leases: readonly Lease[], now: number): Promise<void>;
  /** Notes the time. Returns the time noted before, and how far the clock has gone back since. */
  noteTime(
    now: number,
    toleranceMs: number,
  ): Promise<{ readonly last: number | null; readonly backMs: number }>;
}

export interface TakeOver {
  readonly posts: number;
  /** The ids of those that crashed too often. */
  readonly failed: readonly string[];
}

export interface ClaimWish {
  readonly workerId: string;
  /** Called inside the transaction, so that nothing is claimed before its time. */
  readonly now: () => number;
  readonly limit: number;
  /** Only posts that were there at several crashes in a row; otherwise all but them. */
  readonly isQuarantined: boolean;
  /** A post this late is left over from downtime, and its account gets the next one after this spacing. */
  readonly leftOver: { readonly afterMs: number; readonly spacingMs: number };
  /** What made a post late, as far as is known when it is claimed. Null where it is not late. */
  readonly causeOf: (late: Candidate, now: number) => LateCause | null;
}

/** A post that may be claimed, with everything that working on it needs, as it was when it was read. */
export interface Candidate {
  readonly post: PostRow;
  readonly account: Tables["accounts"];
  /** The ledger of its present run. Only the worker that has claimed the post writes it. */
  readonly effects: readonly EffectRow[];
}

/** `post` is as it was before the claim, which raised its fence, made it `publishing` and counted the attempt. */
export interface ClaimedPost extends Candidate {
  readonly lease: Lease;
  readonly attempt: number;
}

export interface ClaimBatch {
  readonly posts: readonly ClaimedPost[];
  /** As many as the limit: there may be more. */
  readonly isFull: boolean;
}

export interface MissedCutoff {
  readonly now: number;
  readonly scheduledBefore: number;
  readonly limit: number;
  /** Platforms that publish by themselves what was uploaded, without the channel. */
  readonly selfPublishing: readonly string[];
  /** The sentence that becomes the post's error. */
  readonly why: (missed: MissedPost) => string;
}

export interface MissedPost {
  readonly id: string;
  readonly status: PostRow["status"];
  readonly error: string | null;
  readonly account_name: string;
  readonly account_handle: string | null;
  readonly account_id: string;
  readonly provider: string;
  readonly account_status: Tables["accounts"]["status"];
}

export interface UnusableNote {
  readonly now: number;
  readonly limit: number;
  /** When they are looked at again, at the latest `lastLookAfterMs` after their scheduled time. */
  readonly lookAgainAt: number;
  readonly lastLookAfterMs: number;
  readonly why: (
    account: Pick<
      Tables["accounts"],
      "id" | "name" | "provider" | "handle" | "status" | "status_reason" | "paused"
    >,
  ) => string;
}
