import type { Readable } from "node:stream";
import { AppError } from "../../domain/errors.ts";
import { DAY, SECOND } from "../../domain/time.ts";
import { MediaUnavailable } from "../../ports/media.ts";
import { OutboundFailure, type OutboundRequest, type OutboundResponse } from "../../ports/outbound.ts";
import { PlatformFault, type PlatformRequest, type PlatformResponse } from "../../ports/platform-io.ts";
import type { AppContext } from "../context.ts";
import { scrub } from "./secrets.ts";

const MAX_ANSWER_BYTES = 1024 * 1024;

/** How much of an answer goes to the log with a fault. */
const MAX_QUOTED = 2_000;

export interface RequestOptions {
  readonly ctx: AppContext;
  /** The platform's title, for sentences. */
  readonly title: string;
  /** On whose account. */
  readonly ownerId: string;
  readonly signal: AbortSignal;
  /** Values that must not reach the log, should the platform quote them. */
  readonly knownSecrets: ReadonlySet<string>;
}

/**
 * One request to a platform through the outbound door; throws PlatformFault for everything that is not a
 * whole 2xx.
 */
export async function requestPlatform(
  options: RequestOptions,
  request: PlatformRequest,
): Promise<PlatformResponse> {
  if (options.signal.aborted)
    throw new PlatformFault("not_sent", `The request to ${options.title} was called off.`);
  const answer = await send(options, request);
  const text = await readText(answer.body).catch((cause: unknown) => {
    throw lost(options, request, cause);
  });
  const response = { status: answer.status, headers: answer.headers, text, json: parseJson(text) };
  if (response.status >= 200 && response.status < 300) return response;
  throw request.classify?.(response) ?? usualFault(options, request, response);
}

async function send(options: RequestOptions, request: PlatformRequest): Promise<OutboundResponse> {
  try {
    return await options.ctx.outbound.request(toOutbound(request, options));
  } catch (cause) {
    // The door refused the address before anything left.
    if (cause instanceof AppError) throw new PlatformFault("rejected", cause.message, { cause });
    const media = brokenMedia(request.body);
    if (media !== null) throw media;
    if (cause instanceof OutboundFailure && !cause.wasSent) {
      throw new PlatformFault("not_sent", `${options.title} could not be reached.`, { cause });
    }
    throw lost(options, request, cause);
  }
}

/**
 * What was to be sent failed, not the platform. A request whose body breaks off is one that nobody may act on
 * (RFC 9112, 8), so nothing was done. Null where the body is fine.
 */
function brokenMedia(body: PlatformRequest["body"]): PlatformFault | null {
  const cause = typeof body === "object" && "errored" in body ? body.errored : null;
  if (cause instanceof AppError) return new PlatformFault("rejected", cause.message, { cause });
  return cause instanceof MediaUnavailable ? new PlatformFault("not_sent", cause.message, { cause }) : null;
}

function toOutbound(request: PlatformRequest, { ownerId, signal }: RequestOptions): OutboundRequest {
  const { json, body, headers, classify: _classify, isIdempotent: _isIdempotent, ...rest } = request;
  const sent = json === undefined ? body : JSON.stringify(json);
  const types = json === undefined ? {} : { "content-type": "application/json" };
  return {
    ...rest,
    ownerId,
    signal,
    headers: { ...types, ...headers },
    ...(sent === undefined ? {} : { body: sent }),
  };
}

/** It was sent and what came of it is not known. */
function lost(options: RequestOptions, request: PlatformRequest, cause: unknown): PlatformFault {
  return request.isIdempotent === true
    ? new PlatformFault("transient", `${options.title} did not answer properly.`, { cause })
    : new PlatformFault(
        "ambiguous",
        `The answer of ${options.title} was lost, so it may have done what was asked.`,
        { cause },
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function usualFault(
  options: RequestOptions,
  request: PlatformRequest,
  response: PlatformResponse,
): PlatformFault {
  const { title } = options;
  const { status } = response;
  const details = { httpStatus: status, cause: quoteAnswer(options, request, response) };
  if (status === 401)
    return new PlatformFault("auth", `${title} does not accept the channel's credentials any more.`, details);
  if (status === 429) {
    const retryAfterMs = readRetryAfter(response.headers, options.ctx.clock.now());
    return new PlatformFault(
      "rate",
      `${title} asks to slow down.`,
      retryAfterMs === null ? details : { ...details, retryAfterMs },
    );
  }
  if (status < 500)
    return new PlatformFault("rejected", `${title} refused the request (HTTP ${status}).`, details);
  return request.isIdempotent === true
    ? new PlatformFault("transient", `${title} has a problem of its own (HTTP ${status}).`, details)
    : new PlatformFault(
        "ambiguous",
        `${title} answered with HTTP ${status}, so it may have done what was asked.`,
        details,
      );
}

/** For the log alone: the platform's own words, without the credentials it may repeat. */
function quoteAnswer(options: RequestOptions, request: PlatformRequest, response: PlatformResponse): Error {
  const credentials = Object.entries(request.headers ?? {})
    .filter(([name]) => name.toLowerCase() === "authorization")
    .flatMap(([, value]) => [value, value.slice(value.indexOf(" ") + 1)]);
  // Before it is cut: of a secret that the cut goes through, a part would stay.
  const words = scrub(response.text, [...credentials, ...options.knownSecrets]).slice(0, MAX_QUOTED);
  return new Error(`HTTP ${response.status} from ${new URL(request.url).host}: ${words}`);
}

/** A platform that asks for more is asked again after a day. */
const MAX_WAIT_MS = DAY;

/** A reset beyond this is a moment, not a span (GitHub, Bluesky and X send seconds since 1970). */
const FIRST_MOMENT_SECONDS = 1_000_000_000;

/**
 * Milliseconds to wait by `Retry-After` (RFC 9110, seconds or a date) or the reset of a rate limit; null
 * where neither says.
 */
export function readRetryAfter(headers: Readonly<Record<string, string>>, now: number): number | null {
  const text = headers["retry-after"] ?? headers["ratelimit-reset"] ?? headers["x-ratelimit-reset"];
  if (text === undefined) return null;
  const waitMs = /^\d+(\.\d+)?$/.test(text.trim())
    ? secondsToWait(Number(text), now)
    : Date.parse(text) - now;
  return Number.isNaN(waitMs) ? null : Math.min(Math.max(Math.ceil(waitMs), 0), MAX_WAIT_MS);
}

function secondsToWait(seconds: number, now: number): number {
  return seconds >= FIRST_MOMENT_SECONDS ? seconds * SECOND - now : seconds * SECOND;
}
