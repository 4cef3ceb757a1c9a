import type { FeedShelf } from "./feed-shelf.ts";
import type { Logger } from "./logger.ts";
import type { PostMedia } from "./media.ts";
import type { OutboundRequest } from "./outbound.ts";

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/**
 * Why something on a platform did not work, and thereby what happens next: `not_sent` nothing left this
 * machine: tried again; `transient` an idempotent step failed: tried again; `rejected` the platform said no:
 * the post fails; `auth` one refresh, then the channel must be reconnected; `rate` the account waits for
 * `retryAfterMs`; `ambiguous` it may have happened: settled before anything is sent again.
 */
export const FAULT_KINDS = ["not_sent", "transient", "rejected", "auth", "rate", "ambiguous"] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** `message` is a sentence of ours for the user; the platform's raw words go in `cause`. */
export class PlatformFault extends Error {
  readonly kind: FaultKind;
  readonly retryAfterMs: number | null;
  readonly httpStatus: number | null;

  constructor(
    kind: FaultKind,
    message: string,
    details: { cause?: unknown; retryAfterMs?: number; httpStatus?: number } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "PlatformFault";
    this.kind = kind;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.httpStatus = details.httpStatus ?? null;
  }
}

/** The answer of a platform, its body read whole and bounded (1 MiB). */
export interface PlatformResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body as JSON; null where it is none. */
  readonly json: unknown;
}

export interface PlatformRequest extends Omit<OutboundRequest, "signal" | "body"> {
  readonly body?: OutboundRequest["body"];
  /** Sent as `application/json`. */
  readonly json?: Json;
  /**
   * Turns an answer that is not 2xx into a fault. Return null for the usual reading: 401 auth, 429 rate, 4xx
   * rejected, 5xx ambiguous (transient where `isIdempotent`).
   */
  readonly classify?: (response: PlatformResponse) => PlatformFault | null;
  /** True for reads and for steps whose repetition changes nothing: a lost answer is then `transient`. */
  readonly isIdempotent?: boolean;
}

/** The connected account as a platform file sees it. */
export interface PlatformAccount {
  readonly id: string;
  readonly name: string;
  readonly handle: string | null;
  readonly platformAccountId: string | null;
  /**
   * What connecting stored and nobody needs to hide: DID, …; an `instanceUrl` is given again when the account
   * is reconnected.
   */
  readonly settings: JsonObject;
  /** What `inspect` found the account may do; empty until it was asked. */
  readonly limits: JsonObject;
}

/** What every call of a platform gets; it has no other way to the outside. */
export interface PlatformIo {
  readonly account: PlatformAccount;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Wall clock in milliseconds. */
  now(): number;
  sleep(ms: number): Promise<void>;
  /** Base address from `POSTHORN_<PLATFORM>_<NAME>`, without a slash at its end; null where it is not set. */
  setting(name: string): string | null;
  /** One request through the outbound door; throws PlatformFault for everything that is not 2xx. */
  request(request: PlatformRequest): Promise<PlatformResponse>;
  /**
   * Runs `work` with the account's secrets. When it throws an `auth` fault, the secrets are refreshed once
   * (one refresh per account at a time) and it runs again; when the platform refuses the refresh, the account
   * asks to be reconnected.
   */
  authorized<T>(work: (secrets: Readonly<Record<string, string>>) => Promise<T>): Promise<T>;
  /**
   * What a step gave in the run that brought the post onto the platform; null where there was none, and where
   * the call is about no post.
   */
  resultOf(step: string): Json;
  /**
   * Puts these over the account's stored settings (a chat that has moved); `account.settings` has them when it
   * resolves. The server that gets its secrets (`instanceUrl`) only a person changes.
   */
  remember(settings: JsonObject): Promise<void>;
  /** Our own address that others can reach, for links in texts (`POSTHORN_PUBLIC_URL`). */
  readonly publicUrl: string;
  /** Storage of the built-in feed; of use to that platform alone. */
  readonly feed: FeedShelf;
}

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

/** How an open intent turned out. `ask_again`: the platform has not settled itself yet. */
export type Settled<R> =
  | { readonly outcome: "done"; readonly result: R }
  | { readonly outcome: "send_again" }
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
  settle(
    context: EffectContext & { readonly intentAt: number; readonly timesAsked: number },
  ): Promise<Settled<R>>;
  /**
   * For the step after which everybody can see the post: stored together with its result, so that nothing
   * that follows makes the post failed or sends it again.
   */
  live?(result: R): LiveAt;
  /**
   * For a step that nobody sees and that the platform forgets (a container, unattached media): asked before
   * its stored result is used again; gone, it and every later step are made anew. A run with such a step must
   * name the one that is `live`.
   */
  isGone?(result: R): Promise<boolean>;
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
  extra(name: string, work: () => Promise<void>): Promise<void>;
}
