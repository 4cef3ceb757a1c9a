import type { z } from "zod";
import type { Capabilities } from "../domain/accounts/account.ts";
import type { Insights, Metrics } from "../domain/posts/post.ts";
import type { Logger } from "./logger.ts";
import type { PostMedia } from "./media.ts";
import type { FeedShelf } from "./feed-shelf.ts";
import type { OutboundRequest } from "./outbound.ts";

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/**
 * Why something on a platform did not work, and thereby what happens next:
 * `not_sent` nothing left this machine: tried again; `transient` an idempotent step failed: tried again;
 * `rejected` the platform said no: the post fails; `auth` one refresh, then the channel must be reconnected;
 * `rate` the account waits for `retryAfterMs`; `ambiguous` it may have happened: settled before anything is sent again.
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
   * Turns an answer that is not 2xx into a fault. Return null for the usual reading: 401 auth, 429 rate, 4xx rejected,
   * 5xx ambiguous (transient where `isIdempotent`).
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
  /** What connecting stored and nobody needs to hide: DID, …; an `instanceUrl` is given again when the account is reconnected. */
  readonly settings: JsonObject;
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
   * Runs `work` with the account's secrets. When it throws an `auth` fault, the secrets are refreshed once (one refresh per
   * account at a time) and it runs again; when the platform refuses the refresh, the account asks to be reconnected.
   */
  authorized<T>(work: (secrets: Readonly<Record<string, string>>) => Promise<T>): Promise<T>;
  /** Our own address that others can reach, for links in texts (`POSTHORN_PUBLIC_URL`). */
  readonly publicUrl: string;
  /** Storage of the built-in feed; of use to that platform alone. */
  readonly feed: FeedShelf;
}

export interface EffectContext {
  /** The same for every try of this step in this run: 32 hexadecimal characters. */
  readonly key: string;
  /** What an earlier try stored with `saveHandle`: a session address, a container id. */
  readonly handle: Json;
  /** Stores the handle durably, encrypted, before the next request. */
  saveHandle(handle: Json): Promise<void>;
  readonly signal: AbortSignal;
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
   * Asked instead of `send` for an intent whose outcome is open (a crash, a lost answer). `send_again` only where a second
   * sending cannot make a second post: proven absent, the same key, or a step that may be repeated.
   */
  settle(
    context: EffectContext & { readonly intentAt: number; readonly timesAsked: number },
  ): Promise<Settled<R>>;
}

/** A post as a platform file sees it. `M` is its parsed metadata. */
export interface PlatformPost<M = JsonObject> {
  readonly id: string;
  readonly caption: string | null;
  /** "" for a text-only post. */
  readonly mediaUrl: string;
  readonly metadata: M;
  readonly scheduledAt: number;
  readonly leadMinutes: number;
  readonly platformPostId: string | null;
  readonly platformUrl: string | null;
}

export interface PublishIo extends PlatformIo {
  readonly media: PostMedia;
  /** True from scheduledAt on: what is public from its first moment may go out only then. */
  readonly isDue: boolean;
  /**
   * One change on the platform under the publishing protocol: a durable intent before it, its result after it. A step that is
   * done returns its stored result without sending.
   */
  effect<R extends Json>(spec: EffectSpec<R>): Promise<R>;
  /** Makes a JSON value once per run and stores it durably (a record key, a timestamp); later calls return the stored one. */
  once<R>(name: string, make: () => R | Promise<R>): Promise<R>;
}

/** `live`: public now. `held`: on the platform, private. `prepared`: nothing public yet. `processing`: ask again later. */
export type PublishOutcome =
  | { readonly state: "live"; readonly platformPostId: string; readonly platformUrl: string | null }
  | { readonly state: "held"; readonly platformPostId: string; readonly platformUrl: string | null }
  | { readonly state: "prepared" }
  | { readonly state: "processing"; readonly checkAgainMs: number };

export interface ConnectedAccount {
  readonly platformAccountId: string;
  readonly name: string;
  readonly handle: string | null;
  readonly profileUrl: string | null;
  readonly avatarUrl: string | null;
  readonly scopes: readonly string[];
  readonly tokenExpiresAt: number | null;
  readonly settings: JsonObject;
  readonly secrets: Readonly<Record<string, string>>;
  /** Shown to the person once, on the page or the terminal where they connected (a signing secret we made). */
  readonly notice?: string;
}

