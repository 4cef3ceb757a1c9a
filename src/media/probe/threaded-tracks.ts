import { buffer } from "node:stream/consumers";
import type { Worker } from "node:worker_threads";
import { AppError } from "../../domain/errors.ts";
import { SECOND } from "../../domain/time.ts";
import type { ByteSource, MediaFormat, ProbedMedia } from "../../ports/media-probe.ts";
import type { MessageFromTracks, MessageToTracks } from "./tracks-thread.ts";

export interface ThreadedTracksOptions {
  /** Starts a thread that runs `runTracksThread`. */
  start(): Worker;
  /**
   * How long a file may be thought about; the time in which its bytes are read does not count. Default 10 s.
   */
  readonly thinkMs?: number;
  /** A thread that has nothing to do is kept so long. Default 30 s. */
  readonly keepMs?: number;
}

export interface ThreadedTracks {
  /** Throws `invalid` for a file that is damaged, cut off, or cannot be read with reasonable effort. */
  probe(source: ByteSource, format: MediaFormat): Promise<ProbedMedia>;
  close(): Promise<void>;
}

const THINK_MS = 10 * SECOND;
const KEEP_MS = 30 * SECOND;
const TICK_MS = 100;
const MAX_THREADS = 4;

/**
 * The parser of containers in threads beside: a file made to keep it busy, or to fill the memory, costs its
 * thread and is refused. Each thread has one file at a time, as one may wait long for its bytes.
 */
export function createThreadedTracks(options: ThreadedTracksOptions): ThreadedTracks {
  const idle = new Map<Worker, NodeJS.Timeout>();
  const waiting: (() => void)[] = [];
  let busy = 0;

  async function part(thread: Worker): Promise<void> {
    clearTimeout(idle.get(thread));
    idle.delete(thread);
    await thread.terminate();
  }

  function take(): Worker {
    const [rested] = idle.keys();
    const thread = rested ?? options.start();
    if (rested === undefined) thread.on("error", () => idle.delete(thread));
    clearTimeout(idle.get(thread));
    idle.delete(thread);
    // The process may not end while somebody waits for it, and may while nobody does.
    thread.ref();
    return thread;
  }

  function rest(thread: Worker): void {
    thread.unref();
    const timer = setTimeout(() => void part(thread), options.keepMs ?? KEEP_MS);
    idle.set(thread, timer.unref());
  }

  return {
    async probe(source, format) {
      while (busy === MAX_THREADS) await new Promise<void>((resolve) => waiting.push(resolve));
      busy += 1;
      const thread = take();
      try {
        const answer = await exchange(thread, { source, format, thinkMs: options.thinkMs ?? THINK_MS });
        rest(thread);
        return resultOf(answer);
      } catch (error) {
        if (!idle.has(thread)) await part(thread);
        throw error;
      } finally {
        busy -= 1;
        waiting.shift()?.();
      }
    },
    async close() {
      await Promise.all([...idle.keys()].map(part));
    },
  };
}

interface Job {
  readonly source: ByteSource;
  readonly format: MediaFormat;
  readonly thinkMs: number;
}

type Answer = Exclude<MessageFromTracks, { type: "read" }>;

function resultOf(answer: Answer): ProbedMedia {
  if (answer.type === "done") return answer.probed;
  throw new AppError(answer.kind, answer.message);
}

/**
 * Gives the thread its file, and bytes as it asks for them. Throws where bytes cannot be read, or the thread
 * dies, or has to.
 */
function exchange(thread: Worker, { source, format, thinkMs }: Job): Promise<Answer> {
  const done = new AbortController();
  const send = (message: MessageToTracks): void => thread.postMessage(message);
  return new Promise<Answer>((resolve, reject) => {
    const lose = (cause: unknown): void => reject(tooHard(format, cause));
    let reads = 0;
    let ticksLeft = Math.ceil(thinkMs / TICK_MS);
    const read = async ({ id, range }: Extract<MessageFromTracks, { type: "read" }>): Promise<void> => {
      reads += 1;
      const bytes = await buffer(source.read(range));
      reads -= 1;
      if (!done.signal.aborted) send({ type: "bytes", id, bytes });
    };
    const onMessage = (message: MessageFromTracks): void => {
      if (message.type === "read") read(message).catch(reject);
      else resolve(message);
    };
    const timer = setInterval(() => {
      if (reads === 0) ticksLeft -= 1;
      if (ticksLeft === 0) lose(new Error(`It took more than ${thinkMs} ms.`));
    }, TICK_MS);
    const onExit = (): void => lose(new Error("The thread ended."));
    thread.on("message", onMessage).on("error", lose).on("exit", onExit);
    done.signal.addEventListener("abort", () => {
      clearInterval(timer);
      thread.off("message", onMessage).off("error", lose).off("exit", onExit);
    });
    send({ type: "probe", sizeBytes: source.sizeBytes, isRemote: source.isRemote ?? false, format });
  }).finally(() => done.abort());
}

function tooHard(format: MediaFormat, cause: unknown): AppError {
  return new AppError(
    "invalid",
    `The ${format.type} (${format.mimeType}) cannot be read with reasonable effort; it is damaged, or made to cause trouble. Export it anew.`,
    { cause },
  );
}
