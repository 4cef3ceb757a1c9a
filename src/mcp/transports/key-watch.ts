import type { Caller } from "../../domain/permissions.ts";
import { SECOND } from "../../domain/time.ts";
import type { McpDeps } from "../kinds.ts";

/** A stream outlives its key by no more than this, and a query: revoked is revoked within a second. */
const CHECK_EVERY_MS = SECOND / 2;

interface WatchedStream {
  readonly caller: Caller;
  readonly end: () => void;
}

/** Ends what a key holds open once the key is revoked or has expired, by whichever process. */
export class KeyWatch implements Disposable {
  readonly #deps: McpDeps;
  readonly #watched = new Set<WatchedStream>();
  readonly #stop = new AbortController();
  #isRunning = false;

  constructor(deps: McpDeps) {
    this.#deps = deps;
  }

  /** Calls `end` when the caller's key is revoked or expires; the answer takes the watch back. */
  watch(caller: Caller, end: () => void): () => void {
    const watched = { caller, end };
    this.#watched.add(watched);
    if (!this.#isRunning && this.#deps.isKeyActive !== undefined) void this.#run();
    return () => void this.#watched.delete(watched);
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
    this.#watched.clear();
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#deps.ctx;
    this.#isRunning = true;
    while (this.#watched.size > 0 && !this.#stop.signal.aborted) {
      await clock.sleep(CHECK_EVERY_MS, this.#stop.signal).catch(() => {
        // The server ends.
      });
      await this.#check().catch((error: unknown) =>
        log.warn({ err: error }, "Open streams could not be checked for revoked keys"),
      );
    }
    this.#isRunning = false;
  }

  async #check(): Promise<void> {
    const callers = new Map(
      [...this.#watched].map(({ caller }) => [`${caller.ownerId}|${caller.keyId}`, caller]),
    );
    for (const [key, caller] of callers) {
      if (this.#stop.signal.aborted || (await this.#deps.isKeyActive?.(caller)) !== false) continue;
      for (const watched of this.#watched) {
        if (`${watched.caller.ownerId}|${watched.caller.keyId}` !== key) continue;
        this.#watched.delete(watched);
        watched.end();
      }
    }
  }
}
