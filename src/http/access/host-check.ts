import type { RequestHandler } from "express";
import { AppError } from "../../domain/errors.ts";
import { parseUrl } from "../../domain/parse-url.ts";

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Two lines of Host can mean another server to whoever passed the request on (RFC 9112, section 3.2). */
export const refuseTwoHosts: RequestHandler = (request, _response, next) => {
  if ((request.headersDistinct["host"]?.length ?? 0) > 1)
    throw new AppError("invalid", "Host: stands there more than once. Send it once.");
  next();
};

/**
 * Refuses requests that a foreign web page had a browser send (DNS rebinding): the Host must be a loopback
 * name or that of the public address, and so must the Origin where there is one. `Origin: null` is foreign.
 */
export function checkHost(publicUrl: string | null): RequestHandler {
  const own = publicUrl === null ? null : new URL(publicUrl);
  const isOwnName = (hostname: string): boolean => LOOPBACK.test(hostname) || hostname === own?.hostname;
  return (request, _response, next) => {
    const host = HOST.exec((request.headers.host ?? "").toLowerCase())?.[1];
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
