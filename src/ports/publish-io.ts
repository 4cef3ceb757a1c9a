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
  /** How often this step left this machine before, or may have: a duplicate may be our own. */
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

/** How an open intent turned out. `ask_again`: the platform has not reconciled itself yet. */
export type Reconciled<R> =
  | { readonly outcome: "done"; readonly result: R }
  | {
      readonly outcome: "send_again";
      /** What was sent before may have come through: the step stays in doubt until there is an answer. */
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
  /** For the step that makes the post public, stored with its result: nothing later makes the post failed. */
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
  /** One change on the platform: a durable intent before it, its result after it. Done steps are not sent. */
  effect<R extends Json>(spec: EffectSpec<R>): Promise<R>;
  /** Makes a JSON value once per run and stores it (a record key, a timestamp). Later calls return it. */
  once<R>(name: string, make: () => R | Promise<R>): Promise<R>;
  /** The post is public by itself (the platform's schedule). The first call counts. */
  live(at: LiveAt): Promise<void>;
  /**
   * Something that follows a live post: a first comment, the second part of a thread, a thumbnail. Never
   * throws what the platform says: a refusal becomes a warning of the post, passing trouble is tried again
   * for an hour and then becomes one. Its effects are reconciled as always. `name` begins the warning: "The
   * first comment".
   */
  followUp(name: string, work: () => Promise<void>): Promise<void>;
}
