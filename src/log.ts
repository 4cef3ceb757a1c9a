import { destination, pino, stdSerializers, stdTimeFunctions } from "pino";
import type { Config } from "./config.ts";
import type { Logger } from "./ports/logger.ts";

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
      serializers: { err: cutError },
      redact: { paths: SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: "[redacted]" },
    },
    // Synchronous: the last lines before an end are the ones that are looked for.
    destination({ dest: file, sync: true }),
  );
}

function cutError(error: Error): unknown {
  const shown = stdSerializers.errWithCause(error);
  return JSON.parse(JSON.stringify(shown, (_key, value: unknown) => (typeof value === "string" ? value.slice(0, MAX_TEXT_CHARS) : value)));
}
