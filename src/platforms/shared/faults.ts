import {
  PlatformFault,
  type FaultDetails,
  type FaultKind,
  type PlatformRequest,
  type PlatformResponse,
  type SignedRequest,
} from "../../ports/platform-io.ts";

type Sign = NonNullable<SignedRequest["sign"]>;

/** Signs with the secret of this name: `Authorization: Bearer …`, or another scheme (Discord's is Bot). */
export function bearer(secret = "accessToken", scheme = "Bearer"): Sign {
  return (secrets) => ({ headers: { authorization: `${scheme} ${secrets[secret] ?? ""}` } });
}

/** Signs with the secrets of these names as user and password (RFC 7617). */
export function basic(user: string, password: string): Sign {
  return (secrets) => {
    const pair = Buffer.from(`${secrets[user] ?? ""}:${secrets[password] ?? ""}`);
    return { headers: { authorization: `Basic ${pair.toString("base64")}` } };
  };
}

/** A platform's own name of an error: its number or its word. */
export type Code = string | number;

interface Match {
  readonly status?: number | readonly number[];
  readonly code?: Code | readonly Code[];
}

interface Fault extends Match, Omit<FaultDetails, "cause" | "httpStatus" | "retryAfterMs"> {
  readonly kind: FaultKind;
  /** A sentence of ours: what is wrong and what to do. */
  readonly message: string;
  /** Where a field of the body says how long to wait: null leaves it to the headers. */
  readonly retryAfterMs?: number | ((response: PlatformResponse) => number | null);
}

/** What an answer of this status, with this code, means; without either, every answer that is an error. */
export type FaultRule = Fault | (Match & { readonly kind: "ok" });

export interface FaultTable {
  /** The platform's title, for the sentence about an error that no rule names. */
  readonly title: string;
  /** The codes that the body names, the most particular first; empty for an answer that is no error. */
  codesOf(response: PlatformResponse): readonly Code[];
  /** The first that fits is taken. */
  readonly rules: readonly FaultRule[];
}

/**
 * A `classify` out of a table. An answer with a code is an error whatever its status is. One that no rule
 * names is refused with its code, but for 401, 429 and 5xx, which have their usual reading.
 */
export function faultsBy(table: FaultTable): NonNullable<PlatformRequest["classify"]> {
  return (response) => {
    const codes = table.codesOf(response);
    const isError = response.status >= 300 || codes.length > 0;
    if (!isError) return null;
    const rule = table.rules.find((one) => fits(one, response.status, codes));
    if (rule !== undefined) return rule.kind === "ok" ? "ok" : faultOf(rule, response);
    const { status } = response;
    const [code] = codes;
    if (code === undefined || status === 401 || status === 429 || status >= 500) return null;
    const named = /^[\w.:/-]{1,60}$/.test(String(code)) ? ` with the error ${code}` : "";
    return new PlatformFault(
      "rejected",
      `${table.title} refused the request${named}. Change the post, then send it again.`,
    );
  };
}

function fits(rule: Match, status: number, codes: readonly Code[]): boolean {
  const has = (code: Code): boolean => codes.includes(code);
  return (
    (rule.status === undefined || [rule.status].flat().includes(status)) &&
    (rule.code === undefined || [rule.code].flat().some(has))
  );
}

function faultOf(rule: Fault, response: PlatformResponse): PlatformFault {
  const { kind, message, status: _status, code: _code, retryAfterMs: wait, ...details } = rule;
  const retryAfterMs = typeof wait === "function" ? wait(response) : (wait ?? null);
  return new PlatformFault(kind, message, {
    ...details,
    httpStatus: response.status,
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
  });
}
