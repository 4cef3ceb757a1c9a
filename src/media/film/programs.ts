import { spawn } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { platform, setPriority, constants as os } from "node:os";
import { dirname, extname, join } from "node:path";
import { text } from "node:stream/consumers";
import { AppError } from "../../domain/errors.ts";

/** Both, by their paths. */
export interface FilmPrograms {
  readonly ffmpeg: string;
  readonly ffprobe: string;
}

/** In the first of these places that has ffmpeg, and ffprobe beside it. Null: there is none. */
export async function findPrograms(places: readonly string[]): Promise<FilmPrograms | null> {
  for (const ffmpeg of places) {
    const ffprobe = join(dirname(ffmpeg), `ffprobe${extname(ffmpeg)}`);
    if ((await isProgram(ffmpeg)) && (await isProgram(ffprobe))) return { ffmpeg, ffprobe };
  }
  return null;
}

function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** What a run may cost. */
interface Limits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** It can wait: it gets what is left of this machine. */
  readonly isIdle: boolean;
}

export interface Ended {
  /** Null: it was ended from outside, or took too long. */
  readonly code: number | null;
  /** Its last lines, for the log. */
  readonly errors: string;
}

/** In KiB of address space: a film of 4,096 × 4,096 pixels needs a half. */
const MEMORY_KIB = 4 * 1024 * 1024;

const ERRORS_CHARS = 2_000;

/**
 * Runs a program that reads what strangers made: with a bound of memory and time, after everything else that this
 * machine does, and with nothing of our environment. `onLine` hears its standard output.
 */
export async function runProgram(
  [program, ...args]: readonly [string, ...string[]],
  { timeoutMs, signal, isIdle }: Limits,
  onLine: (line: string) => void,
): Promise<Ended> {
  const options = {
    stdio: ["ignore", "pipe", "pipe"] as ["ignore", "pipe", "pipe"],
    env: {},
    timeout: timeoutMs,
    killSignal: "SIGKILL" as const,
    signal,
  };
  // Node sets no limits, and the shell of Windows has none.
  const child =
    platform() === "win32"
      ? spawn(program, args, options)
      : spawn("/bin/sh", ["-c", `ulimit -v ${MEMORY_KIB}; exec "$0" "$@"`, program, ...args], options);
  const ended = new Promise<number | null>((resolve, reject) =>
    child.once("error", reject).once("close", (code) => resolve(code)),
  );
  const errors = text(child.stderr).catch(() => "");
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
  });
  if (child.pid !== undefined)
    lowerPriority(child.pid, isIdle ? os.priority.PRIORITY_LOW : os.priority.PRIORITY_BELOW_NORMAL);
  const code = await ended.catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new AppError("unavailable", "ffmpeg does not start.", { cause });
  });
  return { code, errors: (await errors).slice(-ERRORS_CHARS) };
}

function lowerPriority(pid: number, priority: number): void {
  try {
    setPriority(pid, priority);
  } catch {
    // It ended already, or this system has none.
  }
}
