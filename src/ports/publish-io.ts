import type { PostMedia } from "./media.ts";
import type { Json, PlatformIo } from "./platform-io.ts";

/** Where a post is that everybody can see; null where the platform does not tell. */
export interface LiveAt {
  readonly platformPostId: string | null;
  readonly platformUrl: string | null;
}

export interface EffectContext {
  /** The same for every try of this step in this run: 32 hexadecimal characters. */
  readonly key: string;
  /** What an earlier try stored with `saveHandle`: a session address, a container id. */
  readonly handle: Json;
  /** Stores the handle durably, encrypted, before the next request. */
  saveHandle(handle: Json): Promise<void>;
  readonly signal: AbortSignal;
  /**
   * How often this step left this machine before, or may have: what the platform calls a duplicate of a first
   * sending is not ours.
   */
  readonly timesSent: number;
}

/**
 * `intentAt`: when it was sent first; `timesAsked`: how often it was asked about before; `wasTaken`: the platform
 * answered that it took it (2xx), and not what came of it.
 */
export type ReconcileContext = EffectContext & {
  readonly intentAt: number;
  readonly timesAsked: number;
  readonly wasTaken: boolean;
};

/** How an open intent turned out. `ask_again`: the platform has not settled itself yet. */
export type Reconciled<R> =
  | { readonly outcome: "done"; readonly result: R }
  | {
      readonly outcome: "send_again";
      /**
       * The platform drops a repetition, but what was sent before may have come through: until it answers,
       * the step stays one that must be settled. Default: false.
       */
      readonly isStillInDoubt?: boolean;
    }
  | { readonly outcome: "ask_again"; readonly afterMs: number }
  | { readonly outcome: "unknown"; readonly reason: string };

export interface EffectSpec<R extends Json> {
  /** Names the step in the ledger; unique within a post. */
  readonly step: string;
  /** What will be sent; its hash stands in the ledger. */
  readonly request: Json;
  /** Sends it, once. What it returns is stored and given back on every later run of the post. */
  send(context: EffectContext): Promise<R>;
  /**
   * Asked instead of `send` for an intent whose outcome is open (a crash, a lost answer). `send_again` only
   * where a second sending cannot make a second post: proven absent, the same key, or a step that may be
   * repeated.
   */
  reconcile(context: ReconcileContext): Promise<Reconciled<R>>;
  /**
   * For the step after which everybody can see the post: stored together with its result, so that nothing
   * that follows makes the post failed or sends it again.
   */
  live?(result: R): LiveAt;
  /**
   * For a step that is not seen and that the platform forgets (a container, unattached media): asked before
   * its stored result is used again; gone, it and every later step are made anew. A run with such a step must
   * name the one that is `live`.
   */
  isGone?(result: R): Promise<boolean>;
}

/** Thrown by `publish` while the platform works on what it was sent: the same as `processing`. */
export class StillProcessing extends Error {
  readonly checkAgainMs: number;

  constructor(checkAgainMs: number) {
    super("The platform is working on what it was sent.");
    this.name = "StillProcessing";
    this.checkAgainMs = checkAgainMs;
  }
}

export interface PublishIo extends PlatformIo {
  readonly media: PostMedia;
  /** True from scheduledAt on: what is public from its first moment may go out only then. */
  readonly isDue: boolean;
  /**
   * One change on the platform under the publishing protocol: a durable intent before it, its result after
   * it. A step that is done returns its stored result without sending.
   */
  effect<R extends Json>(spec: EffectSpec<R>): Promise<R>;
  /**
   * Makes a JSON value once per run and stores it durably (a record key, a timestamp); later calls return the
   * stored one.
   */
  once<R>(name: string, make: () => R | Promise<R>): Promise<R>;
  /**
   * The post is public by itself (the platform's own schedule): as an effect's `live`. What is told first
   * stands.
   */
  live(at: LiveAt): Promise<void>;
  /**
   * Something that follows a live post: a first comment, the second part of a thread, a thumbnail. Never
   * throws what the platform says: a refusal becomes a warning of the post, passing trouble is tried again
   * for an hour and then becomes one. Its effects are settled as always. `name` begins the warning: "The
   * first comment".
   */
  followUp(name: string, work: () => Promise<void>): Promise<void>;
}
