import { Cron } from "croner";
import { DAY, HOUR } from "../domain/time.ts";
import type { AppContext } from "../context.ts";
import { deliverDue } from "./webhook-deliveries.ts";
import { pruneDeliveries, readDueWebhooks, readNextDelivery } from "../store/queries/webhooks.ts";

/** Webhooks that one process sends to at a time. */
const MAX_RUNNING = 32;

const KEPT_MS = 30 * DAY;
const PRUNE_EVERY_MS = HOUR;
const PRUNED_AT_ONCE = 1_000;

export interface WebhookLoop {
  /** Looks for events now. */
  wake(): void;
  /** Starts nothing new, breaks off what is under way after `graceMs`; the next process sends it again. */
  close(graceMs: number): Promise<void>;
}

/**
 * Sends events to webhooks, apart from the publishing of posts: a slow receiver holds up only itself. Any
 * number of processes on one data folder may run it.
 */
export function startWebhookLoop(ctx: AppContext): WebhookLoop {
  const { clock, store, log } = ctx;
  const running = new Map<string, Promise<void>>();
  const stop = new AbortController();
  let isClosing = false;
  let prunedAt = clock.monotonic();

  const noteFailure = (error: unknown): void => {
    // The process ends with a sentence for it.
    if (!store.isPresent()) return;
    log.error({ err: error }, "events could not be sent, and the next tick tries again");
  };
  const start = (id: string): void => {
    if (running.has(id) || running.size >= MAX_RUNNING) return;
    const work = deliverDue(ctx, id, stop.signal)
      .catch(noteFailure)
      .finally(() => running.delete(id));
    running.set(id, work);
  };
  const prune = async (): Promise<void> => {
    prunedAt = clock.monotonic();
    const old = { before: clock.now() - KEPT_MS, limit: PRUNED_AT_ONCE };
    while ((await store.write((tx) => pruneDeliveries(tx, old))) === PRUNED_AT_ONCE);
  };
  const tick = async (): Promise<void> => {
    if (isClosing) return;
    const next = await readNextDelivery(store);
    if (next !== null && next <= clock.now())
      for (const { id } of await readDueWebhooks(store, clock.now())) start(id);
    if (clock.monotonic() - prunedAt >= PRUNE_EVERY_MS) await prune();
  };

  const job = new Cron("* * * * * *", { protect: true, catch: noteFailure }, tick);
  return {
    wake: () => void tick().catch(noteFailure),
    async close(graceMs) {
      isClosing = true;
      job.stop();
      const cutOff = setTimeout(() => stop.abort(new Error("The process is stopping.")), graceMs);
      await Promise.all(running.values());
      clearTimeout(cutOff);
    },
  };
}
