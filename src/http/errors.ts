import type { ErrorRequestHandler, Request, RequestHandler, Response } from "express";
import { AppError, INTERNAL_ERROR_SENTENCE, type ErrorKind } from "../domain/errors.ts";
import type { Sentence } from "../domain/sentences.ts";
import { agentsWordsFor } from "../toolkit/words.ts";
import { DiskFull } from "../ports/disk-space.ts";
import type { Logger } from "../ports/logger.ts";

export const STATUS: Record<ErrorKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  unsupported: 415,
  rate_limited: 429,
  unavailable: 503,
};

export function statusOf(error: AppError): number {
  return error instanceof DiskFull ? 507 : STATUS[error.kind];
}

/** What takes long may be over by then; the limit of requests knows its own time. */
const RETRY_AFTER_SECONDS = "5";

/** Every failed request is answered like this, with nothing beside the sentence: our own page alone gets it as data, too. */
export function sendError(
  response: Response,
  status: number,
  sentence: string,
  sentences?: readonly Sentence[],
): void {
  if (status === STATUS.unauthenticated && !response.hasHeader("WWW-Authenticate"))
    response.set("WWW-Authenticate", "Bearer");
  const asData = sentences === undefined || response.locals[AS_DATA] !== true ? {} : { sentences };
  response.status(status).json({ error: sentence, ...asData });
}

const AS_DATA = "sentencesAsData";

/** For the page's own requests: refusals are answered as data, too. */
export const describeAsData: RequestHandler = (_request, response, next) => {
  response.locals[AS_DATA] = true;
  next();
};

export const UNKNOWN_PATH_SENTENCE =
  "There is nothing at this address. GET /api/v1/openapi.json describes the whole API, /api/v1/docs shows it.";

/** Where clients of MCP that bring no key look for OAuth; they show people what they are answered. */
const OAUTH_PATH =
  /^\/(register|authorize|token|(mcp\/|sse\/)?\.well-known\/(oauth-|openid-configuration).*)$/;

const NO_OAUTH_SENTENCE =
  "Posthorn knows API keys, not OAuth: add the header Authorization: Bearer <key> to the client's settings for this server. `posthorn keys create` makes a key.";

export const notFound: RequestHandler = ({ originalUrl }) => {
  const [path = ""] = originalUrl.split("?");
  throw new AppError("not_found", OAUTH_PATH.test(path) ? NO_OAUTH_SENTENCE : UNKNOWN_PATH_SENTENCE);
};

export function methodNotAllowed(allowed: readonly string[]): RequestHandler {
  const allow = allowed
    .join(", ")
    .toUpperCase()
    .replace(/\bGET\b/, "GET, HEAD");
  return (request, response) => {
    response.set("Allow", allow);
    sendError(response, 405, `${request.method} is not possible at this address. It takes ${allow}.`);
  };
}

/** Answers what was thrown: our own sentences go out, anything else is a bug and only the log has it. */
export function errorHandler(log: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    // The router could not decode an id in the path.
    const unknownPath = error instanceof URIError ? new AppError("not_found", UNKNOWN_PATH_SENTENCE) : null;
    const known = error instanceof AppError ? error : unknownPath;
    const requestId: unknown = response.locals["requestId"];
    if (hasLeft(request, response)) {
      log.debug({ requestId, method: request.method, err: error }, "A request was broken off by its client");
      return void response.destroy();
    }
    if (known === null) {
      log.error({ requestId, method: request.method, err: error }, "A request failed for a reason of ours");
    } else if (known.cause !== undefined) {
      log.warn({ requestId, sentence: known.message, err: known.cause }, "A request was refused");
    }
    // Half an answer cannot be taken back: the client must see that it broke off.
    if (response.headersSent) return void response.destroy();
    if (known === null) return sendError(response, 500, INTERNAL_ERROR_SENTENCE);
    if (known.kind === "rate_limited" && !response.hasHeader("Retry-After"))
      response.set("Retry-After", RETRY_AFTER_SECONDS);
    sendError(response, statusOf(known), agentsWordsFor(known), known.sentences);
  };
}

/** Whether the client broke off the request: an answer would not be read. */
export function hasLeft(request: Request, response: Response): boolean {
  const isGone = response.destroyed || request.socket.destroyed;
  return request.readableAborted || (isGone && !response.writableFinished);
}
