import * as z from "zod";
import type { ConnectIo } from "../../ports/connect.ts";
import {
  PlatformFault,
  type FaultKind,
  type PlatformIo,
  type PlatformRequest,
  type PlatformResponse,
} from "../../ports/platform-io.ts";
import { bearer } from "../shared/faults.ts";

/** What a call needs of its surroundings; there both while connecting and while publishing. */
export type Network = Pick<ConnectIo, "ask">;

/** A fault with the name that XRPC gives its errors (`RecordNotFound`). */
export class XrpcFault extends PlatformFault {
  readonly code: string;
  // Private: whatever logs an error writes down its fields, and the server may quote tokens.
  readonly #answer: unknown;

  constructor(kind: FaultKind, message: string, details: { code: string; response: PlatformResponse }) {
    super(kind, message, { httpStatus: details.response.status });
    this.name = "XrpcFault";
    this.code = details.code;
    this.#answer = details.response.json;
  }

  /** The body of the answer, which may hold more than the error. */
  get answer(): unknown {
    return this.#answer;
  }
}

export function isXrpcError(error: unknown, ...codes: readonly string[]): error is XrpcFault {
  return error instanceof XrpcFault && codes.includes(error.code);
}

export interface XrpcCall extends Pick<
  PlatformRequest,
  "json" | "body" | "headers" | "isIdempotent" | "timeoutMs" | "idleMs"
> {
  /** Address of the server, without a slash at its end. */
  readonly base: string;
  readonly nsid: string;
  /** Default: none is sent. */
  readonly token?: string | undefined;
  readonly params?: NonNullable<PlatformRequest["query"]>;
}

/** Any JSON object; of use where nothing of the answer is needed. */
export const AnyAnswer = z.looseObject({});

/** One XRPC call: a POST where it has a body, else a GET. */
export function xrpc<T>(io: Network, call: XrpcCall, schema: z.ZodType<T>): Promise<T> {
  return io.ask(requestOf(call), schema);
}

/** The same with the account's session. */
export function ownXrpc<T>(
  io: Pick<PlatformIo, "ask">,
  call: Omit<XrpcCall, "token">,
  schema: z.ZodType<T>,
): Promise<T> {
  return io.ask({ ...requestOf(call), sign: bearer("accessJwt") }, schema);
}

function requestOf({ base, nsid, token, params, headers, ...call }: XrpcCall): PlatformRequest {
  return {
    ...call,
    method: call.json === undefined && call.body === undefined ? "GET" : "POST",
    url: `${base}/xrpc/${nsid}`,
    ...(params === undefined ? {} : { query: params }),
    headers: {
      accept: "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    classify,
  };
}

/** The session is not (or no longer) good; refreshing it may help. */
const AUTH_CODES = new Set([
  "ExpiredToken",
  "InvalidToken",
  "AuthenticationRequired",
  "AuthMissing",
  "AuthFactorTokenRequired",
]);
/** Nothing but the person and Bluesky can help; the channel asks for them by asking to be reconnected. */
const CLOSED_CODES = new Set([
  "AccountTakedown",
  "AccountDeactivated",
  "AccountSuspended",
  "RepoTakendown",
  "RepoDeactivated",
]);

const ErrorBody = z.object({ error: z.string() });

/** Null leaves it to the usual reading (429: wait, 5xx: it may have happened). */
function classify(response: PlatformResponse): PlatformFault | null {
  const body = ErrorBody.safeParse(response.json);
  const code = body.success && /^[A-Za-z_]{1,60}$/.test(body.data.error) ? body.data.error : "";
  const fault = (kind: FaultKind, message: string): XrpcFault =>
    new XrpcFault(kind, message, { code, response });

  if (response.status < 300 || response.status >= 500 || response.status === 429) return null;
  if (CLOSED_CODES.has(code))
    return fault(
      "auth",
      "Bluesky has suspended or deactivated this account. Settle that with Bluesky first.",
    );
  if (response.status === 401 || AUTH_CODES.has(code)) return fault("auth", "Bluesky refused the session.");
  if (response.status === 413)
    return fault("rejected", "Bluesky refused a file as too large. Use a smaller one.");
  const named = code === "" ? "" : ` with the error ${code}`;
  return fault("rejected", `Bluesky refused the request${named}. Change the post, then send it again.`);
}
