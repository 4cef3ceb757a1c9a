import { Cron } from "croner";
import { DAY, HOUR } from "../domain/time.ts";
import type { AppContext } from "../services/context.ts";
import { deliverDue } from "../services/webhooks/webhook-deliveries.ts";
import { pruneDeliveries, readDueWebhooks, readNextDelivery } from "../store/publishing/outbox.ts";

/** Webhooks that one process sends to at a time. */
const MAX_RUNNING = 32;
/** One owner's receivers may all be silent: those of the others do not wait for them. */
const MAX_RUNNING_OF_ONE_OWNER = 24;

const KEPT_MS = 30 * DAY;
const PRUNE_EVERY_MS = HOUR;
/** Few enough that nobody notices the write. */
const PRUNED_AT_ONCE = 1_000;

export interface WebhookLoop {
  /** Looks for events now. */
  wake(): void;
  /** Starts nothing new, breaks off what is under way after `graceMs`; the next process sends it again. */
  close(graceMs: number): Promise<void>;
}

/**
 * Sends events to webhooks, apart from the publishing of posts: a slow receiver holds up nobody but itself.
 * Any number of processes on one data folder may run it.
 */
export function startWebhookLoop(ctx: AppContext): WebhookLoop {
  const loop = new Loop(ctx);
  const job = new Cron("* * * * * *", { protect: true, catch: (error) => loop.noteFailure(error) }, () =>
    loop.tick(),
  );
  return {
    wake: () => void loop.tick().catch((error: unknown) => loop.noteFailure(error)),
    async close(graceMs) {
      job.stop();
      await loop.close(graceMs);
    },
  };
}

class Loop {
  readonly #ctx: AppContext;
  readonly #running = new Map<string, { readonly ownerId: string; readonly work: Promise<void> }>();
  readonly #stop = new AbortController();
  #isClosing = false;
  #prunedAt: number;

  constructor(ctx: AppContext) {
    this.#ctx = ctx;
    this.#prunedAt = ctx.clock.monotonic();
  }

  noteFailure(error: unknown): void {
    // The process ends with a sentence for it.
    if (!this.#ctx.store.isPresent()) return;
    this.#ctx.log.error({ err: error }, "events could not be sent, and the next tick tries again");
  }

  async tick(): Promise<void> {
    const { clock, store } = this.#ctx;
    if (this.#isClosing) return;
    const next = await readNextDelivery(store);
    if (next !== null && next <= clock.now()) {
      for (const { id, ownerId } of await readDueWebhooks(store, clock.now())) this.#start(id, ownerId);
    }
    if (clock.monotonic() - this.#prunedAt >= PRUNE_EVERY_MS) await this.#prune();
  }

  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    const cutOff = setTimeout(() => this.#stop.abort(new Error("The process is stopping.")), graceMs);
    await Promise.all([...this.#running.values()].map(({ work }) => work));
    clearTimeout(cutOff);
  }

  #start(id: string, ownerId: string): void {
    if (this.#running.has(id) || this.#running.size >= MAX_RUNNING) return;
    const ofOwner = [...this.#running.values()].filter((one) => one.ownerId === ownerId).length;
    if (ofOwner >= MAX_RUNNING_OF_ONE_OWNER) return;
    const work = deliverDue(this.#ctx, id, this.#stop.signal)
      .catch((error: unknown) => this.noteFailure(error))
      .finally(() => this.#running.delete(id));
    this.#running.set(id, { ownerId, work });
  }

  async #prune(): Promise<void> {
    this.#prunedAt = this.#ctx.clock.monotonic();
    const before = this.#ctx.clock.now() - KEPT_MS;
    while (
      (await this.#ctx.store.write((tx) => pruneDeliveries(tx, { before, limit: PRUNED_AT_ONCE }))) ===
      PRUNED_AT_ONCE
    );
  }
}
