import { constrainedMemory } from "node:process";
import { spawn } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { platform, setPriority, totalmem, constants as os } from "node:os";
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

export interface ProgramExit {
  /** Null: it was ended from outside, or took too long. */
  readonly code: number | null;
  /** Its last lines, for the log. */
  readonly errors: string;
}

/** Of address space: H.264 of 4,096 × 4,096 pixels with all its frames needs a half of the most. */
const MOST_MEMORY_BYTES = 4 * 1024 ** 3;
/** A film in Full HD needs three quarters of it. */
const LEAST_MEMORY_BYTES = 1024 ** 3;

/** Half of what this machine, or this container, has. */
export function memoryLimit(machine = totalmem(), container = constrainedMemory()): number {
  const there = container > 0 ? Math.min(machine, container) : machine;
  return Math.max(LEAST_MEMORY_BYTES, Math.min(MOST_MEMORY_BYTES, there / 2));
}

/**
 * Standard input is a pipe that nothing is written to. It ends with this process, however that ends, and what waits
 * for that ends the program, which has the shell's own number. Windows ends children with their parent by itself.
 */
const SHELL_SCRIPT = `ulimit -v "$0"
exec 3<&0
(read -r _ <&3; kill -9 $$) </dev/null >/dev/null 2>&1 &
exec "$@" </dev/null 3<&-`;

const ERRORS_CHARS = 2_000;

/**
 * Runs a program that reads what strangers made: with a bound of memory and time, after everything else that this
 * machine does, with nothing of our environment, and never longer than this process. `onLine` hears its standard output.
 */
export async function runProgram(
  [program, ...args]: readonly [string, ...string[]],
  { timeoutMs, signal, isIdle }: Limits,
  onLine: (line: string) => void,
): Promise<ProgramExit> {
  const options = {
    stdio: ["pipe", "pipe", "pipe"] as ["pipe", "pipe", "pipe"],
    // What glibc sets aside for each thread would count as memory.
    env: { MALLOC_ARENA_MAX: "2" },
    timeout: timeoutMs,
    killSignal: "SIGKILL" as const,
    signal,
  };
  // Node sets no limits, and the shell of Windows has none.
  const limitKib = String(Math.floor(memoryLimit() / 1024));
  const child =
    platform() === "win32"
      ? spawn(program, args, options)
      : spawn("/bin/sh", ["-c", SHELL_SCRIPT, limitKib, program, ...args], options);
  // It may end before anything is read.
  child.stdin.on("error", () => {});
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
