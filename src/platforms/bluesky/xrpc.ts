import { z } from "zod";
import {
  PlatformFault,
  type FaultKind,
  type Json,
  type PlatformIo,
  type PlatformRequest,
  type PlatformResponse,
} from "../../ports/platform-io.ts";

/** What a call needs of its surroundings; there both while connecting and while publishing. */
export type Network = Pick<PlatformIo, "request">;

/** A fault with the name that XRPC gives its errors (`RecordNotFound`). */
export class XrpcFault extends PlatformFault {
  readonly code: string;
  // Private: whatever logs an error writes down its fields, and the server may quote tokens.
  readonly #answer: unknown;

  constructor(
    kind: FaultKind,
    message: string,
    details: { code: string; response: PlatformResponse; cause: string },
  ) {
    super(kind, message, { cause: details.cause, httpStatus: details.response.status });
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

export interface XrpcCall {
  /** Address of the server, without a slash at its end. */
  readonly base: string;
  readonly nsid: string;
  readonly token?: string | undefined;
  readonly params?: Readonly<Record<string, string | readonly string[]>>;
  /** Makes it a POST; without it and `body` it is a GET. */
  readonly json?: Json;
  readonly body?: PlatformRequest["body"];
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: true for a GET, false for a POST. */
  readonly isIdempotent?: boolean;
  readonly timeoutMs?: number;
  readonly idleMs?: number;
  readonly newConnection?: boolean;
}

/** Any JSON object; of use where nothing of the answer is needed. */
export const AnyAnswer = z.looseObject({});

/** One XRPC call; the answer is read with `schema`, and one that does not fit is an answer that was lost. */
export async function xrpc<T>(io: Network, call: XrpcCall, schema: z.ZodType<T>): Promise<T> {
  const isRead = call.json === undefined && call.body === undefined;
  const isIdempotent = call.isIdempotent ?? isRead;
  const response = await io.request({
    method: isRead ? "GET" : "POST",
    url: addressOf(call),
    headers: {
      accept: "application/json",
      ...(call.token === undefined ? {} : { authorization: `Bearer ${call.token}` }),
      ...call.headers,
    },
    isIdempotent,
    classify: (answer) => classify(answer, quote(call, answer.text)),
    ...(call.json === undefined ? {} : { json: call.json }),
    ...(call.body === undefined ? {} : { body: call.body }),
    ...(call.timeoutMs === undefined ? {} : { timeoutMs: call.timeoutMs }),
    ...(call.idleMs === undefined ? {} : { idleMs: call.idleMs }),
    ...(call.newConnection === undefined ? {} : { newConnection: call.newConnection }),
  });
  const parsed = schema.safeParse(response.json);
  if (parsed.success) return parsed.data;
  // Not its words: a session that is only half there may hold tokens.
  const cause = `${call.nsid}: ${parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ")}`;
  throw new PlatformFault(isIdempotent ? "transient" : "ambiguous", "Bluesky's answer could not be read.", {
    cause: cause.slice(0, MAX_QUOTED),
    httpStatus: response.status,
  });
}

const MAX_QUOTED = 500;

/** For the log: the server's words, short, without the secrets it may repeat. */
function quote(call: XrpcCall, text: string): string {
  const { password } = z
    .object({ password: z.string().catch("") })
    .catch({ password: "" })
    .parse(call.json);
  const secrets = [call.token ?? "", password].filter((secret) => secret !== "");
  return secrets
    .reduce((words, secret) => words.replaceAll(secret, "[secret]"), `${call.nsid}: ${text}`)
    .slice(0, MAX_QUOTED);
}

function addressOf(call: XrpcCall): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(call.params ?? {})) {
    for (const one of typeof value === "string" ? [value] : value) query.append(name, one);
  }
  const tail = query.toString();
  return `${call.base}/xrpc/${call.nsid}${tail === "" ? "" : `?${tail}`}`;
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
function classify(response: PlatformResponse, cause: string): PlatformFault | null {
  const body = ErrorBody.safeParse(response.json);
  const code = body.success && /^[A-Za-z_]{1,60}$/.test(body.data.error) ? body.data.error : "";
  const fault = (kind: FaultKind, message: string): XrpcFault =>
    new XrpcFault(kind, message, { code, response, cause });

  if (response.status >= 500 || response.status === 429) return null;
  if (CLOSED_CODES.has(code))
    return fault(
      "auth",
      "Bluesky has suspended or deactivated this account. Settle that with Bluesky first.",
    );
  if (response.status === 401 || AUTH_CODES.has(code)) return fault("auth", "Bluesky refused the session.");
  if (response.status === 413)
    return fault("rejected", "Bluesky refused a file as too large. Use a smaller one.");
  const named = code === "" ? "" : ` with the error ${code}`;
  return fault(
    "rejected",
    `Bluesky refused the request${named}. The log has its words; change the post and call retry_post.`,
  );
}
