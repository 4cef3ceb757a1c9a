import { once } from "node:events";
import type { Worker } from "node:worker_threads";
import type { Context } from "../compose.ts";
import { MINUTE, SECOND } from "../../domain/time.ts";
import type { Publisher } from "../../publisher/loop.ts";
import type { MessageFromThread, MessageToThread, ThreadData } from "./publisher-thread.ts";
import type { StartThread } from "../threads.ts";

interface PublisherThreads {
  readonly startPublisher: StartThread;
}

/** Silence this long means that the thread stands still or is gone. */
const HEALTHY_WITHIN_MS = 15 * SECOND;
/** A machine that slept wakes both threads at once: the other one gets its turn before it is judged. */
const LAST_LOOK_MS = 3 * SECOND;
/** What it gets to begin: opening and bringing up a large database takes its time. */
const START_WITHIN_MS = 2 * MINUTE;
/** A thread inside of a call to the system ends only with that call. */
const ENDS_WITHIN_MS = 15 * SECOND;
const DEFAULT_GRACE_MS = 8 * SECOND;
/** What the thread gets beyond the grace to write down where it stands. */
const LINGER_MS = 2 * SECOND;
const FIRST_RESTART_MS = SECOND;
const MAX_RESTART_MS = 60 * SECOND;

/**
 * Publishes beside the API instead of between its requests: on one event loop a post waits for every page
 * that is being served. A thread that dies (it ran out of memory, say) is started again, and one that stands
 * still is ended first; the new one takes over from the dead one by the ledger. It cannot before that: the
 * thread's lock is a database handle of its own, which is closed when the thread has ended, not sooner.
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
  /** It says so itself: its last write failed. */
  #isFailing = false;
  #restartAfterMs = FIRST_RESTART_MS;
  #cancelWatch: () => void = () => {};

  constructor(ctx: Context, threads: PublisherThreads, data: ThreadData) {
    this.#ctx = ctx;
    this.#threads = threads;
    this.#data = data;
  }

  /** Resolves when it publishes. Throws why it could not start. */
  async start(): Promise<void> {
    const thread = this.#threads.startPublisher(this.#data);
    this.#watch(thread, START_WITHIN_MS);
    const ended = once(thread, "exit").then(() => {
      throw new Error("The publisher's thread ended before it published.");
    });
    await Promise.race([once(thread, "message"), ended]).finally(() => this.#cancelWatch());
    ended.catch(() => {});
    this.#thread = thread;
    this.#isFailing = false;
    this.#lastHealthy = this.#ctx.clock.monotonic();
    this.#watch(thread, HEALTHY_WITHIN_MS);
    thread.on("message", (message: MessageFromThread) => {
      this.#watch(thread, HEALTHY_WITHIN_MS);
      this.#noteHealth(message);
    });
    thread.on("error", (error) => this.#ctx.log.error({ err: error }, "the publisher failed"));
    thread.once("exit", () => this.#restart());
  }

  wake(): void {
    this.#send({ type: "wake" });
  }

  isHealthy(): boolean {
    return !this.#isFailing && this.#ctx.clock.monotonic() - this.#lastHealthy < HEALTHY_WITHIN_MS;
  }

  async close(graceMs = DEFAULT_GRACE_MS): Promise<void> {
    this.#closing.abort();
    this.#cancelWatch();
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

  /** Ends the thread when it says nothing for so long, unless this is called again before. */
  #watch(thread: Worker, ms: number): void {
    this.#cancelWatch();
    if (this.#closing.signal.aborted) return;
    const { clock } = this.#ctx;
    this.#cancelWatch = clock.after(ms, () => {
      this.#cancelWatch = clock.after(LAST_LOOK_MS, () => this.#end(thread));
    });
  }

  #end(thread: Worker): void {
    const { clock, log } = this.#ctx;
    this.#lastHealthy = -Infinity;
    log.error({}, "the publisher's thread stands still and is ended");
    this.#cancelWatch = clock.after(ENDS_WITHIN_MS, () =>
      log.error({}, "the publisher's thread cannot be ended, so nothing is published. Restart the server"),
    );
    void thread.terminate();
  }

  #noteHealth({ isHealthy }: MessageFromThread): void {
    this.#isFailing = !isHealthy;
    if (!isHealthy) return;
    this.#lastHealthy = this.#ctx.clock.monotonic();
    this.#restartAfterMs = FIRST_RESTART_MS;
  }

  #restart(): void {
    this.#cancelWatch();
    this.#thread = null;
    if (this.#closing.signal.aborted) return;
    this.#lastHealthy = -Infinity;
    this.#ctx.log.error(
      { afterMs: this.#restartAfterMs },
      "the publisher ended by itself and is started again",
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
