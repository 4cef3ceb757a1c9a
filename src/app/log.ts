import { destination, pino, stdTimeFunctions } from "pino";
import type { Config } from "./config.ts";
import type { Logger } from "../ports/logger.ts";

/** Names under which a secret could slip into a line; a canary test reads the whole log for others. */
const SECRET_NAMES = [
  "authorization",
  "cookie",
  "password",
  "appPassword",
  "secret",
  "secrets",
  "token",
  "accessToken",
  "refreshToken",
  "accessJwt",
  "refreshJwt",
  "apiKey",
  "handle_enc",
  "secrets_enc",
] as const;

/** A platform's whole answer can hang on an error's cause; this much of a text says enough. */
const MAX_TEXT_CHARS = 4_000;

/** Lines of JSON on standard error: standard output belongs to MCP frames and to results. */
export function createLogger(level: Config["logLevel"], file: number | string = 2): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => showError(error) },
      redact: {
        paths: SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
        censor: "[redacted]",
      },
    },
    // Synchronous: the last lines before an end are the ones that are looked for.
    destination({ dest: file, sync: true }),
  );
}

/**
 * What may stand on an error beside its words. Other fields may be anything, a platform's whole answer among
 * them.
 */
const SHOWN_FIELDS: readonly string[] = ["code", "kind", "httpStatus", "retryAfterMs", "syscall"];
const MAX_CAUSES = 5;

/** An error as it stands in a line. */
export function showError(error: unknown, causes = 0): unknown {
  if (typeof error === "string") return error.slice(0, MAX_TEXT_CHARS);
  if (!(error instanceof Error)) return typeof error;
  const fields = Object.entries(error).filter(
    ([name, value]) => SHOWN_FIELDS.includes(name) && typeof value !== "object",
  );
  return {
    type: error.name,
    message: error.message.slice(0, MAX_TEXT_CHARS),
    stack: error.stack?.slice(0, MAX_TEXT_CHARS),
    ...Object.fromEntries(fields),
    ...(error.cause === undefined || causes === MAX_CAUSES
      ? {}
      : { cause: showError(error.cause, causes + 1) }),
  };
}
