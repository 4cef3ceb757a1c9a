import type { SaidAttempt, LateCause } from "../../domain/posts/post.ts";
import type { Trigger } from "../../domain/posts/post-states.ts";
import type { Tables } from "../schema/tables.ts";
import type { Selectable } from "kysely";

/**
 * What was sent and what became of it, written ahead. Each write is durable when it resolves, and guarded by
 * the lease: a publisher that lost it writes nothing, and gets `Fenced`.
 */
export interface Ledger {
  /** Writes the intent before anything is sent. An open one of the same step keeps its start and handle. */
  intent(lease: Lease, effect: NewEffect): Promise<void>;
  end(lease: Lease, end: EffectEnd): Promise<void>;
  /** Intent and end of a step without a request, in one write. */
  once(lease: Lease, effect: NewEffect, end: EffectEnd): Promise<void>;
  /** Stores a value of the platform (session address, container id) or of ours beside an open step. */
  handle(lease: Lease, effect: StepRef & { readonly sealed: string }): Promise<void>;
  countAsked(lease: Lease, effect: StepRef): Promise<void>;
  /** Notes that the post is public, and where. */
  live(lease: Lease, mark: LiveMark): Promise<void>;
  /** Forgets steps, so that they are made anew. */
  forget(lease: Lease, steps: { readonly run: number; readonly steps: readonly string[] }): Promise<void>;
  /** Ends the attempt and releases the post and its account, in one write. */
  finishAttempt(lease: Lease, end: AttemptResult): Promise<void>;
}

/** The right of one worker to work on one post; `fence` rises with every claim. */
export interface Lease {
  readonly postId: string;
  readonly accountId: string;
  readonly workerId: string;
  readonly fence: number;
}

export type EffectRow = Selectable<Tables["effects"]>;

/** The note that a run may have gone further than the ledger knows, since `started_at`. */
export const RESTORED_STEP = "restored";

/** The note that the post of this run is public. Its result says where. */
export const LIVE_STEP = "live";

/** The lease is gone. The worker stops at once and writes nothing. */
export class Fenced extends Error {
  constructor(what: string) {
    super(`The lease on ${what} was lost.`);
    this.name = "Fenced";
  }
}

export interface StepRef {
  readonly run: number;
  readonly step: string;
}

export type NewEffect = Pick<EffectRow, "run" | "step" | "effect_key" | "request_hash" | "started_at">;

export interface EffectEnd extends StepRef {
  readonly state: EffectRow["state"];
  readonly result: string | null;
  readonly httpStatus: number | null;
  readonly at: number;
  /** Where the post can be seen from this step on. */
  readonly live?: Omit<LiveMark, "run" | "at"> | null;
}

export interface LiveMark {
  readonly run: number;
  readonly platformPostId: string | null;
  readonly platformUrl: string | null;
  readonly at: number;
}

/** Until when its account, or each of its platform's, gets no other post, and why. */
export interface AccountWait {
  readonly until: number;
  readonly cause: LateCause;
  /** Default: account. */
  readonly scope?: "account" | "app";
}

export interface AttemptResult {
  /** Null keeps the state: the post waits in it. */
  readonly trigger: Extract<Trigger, "release" | "uploaded" | "published" | "fail"> | null;
  readonly nextAt: number | null;
  readonly error: string | null;
  readonly isInDoubt: boolean;
  readonly tries: number;
  readonly platformPostId: string | null;
  readonly platformUrl: string | null;
  readonly publishedAt: number | null;
  readonly attempt: {
    readonly outcome: SaidAttempt["outcome"];
    readonly error: string | null;
    /** What made it late during the attempt. A cause that was noted before stays. */
    readonly lateCause?: LateCause | null;
  };
  /** What was refused of a live post. Null leaves the warnings as they are. */
  readonly warnings: readonly string[] | null;
  /** Null leaves it. */
  readonly accountWait: AccountWait | null;
  /** What the operator must solve before the platform takes posts. */
  readonly setupProblem?: string;
  readonly at: number;
}
