import type { Request, RequestHandler, Response } from "express";
import { rateLimit, type Options } from "express-rate-limit";
import { AppError } from "../../domain/errors.ts";
import { requirePermission, type Caller, type Permission } from "../../domain/permissions.ts";
import { authenticate } from "../../access/api-keys.ts";
import { MINUTE } from "../../domain/time.ts";
import type { AppContext } from "../../context.ts";
import { checkHost } from "./host-check.ts";

/** Wrong keys from one address a minute. */
const MAX_FAILED_KEYS = 300;

const BEARER = /^bearer +(\S+) *$/i;

interface AuthOptions {
  readonly ctx: AppContext;
  readonly publicUrl: string | null;
  /** Requests a minute and key. */
  readonly rateLimit: number;
  readonly fixedApiKey: string | null;
}

/** The checks before a request's body is looked at, in their order: 401, 403, 429. */
export interface Guard {
  /** 401, and 403 for a foreign Host or Origin; puts the caller into `response.locals.caller`. */
  readonly identify: readonly RequestHandler[];
  /** 403 for a key that lacks the permission; `action` completes "This key may not …". */
  permit(permission: Permission, action: string): RequestHandler;
  /**
   * 429 past the key's limit, else the headers that tell how much is left. Puts `countCalls` into
   * `response.locals` for whoever finds more calls in the body.
   */
  readonly limit: RequestHandler;
}

export function createGuard(options: AuthOptions): Guard {
  return {
    identify: [requireKey(options), checkHost(options.publicUrl)],
    permit: (permission, action) => (_request, response, next) => {
      requirePermission(callerOf(response), permission, action);
      next();
    },
    limit: countingCalls(limitKey(options)),
  };
}

function limitKey({ ctx, rateLimit: limit }: AuthOptions): RequestHandler {
  return limitRequests(ctx, {
    limit,
    keyGenerator: (_request, response) => callerOf(response).keyId,
    handler: () => {
      throw new AppError(
        "rate_limited",
        `This key made more than ${limit} requests in a minute, each call of a batch counted. Wait as long as Retry-After says.`,
      );
    },
  });
}

/** The calls of a batch count as if each had come alone. */
function countingCalls(limit: RequestHandler): RequestHandler {
  return (request, response, next) => {
    response.locals["countCalls"] = async (count: number): Promise<void> => {
      for (let counted = 0; counted < count; counted++) {
        await new Promise<void>((resolve, reject) => {
          const done = (error?: unknown): void => (error === undefined ? resolve() : reject(error as Error));
          void limit(request, response, done);
        });
      }
    };
    return limit(request, response, next);
  };
}

/** The caller that the guard let in. */
export function callerOf(response: Response): Caller {
  const caller: Caller | undefined = response.locals["caller"];
  if (caller === undefined) throw new Error("A route was reached without the guard.");
  return caller;
}

/** Counts what it is called for by address, and answers 429 past the limit; `what` was missing. */
export function limitFailures(ctx: AppContext, what: string): RequestHandler {
  return limitByAddress(
    ctx,
    MAX_FAILED_KEYS,
    `Too many requests without a valid ${what} came from this address.`,
  );
}

/**
 * Counts requests of pages of one kind, which need no key, by address, and answers 429 past the limit. Default:
 * 600 a minute.
 */
export function limitVisitors(ctx: AppContext, limit = 600): RequestHandler {
  return limitByAddress(ctx, limit, "Too many requests came from this address.");
}

function limitByAddress(ctx: AppContext, limit: number, sentence: string): RequestHandler {
  const handler = (): never => {
    throw new AppError("rate_limited", `${sentence} Wait as long as Retry-After says.`);
  };
  return limitRequests(ctx, { limit, handler });
}

/** Limits requests a minute in this process, by their address (IPv6: by its network) unless told otherwise. */
export function limitRequests({ log }: Pick<AppContext, "log">, options: Partial<Options>): RequestHandler {
  return rateLimit({
    windowMs: MINUTE,
    standardHeaders: "draft-8",
    legacyHeaders: false,
    // Behind a reverse proxy these headers are usual; they are not trusted, so there is nothing to warn of.
    // A batch is counted several times on purpose, and the connection of a client that left has no address.
    validate: { xForwardedForHeader: false, forwardedHeader: false, singleCount: false, ip: false },
    logger: {
      error: (error) => log.error({ err: error }, "The rate limit does not work"),
      warn: (error) => log.warn({ err: error }, "The rate limit warns"),
    },
    ...options,
  });
}

function requireKey({ ctx, fixedApiKey }: AuthOptions): RequestHandler {
  const limitFailed = limitFailures(ctx, "API key");
  return async (request, response, next) => {
    const key = bearerOf(request);
    const caller = key === undefined ? null : await authenticate(ctx, key, fixedApiKey);
    if (caller === null) return limitFailed(request, response, refuseKey(request, next));
    response.locals["caller"] = caller;
    next();
  };
}

export function bearerOf(request: Request): string | undefined {
  return BEARER.exec(request.headers.authorization ?? "")?.[1];
}

function refuseKey(request: Request, next: (error: unknown) => void): (error?: unknown) => void {
  const sentence =
    request.headers.authorization === undefined
      ? 'There is no API key. Send the header "Authorization: Bearer <API_KEY>". `posthorn keys create` makes a key.'
      : 'The API key is not valid: unknown, expired or revoked. Send "Authorization: Bearer <API_KEY>". `posthorn keys create` makes a key.';
  return (error) => next(error ?? new AppError("unauthenticated", sentence));
}
