import { sql, type Selectable } from "kysely";
import type { Tables } from "../schema/tables.ts";
import { deleteRows, findRow, listRows, queryOf, rowOf, rowsOf, updateRows } from "../engine/statements.ts";
import type { Reader, Tx } from "../engine/store.ts";

export type WebhookRow = Selectable<Tables["webhooks"]>;
export type DeliveryRow = Selectable<Tables["webhook_deliveries"]>;

export async function insertWebhook(tx: Tx, row: WebhookRow): Promise<void> {
  await queryOf(tx).insertInto("webhooks").values(row).execute();
}

/** In order of creation. */
export function listWebhookRows(reader: Reader, ownerId: string): Promise<WebhookRow[]> {
  return listRows(reader, "webhooks", { owner_id: ownerId }, "id");
}

export function findWebhookRow(reader: Reader, ownerId: string, id: string): Promise<WebhookRow | undefined> {
  return findRow(reader, "webhooks", { owner_id: ownerId, id });
}

/** Its deliveries are deleted with it. */
export async function deleteWebhookRow(tx: Tx, ownerId: string, id: string): Promise<void> {
  await deleteRows(tx, "webhooks", { owner_id: ownerId, id });
}

/** The number of waiting deliveries by webhook, without those that have none. */
export async function countPending(reader: Reader, ownerId: string): Promise<ReadonlyMap<string, number>> {
  const own = queryOf(reader).selectFrom("webhooks").select("id").where("owner_id", "=", ownerId);
  const rows = await queryOf(reader)
    .selectFrom("webhook_deliveries")
    .select(["webhook_id", sql<number>`count(*)`.as("pending")])
    .where("webhook_id", "in", own)
    .where("next_at", "is not", null)
    .groupBy("webhook_id")
    .execute();
  return new Map(rows.map((row) => [row.webhook_id, row.pending]));
}

interface WebhookRef {
  readonly ownerId: string;
  readonly webhookId: string;
}

/** Newest first; `before`: only those before this one. */
export function listDeliveryRows(
  reader: Reader,
  { ownerId, webhookId }: WebhookRef,
  page: { limit: number; before: number | null },
): Promise<DeliveryRow[]> {
  const all = queryOf(reader)
    .selectFrom("webhook_deliveries")
    .selectAll()
    .where("owner_id", "=", ownerId)
    .where("webhook_id", "=", webhookId);
  const older = page.before === null ? all : all.where("seq", "<", page.before);
  return older.orderBy("seq", "desc").limit(page.limit).execute();
}

export async function insertDelivery(tx: Tx, row: Omit<DeliveryRow, "seq">): Promise<DeliveryRow> {
  return queryOf(tx).insertInto("webhook_deliveries").values(row).returningAll().executeTakeFirstOrThrow();
}

/** Which deliveries: one, or all that happened since. */
export type ReplaySelection = { readonly deliveryId: string } | { readonly since: number };

/** Puts deliveries back into the queue, except tests. Returns how many. */
export async function requeueDeliveries(
  tx: Tx,
  { ownerId, webhookId }: WebhookRef,
  which: ReplaySelection,
  now: number,
): Promise<number> {
  const base = queryOf(tx)
    .updateTable("webhook_deliveries")
    .set({ status: "pending", next_at: now, tries: 0 })
    .where("owner_id", "=", ownerId)
    .where("webhook_id", "=", webhookId)
    .where("event", "<>", "webhook.test");
  const chosen =
    "deliveryId" in which
      ? base.where("id", "=", which.deliveryId)
      : base.where("happened_at", ">=", which.since);
  const { numUpdatedRows } = await chosen.executeTakeFirst();
  return Number(numUpdatedRows);
}

/*
 * The outbox. Triggers write the events, in the transaction of the change itself and only where a webhook wants
 * them: no change is without its event, and no event without its change. A process sends only while it has the
 * lease on the webhook. Its events go out one after the other, in the order in which they are due.
 */

/** When the next event is due, in milliseconds. Null when none waits. */
export async function readNextDelivery(reader: Reader): Promise<number | null> {
  const earliest = sql<{ next: number | null }>`SELECT min(next_at) AS next FROM webhook_deliveries
    WHERE next_at IS NOT NULL`;
  return (await rowOf(reader, earliest))?.next ?? null;
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

/** Takes the lease. Null where another process has it. */
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

/** The events that have been due for longest. None when none is due, or the lease is lost. Extends the lease. */
export async function nextDeliveries(
  tx: Tx,
  { webhookId, workerId }: WebhookLease,
  { now, until, limit }: { now: number; until: number; limit: number },
): Promise<DeliveryRow[]> {
  const lease = { id: webhookId, lease_worker: workerId };
  if ((await updateRows(tx, "webhooks", lease, { lease_until: until })) === 0) return [];
  return queryOf(tx)
    .selectFrom("webhook_deliveries")
    .selectAll()
    .where("webhook_id", "=", webhookId)
    .where("next_at", "is not", null)
    .where("next_at", "<=", now)
    .orderBy("next_at")
    .orderBy("seq")
    .limit(limit)
    .execute();
}

/** Events that wait until then, without a try. */
export async function deferDeliveries(tx: Tx, seqs: readonly number[], until: number): Promise<void> {
  await queryOf(tx)
    .updateTable("webhook_deliveries")
    .set({ next_at: until })
    .where("seq", "in", seqs)
    .execute();
}

/** When people were last told, by account; `told` is the whole of it. */
export async function noteTold(
  tx: Tx,
  webhookId: string,
  told: Readonly<Record<string, number>>,
): Promise<void> {
  await updateRows(tx, "webhooks", { id: webhookId }, { last_told: JSON.stringify(told) });
}

export interface DeliveryEnd extends Pick<DeliveryRow, "status" | "next_at" | "http_status" | "error"> {
  readonly seq: number;
  readonly at: number;
}

export type WebhookStanding = Pick<WebhookRow, "status" | "status_reason" | "failing_since">;

/**
 * Records a try, and the webhook's state after it. Works without the lease too, because the event was sent. A
 * webhook that is turned off loses its waiting events. `replay_webhook` puts them back.
 */
export async function endDelivery(
  tx: Tx,
  webhookId: string,
  { seq, at, ...end }: DeliveryEnd,
  standing: WebhookStanding,
): Promise<void> {
  const tried = { ...end, tried_at: at, tries: sql`tries + 1` };
  await updateRows(tx, "webhook_deliveries", { seq, webhook_id: webhookId }, tried);
  const updatedAt = sql`CASE status WHEN ${standing.status} THEN updated_at ELSE CAST(${at} AS BIGINT) END`;
  await updateRows(tx, "webhooks", { id: webhookId }, { ...standing, updated_at: updatedAt });
  if (standing.status !== "disabled") return;
  await queryOf(tx)
    .updateTable("webhook_deliveries")
    .set({ status: "failed", next_at: null, error: "The webhook was turned off before it was sent." })
    .where("webhook_id", "=", webhookId)
    .where("next_at", "is not", null)
    .execute();
}

export async function releaseWebhook(tx: Tx, { webhookId, workerId }: WebhookLease): Promise<void> {
  await updateRows(tx, "webhooks", { id: webhookId, lease_worker: workerId }, { lease_worker: null });
}

/** Releases all webhooks of a process that ends, or is proven dead. Without it others wait for the lease's end. */
export async function freeWebhooks(tx: Tx, workerId: string): Promise<void> {
  await updateRows(tx, "webhooks", { lease_worker: workerId }, { lease_worker: null });
}

/** Deletes up to `limit` old events that do not wait to be sent. Returns how many. */
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
