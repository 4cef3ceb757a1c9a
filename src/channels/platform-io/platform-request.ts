import { jsonIn } from "../../domain/text/read-text.ts";
import type * as z from "zod";
import type { Readable } from "node:stream";
import { AppError } from "../../domain/errors.ts";
import { parseUrl } from "../../domain/parse-url.ts";
import { MediaUnavailable } from "../../ports/media.ts";
import {
  OutboundFailure,
  type OutboundRequest,
  type OutboundResponse,
  type Unreachable,
} from "../../ports/outbound.ts";
import {
  type FaultDetails,
  PlatformFault,
  type PlatformRequest,
  type PlatformResponse,
} from "../../ports/platform-io.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import type { AppContext } from "../../context.ts";
import { isOwnAddress } from "./effective-settings.ts";
import { encodeBody, encodeUrl } from "./encodings.ts";
import { scrub } from "./secrets.ts";
import { cutTexts, quoteWords } from "./words.ts";
import type { Socket } from "../../ports/sockets.ts";
import { isModestJson } from "../../domain/whole-text.ts";
import { DAY, SECOND } from "../../domain/time.ts";

const MAX_ANSWER_BYTES = 1024 * 1024;

/** Sessions of uploads stand in addresses: Google's and LinkedIn's have some thousand characters. */
const MAX_ADDRESS_CHARS = 8_192;

/** How much of an answer goes to the log with a fault. */
const MAX_QUOTED = 2_000;

export interface RequestOptions {
  readonly ctx: AppContext;
  readonly platform: AnyPlatform;
  /** The platform's title, for sentences. */
  readonly title: string;
  readonly signal: AbortSignal;
  /** Values that must not reach the log or a sentence, should the platform quote them. */
  readonly knownSecrets: ReadonlySet<string>;
}

/**
 * One request to a platform through the outbound client; throws PlatformFault for everything that is not a
 * whole 2xx, unless the request's `classify` takes it.
 */
export async function requestPlatform(
  options: RequestOptions,
  request: PlatformRequest,
): Promise<PlatformResponse> {
  if (options.signal.aborted)
    throw new PlatformFault("not_sent", `The request to ${options.title} was called off.`);
  const answer = await send(options, request);
  const text = await readText(answer.body).catch((cause: unknown) => {
    throw lost(options, request, { cause });
  });
  const response = { status: answer.status, headers: answer.headers, text, json: readJson(text) };
  const verdict = request.classify?.(cutTexts(response)) ?? null;
  const is2xx = answer.status >= 200 && answer.status < 300;
  if (!(verdict instanceof PlatformFault) && (verdict === "ok" || is2xx)) return response;
  const fault = verdict instanceof PlatformFault ? verdict : usualFault(options, request, response);
  fault.quote(quoteWords(options.title, response, secretsIn(options, request)));
  throw completed(fault, options, { request, response });
}

/** The answer's JSON by the schema; one that does not fit is an answer that was lost. */
export function readAnswer<T>(
  options: RequestOptions,
  { request, response, schema }: Exchange & { readonly schema: z.ZodType<T> },
): T {
  const parsed = schema.safeParse(response.json);
  if (parsed.success) return parsed.data;
  // Not its words: an answer that is only half there may hold tokens.
  const amiss = issuesOf(parsed.error.issues);
  const issues = amiss.map(({ path, message }) => `${path.join(".")}: ${message}`);
  const cause = `HTTP ${response.status} from ${hostOf(request)}: ${issues.join("; ")}`;
  const { status: httpStatus, json, text } = response;
  // A page in the place of an object comes from something between us and the platform.
  const isItsOwn = text === "" || (typeof json === "object" && json !== null && !Array.isArray(json));
  const wasTaken = httpStatus >= 200 && httpStatus < 300 && isItsOwn;
  const details = { cause: cause.slice(0, MAX_QUOTED), httpStatus, wasTaken };
  throw lost(options, request, details, nameKey(amiss[0]?.path ?? []));
}

type Issue = z.core.$ZodIssue;

/** What is wrong with each key. Of several forms that an answer may have, by the one that it is nearest to. */
function issuesOf(issues: readonly Issue[]): Issue[] {
  return issues.flatMap((issue) => {
    if (issue.code !== "invalid_union" || issue.errors.length === 0) return [issue];
    const [nearest = []] = issue.errors.toSorted((a, b) => a.length - b.length);
    return issuesOf(nearest).map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
  });
}

/** The key that is missing or of no use; "" for the whole answer, or a name that is not one of ours. */
function nameKey(path: readonly PropertyKey[]): string {
  const names = path.filter((one) => typeof one !== "number").map(String);
  return names.every((one) => /^\w{1,40}$/.test(one)) ? names.join(".") : "";
}

interface Exchange {
  readonly request: PlatformRequest;
  readonly response: PlatformResponse;
}

