import * as z from "zod";
import type { Readable } from "node:stream";
import { AppError } from "../domain/errors.ts";
import { signedHeaders } from "../domain/webhooks/standard-webhooks.ts";
import { DAY, HOUR, MINUTE, SECOND, toIso } from "../domain/time.ts";
import { TEST_EVENT } from "../domain/webhooks/webhook.ts";
import { OutboundFailure } from "../ports/outbound.ts";
import {
  type DeliveryEnd,
  endDelivery,
  leaseWebhook,
  nextDelivery,
  releaseWebhook,
  type WebhookLease,
  type WebhookStanding,
  type DeliveryRow,
  findWebhookRow,
  type WebhookRow,
  pruneDeliveries,
  readDueWebhooks,
  readNextDelivery,
} from "../store/queries/webhooks.ts";
import { showSnapshot } from "../store/queries/post-history.ts";
import { type ShownAccount, toAccount } from "../accounts/accounts.ts";
import type { AppContext } from "../context.ts";
import { readRetryAfter } from "../platform-io/platform-request.ts";
import { Cron } from "croner";

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

const TIMEOUT_MS = 15 * SECOND;
/** Longer than a try can take; after it another process may send, should this one hang. */
const LEASE_MS = MINUTE;

/** Read of an answer, so that the connection can serve the next event. */
const MAX_DRAINED_BYTES = 64 * 1024;

/** Sends a webhook's due events one after the other, unless another process does so already. */
export async function deliverDue(ctx: AppContext, webhookId: string, signal: AbortSignal): Promise<void> {
  const lease = { webhookId, workerId: ctx.workerId };
  const first = await ctx.store.write(async (tx) => {
    const row = await leaseWebhook(tx, lease, leaseTimes(ctx));
    return row === null ? null : { row, delivery: await nextDelivery(tx, lease, leaseTimes(ctx)) };
  });
  if (first === null) return;
  try {
    let delivery = first.delivery;
    while (delivery !== null)
      delivery = await deliverOne(ctx, { lease, webhook: first.row, delivery }, signal);
  } finally {
    await ctx.store.write((tx) => releaseWebhook(tx, lease));
  }
}

function leaseTimes(ctx: AppContext): { now: number; until: number } {
  const now = ctx.clock.now();
  return { now, until: now + LEASE_MS };
}

interface Sending {
  readonly lease: WebhookLease;
  readonly webhook: WebhookRow;
  readonly delivery: DeliveryRow;
}

/** Answers the next one. A try that our own end broke off leaves no trace: the next process makes it. */
async function deliverOne(
  ctx: AppContext,
  { lease, webhook, delivery }: Sending,
  signal: AbortSignal,
): Promise<DeliveryRow | null> {
  const answer = await send(ctx, webhook, { id: delivery.id, body: bodyOf(ctx, delivery), signal });
  if (signal.aborted) return null;
  const row = await findWebhookRow(ctx.store, delivery.owner_id, lease.webhookId);
  if (row === undefined) return null;
  const now = ctx.clock.now();
  const standing = standingAfter(row, { answer, tries: delivery.tries + 1, now });
  const end = endOf(delivery, { answer, now, isDisabled: standing.status === "disabled" });
  logTry(ctx, delivery, { end, standing });
  return ctx.store.write(async (tx) => {
    await endDelivery(tx, lease.webhookId, end, standing);
    return nextDelivery(tx, lease, leaseTimes(ctx));
  });
}

/** `error` null: the receiver took it. */
interface Answer {
  readonly httpStatus: number | null;
  readonly error: string | null;
  readonly retryAfterMs: number | null;
}

/** Sends a signed event, once. */
export async function send(
  ctx: AppContext,
  webhook: WebhookRow,
  message: { id: string; body: string; signal: AbortSignal },
): Promise<Answer> {
  const { id, body, signal } = message;
  try {
    const target = openTarget(ctx, webhook);
    const {
      status,
      headers,
      body: answer,
    } = await ctx.outbound.request({
      method: "POST",
      url: target.url,
      headers: {
        "content-type": "application/json",
        ...signedHeaders({ id, body, sentAt: ctx.clock.now() }, target.secret),
      },
      body,
      timeoutMs: TIMEOUT_MS,
      signal,
    });
    await drain(answer);
    return {
      httpStatus: status,
      error: refusal(status),
      retryAfterMs: readRetryAfter(pick(headers, "retry-after"), ctx.clock.now()),
    };
  } catch (error) {
    return { httpStatus: null, error: sentenceFor(error), retryAfterMs: null };
  }
}

