import type * as z from "zod";
import type { Logger } from "./logger.ts";
import type { OutboundRequest } from "./outbound.ts";
import type { RequestBody } from "./request-body.ts";
import type { Socket } from "./sockets.ts";

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/**
 * Why something on a platform did not work, and thereby what happens next: `not_sent` nothing left this
 * machine: tried again; `transient` an idempotent step failed: tried again; `rejected` the platform said no:
 * the post fails; `auth` one refresh, then the channel must be reconnected; `rate` the account waits for
 * `retryAfterMs`; `ambiguous` it may have happened: reconciled before anything is sent again; `setup` the person
 * who runs this installation must mend something (a wrong app secret, no audit, no credits, a version of the API
 * that was retired): the post waits and says so, the channel stays connected.
 */
export const FAULT_KINDS = [
  "not_sent",
  "transient",
  "rejected",
  "auth",
  "rate",
  "ambiguous",
  "setup",
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export interface FaultDetails {
  /** For the log only. Left out by a `classify`: the answer, cut short. */
  readonly cause?: unknown;
  /** What the platform said, by `saysOf`. Left out by a `classify`: taken from the answer. */
  readonly says?: string;
  /** Left out by a `classify`: taken from the answer's headers where the kind is `rate`. */
  readonly retryAfterMs?: number;
  readonly httpStatus?: number;
  /**
   * Proves, or says outright that nothing proves, that nothing was done. Default: true for `not_sent`,
   * `auth`, `rejected`, `setup`, and for a `rate` that was an answer of 4xx.
   */
  readonly isNotDone?: boolean;
  /** The platform answered that it took the request (2xx), in a form that cannot be read. Default: no. */
  readonly wasTaken?: boolean;
  /** Whom a `rate` holds up: this account, or every account of the platform. Default: account. */
  readonly scope?: "account" | "app";
  /** The argument at fault (`caption`, `metadata.boardId`); stands before the sentence. */
  readonly field?: string;
}

/** `message` is for the user: a sentence of ours, and what the platform said. */
export class PlatformFault extends Error {
  readonly kind: FaultKind;
  /** The sentence of ours, which names the field. */
  readonly sentence: string;
  /** What follows it: ` Mastodon says: "…"`; "" where the platform said nothing. */
  says = "";
  readonly scope: "account" | "app";
  readonly field: string | null;
  /** Of the answer that it was read from; null where there was none. */
  httpStatus: number | null;
  /** In milliseconds; null where the platform does not say. */
  retryAfterMs: number | null;
  readonly wasTaken: boolean;
  readonly #isNotDone: boolean | null;

  constructor(kind: FaultKind, message: string, details: FaultDetails = {}) {
    const sentence = details.field === undefined ? message : `${details.field}: ${message}`;
    super(sentence, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "PlatformFault";
    this.sentence = sentence;
    this.quote(details.says ?? "");
    this.kind = kind;
    this.scope = details.scope ?? "account";
    this.field = details.field ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.httpStatus = details.httpStatus ?? null;
    this.wasTaken = details.wasTaken ?? false;
    this.#isNotDone = details.isNotDone ?? null;
  }

  /** Adds what the platform said, unless that is known. */
  quote(says: string): void {
    if (this.says !== "") return;
    this.says = says;
    this.message = `${this.sentence}${says}`;
  }

  get isNotDone(): boolean {
    if (this.#isNotDone !== null) return this.#isNotDone;
    if (this.kind !== "rate") return this.kind !== "transient" && this.kind !== "ambiguous";
    return this.httpStatus !== null && this.httpStatus >= 400 && this.httpStatus < 500;
  }
}

/** The answer of a platform, its body read whole and bounded (1 MiB). */
export interface PlatformResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body as JSON, integers beyond 2^53 as text. Null: no JSON, or beyond 64 levels or 100,000 values. */
  readonly json: unknown;
}

/** At most one of `body`, `json`, `form` and `multipart`. */
export interface PlatformRequest
  extends Omit<OutboundRequest, "signal" | "body" | "mayBePrivate">, RequestBody {
  /** Sent as `application/json`. */
  readonly json?: Json;
  /**
   * What an answer means, asked for each, those of 2xx too, with its texts cut at 2,000 characters: a fault, or "ok" for one that is taken although
   * it is not 2xx (308, 404, 409). Null for the usual reading: 2xx ok, 401 auth, 429 rate, 4xx rejected, 5xx
   * ambiguous (transient where `isIdempotent`).
   */
  readonly classify?: (response: PlatformResponse) => PlatformFault | "ok" | null;
  /** Reads, and steps that may be repeated: a lost answer is `transient`. Default: true for GET and HEAD. */
  readonly isIdempotent?: boolean;
  /** As for the outbound client. Default: true for what is not idempotent. */
  readonly newConnection?: boolean;
}

/** What `sign` adds: fields beside those of the request, an address in place of its own. */
export type RequestSignature = Partial<Pick<PlatformRequest, "url" | "headers" | "query" | "form" | "json">>;

/** A request that carries the account's credentials. */
export interface SignedRequest extends PlatformRequest {
  /** Given: sent under `authorized`, again with fresh secrets where these are refused. */
  readonly sign?: (secrets: Readonly<Record<string, string>>) => RequestSignature;
}

/** The connected account as a platform file sees it. */
export interface PlatformAccount {
  readonly id: string;
  readonly name: string;
  readonly handle: string | null;
  readonly platformAccountId: string | null;
  /** What connecting stored and need not be hidden. A reconnect gets `instanceUrl` again. */
  readonly settings: JsonObject;
  /** What `inspect` found the account may do; empty until it was asked. */
  readonly limits: JsonObject;
  /** What the person allowed, where that is known; else none. */
  readonly scopes: readonly string[];
}

/** What every call of a platform gets; it has no other way to the outside. */
export interface PlatformIo {
  readonly account: PlatformAccount;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Wall clock in milliseconds. */
  now(): number;
  /** How far that is ahead of the platform's, as its last answer told, to the second; 0 before one. */
  aheadMs(): number;
  sleep(ms: number): Promise<void>;
  /** `POSTHORN_<PLATFORM>_<NAME>`, no slash at its end. Null: not set. `of`: another platform's. */
  setting(name: string, of?: string): string | null;
  /** One request through the outbound client. Throws PlatformFault where it is not 2xx, or by `classify`. */
  request(request: SignedRequest): Promise<PlatformResponse>;
  /**
   * One request whose answer is JSON of this form. An answer that is none, or of another form, is one that was
   * lost: `ambiguous`, or `transient` where the request is idempotent. An empty body (204) is null to the
   * schema.
   */
  ask<T>(request: SignedRequest, schema: z.ZodType<T>): Promise<T>;
  /**
   * A conversation over a WebSocket (ws: or wss:) through the outbound client; 30 s, 4 MiB. Throws PlatformFault:
   * `not_sent` before the first message, `transient` after it. What must not be repeated is reconciled by the
   * sender.
   */
  socket<T>(url: string, work: (socket: Socket) => Promise<T>): Promise<T>;
  /**
   * Runs `work` with the account's secrets. When it throws an `auth` fault, the secrets are refreshed once
   * (one refresh per account at a time) and it runs again; when the platform refuses the refresh, the account
   * asks to be reconnected.
   */
  authorized<T>(work: (secrets: Readonly<Record<string, string>>) => Promise<T>): Promise<T>;
  /** What a step gave in the run that brought the post onto the platform. Null: nothing. */
  resultOf(step: string): Json;
  /** Adds to the account's stored settings (a chat that has moved). Only a person changes `instanceUrl`. */
  remember(settings: JsonObject): Promise<void>;
  /** Our own address that others can reach, for links in texts (`POSTHORN_PUBLIC_URL`). */
  readonly publicUrl: string;
}
