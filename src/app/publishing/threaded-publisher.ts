import { once } from "node:events";
import type { Worker } from "node:worker_threads";
import type { Context } from "../compose.ts";
import { SECOND } from "../../domain/time.ts";
import type { Publisher } from "../../publisher/loop.ts";
import type { MessageFromThread, MessageToThread, ThreadData } from "./publisher-thread.ts";
import type { Threads } from "../threads.ts";

interface PublisherThreads {
  readonly startPublisher: NonNullable<Threads["startPublisher"]>;
}

/** Silence this long means that the thread hangs or is gone. */
const HEALTHY_WITHIN_MS = 15 * SECOND;
const DEFAULT_GRACE_MS = 8 * SECOND;
/** What the thread gets beyond the grace to write down where it stands. */
const LINGER_MS = 2 * SECOND;
const FIRST_RESTART_MS = SECOND;
const MAX_RESTART_MS = 60 * SECOND;

/**
 * Publishes beside the API instead of between its requests: on one event loop a post waits for every page
 * that is being served. A thread that dies (it ran out of memory, say) is started again; the new one takes
 * over from the dead one by the ledger.
 */
export async function startThreadedPublisher(
  ctx: Context,
  threads: PublisherThreads,
  data: ThreadData,
): Promise<Publisher> {
  const publisher = new ThreadedPublisher(ctx, threads, data);
  await publisher.start();
  ctx.links.wakePublisher = () => publisher.wake();
  return publisher;
}

class ThreadedPublisher implements Publisher {
  readonly #ctx: Context;
  readonly #threads: PublisherThreads;
  readonly #data: ThreadData;
  readonly #closing = new AbortController();
  #thread: Worker | null = null;
  #lastHealthy = -Infinity;
  #restartAfterMs = FIRST_RESTART_MS;

  constructor(ctx: Context, threads: PublisherThreads, data: ThreadData) {
    this.#ctx = ctx;
    this.#threads = threads;
    this.#data = data;
  }

  /** Resolves when it publishes. Throws why it could not start. */
  async start(): Promise<void> {
    const thread = this.#threads.startPublisher(this.#data);
    const ended = once(thread, "exit").then(() => {
      throw new Error("The publisher's thread ended before it published.");
    });
    await Promise.race([once(thread, "message"), ended]);
    ended.catch(() => {});
    this.#thread = thread;
    this.#lastHealthy = this.#ctx.clock.monotonic();
    thread.on("message", (message: MessageFromThread) => this.#noteHealth(message));
    thread.on("error", (error) => this.#ctx.log.error({ err: error }, "the publisher failed"));
    thread.once("exit", () => this.#restart());
  }

  wake(): void {
    this.#send({ type: "wake" });
  }

  isHealthy(): boolean {
    return this.#ctx.clock.monotonic() - this.#lastHealthy < HEALTHY_WITHIN_MS;
  }

  async close(graceMs = DEFAULT_GRACE_MS): Promise<void> {
    this.#closing.abort();
    const thread = this.#thread;
    if (thread === null) return;
    const ended = once(thread, "exit");
    this.#send({ type: "close", graceMs });
    const cancel = this.#ctx.clock.after(graceMs + LINGER_MS, () => void thread.terminate());
    await ended;
    cancel();
  }

  #send(message: MessageToThread): void {
    this.#thread?.postMessage(message);
  }

  #noteHealth({ isHealthy }: MessageFromThread): void {
    if (!isHealthy) return;
    this.#lastHealthy = this.#ctx.clock.monotonic();
    this.#restartAfterMs = FIRST_RESTART_MS;
  }

  #restart(): void {
    this.#thread = null;
    if (this.#closing.signal.aborted) return;
    this.#lastHealthy = -Infinity;
    this.#ctx.log.error(
      { afterMs: this.#restartAfterMs },
      "the publisher ended unasked and is started again",
    );
    this.#startAgain().catch((error: unknown) => {
      if (this.#closing.signal.aborted) return;
      this.#ctx.log.error({ err: error }, "the publisher could not be started again");
      this.#restart();
    });
  }

  async #startAgain(): Promise<void> {
    const wait = this.#restartAfterMs;
    this.#restartAfterMs = Math.min(wait * 2, MAX_RESTART_MS);
    await this.#ctx.clock.sleep(wait, this.#closing.signal);
    await this.start();
    if (this.#closing.signal.aborted) await this.close();
  }
}
