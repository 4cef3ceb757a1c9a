import { change, rowOf, rowsOf } from "../engine/statements.ts";
import type { Reader, Tx } from "../engine/store.ts";
import type { DeliveryRow, WebhookRow } from "../tables/webhooks.ts";

/**
 * Events on their way to webhooks. Triggers write them, in the transaction of the change itself and only
 * where somebody wants them, so a change without its event and an event without its change are both
 * impossible. Whoever sends holds the lease on the webhook: its events go out one after the other, in the
 * order in which they are due, by one process.
 */

/** When the next event is due, in milliseconds; null when none waits. */
export async function readNextDelivery(reader: Reader): Promise<number | null> {
  return (await rowOf<{ next: number | null }>(reader, NEXT_DELIVERY, []))?.next ?? null;
}

const NEXT_DELIVERY = "SELECT MIN(next_at) AS next FROM webhook_deliveries WHERE next_at IS NOT NULL";

/** Webhooks with an event that is due, to which nobody sends, in order of their ids. */
export function readDueWebhooks(reader: Reader, now: number): Promise<DueWebhook[]> {
  return rowsOf(reader, DUE_WEBHOOKS, [now, now]);
}

interface DueWebhook {
  readonly id: string;
  readonly ownerId: string;
}

const DUE_WEBHOOKS = `
  SELECT w.id AS id, w.owner_id AS "ownerId" FROM webhooks w
  WHERE (w.lease_worker IS NULL OR w.lease_until <= ?)
    AND EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.webhook_id = w.id AND d.next_at <= ?)
  ORDER BY w.id`;

export interface WebhookLease {
  readonly webhookId: string;
  readonly workerId: string;
}

/** Takes the right to send to a webhook; null where another process was faster. */
export async function leaseWebhook(
  tx: Tx,
  lease: WebhookLease,
  at: { now: number; until: number },
): Promise<WebhookRow | null> {
  const row = await rowOf<WebhookRow>(tx, LEASE, [lease.workerId, at.until, lease.webhookId, at.now]);
  return row ?? null;
}

const LEASE = `
  UPDATE webhooks SET lease_worker = ?, lease_until = ?
  WHERE id = ? AND (lease_worker IS NULL OR lease_until <= ?) RETURNING *`;

/** The event to send now, whichever has been due for longest; null when none is, or the lease is lost. */
export async function nextDelivery(
  tx: Tx,
  lease: WebhookLease,
  at: { now: number; until: number },
): Promise<DeliveryRow | null> {
  if ((await change(tx, HOLD, [at.until, lease.webhookId, lease.workerId])) === 0) return null;
  return (await rowOf<DeliveryRow>(tx, FIRST_DELIVERY, [lease.webhookId, at.now])) ?? null;
}

const HOLD = "UPDATE webhooks SET lease_until = ? WHERE id = ? AND lease_worker = ?";

const FIRST_DELIVERY = `
  SELECT * FROM webhook_deliveries INDEXED BY webhook_deliveries_queue
  WHERE webhook_id = ? AND next_at IS NOT NULL AND next_at <= ? ORDER BY next_at, seq LIMIT 1`;

export interface DeliveryEnd extends Pick<DeliveryRow, "status" | "next_at" | "http_status" | "error"> {
  readonly seq: number;
  readonly at: number;
}

/** What the webhook's standing becomes with a try. */
export type WebhookStanding = Pick<WebhookRow, "status" | "status_reason" | "failing_since">;

/**
 * Records a try, and what it means for the webhook. Counts whoever holds the lease: what was sent was sent. A
 * webhook that is turned off takes its waiting events out of the queue; `replay_webhook` puts them back.
 */
export async function endDelivery(
  tx: Tx,
  webhookId: string,
  end: DeliveryEnd,
  standing: WebhookStanding,
): Promise<void> {
  const { status, next_at: nextAt, http_status: httpStatus, error, at, seq } = end;
  await change(tx, END_DELIVERY, [status, nextAt, httpStatus, error, at, seq, webhookId]);
  const { status_reason: reason, failing_since: since } = standing;
  await change(tx, NOTE_STANDING, [standing.status, reason, since, standing.status, at, webhookId]);
  if (standing.status === "disabled") await change(tx, GIVE_UP_WAITING, [webhookId]);
}

const END_DELIVERY = `
  UPDATE webhook_deliveries SET status = ?, next_at = ?, http_status = ?, error = ?, tried_at = ?, tries = tries + 1
  WHERE seq = ? AND webhook_id = ?`;

const NOTE_STANDING = `
  UPDATE webhooks SET status = ?, status_reason = ?, failing_since = ?,
    updated_at = CASE WHEN status = ? THEN updated_at ELSE ? END
  WHERE id = ?`;

const GIVE_UP_WAITING = `
  UPDATE webhook_deliveries SET status = 'failed', next_at = NULL, error = 'The webhook was turned off before it was sent.'
  WHERE webhook_id = ? AND next_at IS NOT NULL`;

/** Gives the right to send back. */
export async function releaseWebhook(tx: Tx, lease: WebhookLease): Promise<void> {
  await change(tx, "UPDATE webhooks SET lease_worker = NULL WHERE id = ? AND lease_worker = ?", [
    lease.webhookId,
    lease.workerId,
  ]);
}

/**
 * Gives back what a process held that is proven dead, or ends; without it others wait until the lease runs
 * out.
 */
export async function freeWebhooks(tx: Tx, workerId: string): Promise<void> {
  await change(tx, "UPDATE webhooks SET lease_worker = NULL WHERE lease_worker = ?", [workerId]);
}

/** Forgets up to `limit` events from before that moment which wait for nothing. */
export function pruneDeliveries(tx: Tx, old: { before: number; limit: number }): Promise<number> {
  return change(tx, PRUNE, [old.before, old.limit]);
}

const PRUNE = `
  DELETE FROM webhook_deliveries WHERE seq IN (
    SELECT seq FROM webhook_deliveries WHERE happened_at < ? AND next_at IS NULL ORDER BY happened_at LIMIT ?)`;
