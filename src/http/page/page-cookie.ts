import type { Request, Response } from "express";
import { parseUrl } from "../../domain/parse-url.ts";
import { SESSION_LIFE_MS } from "../../access/page-sessions.ts";
import { hostnameOf } from "../access/auth.ts";

/** Browsers take this name only with `Secure`, from https, and for this host alone. */
const OVER_HTTPS = "__Host-posthorn";
/** On loopback, and where a server has no TLS. */
const OVER_HTTP = "posthorn_page";

const PLAIN_PATH = "/app";

/** The session's token; null where there is none. `publicUrl`: where others reach this server. */
export function readSessionCookie(request: Request, publicUrl: string | null): string | null {
  const token = valueOf(request, OVER_HTTPS);
  // Over https the other one may be from a neighbour's host or from someone on the line.
  return token !== null || isOverHttps(request, publicUrl) ? token : valueOf(request, OVER_HTTP);
}

/** `isSecure`: the browser came by https, whatever a proxy made of it. */
export function setSessionCookie(response: Response, token: string, isSecure: boolean): void {
  response.cookie(isSecure ? OVER_HTTPS : OVER_HTTP, token, {
    ...attributesOf(isSecure),
    maxAge: SESSION_LIFE_MS,
  });
}

/** So that the browser keeps it for as long as the session lasts. */
export function renewSessionCookie(request: Request, response: Response, token: string): void {
  setSessionCookie(response, token, valueOf(request, OVER_HTTPS) !== null);
}

export function clearSessionCookie(response: Response): void {
  for (const isSecure of [true, false])
    response.clearCookie(isSecure ? OVER_HTTPS : OVER_HTTP, attributesOf(isSecure));
}

function attributesOf(isSecure: boolean) {
  const path = isSecure ? "/" : PLAIN_PATH;
  return { httpOnly: true, sameSite: "strict", secure: isSecure, path } as const;
}

function isOverHttps(request: Request, publicUrl: string | null): boolean {
  const own = parseUrl(publicUrl ?? "");
  return request.secure || (own?.protocol === "https:" && own.hostname === hostnameOf(request));
}

function valueOf(request: Request, name: string): string | null {
  const pair = (request.get("cookie") ?? "").split("; ").find((one) => one.startsWith(`${name}=`));
  const value = pair?.slice(name.length + 1) ?? "";
  return value === "" ? null : value;
}
