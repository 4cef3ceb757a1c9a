import type { ErrorRequestHandler, Request, Response } from "express";
import { AppError } from "../../domain/errors.ts";
import type { Logger } from "../../ports/logger.ts";
import type { ClientProof } from "../../access/oauth/clients.ts";
import { OAuthFault } from "../../access/oauth/oauth-fault.ts";
import { type Parameters, requireOnce } from "../../access/oauth/requests.ts";
import { errorHandler, statusOf } from "../errors.ts";

const MAX_PARAMETERS = 50;
const BASIC = /^basic +(\S+) *$/i;

export function parametersOf(text: string): Parameters {
  const given = new URLSearchParams(text);
  if (given.size > MAX_PARAMETERS)
    throw new OAuthFault("invalid_request", `There are more than ${MAX_PARAMETERS} parameters.`);
  return given;
}

/** The form that programs send. Throws OAuthFault. */
export function readForm(request: Request): Parameters {
  const [type = ""] = (request.headers["content-type"] ?? "").split(";");
  if (type.trim().toLowerCase() !== "application/x-www-form-urlencoded")
    throw new OAuthFault("invalid_request", "Content-Type: must be application/x-www-form-urlencoded.");
  return parametersOf(bytesOf(request).toString("utf8"));
}

/** JSON, whatever it holds; undefined where it is none. */
export function readJson(request: Request): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytesOf(request)));
  } catch {
    return undefined;
  }
}

function bytesOf(request: Request): Buffer {
  const body: unknown = request.body;
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

/** By the header Authorization or in the form, not by both (RFC 6749, section 2.3). Throws OAuthFault. */
export function readProof(request: Request, form: Parameters): ClientProof {
  for (const name of ["client_id", "client_secret"]) requireOnce(form, name);
  const header = request.headers.authorization;
  const id = form.get("client_id") ?? "";
  if (header === undefined) return { id, secret: form.get("client_secret") };
  const proof = readBasic(header);
  if (proof === null)
    throw new OAuthFault("invalid_client", "Authorization: must be Basic, with client_id and client_secret.");
  if (form.get("client_secret") !== null || (id !== "" && id !== proof.id))
    throw new OAuthFault(
      "invalid_request",
      "client_id: prove yourself in the header or in the form, not in both.",
    );
  return proof;
}

function readBasic(header: string): ClientProof | null {
  const text = Buffer.from(BASIC.exec(header)?.[1] ?? "", "base64").toString("utf8");
  const [, id, secret] = /^([^:]+):(.*)$/s.exec(text) ?? [];
  if (id === undefined || secret === undefined) return null;
  try {
    const decode = (part: string): string => decodeURIComponent(part.replaceAll("+", " "));
    return { id: decode(id), secret: secret === "" ? null : decode(secret) };
  } catch {
    return null;
  }
}

/** Answers what was thrown as RFC 6749 says. Our own sentences go out, anything else is a bug. */
export function oauthErrors(log: Logger): ErrorRequestHandler {
  const others = errorHandler(log);
  return (error: unknown, request, response, next) => {
    if (error instanceof OAuthFault) return sendFault(request, response, error);
    if (!(error instanceof AppError) || response.headersSent) return others(error, request, response, next);
    const code = error.kind === "rate_limited" ? "temporarily_unavailable" : "invalid_request";
    response.status(statusOf(error)).json({ error: code, error_description: error.message });
  };
}

function sendFault(request: Request, response: Response, { code, message }: OAuthFault): void {
  const isUnproven = code === "invalid_client";
  if (isUnproven && request.headers.authorization !== undefined)
    response.set("WWW-Authenticate", 'Basic realm="Posthorn", charset="UTF-8"');
  response.status(isUnproven ? 401 : 400).json({ error: code, error_description: message });
}
