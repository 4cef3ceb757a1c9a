import { sql } from "kysely";
import { queryOf } from "../../engine/handle.ts";
import { rowsOf } from "../../engine/statements.ts";
import type { Reader, Tx } from "../../engine/store.ts";
import type { DeliveryRow, WebhookRow } from "../webhooks.ts";

/**
 * Events on their way to webhooks. Triggers write them, in the transaction of the change itself and only
 * where somebody wants them, so a change without its event and an event without its change are both
 * impossible. Whoever sends holds the lease on the webhook: its events go out one after the other, in the
 * order in which they are due, by one process.
 */

/** When the next event is due, in milliseconds; null when none waits. */
export async function readNextDelivery(reader: Reader): Promise<number | null> {
  const row = await queryOf(reader)
    .selectFrom("webhook_deliveries")
    .select(({ fn }) => fn.min("next_at").as("next"))
    .where("next_at", "is not", null)
    .executeTakeFirst();
  return row?.next ?? null;
}

interface DueWebhook {
  readonly id: string;
  readonly ownerId: string;
}

/** Webhooks with an event that is due and that no process sends to, in order of their ids. */
export function readDueWebhooks(reader: Reader, now: number): Promise<DueWebhook[]> {
  return rowsOf(
    reader,
    sql<DueWebhook>`
      SELECT w.id AS id, w.owner_id AS "ownerId" FROM webhooks w
      WHERE (w.lease_worker IS NULL OR w.lease_until <= ${now})
        AND EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.webhook_id = w.id AND d.next_at <= ${now})
      ORDER BY w.id`,
  );
}

export interface WebhookLease {
  readonly webhookId: string;
  readonly workerId: string;
}

/** Takes the right to send to a webhook; null where another process was faster. */
export async function leaseWebhook(
  tx: Tx,
  { webhookId, workerId }: WebhookLease,
  { now, until }: { now: number; until: number },
): Promise<WebhookRow | null> {
  const row = await queryOf(tx)
    .updateTable("webhooks")
    .set({ lease_worker: workerId, lease_until: until })
    .where("id", "=", webhookId)
    .where((eb) => eb.or([eb("lease_worker", "is", null), eb("lease_until", "<=", now)]))
    .returningAll()
    .executeTakeFirst();
  return row ?? null;
}

/** The event to send now, the one that has been due for longest; null when none is, or the lease is lost. */
export async function nextDelivery(
  tx: Tx,
  { webhookId, workerId }: WebhookLease,
  { now, until }: { now: number; until: number },
): Promise<DeliveryRow | null> {
  const { numUpdatedRows } = await queryOf(tx)
    .updateTable("webhooks")
    .set({ lease_until: until })
    .where("id", "=", webhookId)
    .where("lease_worker", "=", workerId)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return null;
  const row = await queryOf(tx)
    .selectFrom("webhook_deliveries")
    .selectAll()
    .where("webhook_id", "=", webhookId)
    .where("next_at", "is not", null)
    .where("next_at", "<=", now)
    .orderBy("next_at")
    .orderBy("seq")
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

export interface DeliveryEnd extends Pick<DeliveryRow, "status" | "next_at" | "http_status" | "error"> {
  readonly seq: number;
  readonly at: number;
}

/** What the webhook's standing becomes with a try. */
export type WebhookStanding = Pick<WebhookRow, "status" | "status_reason" | "failing_since">;

/**
 * Records a try, and what it means for the webhook, also without the lease: what was sent was sent. A webhook
 * that is turned off takes its waiting events out of the queue; `replay_webhook` puts them back.
 */
export async function endDelivery(
  tx: Tx,
  webhookId: string,
  { seq, at, ...end }: DeliveryEnd,
  standing: WebhookStanding,
): Promise<void> {
  const query = queryOf(tx);
  await query
    .updateTable("webhook_deliveries")
    .set({ ...end, tried_at: at, tries: sql`tries + 1` })
    .where("seq", "=", seq)
    .where("webhook_id", "=", webhookId)
    .execute();
  await query
    .updateTable("webhooks")
    .set({
      ...standing,
      updated_at: sql`CASE status WHEN ${standing.status} THEN updated_at ELSE CAST(${at} AS BIGINT) END`,
    })
    .where("id", "=", webhookId)
    .execute();
  if (standing.status !== "disabled") return;
  await query
    .updateTable("webhook_deliveries")
    .set({ status: "failed", next_at: null, error: "The webhook was turned off before it was sent." })
    .where("webhook_id", "=", webhookId)
    .where("next_at", "is not", null)
    .execute();
}

/** Gives the right to send back. */
export async function releaseWebhook(tx: Tx, { webhookId, workerId }: WebhookLease): Promise<void> {
  await queryOf(tx)
    .updateTable("webhooks")
    .set({ lease_worker: null })
    .where("id", "=", webhookId)
    .where("lease_worker", "=", workerId)
    .execute();
}

/**
 * Gives back what a process held that is proven dead, or ends; without it others wait until the lease runs
 * out.
 */
export async function freeWebhooks(tx: Tx, workerId: string): Promise<void> {
  await queryOf(tx)
    .updateTable("webhooks")
    .set({ lease_worker: null })
    .where("lease_worker", "=", workerId)
    .execute();
}

/** Forgets up to `limit` events from before that moment which wait for nothing. */
export async function pruneDeliveries(tx: Tx, old: { before: number; limit: number }): Promise<number> {
  const { numDeletedRows } = await queryOf(tx)
    .deleteFrom("webhook_deliveries")
    .where("seq", "in", (of) =>
      of
        .selectFrom("webhook_deliveries")
        .select("seq")
        .where("happened_at", "<", old.before)
        .where("next_at", "is", null)
        .orderBy("happened_at")
        .limit(old.limit),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}