function pick(headers: Readonly<Record<string, string>>, name: string): Readonly<Record<string, string>> {
  const value = headers[name];
  return value === undefined ? {} : { [name]: value };
}

/** What the receiver says is of no interest. Leaving the loop destroys the stream and its connection. */
async function drain(answer: Readable): Promise<void> {
  let size = 0;
  try {
    for await (const chunk of answer) {
      size += Buffer.from(chunk).length;
      if (size > MAX_DRAINED_BYTES) return;
    }
  } catch {
    // Its status has come.
  }
}

const REFUSALS: Readonly<Record<number, string>> = {
  401: "The receiver does not accept the signature (HTTP 401). Check that it verifies with this webhook's secret.",
  404: "The receiver knows nothing at this address (HTTP 404).",
  410: "The address is gone for good (HTTP 410).",
  429: "The receiver asks to come again later (HTTP 429).",
};

function refusal(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status < 400)
    return `The address redirects (HTTP ${status}), which is not followed. Make a webhook with the address that it leads to.`;
  const usual = status < 500 ? "The receiver refused it" : "The receiver has a problem of its own";
  return REFUSALS[status] ?? `${usual} (HTTP ${status}). Its own log says why.`;
}

function sentenceFor(error: unknown): string {
  if (error instanceof AppError) return error.message;
  if (error instanceof OutboundFailure && !error.wasSent) return "The receiver could not be reached.";
  if (error instanceof OutboundFailure)
    return `The receiver did not answer properly within ${TIMEOUT_MS / SECOND} seconds.`;
  throw error;
}

export function standingAfter(
  row: WebhookRow,
  tried: { answer: Answer; tries: number; now: number },
): WebhookStanding {
  const { error, httpStatus } = tried.answer;
  if (error === null) return { status: "active", status_reason: null, failing_since: null };
  const failingSince = row.failing_since ?? tried.now;
  if (httpStatus === 410) return { status: "disabled", status_reason: error, failing_since: failingSince };
  if (tried.now - failingSince >= DISABLE_AFTER_MS && tried.tries >= TRIES_BEFORE_DISABLING) {
    const reason = `Nothing has got through since ${toIso(failingSince)}. The last reason: ${error}`;
    return { status: "disabled", status_reason: reason, failing_since: failingSince };
  }
  return { status: "failing", status_reason: error, failing_since: failingSince };
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
  { end, standing }: { end: DeliveryEnd; standing: WebhookStanding },
): void {
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

/** What stands in an event. */
type EventRow = Pick<DeliveryRow, "event" | "happened_at" | "snapshot" | "webhook_id">;

/** The same on each try: everything in it was fixed when the event happened. */
export function bodyOf(ctx: AppContext, delivery: EventRow): string {
  return JSON.stringify({
    type: delivery.event,
    timestamp: toIso(delivery.happened_at),
    data: dataOf(ctx, delivery),
  });
}

function dataOf(ctx: AppContext, { event, snapshot, webhook_id: webhookId }: EventRow): object {
  if (event === TEST_EVENT) return { webhookId };
  if (event.startsWith("post.")) return showSnapshot(snapshot);
  const { queued, ...row }: ShownAccount & { queued: number } = JSON.parse(snapshot);
  return toAccount(ctx, row, queued);
}

const Target = z.strictObject({ url: z.string(), secret: z.string() });
/** Where a webhook's events go, and what they are signed with. */
export type Target = z.infer<typeof Target>;

export function webhookAad(row: { owner_id: string; id: string }): string {
  return `${row.owner_id}|${row.id}|webhook`;
}

export function sealTarget(ctx: AppContext, row: { owner_id: string; id: string }, target: Target): string {
  return ctx.cipher.seal(JSON.stringify(target), webhookAad(row));
}

/** Throws `conflict` where the row was sealed with another key than this instance has. */
export function openTarget(ctx: AppContext, row: WebhookRow): Target {
  try {
    return Target.parse(JSON.parse(ctx.cipher.open(row.secrets_enc, webhookAad(row))));
  } catch (cause) {
    throw new AppError(
      "conflict",
      "Its stored secret cannot be read with this instance's secret key. Make the webhook again.",
      { cause },
    );
  }
}

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
