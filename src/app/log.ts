import { stderr } from "node:process";
import { pino, stdTimeFunctions } from "pino";
import type { Config } from "./config.ts";
import { visibleText } from "../domain/text/plain-text.ts";
import type { Logger } from "../ports/logger.ts";
import type { Tell } from "../store/engine/store.ts";

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

/** Lines that were not read yet wait in memory up to this size. More are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;

const FLUSH_MS = 500;

/**
 * Lines on standard error, as standard output belongs to MCP frames and to results: JSON, and for people where
 * it is a terminal, unless the settings say which. Writing one never waits for its reader.
 */
export function createLogger(
  { logLevel, logFormat }: Pick<Config, "logLevel" | "logFormat">,
  // Node keeps what a full pipe does not take. `pino.destination` hangs on one: its thread waits in the write,
  // and the process's end waits for the thread.
  write = (line: string): void => {
    if (stderr.writableLength < MAX_WAITING_BYTES) stderr.write(line);
  },
): Logger {
  const format = logFormat ?? (stderr.isTTY ? "text" : "json");
  return pino(
    {
      level: logLevel,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => showError(error) },
      redact: {
        paths: SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
        censor: "[redacted]",
      },
    },
    { write: format === "json" ? write : (line) => write(toReadable(line)) },
  );
}

/** Waits until the lines are written, for half a second at most. */
export async function flushLog(): Promise<void> {
  await new Promise<void>((resolve) => {
    setTimeout(resolve, FLUSH_MS).unref();
    stderr.write("", () => resolve());
  });
}

/** Tells the log and `tell` the same. */
export function tellingLog(log: Logger, tell: Tell = () => {}): Tell {
  return (sentence, kind) => {
    if (kind === "done") log.info({}, sentence);
    else log.warn({}, sentence);
    tell(sentence, kind);
  };
}

/**
 * What may stand on an error beside its words. Other fields may be anything, a platform's whole answer among
 * them.
 */
const SHOWN_FIELDS: readonly string[] = ["code", "kind", "httpStatus", "retryAfterMs", "syscall"];
const MAX_CAUSES = 5;

/** What the world answers, not a bug: where in our code it was noticed is of no use. */
const EXPECTED: readonly string[] = [
  "AppError",
  "PlatformFault",
  "MediaUnavailable",
  "OutboundFailure",
  "OutcomeUnknown",
  "AskAgain",
  "TooLate",
];

/** An error as it stands in a line. Those that are expected have no stack, and neither have their causes. */
export function showError(error: unknown, causes = 0, hasStack = true): unknown {
  if (typeof error === "string") return error.slice(0, MAX_TEXT_CHARS);
  if (!(error instanceof Error)) return typeof error;
  const isBug = hasStack && !EXPECTED.includes(error.name);
  const fields = Object.entries(error).filter(
    ([name, value]) => SHOWN_FIELDS.includes(name) && typeof value !== "object",
  );
  return {
    type: error.name,
    message: error.message.slice(0, MAX_TEXT_CHARS),
    ...(isBug ? { stack: error.stack?.slice(0, MAX_TEXT_CHARS) } : {}),
    ...Object.fromEntries(fields),
    ...(error.cause === undefined || causes === MAX_CAUSES
      ? {}
      : { cause: showError(error.cause, causes + 1, isBug) }),
  };
}

interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: LoggedError | string;
}

/** A line as the logger writes it. */
type LogLine = Readonly<Record<string, unknown>> &
  Readonly<{ level: string; time: string; msg?: string; err?: LoggedError | string }>;

/**
 * A line of JSON for a person who reads along: time, level, message, fields, and below it what an error says.
 * Stacks stand only below errors, which are our own bugs. Nothing in it is obeyed by a terminal.
 */
function toReadable(json: string): string {
  const { level, time, msg = "", err, ...fields } = JSON.parse(json) as LogLine;
  const named = Object.entries(fields).map(([name, value]) => {
    const isPlain = typeof value === "string" && /^[^\s"=]+$/.test(value);
    return `  ${name}=${isPlain ? value : JSON.stringify(value)}`;
  });
  const head = `${time.slice(0, "2026-11-23T09:58:12".length)}Z ${level.padEnd(5)} ${msg}${named.join("")}`;
  const lines = [head, ...describeError(err, level === "error")];
  return `${visibleText(lines.join("\n").replaceAll("\n", "\n    "))}\n`;
}

function describeError(err: LogLine["err"], hasStack: boolean): string[] {
  if (typeof err !== "object") return err === undefined ? [] : [err];
  const { type, message, stack = "", cause } = err;
  const calls = hasStack ? stack.split("\n").filter((line) => /^\s+at /.test(line)) : [];
  return [`${type}: ${message}`, ...calls, ...describeError(cause, hasStack)];
}
