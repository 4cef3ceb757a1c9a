import type { Request, RequestHandler, Response } from "express";
import { AppError } from "../../domain/errors.ts";
import { parseUrl } from "../../domain/parse-url.ts";
import { findVisitor } from "../../access/page-sessions.ts";
import {
  type AuthOptions,
  createGuard,
  type Guard,
  hostnameOf,
  isLoopback,
  limitFailures,
} from "../access/auth.ts";
import { readSessionCookie } from "./page-cookie.ts";

/** As the guard of the API, with a session's cookie in the place of a key. */
export function createPageGuard(options: AuthOptions): Guard {
  return createGuard(options, [requireOwnPage(options), requireSession(options)]);
}

/** The one that found the caller's session. */
export function sessionOf(response: Response): string {
  const id: unknown = response.locals["sessionId"];
  if (typeof id !== "string") throw new Error("A route was reached without the guard of the page.");
  return id;
}

/**
 * 403 for what another page asks, and for writes that are not our own page's: browsers let no other site set the
 * header. To their cookies another port of loopback is the same site.
 */
export function requireOwnPage({ publicUrl }: Pick<AuthOptions, "publicUrl">): RequestHandler {
  return (request, _response, next) => {
    const from = request.get("Sec-Fetch-Site") ?? "same-origin";
    if (from !== "same-origin" && from !== "none")
      throw new AppError(
        "forbidden",
        "Sec-Fetch-Site: a page of another address asks. Open Posthorn's own page, and do it there.",
      );
    if (request.method === "GET" || request.method === "HEAD") return next();
    if (request.get("X-Posthorn-Page") !== "1")
      throw new AppError(
        "forbidden",
        "X-Posthorn-Page: is missing. Only Posthorn's own page may write here. Programs use /api/v1 with a key.",
      );
    if (!isOwnOrigin(request, publicUrl))
      throw new AppError(
        "forbidden",
        "Origin: is not this server's. Open the page at the server's own address, the one in POSTHORN_PUBLIC_URL where that is set.",
      );
    next();
  };
}

/** Another program on loopback, at another port, is a stranger, too. */
function isOwnOrigin(request: Request, publicUrl: string | null): boolean {
  const { origin, host = "" } = request.headers;
  if (origin === undefined) return false;
  if (origin === parseUrl(publicUrl ?? "")?.origin) return true;
  return isLoopback(hostnameOf(request) ?? "") && origin === `${request.protocol}://${host.toLowerCase()}`;
}

function requireSession({ ctx, publicUrl, fixedApiKey }: AuthOptions): RequestHandler {
  const limitFailed = limitFailures(ctx, "session");
  return async (request, response, next) => {
    const token = readSessionCookie(request, publicUrl);
    const visitor = token === null ? null : await findVisitor(ctx, token, fixedApiKey);
    response.locals["caller"] = visitor?.caller ?? null;
    response.locals["sessionId"] = visitor?.sessionId;
    if (visitor !== null) return next();
    const sentence =
      "You are not signed in, or not any more. Run `posthorn open`, or sign in with an API key.";
    return limitFailed(request, response, (error?: unknown) =>
      next(error ?? new AppError("unauthenticated", sentence)),
    );
  };
}
