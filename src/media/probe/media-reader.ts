import type { ChildProcess } from "node:child_process";
import { addAbortSignal, Readable } from "node:stream";
import pLimit from "p-limit";
import { AppError } from "../../domain/errors.ts";
import { MINUTE, SECOND } from "../../domain/time.ts";
import { toBuffer } from "../../domain/to-buffer.ts";
import type { ByteSource, MediaProbe } from "../../ports/media-probe.ts";
import type {
  ByteRange,
  MessageFromReader,
  MessageToReader,
  ReaderAnswer,
  ReaderTask,
} from "./run-media-reader.ts";
import { buffer } from "node:stream/consumers";

export interface MediaReaderOptions {
  /** Starts a process that runs `runMediaReader`. */
  start(): ChildProcess;
  /** What one file may take in all. Default 1 min. */
  readonly limitMs?: number;
  /** How long a process is kept that has nothing to do. Default 3 s. */
  readonly keepMs?: number;
}

interface Job {
  readonly source: ByteSource;
  readonly task: ReaderTask;
  readonly signal: AbortSignal;
}

interface Reader {
  readonly child: ChildProcess;
  isReady: boolean;
  rest: NodeJS.Timeout | null;
}

/** Two, so that a hostile file does not hold up all others. */
const AT_ONCE = 2;

/** An honest file takes seconds, and much longer on a machine that has other things to do. */
const LIMIT_MS = MINUTE;
const KEEP_MS = 3 * SECOND;

/** How processes end that were ended from outside: by the kernel for want of memory, or with this one. */
const FROM_OUTSIDE: readonly (string | null)[] = ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"];

/** Processes that read media, started when needed. A file that costs too much, or breaks one, is refused. */
export class MediaReaders {
  readonly #options: MediaReaderOptions;
  readonly #turn = pLimit(AT_ONCE);
  readonly #idle: Reader[] = [];
  readonly #closed = new AbortController();

  constructor(options: MediaReaderOptions) {
    this.#options = options;
  }

  /** Throws what the source throws, the signal's reason, `invalid` for a bad file, else `unavailable`. */
  run(job: Job): Promise<ReaderAnswer> {
    return this.#turn(async () => {
      const signal = AbortSignal.any([job.signal, this.#closed.signal]);
      signal.throwIfAborted();
      const reader = this.#take();
      try {
        const answer = await exchange(reader, { ...job, signal }, this.#options.limitMs ?? LIMIT_MS);
        this.#rest(reader);
        return answer;
      } catch (error) {
        reader.child.kill("SIGKILL");
        throw error;
      }
    });
  }

  /** What still waits is refused. */
  close(): void {
    this.#closed.abort(notRead("The readers were closed."));
    for (const reader of this.#idle) this.#end(reader);
  }

  #take(): Reader {
    const reader = this.#idle.pop() ?? { child: this.#start(), isReady: false, rest: null };
    if (reader.rest !== null) clearTimeout(reader.rest);
    reader.child.ref();
    reader.child.channel?.ref();
    return reader;
  }

  #start(): ChildProcess {
    const child = this.#options.start();
    // A process that ended while something was sent to it says so here. Its job hears of its end.
    return child.on("error", () => {});
  }

