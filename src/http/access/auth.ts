import type { Request, RequestHandler, Response } from "express";
import { type Options, rateLimit } from "express-rate-limit";
import { AppError } from "../../domain/errors.ts";
import { type Caller, type Permission, requirePermission } from "../../domain/permissions.ts";
import { authenticate } from "../../access/api-keys.ts";
import { isAccessToken } from "../../access/oauth/tokens.ts";
import { MINUTE } from "../../domain/time.ts";
import type { AppContext } from "../../context.ts";
import { parseUrl } from "../../domain/parse-url.ts";

/** Wrong keys from one address a minute. */
const MAX_FAILED_KEYS = 300;

const BEARER = /^bearer +(\S+) *$/i;

/** Programs with a token, where they are let in. */
interface TokenAccess {
  /** Null: it is none, or not good (any more). */
  find(token: string): Promise<Caller | null>;
  /** `WWW-Authenticate` for those without: where they get one for the path that they asked for. */
  challenge(path: string): string;
}

export interface AuthOptions {
  readonly ctx: AppContext;
  readonly publicUrl: string | null;
  readonly rateLimit: number;
  readonly fixedApiKey: string | null;
}

/** The checks before a request's body is looked at, in their order: 401, 403, 429. */
export interface Guard {
  /** 401, and 403 for a foreign Host or Origin; puts the caller into `response.locals.caller`. */
  readonly identify: readonly RequestHandler[];
  /** 403 for a key that lacks the permission; `action` completes "This key may not …". */
  permit(permission: Permission, action: string): RequestHandler;
  /** 429 past the key's limit, else headers that tell the rest. Puts `countCalls` into `locals`. */
  readonly limit: RequestHandler;
}

/** `identify`: what finds the caller. Default: their key. */
export function createGuard(
  options: AuthOptions,
  identify: Guard["identify"] = [requireKey(options), checkHost(options.publicUrl)],
): Guard {
  return {
    identify,
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
    handler: refuseMore(
      `This key made more than ${limit} requests in a minute, each call of a batch counted.`,
    ),
  });
}

/** The calls of a batch count like single ones. */
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

export function callerOf(response: Response): Caller {
  const caller: Caller | null | undefined = response.locals["caller"];
  if (!caller) throw new Error("A route was reached without the guard.");
  return caller;
}

/** Limits by address the requests in which `what` was missing or wrong. */
export function limitFailures(ctx: AppContext, what: string): RequestHandler {
  const problem = `Too many requests without a valid ${what} came from this address.`;
  return limitRequests(ctx, { limit: MAX_FAILED_KEYS, handler: refuseMore(problem) });
}

/** Limits by address the requests for pages of one kind that need no key. Default: 600 a minute. */
export function limitVisitors(ctx: Pick<AppContext, "log">, limit = 600): RequestHandler {
  return limitRequests(ctx, { limit, handler: refuseMore("Too many requests came from this address.") });
}

function refuseMore(problem: string): () => never {
  return () => {
    throw new AppError("rate_limited", `${problem} Wait as long as Retry-After says.`);
  };
}

/** Limits requests a minute in this process, by their address (IPv6: by its network) unless told otherwise. */
export function limitRequests({ log }: Pick<AppContext, "log">, options: Partial<Options>): RequestHandler {
  return rateLimit({
    windowMs: MINUTE,
    standardHeaders: "draft-8",
    legacyHeaders: false,
    // Headers of proxies are usual. A batch counts several times. A client that left has no address.
    validate: { xForwardedForHeader: false, forwardedHeader: false, singleCount: false, ip: false },
    logger: {
      error: (error) => log.error({ err: error }, "The rate limit does not work"),
      warn: (error) => log.warn({ err: error }, "The rate limit warns"),
    },
    ...options,
  });
}

/** A guard for the same callers, and for programs with a token of theirs. */
export function admitTokens(guard: Guard, options: AuthOptions, tokens: TokenAccess): Guard {
  return { ...guard, identify: [requireKey(options, tokens), checkHost(options.publicUrl)] };
}

function requireKey({ ctx, fixedApiKey }: AuthOptions, tokens: TokenAccess | null = null): RequestHandler {
  const limitFailed = limitFailures(ctx, "API key");
  const find = async (key: string): Promise<Caller | null> =>
    (await authenticate(ctx, key, fixedApiKey)) ?? (await tokens?.find(key)) ?? null;
  return async (request, response, next) => {
    const key = bearerOf(request);
    const caller = key === undefined ? null : await find(key);
    response.locals["caller"] = caller;
    if (caller !== null) return next();
    if (tokens !== null) {
      const wrong = key === undefined ? "" : ', error="invalid_token"';
      response.set("WWW-Authenticate", `${tokens.challenge(request.path)}${wrong}`);
    }
    const problem = problemWith(request.headers.authorization, key);
    const sentence = `${problem} "Authorization: Bearer <API_KEY>". \`posthorn keys create\` makes a key.`;
    return limitFailed(request, response, (error?: unknown) =>
      next(error ?? new AppError("unauthenticated", sentence)),
    );
  };
}

function problemWith(header: string | undefined, key = ""): string {
  if (header === undefined) return "There is no API key. Send the header";
  return isAccessToken(key)
    ? "This is a program's token, which opens /mcp alone, and no more once it has ended. Send"
    : "The API key is not valid: unknown, expired or revoked. Send";
}

export function bearerOf(request: Request): string | undefined {
  return BEARER.exec(request.headers.authorization ?? "")?.[1];
}

/** The name in the header Host, without the port. */
export function hostnameOf(request: Pick<Request, "headers">): string | undefined {
  return HOST.exec((request.headers.host ?? "").toLowerCase())?.[1];
}

export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** A proxy in front may take the other of two lines of Host (RFC 9112, section 3.2). */
export const refuseTwoHosts: RequestHandler = (request, _response, next) => {
  if ((request.headersDistinct["host"]?.length ?? 0) > 1)
    throw new AppError("invalid", "Host: stands there more than once. Send it once.");
  next();
};

/** Against DNS rebinding: Host must be loopback or the public address, and Origin too where it is given. */
export function checkHost(publicUrl: string | null): RequestHandler {
  const own = publicUrl === null ? null : new URL(publicUrl);
  const isOwnName = (hostname: string): boolean => LOOPBACK.test(hostname) || hostname === own?.hostname;
  return (request, _response, next) => {
    const host = hostnameOf(request);
    if (host === undefined || !isOwnName(host)) {
      throw new AppError(
        "forbidden",
        "Host: this server does not answer to that name. Use a loopback address, or set POSTHORN_PUBLIC_URL to the address it is reached at.",
      );
    }
    const origin = request.headers.origin;
    if (origin !== undefined && !isOwnOrigin(origin, own)) {
      throw new AppError(
        "forbidden",
        "Origin: web pages of other sites may not use this server. Call it from a program, or from a page at POSTHORN_PUBLIC_URL.",
      );
    }
    next();
  };
}

function isOwnOrigin(origin: string, own: URL | null): boolean {
  const url = parseUrl(origin);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return false;
  return LOOPBACK.test(url.hostname) || url.origin === own?.origin;
}
