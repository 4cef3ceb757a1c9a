import { DateTime } from "luxon";
import {
  type FaultDetails,
  type FaultKind,
  PlatformFault,
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

/** Which answers: of one of these statuses, with one of these codes. */
export interface Match {
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
export type FaultRule =
  | Fault
  | (Match & { readonly kind: "ok" })
  // For what is caught by its class.
  | (Match & { readonly fault: (response: PlatformResponse) => PlatformFault });

/** Rules of one kind: what each code means. Codes of one meaning stand apart by spaces. */
export function byCode(
  kind: FaultKind | Omit<Fault, "code" | "message">,
  messages: Readonly<Record<string, string>>,
): FaultRule[] {
  const fault = typeof kind === "string" ? { kind } : kind;
  return Object.entries(messages).map(([codes, message]) => ({ ...fault, code: codes.split(" "), message }));
}

/** The same by the status of an answer, whatever its body names. */
export function byStatus(...[kind, messages]: Parameters<typeof byCode>): FaultRule[] {
  return byCode(kind, messages).map(({ code, ...rule }) => ({
    ...rule,
    status: [code ?? []].flat().map(Number),
  }));
}

/** What the platform refuses because of one argument. */
export function refusedField(field: string, messages: Readonly<Record<string, string>>): FaultRule[] {
  return byCode({ kind: "rejected", field }, messages);
}

/** What stands before most servers refuses files of a size, and names no error. */
export const TOO_LARGE_FILE = {
  status: 413,
  kind: "rejected",
  field: "mediaUrl",
  message: "the server refused the file as too large. Give a smaller one, then send the post again.",
} as const satisfies FaultRule;

export interface FaultTable {
  /** Of the platform, for sentences. */
  readonly title: string;
  /** What the platform calls the error, the most particular first; empty for an answer that is no error. */
  codesOf(response: PlatformResponse): readonly Code[];
  /** The first that fits is taken. */
  readonly rules: readonly FaultRule[];
  /** The answer as its rules read it, where some servers answer otherwise than the others. */
  asUsual?(response: PlatformResponse): PlatformResponse;
}

/** That something is not there (any more). */
export class Gone extends PlatformFault {}

/** What one call has of its own. */
interface OwnReadings {
  /** They go before those of the table. */
  readonly rules?: readonly FaultRule[];
  /** A refusal like one of these is `Gone`. */
  readonly gone?: readonly Match[];
}

/**
 * A `classify` out of a table. An answer with a code is an error whatever its status is. One that no rule
 * names is refused with its code, but for 401, 429 and 5xx, which have their usual reading.
 */
export function faultsBy(
  table: FaultTable,
  { rules = [], gone = [] }: OwnReadings = {},
): NonNullable<PlatformRequest["classify"]> {
  const all = [...rules, ...table.rules];
  return (given) => {
    const response = table.asUsual?.(given) ?? given;
    const codes = table.codesOf(response);
    if (response.status < 300 && codes.length === 0) return null;
    const fault = readFault({ ...table, rules: all }, response, codes);
    const isRefused = fault === null || (fault !== "ok" && fault.kind === "rejected");
    return isRefused && gone.some((one) => fits(one, response.status, codes))
      ? new Gone("rejected", `${table.title} does not have it any more.`, { httpStatus: response.status })
      : fault;
  };
}

function readFault(
  { title, rules }: FaultTable,
  response: PlatformResponse,
  codes: readonly Code[],
): PlatformFault | "ok" | null {
  const { status } = response;
  const rule = rules.find((one) => fits(one, status, codes));
  if (rule !== undefined) {
    if ("fault" in rule) return rule.fault(response);
    return rule.kind === "ok" ? "ok" : faultOf(rule, response);
  }
  const [code] = codes;
  if (code === undefined || status === 401 || status === 429 || status >= 500) return null;
  const named = /^[\w.:/-]{1,60}$/.test(String(code)) ? ` with the error ${code}` : "";
  return new PlatformFault(
    "rejected",
    `${title} refused the request${named}. Change the post, then send it again.`,
  );
}

function fits(rule: Match, status: number, codes: readonly Code[]): boolean {
  const has = (code: Code): boolean => codes.some((named) => String(named) === String(code));
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

/** Does the work; what the platform refuses of it is about this field of the person's. */
export async function naming<T>(field: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PlatformFault) || (error.kind !== "auth" && error.kind !== "rejected"))
      throw error;
    throw new PlatformFault(error.kind, error.sentence, {
      cause: error.cause,
      says: error.says,
      field,
      ...(error.httpStatus === null ? {} : { httpStatus: error.httpStatus }),
    });
  }
}

/**
 * For what fails before anything can be seen: it may be tried again without a question, and leaves the
 * step as one that was not sent.
 */
export function asRetryable(error: unknown): unknown {
  if (!(error instanceof PlatformFault) || (error.kind !== "transient" && error.kind !== "ambiguous"))
    return error;
  const { sentence, says, httpStatus, cause } = error;
  const details = { cause, says, ...(httpStatus === null ? {} : { httpStatus }) };
  return new PlatformFault("not_sent", sentence, details);
}

/** For `catch` behind such work. */
export function throwNotSent(error: unknown): never {
  throw asRetryable(error);
}

/** Null where what was asked about is `Gone`. */
export async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Gone) return null;
    throw error;
  }
}

/** Of limits that begin anew each day of a time zone. In milliseconds. */
export function untilMidnight(zone: string, now: number): number {
  const day = DateTime.fromMillis(now, { zone }).startOf("day");
  return day.plus({ days: 1 }).toMillis() - now;
}
