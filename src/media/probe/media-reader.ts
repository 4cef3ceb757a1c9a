import type { ChildProcess } from "node:child_process";
import { AppError } from "../../domain/errors.ts";
import { MINUTE, SECOND } from "../../domain/time.ts";
import type { ByteSource } from "../../ports/media-probe.ts";
import { toBuffer } from "../to-buffer.ts";
import type {
  ByteRange,
  MessageFromReader,
  MessageToReader,
  ReaderAnswer,
  ReaderTask,
} from "./run-media-reader.ts";

/** What a file may take, in milliseconds. */
export interface ReaderLimits {
  /**
   * How long it may be thought about, without the time in which its bytes are fetched. Default 20 s to look
   * at it, and 1 min to fit a picture, which may be drawn many times.
   */
  readonly thinkMs?: number;
  /** How long its bytes may be waited for, all together. Default 1 min. */
  readonly fetchMs?: number;
  /** How long the process may take to start. Default 30 s. */
  readonly startMs?: number;
}

export interface Errand {
  readonly source: ByteSource;
  readonly task: ReaderTask;
}

interface Turn extends Errand {
  /** Ends the process, too. */
  readonly signal: AbortSignal;
  /** Each time that so many milliseconds more were spent. */
  onSpent(ms: number): void;
}

const THINK_MS = { inspect: 20 * SECOND, fit: MINUTE };
const FETCH_MS = MINUTE;
const START_MS = 30 * SECOND;
const TICK_MS = 100;

/** How processes end that were ended from outside: by the kernel for want of memory, or with this one. */
const FROM_OUTSIDE: readonly (string | null)[] = ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"];

/**
 * A process that runs `runMediaReader`, from this side. A file that costs too much, or breaks it, costs this
 * process alone and is refused; afterwards, as after every error, it is ended and of no use any more.
 */
export class MediaReader {
  readonly #child: ChildProcess;
  readonly #limits: ReaderLimits;
  #isReady = false;

  constructor(child: ChildProcess, limits: ReaderLimits = {}) {
    this.#child = child;
    this.#limits = limits;
    // A process that was ended while something was sent to it says so here; whoever waits hears of its end.
    child.on("error", () => {});
  }

  get isAlive(): boolean {
    return this.#child.connected && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The process may not end while somebody waits for it, and may while nobody does. */
  hold(isHeld: boolean): void {
    for (const handle of [this.#child, this.#child.channel]) {
      if (isHeld) handle?.ref();
      else handle?.unref();
    }
  }

  end(): void {
    this.#child.kill("SIGKILL");
  }

  /**
   * Throws what the source throws, the signal's reason, `invalid` for a file that cannot be read with
   * reasonable effort, and `unavailable` where that was not the file's fault.
   */
  async read(turn: Turn): Promise<ReaderAnswer> {
    try {
      return await this.#exchange(turn);
    } catch (error) {
      this.end();
      throw error;
    }
  }

  #exchange({ source, task, signal, onSpent }: Turn): Promise<ReaderAnswer> {
    const child = this.#child;
    const done = new AbortController();
    return new Promise<ReaderAnswer>((resolve, reject) => {
      const { thinkMs = THINK_MS[task.type], fetchMs = FETCH_MS, startMs = START_MS } = this.#limits;
      const left = { think: thinkMs, fetch: fetchMs, start: startMs };
      let fetching = 0;
      const read = async (id: number, range: ByteRange): Promise<void> => {
        assertWithin(source, range);
        const pieces: AsyncIterator<unknown> = source.read(range)[Symbol.asyncIterator]();
        try {
          for (let missing = range.end - range.start + 1; missing > 0 && !done.signal.aborted;) {
            fetching += 1;
            const next = await pieces.next().finally(() => (fetching -= 1));
            if (next.done === true) throw new Error("The file is shorter than it was.");
            const bytes = toBuffer(next.value).subarray(0, missing);
            missing -= bytes.length;
            await send(child, { type: "bytes", id, bytes });
          }
        } finally {
          await pieces.return?.();
        }
      };
      const onMessage = (message: MessageFromReader): void => {
        if (message.type === "ready") this.#begin({ source, task });
        else if (message.type === "read") read(message.id, message.range).catch(reject);
        else resolve(message);
      };
      const timer = setInterval(() => {
        const spent = !this.#isReady ? "start" : fetching > 0 ? "fetch" : "think";
        left[spent] -= TICK_MS;
        if (spent !== "start") onSpent(TICK_MS);
        if (left[spent] > 0) return;
        reject(
          spent === "think"
            ? tooHard(new Error("It took too long."))
            : notRead(`Its ${spent} took too long.`),
        );
      }, TICK_MS);
      const onExit = (code: number | null, by: string | null): void => {
        const how = `The process ended: ${by ?? code}.`;
        reject(this.#isReady && !FROM_OUTSIDE.includes(by) ? tooHard(new Error(how)) : notRead(how));
      };
      const onError = (cause: Error): void => reject(notRead(cause.message));
      const onAbort = (): void => reject(signal.reason);
      child.on("message", onMessage).on("exit", onExit).on("error", onError);
      signal.addEventListener("abort", onAbort);
      done.signal.addEventListener("abort", () => {
        clearInterval(timer);
        child.off("message", onMessage).off("exit", onExit).off("error", onError);
        signal.removeEventListener("abort", onAbort);
      });
      if (signal.aborted) onAbort();
      else if (this.#isReady) this.#begin({ source, task });
    }).finally(() => done.abort());
  }

  #begin({ source, task }: Errand): void {
    this.#isReady = true;
    const { sizeBytes, isRemote = false } = source;
    void send(this.#child, { type: "file", sizeBytes, isRemote, task });
  }
}

/** Resolves when it is under way. What cannot be sent any more is known by the end of the process. */
function send(child: ChildProcess, message: MessageToReader): Promise<void> {
  return new Promise((resolve) => void child.send(message, () => resolve()));
}

/** What asks has read a hostile file. */
function assertWithin({ sizeBytes }: ByteSource, { start, end }: ByteRange): void {
  if (
    Number.isSafeInteger(start) &&
    Number.isSafeInteger(end) &&
    0 <= start &&
    start <= end &&
    end < sizeBytes
  )
    return;
  throw tooHard(new Error(`It asked for ${start} to ${end} of ${sizeBytes} bytes.`));
}

export function tooHard(cause: unknown): AppError {
  return new AppError(
    "invalid",
    "The file cannot be read with reasonable effort. It is damaged, or made to cause trouble. Export it again.",
    { cause },
  );
}

/** Not the file's fault, as far as is known. */
export function notRead(why: string): AppError {
  return new AppError("unavailable", "The file could not be looked at now. Try again in a minute.", {
    cause: new Error(why),
  });
}
