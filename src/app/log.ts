import { constants, fstatSync, openSync } from "node:fs";
import { isatty } from "node:tty";
import { destination, pino, stdTimeFunctions } from "pino";
import type { Config } from "./config.ts";
import { visibleText } from "../domain/plain-text.ts";
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

/** Standard output belongs to MCP frames and to results. */
const STANDARD_ERROR = 2;

/**
 * Lines that nobody reads wait up to this size, in each thread; those that come then are counted and dropped.
 */
const MAX_WAITING_BYTES = 1024 * 1024;

/** A pipe takes this much whole or not at all (PIPE_BUF): two threads' lines stay apart. */
const MAX_WRITE_BYTES = 4_096;

const RETRY_MS = 100;
/**
 * Of 100 ms each, the writer's own pause. One of the publisher's thread, one of the process: a second in all.
 */
const RETRIES_AT_EXIT = 5;

type LogSettings = Pick<Config, "logLevel" | "logFormat">;

/**
 * Lines on standard error: of JSON, and for people where that is a terminal, unless the settings say which.
 * Writing one never waits for whoever reads them.
 */
export function createLogger({ logLevel, logFormat }: LogSettings, file?: string): Logger {
  if (file !== undefined)
    return createPino(logLevel, logFormat ?? "json", destination({ dest: file, sync: true }));
  const format = logFormat ?? (isatty(STANDARD_ERROR) ? "text" : "json");
  return createPino(logLevel, format, standardError(format));
}

/** The same for the log and for somebody else. */
export function tellingLog(log: Logger, tell: Tell = () => {}): Tell {
  return (sentence, kind) => {
    if (kind === "done") log.info({}, sentence);
    else log.warn({}, sentence);
    tell(sentence, kind);
  };
}

/**
 * Writes what still waits, for half a second at most; what nobody takes until then is lost. For the end of a
 * process and of a thread, however it comes.
 */
export function flushLog(): void {
  flushStandardError?.();
}

let opened: ReturnType<typeof destination> | null = null;
let flushStandardError: (() => void) | null = null;

/**
 * Synchronous while it is read, so that the last lines before an end are written: they are the ones that are
 * looked for. What a full pipe does not take at once is tried again later.
 */
function standardError(format: Format): ReturnType<typeof destination> {
  if (opened !== null) return opened;
  let dropped = 0;
  let hasWaited = false;
  let isRetrying = false;
  let retries = 0;
  const stream = destination({
    dest: openWithoutBlocking(STANDARD_ERROR),
    sync: true,
    maxLength: MAX_WAITING_BYTES,
    maxWrite: MAX_WRITE_BYTES,
    retryEAGAIN: () => retries-- > 0,
  });
  const tellDropped = (): void => {
    if (dropped === 0) return;
    const lines = dropped;
    dropped = 0;
    createPino("warn", format, stream).warn(
      { lines },
      "Lines of the log were dropped, because nothing read them",
    );
  };
  stream.on("drop", () => (dropped += 1));
  stream.on("drain", () => {
    if (!isRetrying) tellDropped();
  });
  // The pipe is full, or its reader has gone: nobody is left to be told.
  stream.on("error", () => {
    hasWaited = true;
    if (isRetrying) return;
    isRetrying = true;
    setTimeout(() => {
      isRetrying = false;
      stream.write("");
    }, RETRY_MS).unref();
  });
  flushStandardError = () => {
    if (!hasWaited) return;
    retries = RETRIES_AT_EXIT;
    try {
      stream.flushSync();
      tellDropped();
    } catch {
      // Nobody reads.
    }
  };
  return (opened = stream);
}

/**
 * The same pipe or terminal once more, such that a write does not wait for its reader. A flag on the
 * descriptor itself would hold for every process that shares it, a terminal's other programs among them.
 */
function openWithoutBlocking(fd: number): number {
  // A file has no reader, and opened once more it would be written from its beginning.
  if (fstatSync(fd).isFile()) return fd;
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    // A socket cannot be opened, and other systems have no such file. Node itself has made sockets and pipes
    // non-blocking when the process first touched its standard streams, and undoes it at its end.
    return fd;
  }
}

type Format = NonNullable<Config["logFormat"]>;

function createPino(
  level: Config["logLevel"],
  format: Format,
  stream: ReturnType<typeof destination>,
): Logger {
  const readable = { write: (line: string) => void stream.write(toReadable(line)) };
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
    format === "json" ? stream : readable,
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

/** A line as the logger writes it. */
interface Line {
  readonly level: string;
  readonly time: string;
  readonly msg?: string;
  readonly err?: LoggedError | string;
  readonly [field: string]: unknown;
}

interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: LoggedError | string;
}

/**
 * A line of JSON for somebody who reads along: time, level, message, fields, and below it what an error says.
 * Stacks stand only below errors, which are our own bugs. Nothing in it is obeyed by a terminal.
 */
function toReadable(json: string): string {
  const { level, time, msg = "", err, ...fields } = JSON.parse(json) as Line;
  const named = Object.entries(fields).map(([name, value]) => `${name}=${showValue(value)}`);
  const head = `${time.slice(0, "2026-11-23T09:58:12".length)}Z ${level.padEnd(5)} ${[msg, ...named].join("  ")}`;
  const lines = [head, ...tellError(err, level === "error")];
  return `${visibleText(lines.join("\n"))}\n`;
}

function showValue(value: unknown): string {
  return typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

function tellError(err: Line["err"], hasStack: boolean): string[] {
  if (err === undefined) return [];
  if (typeof err === "string") return [indent(err)];
  const { type, message, stack, cause } = err;
  const calls = hasStack ? (stack ?? "").split("\n").filter((line) => /^\s+at /.test(line)) : [];
  return [indent(`${type}: ${message}`), ...calls.map(indent), ...tellError(cause, hasStack)];
}

function indent(text: string): string {
  return `    ${text.replaceAll("\n", "\n    ")}`;
}