async function send(options: RequestOptions, request: PlatformRequest): Promise<OutboundResponse> {
  if (request.url.length > MAX_ADDRESS_CHARS)
    throw new PlatformFault("not_sent", `${options.title} named an address that is too long.`);
  const sent = toOutbound(request, options);
  try {
    return await options.ctx.outbound.request(sent);
  } catch (cause) {
    // The client refused the address before anything left.
    if (cause instanceof AppError)
      throw new PlatformFault("rejected", scrub(cause.message, secretsIn(options, request)));
    const media = brokenMedia(sent.body);
    if (media !== null) throw media;
    if (cause instanceof OutboundFailure && !cause.wasSent) throw unreached(options.title, sent.url, cause);
    throw lost(options, request, { cause });
  }
}

/**
 * What was to be sent failed, not the platform. No server may act on a request whose body breaks off
 * (RFC 9112, 8), so nothing was done. Null where the body is fine.
 */
function brokenMedia(body: OutboundRequest["body"]): PlatformFault | null {
  const cause = typeof body === "object" && "errored" in body ? body.errored : null;
  if (cause instanceof AppError) return new PlatformFault("rejected", cause.message, { cause });
  return cause instanceof MediaUnavailable ? new PlatformFault("not_sent", cause.message, { cause }) : null;
}

function toOutbound(request: PlatformRequest, options: RequestOptions): OutboundRequest {
  const { ctx, platform, signal } = options;
  const { json: _json, form: _form, multipart: _multipart, query: _query, ...other } = request;
  const { classify: _classify, isIdempotent: _isIdempotent, headers: given, body: _body, ...rest } = other;
  const { headers, ...body } = encodeBody(request);
  return {
    // One that was kept may be closed by now, which would leave a change in doubt for nothing.
    newConnection: !isRepeatable(request),
    ...rest,
    mayBePrivate: isOwnAddress(ctx, platform, request.url),
    signal,
    // A process that stood still while it connected may have been taken over from meanwhile.
    beforeWriting: () => ctx.store.liveness.check(),
    url: encodeUrl(request),
    headers: { ...headers, ...given },
    ...body,
  };
}

function isRepeatable({ isIdempotent, method }: PlatformRequest): boolean {
  return isIdempotent ?? (method === "GET" || method === "HEAD");
}

/** It was sent and what came of it is not known. */
function lost(
  { title }: RequestOptions,
  request: PlatformRequest,
  details: Pick<FaultDetails, "cause" | "httpStatus" | "wasTaken">,
  key = "",
): PlatformFault {
  const amiss = key === "" ? null : `has no usable ${key}`;
  return isRepeatable(request)
    ? new PlatformFault(
        "transient",
        `${title} did not answer properly${amiss === null ? "" : `: its answer ${amiss}`}.`,
        details,
      )
    : new PlatformFault(
        "ambiguous",
        `The answer of ${title} ${amiss ?? "was lost"}, so it may have done what was asked.`,
        details,
      );
}

