import { DAY, HOUR, MINUTE, SECOND, toIso } from "../../domain/time.ts";
import {
  type DeliveryEnd,
  deleteWebhookRow,
  endDelivery,
  leaseWebhook,
  nextDeliveries,
  deferDeliveries,
  noteTold,
  releaseWebhook,
  type WebhookLease,
  type WebhookStanding,
  type DeliveryRow,
  findWebhookRow,
  type WebhookRow,
  pruneDeliveries,
  readDueWebhooks,
  readNextDelivery,
} from "../../store/queries/webhooks.ts";
import type { Tx } from "../../store/engine/store.ts";
import type { AppContext } from "../../context.ts";
import { Cron } from "croner";
import { chooseMessage, readTold, toldAfter } from "./message-rate.ts";
import { type Answer, send } from "./send.ts";

/** Waits before the second, third, … try, as Standard Webhooks recommends: a little over three days. */
const RETRY_AFTER_MS: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

/** A webhook to which nothing got through for this long is turned off. */
const DISABLE_AFTER_MS = 5 * DAY;
/** Every event gets this many tries before that, were it the first after a long silence. */
const TRIES_BEFORE_DISABLING = 3;

/** Longer than a try can take; after it another process may send, should this one hang. */
const LEASE_MS = MINUTE;

/** What people did not hear of yet goes into one message, up to so many events. */
const MERGED_AT_ONCE = 200;

/** Sends a webhook's due events one after the other, unless another process does so already. */
export async function deliverDue(ctx: AppContext, webhookId: string, signal: AbortSignal): Promise<void> {
  const lease = { webhookId, workerId: ctx.workerId };
  const first = await ctx.store.write(async (tx) => {
    const row = await leaseWebhook(tx, lease, leaseTimes(ctx));
    return row === null ? null : { row, batch: await nextBatch(ctx, tx, { lease, webhook: row }) };
  });
  if (first === null) return;
  try {
    let { batch } = first;
    while (batch.length > 0) batch = await deliverBatch(ctx, { lease, webhook: first.row, batch }, signal);
  } finally {
    await ctx.store.write((tx) => releaseWebhook(tx, lease));
  }
}

function leaseTimes(ctx: AppContext): { now: number; until: number } {
  const now = ctx.clock.now();
  return { now, until: now + LEASE_MS };
}

interface LeasedWebhook {
  readonly lease: WebhookLease;
  readonly webhook: WebhookRow;
}

/** What is sent next, in one request: an event, or to people all that they have not heard of an account. */
async function nextBatch(ctx: AppContext, tx: Tx, { lease, webhook }: LeasedWebhook): Promise<DeliveryRow[]> {
  const times = leaseTimes(ctx);
  if (webhook.format === "standard") return nextDeliveries(tx, lease, { ...times, limit: 1 });
  const due = await nextDeliveries(tx, lease, { ...times, limit: MERGED_AT_ONCE });
  const { message, later } = chooseMessage(due, readTold(webhook), times.now);
  for (const { seqs, until } of later) await deferDeliveries(tx, seqs, until);
  return message;
}

/** Answers the next. A try that our own end broke off leaves no trace: the next process makes it. */
async function deliverBatch(
  ctx: AppContext,
  { lease, webhook, batch }: LeasedWebhook & { readonly batch: readonly DeliveryRow[] },
  signal: AbortSignal,
): Promise<DeliveryRow[]> {
  const answer = await send(ctx, webhook, { deliveries: batch, signal });
  if (signal.aborted) return [];
  const row = await findWebhookRow(ctx.store, webhook.owner_id, lease.webhookId);
  if (row === undefined) return [];
  if (answer.isGone === true) return endWebhook(ctx, row, answer);
  const now = ctx.clock.now();
  const tries = Math.max(...batch.map((delivery) => delivery.tries)) + 1;
  const standing = standingAfter(row, { answer, tries, now });
  const isDisabled = standing.status === "disabled";
  const ends = batch.map((delivery) => endOf(delivery, { answer, now, isDisabled }));
  for (const [at, delivery] of batch.entries()) logTry(ctx, delivery, { end: ends[at], standing });
  const told = answer.error === null ? toldAfter(readTold(row), batch, now) : readTold(row);
  return ctx.store.write(async (tx) => {
    for (const end of ends) await endDelivery(tx, lease.webhookId, end, standing);
    if (row.format !== "standard") await noteTold(tx, row.id, told);
    return nextBatch(ctx, tx, { lease, webhook: { ...row, last_told: JSON.stringify(told) } });
  });
}

/** Browsers that are gone are not kept in the list. */
async function endWebhook(ctx: AppContext, row: WebhookRow, { error }: Answer): Promise<DeliveryRow[]> {
  await ctx.store.write((tx) => deleteWebhookRow(tx, row.owner_id, row.id));
  ctx.log.info({ webhookId: row.id, reason: error }, "A browser takes no notices any more");
  return [];
}

export function standingAfter(
  row: WebhookRow,
  tried: { answer: Answer; tries: number; now: number },
): WebhookStanding {
  const { error, httpStatus } = tried.answer;
  if (error === null) return { status: "active", status_reason: null, failing_since: null };
  const failingSince = row.failing_since ?? tried.now;
  const isOver = tried.now - failingSince >= DISABLE_AFTER_MS && tried.tries >= TRIES_BEFORE_DISABLING;
  const status = httpStatus === 410 || isOver ? "disabled" : "failing";
  const since = `Nothing has got through since ${toIso(failingSince)}. The last reason: `;
  const reason = isOver && httpStatus !== 410 ? since + error : error;
  return { status, status_reason: reason, failing_since: failingSince };
}

export function endOf(
  delivery: DeliveryRow,
  tried: { answer: Answer; now: number; isDisabled: boolean },
): DeliveryEnd {
  const { answer, now } = tried;
  const base = { seq: delivery.seq, at: now, http_status: answer.httpStatus, error: answer.error };
  if (answer.error === null) return { ...base, status: "delivered", next_at: null };
  const waitMs = RETRY_AFTER_MS[delivery.tries];
  if (waitMs === undefined || tried.isDisabled) return { ...base, status: "failed", next_at: null };
  return { ...base, status: "pending", next_at: now + Math.max(waitMs, answer.retryAfterMs ?? 0) };
}

function logTry(
  ctx: AppContext,
  delivery: DeliveryRow,
  { end, standing }: { end: DeliveryEnd | undefined; standing: WebhookStanding },
): void {
  if (end === undefined) return;
  const fields = {
    webhookId: delivery.webhook_id,
    deliveryId: delivery.id,
    event: delivery.event,
    try: delivery.tries + 1,
    httpStatus: end.http_status,
    status: end.status,
    nextAt: end.next_at,
  };
  if (end.error === null) return ctx.log.debug(fields, "an event was delivered");
  ctx.log.warn(
    { ...fields, reason: end.error },
    standing.status === "disabled" ? "a webhook was turned off" : "an event was not delivered",
  );
}

/** Webhooks that one process sends to at a time. */
const MAX_RUNNING = 32;

const KEPT_MS = 30 * DAY;
const PRUNE_EVERY_MS = HOUR;
const PRUNED_AT_ONCE = 1_000;

interface WebhookLoop {
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
