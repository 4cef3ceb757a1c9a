import type { LateCause } from "../../domain/posts/post.ts";
import type { EffectRow, Lease } from "./ledger.ts";
import type { PostRow, Tables } from "./schema.ts";

/** How a worker gets and gives back the right to work on posts. Every engine has its own way to it. */
export interface Claims {
  /** When the first post after this moment wants attention; null when none waits. */
  nextAfter(moment: number): Promise<number | null>;
  /** Whether a due post waits that one more crash makes fail. */
  hasQuarantined(now: number): Promise<boolean>;
  /** Takes due posts for a worker, one an account, first due first, in one durable transaction. */
  claim(wish: ClaimWish): Promise<Claimed>;
  /**
   * Fails posts whose time is past saving: those that still wait, and those whose channel is gone while they
   * were on their way.
   */
  failMissed(cutoff: MissedCutoff): Promise<readonly MissedPost[]>;
  /** Says on due posts why they wait, where that is their channel; they are looked at again later. */
  noteUnusable(note: UnusableNote): Promise<number>;
  /** Releases what a worker held that ends: its posts go on from their ledger. */
  freeWorker(workerId: string, now: number): Promise<number>;
  /**
   * Releases what a worker held that is dead, and counts a crash against its posts unless it was asked to end.
   * A post that crashed too often in a row fails. Where workers share no machine, their end is proven in this
   * transaction: null where it is not, or where another worker has taken over.
   */
  takeOver(workerId: string, now: number): Promise<TakenOver | null>;
  /**
   * Releases posts of our own whose result could not be written. Does nothing where the lease is gone already.
   */
  abandon(leases: readonly Lease[], now: number): Promise<void>;
  /**
   * Notes the time; answers what the one who noted it last wrote, and how far the clock has gone back since.
   */
  noteTime(
    now: number,
    toleranceMs: number,
  ): Promise<{ readonly last: number | null; readonly backMs: number }>;
}

export interface TakenOver {
  readonly posts: number;
  /** The ids of those that crashed too often. */
  readonly failed: readonly string[];
}

export interface ClaimWish {
  readonly workerId: string;
  /** Asked inside the transaction: nothing is claimed before its time. */
  readonly now: () => number;
  readonly limit: number;
  /** Only posts that one more crash makes fail; otherwise all but them. */
  readonly isQuarantined: boolean;
  /**
   * From this lateness on a post counts as left over from downtime, and its account gets the next one so much
   * later.
   */
  readonly leftOver: { readonly afterMs: number; readonly spacingMs: number };
  /** What made a post late, as far as it can be told when it is claimed. Null where it is not late. */
  readonly causeOf: (late: Candidate, now: number) => LateCause | null;
}

/** A post that may be claimed, with everything that working on it needs, as it was when it was read. */
export interface Candidate {
  readonly post: PostRow;
  readonly account: Tables["accounts"];
  /** The ledger of its present run; nobody writes it but who has claimed the post. */
  readonly effects: readonly EffectRow[];
}

/** `post` is as it was read: the claim has raised its fence, made it `publishing` and counted the attempt. */
export interface ClaimedPost extends Candidate {
  readonly lease: Lease;
  readonly attempt: number;
  readonly lateCause: LateCause | null;
}

export interface Claimed {
  readonly posts: readonly ClaimedPost[];
  /** As many as were wished for: there may be more. */
  readonly isFull: boolean;
}

export interface MissedCutoff {
  readonly now: number;
  readonly scheduledBefore: number;
  readonly limit: number;
  /** Platforms that publish by themselves what they hold, whatever becomes of the channel here. */
  readonly selfPublishing: readonly string[];
  /** The sentence that becomes the post's error. */
  readonly why: (missed: MissedPost) => string;
}

export interface MissedPost {
  readonly id: string;
  readonly status: PostRow["status"];
  readonly error: string | null;
  readonly account_name: string;
  readonly account_id: string;
  readonly provider: string;
  readonly account_status: Tables["accounts"]["status"];
}

export interface UnusableNote {
  readonly now: number;
  readonly limit: number;
  /** When they are looked at again; no later than `lastLook` after their scheduled time. */
  readonly lookAgainAt: number;
  readonly lastLookAfterMs: number;
  readonly why: (account: Pick<Tables["accounts"], "id" | "name" | "provider" | "status_reason">) => string;
}