  /** A process without work keeps nothing from ending. */
  #rest(reader: Reader): void {
    reader.child.unref();
    reader.child.channel?.unref();
    reader.rest = setTimeout(() => this.#end(reader), this.#options.keepMs ?? KEEP_MS).unref();
    reader.child.once("exit", () => this.#end(reader));
    this.#idle.push(reader);
  }

  #end(reader: Reader): void {
    if (reader.rest !== null) clearTimeout(reader.rest);
    if (this.#idle.includes(reader)) this.#idle.splice(this.#idle.indexOf(reader), 1);
    reader.child.kill("SIGKILL");
  }
}

function exchange(reader: Reader, { source, task, signal }: Job, limitMs: number): Promise<ReaderAnswer> {
  const { child } = reader;
  const done = new AbortController();
  let fetching = 0;
  const feed = async (id: number, range: ByteRange): Promise<void> => {
    assertWithin(source, range);
    fetching += 1;
    const bytes = addAbortSignal(done.signal, source.read(range));
    for await (const chunk of bytes) await send(child, { type: "bytes", id, bytes: toBuffer(chunk) });
    await send(child, { type: "bytes", id, bytes: null });
    fetching -= 1;
  };
  const begin = (): void => {
    reader.isReady = true;
    void send(child, { type: "file", sizeBytes: source.sizeBytes, task });
  };
  return new Promise<ReaderAnswer>((resolve, reject) => {
    const onMessage = (message: MessageFromReader): void => {
      if (message.type === "ready") begin();
      else if (message.type === "read") feed(message.id, message.range).catch(reject);
      else resolve(message);
    };
    const onExit = (code: number | null, by: string | null): void => {
      const how = `The process ended: ${by ?? code}.`;
      reject(reader.isReady && !FROM_OUTSIDE.includes(by) ? tooHard(new Error(how)) : notRead(how));
    };
    const onError = (cause: Error): void => reject(notRead(cause.message));
    const onLate = (): void => {
      const isThinking = reader.isReady && fetching === 0;
      reject(isThinking ? tooHard(new Error("It took too long.")) : notRead("Its bytes took too long."));
    };
    const onAbort = (): void => reject(signal.reason);
    const timer = setTimeout(onLate, limitMs);
    child.on("message", onMessage).on("exit", onExit).on("error", onError);
    signal.addEventListener("abort", onAbort);
    done.signal.addEventListener("abort", () => {
      clearTimeout(timer);
      child.off("message", onMessage).off("exit", onExit).off("error", onError);
      signal.removeEventListener("abort", onAbort);
    });
    if (reader.isReady) begin();
  }).finally(() => done.abort());
}

/** Resolves when it is under way. What cannot be sent any more is known by the end of the process. */
function send(child: ChildProcess, message: MessageToReader): Promise<void> {
  return new Promise((resolve) => void child.send(message, () => resolve()));
}

/** What asks has read a hostile file. */
function assertWithin({ sizeBytes }: ByteSource, { start, end }: ByteRange): void {
  const isWithin = Number.isSafeInteger(start) && Number.isSafeInteger(end) && 0 <= start && start <= end;
  if (isWithin && end < sizeBytes) return;
  throw tooHard(new Error(`It asked for ${start} to ${end} of ${sizeBytes} bytes.`));
}

function tooHard(cause: unknown): AppError {
  return new AppError(
    "invalid",
    "The file cannot be read with reasonable effort. It is damaged, or made to cause trouble. Export it again.",
    { cause },
  );
}

/** Not the file's fault, as far as is known. */
function notRead(why: string): AppError {
  return new AppError("unavailable", "The file could not be looked at now. Try again in a minute.", {
    cause: new Error(why),
  });
}

/** The beginning that `formats.ts` wants; said here because nothing is loaded yet. */
const HEAD_BYTES = 64 * 1024;

const NOTHING: ByteSource = { sizeBytes: 0, read: () => Readable.from([]) };

/** The probe. Its libraries are loaded with the first file. `start`: a process with `runMediaReader`. */
export function createMediaProbe(start?: () => ChildProcess): MediaProbe & AsyncDisposable {
  const readers = start === undefined ? null : new MediaReaders({ start });
  const run = async (source: ByteSource, task: ReaderTask, signal: AbortSignal): Promise<ReaderAnswer> =>
    readers?.run({ source, task, signal }) ?? (await import("./run-media-reader.ts")).work(source, task);
  let skills: ReturnType<MediaProbe["skills"]> | null = null;
  const askSkills: MediaProbe["skills"] = async () => {
    const answer = await run(NOTHING, { type: "skills" }, new AbortController().signal);
    return answer.type === "skills" ? answer.skills : fail(answer);
  };
  return {
    // Packages are there or not as long as a process runs.
    skills: () =>
      (skills ??= askSkills().catch((error: unknown) => {
        skills = null;
        throw error;
      })),
    headBytes: HEAD_BYTES,
    identify: async (head, name) => (await import("./formats.ts")).identify(head, name),
    async inspect(source, signal) {
      const answer = await run(source, { type: "inspect" }, signal);
      return answer.type === "inspected" ? answer.media : fail(answer);
    },
    async fitImage(source, wanted, signal) {
      const answer = await run(source, { type: "fit", ...wanted }, signal);
      if (answer.type !== "fitted") return fail(answer);
      const { image, width, height } = answer;
      if (image !== null) return { ...image, bytes: Buffer.from(image.bytes) };
      const bytes = await buffer(source.read({ start: 0, end: source.sizeBytes - 1 }));
      return { bytes, mimeType: wanted.mimeType, width, height, isChanged: false };
    },
    async shrinkImage(source, size, signal) {
      const answer = await run(source, { type: "shrink", size }, signal);
      if (answer.type !== "shrunk") return fail(answer);
      return answer.bytes === null ? null : Buffer.from(answer.bytes);
    },
    async [Symbol.asyncDispose]() {
      readers?.close();
    },
  };
}

function fail(answer: ReaderAnswer): never {
  if (answer.type === "refused") throw new AppError(answer.kind, answer.message);
  if (answer.type === "broken") throw tooHard(new Error(answer.stack));
  throw notRead("The answer was for another task.");
}