async function readText(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop early destroys the stream.
  for await (const chunk of body) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > MAX_ANSWER_BYTES) throw new Error(`The answer is longer than ${MAX_ANSWER_BYTES} bytes.`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function usualFault(
  { title }: RequestOptions,
  request: PlatformRequest,
  { status }: PlatformResponse,
): PlatformFault {
  if (status === 401)
    return new PlatformFault("auth", `${title} does not accept the channel's credentials any more.`);
  if (status === 429) return new PlatformFault("rate", `${title} asks to slow down.`);
  if (status < 500) return new PlatformFault("rejected", `${title} refused the request (HTTP ${status}).`);
  return isRepeatable(request)
    ? new PlatformFault("transient", `${title} has a problem of its own (HTTP ${status}).`)
    : new PlatformFault(
        "ambiguous",
        `${title} answered with HTTP ${status}, so it may have done what was asked.`,
      );
}

/** The fault with what the answer says beside it, where its maker left that out. */
function completed(
  fault: PlatformFault,
  options: RequestOptions,
  { request, response }: Exchange,
): PlatformFault {
  fault.httpStatus ??= response.status;
  if (fault.kind === "rate") fault.retryAfterMs ??= readRetryAfter(response.headers, options.ctx.clock.now());
  if (fault.retryAfterMs !== null) fault.retryAfterMs = boundedWait(fault.retryAfterMs);
  fault.cause ??= quoteAnswer(options, request, response);
  if (typeof fault.cause === "string") fault.cause = scrub(fault.cause, secretsIn(options, request));
  return fault;
}

/** For the log only: the whole answer, cut short, without the credentials it may repeat. */
function quoteAnswer(options: RequestOptions, request: PlatformRequest, response: PlatformResponse): Error {
  // Before it is cut: of a secret that the cut goes through, a part would stay.
  const words = scrub(response.text, secretsIn(options, request)).slice(0, MAX_QUOTED);
  return new Error(`HTTP ${response.status} from ${hostOf(request)}: ${words}`);
}

/** Fields that hold credentials: a client secret, a code, an access token. */
const SECRET_FIELD = /token|secret|password|code|key|signature/i;

function secretsIn({ knownSecrets }: RequestOptions, request: PlatformRequest): string[] {
  const headers = Object.entries(request.headers ?? {})
    .filter(([name]) => name.toLowerCase() === "authorization" || SECRET_FIELD.test(name))
    .map(([, value]) => value.slice(value.indexOf(" ") + 1));
  const own = [...(parseUrl(request.url)?.searchParams ?? [])];
  const fields = [request.query, request.form, request.json].flatMap((some) => Object.entries(some ?? {}));
  const values = [...own, ...fields].filter(([name]) => SECRET_FIELD.test(name)).map(([, value]) => value);
  return [...headers, ...values.filter((value) => typeof value === "string"), ...knownSecrets];
}

function hostOf({ url }: PlatformRequest): string {
  return new URL(url).host;
}

const WHY: Readonly<Record<Unreachable, (host: string) => string>> = {
  offline: () => "this machine has no network, it seems",
  unknown_name: (host) => `no server of the name ${host} is found`,
  refused: (host) => `nothing listens at ${host}`,
  silent: (host) => `${host} does not answer`,
  certificate: (host) => `the certificate of ${host} is not valid`,
};

/** The fault for a request that did not leave this machine, with what is known of why. */
export function unreached(title: string, url: string, cause: OutboundFailure): PlatformFault {
  const why = cause.reason === null ? "" : `: ${WHY[cause.reason](new URL(url).host)}`;
  return new PlatformFault("not_sent", `${title} could not be reached${why}.`, { cause });
}

/** One conversation with a platform through the outbound client; what goes wrong with it is a PlatformFault. */
export async function conversePlatform<T>(
  { ctx, title, signal }: RequestOptions,
  url: string,
  work: (socket: Socket) => Promise<T>,
): Promise<T> {
  if (signal.aborted) throw new PlatformFault("not_sent", `The conversation with ${title} was called off.`);
  let isOpen = false;
  const begun = (socket: Socket): Promise<T> => {
    isOpen = true;
    return work(socket);
  };
  try {
    return await ctx.sockets.converse({ url, signal }, begun);
  } catch (cause) {
    // The client refused the address before anything left.
    if (cause instanceof AppError && !isOpen) throw new PlatformFault("rejected", cause.message);
    if (!(cause instanceof OutboundFailure)) throw cause;
    throw cause.wasSent
      ? new PlatformFault("transient", `${title} did not answer properly.`, { cause })
      : unreached(title, url, cause);
  }
}

/** So many digits a number must have to be beyond 2^53. */
const LONG_NUMBER = /\d{16}/;

/** Strings, whole, so that nothing within one is taken for a number, and numbers. In JSON each has its end. */
const TOKENS = /"(?:[^"\\]|\\[^])*"?|-?\d[\d.eE+-]*/g;

const INTEGER = /^-?\d+$/;

/**
 * The text as JSON; null where it is none, or has more levels or values than an honest answer. Integers beyond
 * 2^53, which a number would round, come as text: platforms name posts and people by them.
 */
export function readJson(text: string): unknown {
  if (!isModestJson(text)) return null;
  const value = jsonIn(text);
  if (value === null || !LONG_NUMBER.test(text)) return value;
  const quoteLong = (token: string): string =>
    INTEGER.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token;
  return jsonIn(text.replace(TOKENS, quoteLong));
}

/**
 * A platform that asks for more is asked again after a day. A post that would be too late by then fails at once,
 * and holds up nothing (`src/publishing/verdict.ts`).
 */
const MAX_WAIT_MS = DAY;

/** "At once", or a moment that is over, would be a try every second. */
export const MIN_WAIT_MS = 10 * SECOND;

/** How long a platform is left alone that names this span, be it in a header or in its words. */
function boundedWait(waitMs: number): number {
  const asked = Number.isNaN(waitMs) ? MIN_WAIT_MS : waitMs;
  return Math.min(Math.max(Math.ceil(asked), MIN_WAIT_MS), MAX_WAIT_MS);
}

/** A reset beyond this is a moment, not a span (GitHub, Bluesky and X send seconds since 1970). */
const FIRST_MOMENT_SECONDS = 1_000_000_000;

/** RFC 9110 first; Discord's is exact where others are rounded; the rest tell when a limit starts anew. */
const HEADERS = [
  "retry-after",
  "x-ratelimit-reset-after",
  "ratelimit-reset",
  "x-ratelimit-reset",
  "x-rate-limit-reset",
];

/**
 * Milliseconds to wait by `Retry-After` or the reset of a rate limit: seconds, seconds since 1970, an HTTP
 * date or an ISO time. Null where none of them says.
 */
export function readRetryAfter(headers: Readonly<Record<string, string>>, now: number): number | null {
  const [waitMs = null] = HEADERS.flatMap((name) => waitOf(headers[name] ?? "", now) ?? []);
  return waitMs;
}

function waitOf(text: string, now: number): number | null {
  const isNumber = /^\d+(\.\d+)?$/.test(text.trim());
  const isSpan = isNumber && Number(text) < FIRST_MOMENT_SECONDS;
  const waitMs = (isNumber ? Number(text) * SECOND : Date.parse(text)) - (isSpan ? 0 : now);
  return Number.isNaN(waitMs) ? null : Math.min(Math.max(Math.ceil(waitMs), 0), MAX_WAIT_MS);
}
