import type { Readable } from "node:stream";

export interface OutboundRequest {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | Readable;
  readonly signal?: AbortSignal;
  /** Whole request, default 30 s. */
  readonly timeoutMs?: number;
  /** Until an answer begins, redirects among it; default `timeoutMs`. */
  readonly headersMs?: number;
  /** Longest silence while a body moves, default 15 s. */
  readonly idleMs?: number;
  /** Redirects followed, each address checked anew; default 0. */
  readonly maxRedirects?: number;
  /** Opens a connection of its own: a failure to connect proves that nothing was sent. Default false. */
  readonly newConnection?: boolean;
  /** The administrator's settings name this origin, which may be private. Default false. */
  readonly mayBePrivate?: boolean;
  /** Called before the request, and each piece of a streamed body, is written: `signal` may still stop it. */
  readonly beforeWriting?: () => void;
}

export interface OutboundResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where the answer came from after redirects. */
  readonly url: string;
  readonly body: Readable;
}

/**
 * The one way to the network: http and https only, every resolved address checked at connect time, redirects
 * followed by hand. Throws `AppError` `invalid` for an address that is never allowed, `OutboundFailure` for a
 * network that failed.
 */
export interface Outbound {
  request(request: OutboundRequest): Promise<OutboundResponse>;
  /** Checks form, scheme and a literal address, without network. Throws `invalid`. */
  assertAllowed(field: string, url: string, mayBePrivate?: boolean): URL;
}

/** Why nothing could be sent: no network, no such name, nothing listens, no answer, a bad certificate. */
export type Unreachable = "offline" | "unknown_name" | "refused" | "silent" | "certificate";

interface FailureOptions {
  readonly cause?: unknown;
  readonly reason?: Unreachable | null;
}

/** The network failed. `wasSent` is false only where it is certain that not one byte of the request left. */
export class OutboundFailure extends Error {
  readonly wasSent: boolean;
  /** Null where it is not known, and once something was sent. */
  readonly reason: Unreachable | null;

  constructor(message: string, wasSent: boolean, { reason = null, ...options }: FailureOptions = {}) {
    super(message, options);
    this.name = "OutboundFailure";
    this.wasSent = wasSent;
    this.reason = wasSent ? null : reason;
  }
}
