import type { Reader, Tx } from "../engine/store.ts";
import { queryOf } from "../engine/handle.ts";
import { sql, type Selectable } from "kysely";
import type { Tables } from "../engine/schema.ts";

export type WebhookRow = Selectable<Tables["webhooks"]>;
export type DeliveryRow = Selectable<Tables["webhook_deliveries"]>;

export async function insertWebhook(tx: Tx, row: WebhookRow): Promise<void> {
  await queryOf(tx).insertInto("webhooks").values(row).execute();
}

/** In order of creation. */
export function listWebhookRows(reader: Reader, ownerId: string): Promise<WebhookRow[]> {
  return queryOf(reader)
    .selectFrom("webhooks")
    .selectAll()
    .where("owner_id", "=", ownerId)
    .orderBy("id")
    .execute();
}

export function findWebhookRow(reader: Reader, ownerId: string, id: string): Promise<WebhookRow | undefined> {
  return queryOf(reader)
    .selectFrom("webhooks")
    .selectAll()
    .where("owner_id", "=", ownerId)
    .where("id", "=", id)
    .executeTakeFirst();
}

/** With its deliveries. */
export async function deleteWebhookRow(tx: Tx, ownerId: string, id: string): Promise<void> {
  await queryOf(tx).deleteFrom("webhooks").where("owner_id", "=", ownerId).where("id", "=", id).execute();
}

/** Waiting deliveries by webhook; one without any is absent. */
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
export type Replayed = { readonly deliveryId: string } | { readonly since: number };

/** Puts deliveries back into the queue, except tests, whose turn is over; answers how many. */
export async function requeueDeliveries(
  tx: Tx,
  { ownerId, webhookId }: WebhookRef,
  which: Replayed,
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