export interface SecretField {
  readonly name: string;
  readonly label: string;
  /** Where to find it, in one sentence. */
  readonly help: string;
  readonly isRequired: boolean;
  /** Hidden while typed. */
  readonly isSecret: boolean;
}

export interface ConnectInput {
  readonly instanceUrl: string | null;
  readonly handle: string | null;
  readonly name: string | null;
  readonly secrets: Readonly<Record<string, string>>;
  /** The account that is being reconnected: its stored secrets stand in for those left empty. */
  readonly reconnecting: PlatformAccount | null;
}

/** What connecting gets: no account yet, so no tokens. */
export type ConnectIo = Omit<PlatformIo, "account" | "authorized">;

export type Connect =
  | { readonly kind: "none"; connect(input: ConnectInput, io: ConnectIo): Promise<ConnectedAccount> }
  | {
      readonly kind: "secrets";
      readonly fields: readonly SecretField[];
      /** What the person does, shown on the page and in the tool's answer. */
      readonly instructions: string;
      /** Checks the secrets with the platform. Throws `AppError` `invalid` naming the field that is wrong. */
      connect(input: ConnectInput, io: ConnectIo): Promise<ConnectedAccount>;
    };

export interface RefreshedSecrets {
  readonly secrets: Readonly<Record<string, string>>;
  readonly tokenExpiresAt: number | null;
}

export interface AnalyticsDay {
  readonly date: string;
  readonly metrics: Readonly<Record<string, number>>;
}

export interface PlatformAnalytics {
  readonly totals: Readonly<Record<string, number>>;
  readonly days: readonly AnalyticsDay[];
  readonly unavailable: readonly { metric: string; reason: string }[];
}

/** A platform: one file under `src/platforms`, data first. */
export interface Platform<S extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  /** The page of the platform's documentation it follows. */
  readonly docs: string;
  readonly capabilities: Capabilities;
  /** Its posts live in this very database: after a restore there is nothing on it that the database does not know of. Default: false. */
  readonly isLocal?: boolean;
  readonly metadata: S;
  /** Environment variables without which it cannot be connected. */
  readonly requiredSettings: readonly string[];
  readonly connect: Connect;
  /**
   * Rules of a post that data cannot say (length in the platform's unit, media that exclude each other). Pure.
   * `errors` refuse the post, `warnings` are told.
   */
  check?(post: PlatformPost<z.infer<S>>): {
    readonly errors: readonly string[];
    readonly warnings: readonly string[];
  };
  publish(post: PlatformPost<z.infer<S>>, io: PublishIo): Promise<PublishOutcome>;
  /** New secrets for expired ones; throws an `auth` fault when the platform refuses. */
  refresh?(
    secrets: Readonly<Record<string, string>>,
    io: ConnectIo & { readonly account: PlatformAccount },
  ): Promise<RefreshedSecrets>;
  /** Changes a live post. `changed` names the fields that differ. */
  edit?(
    post: PlatformPost<z.infer<S>>,
    changed: readonly string[],
    io: PublishIo,
  ): Promise<{ platformUrl?: string; platformPostId?: string }>;
  setThumbnail?(post: PlatformPost<z.infer<S>>, thumbnailUrl: string, io: PublishIo): Promise<void>;
  insights?(
    post: PlatformPost<z.infer<S>>,
    io: PlatformIo,
  ): Promise<Pick<Insights, "state" | "visibility"> & { metrics: Partial<Metrics> }>;
  analytics?(range: { from: string; to: string }, io: PlatformIo): Promise<PlatformAnalytics>;
  /** Deletes the post on the platform; succeeds when it is gone already. */
  remove?(post: PlatformPost<z.infer<S>>, io: PlatformIo): Promise<void>;
}

/** A platform of any metadata, as the registry holds it. */
export type AnyPlatform = Platform;

/** Types a platform's metadata by its own schema, then erases it for the registry. */
export function definePlatform<S extends z.ZodObject>(platform: Platform<S>): AnyPlatform {
  // Every caller parses metadata with `platform.metadata` before it calls in, so the erased type is never relied on.
  return platform as unknown as AnyPlatform;
}
