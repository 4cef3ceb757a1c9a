import { decodeCursor, encodeCursor, unknownCursor } from "../../domain/cursor.ts";
import { AppError } from "../../domain/errors.ts";
import { canReachAccount, type Caller } from "../../domain/permissions.ts";
import { parseBound, quote, toIso, toIsoOrNull } from "../../domain/time.ts";
import type {
  Delivery,
  EventKind,
  ListWebhooksArgs,
  ReplayArgs,
  Webhook,
  WebhookList,
} from "../../domain/webhooks/webhook.ts";
import type { Reader } from "../../store/engine/store.ts";
import {
  countPending,
  deleteWebhookRow,
  findWebhookRow,
  listDeliveryRows,
  listWebhookRows,
  requeueDeliveries,
  type DeliveryRow,
  type Replayed,
  type WebhookRow,
} from "../../store/queries/webhooks.ts";
import { commitOnce } from "../access/idempotency.ts";
import type { AppContext, CallContext } from "../context.ts";

/** The webhooks the caller may see; of one that is named also a page of its deliveries, newest first. */
export async function listWebhooks(
  { ctx, caller }: CallContext,
  args: ListWebhooksArgs,
): Promise<WebhookList> {
  const { store } = ctx;
  const pending = await countPending(store, caller.ownerId);
  const show = (row: WebhookRow): Webhook => toWebhook(row, pending.get(row.id) ?? 0);
  if (args.id === undefined) {
    if (args.cursor !== undefined)
      throw new AppError("invalid", "cursor: pages through the deliveries of one webhook. Give its id, too.");
    const rows = await listWebhookRows(store, caller.ownerId);
    return { webhooks: rows.filter((row) => canReach(caller, row)).map(show) };
  }
  const row = await findWebhook(ctx.store, caller, args.id);
  const before = args.cursor === undefined ? null : readPosition(args.cursor, row.id);
  const found = await listDeliveryRows(
    store,
    { ownerId: caller.ownerId, webhookId: row.id },
    { limit: args.limit + 1, before },
  );
  const page = found.slice(0, args.limit);
  const last = found.length > args.limit ? page.at(-1) : undefined;
  return {
    webhooks: [show(row)],
    deliveries: page.map(toDelivery),
    nextCursor: last === undefined ? null : encodeCursor(String(last.seq), row.id),
  };
}

function readPosition(cursor: string, webhookId: string): number {
  const position = decodeCursor(cursor, webhookId);
  if (!/^\d{1,15}$/.test(position)) throw unknownCursor();
  return Number(position);
}

/** With everything that waits for it. */
export async function deleteWebhook(call: CallContext, args: { id: string }): Promise<{ webhook: Webhook }> {
  const { ctx, caller } = call;
  const answer = await commitOnce(call, async (tx) => {
    const row = await findWebhook(tx, caller, args.id);
    const webhook = await showWebhook(tx, row);
    await deleteWebhookRow(tx, caller.ownerId, row.id);
    return { webhook };
  });
  ctx.log.info({ webhookId: args.id }, "The webhook was deleted");
  return answer;
}

/** Puts one delivery, or all events since a time, back into the queue. */
export async function replayWebhook(
  call: CallContext,
  args: ReplayArgs,
): Promise<{ webhook: Webhook; replayed: number }> {
  const { ctx, caller } = call;
  const which = readReplayed(ctx, args);
  const row = await findWebhook(ctx.store, caller, args.id);
  if (row.status === "disabled") {
    throw new AppError(
      "conflict",
      `The webhook is turned off. ${row.status_reason ?? ""} Once test_webhook succeeds it is on again.`,
    );
  }
  return commitOnce(call, async (tx) => {
    const replayed = await requeueDeliveries(
      tx,
      { ownerId: caller.ownerId, webhookId: row.id },
      which,
      ctx.clock.now(),
    );
    if (replayed === 0 && "deliveryId" in which) {
      throw new AppError(
        "not_found",
        `deliveryId: there is no event ${quote(which.deliveryId)} that can be sent again. Take ids from list_webhooks with the webhook's id.`,
      );
    }
    return { webhook: await showWebhook(tx, row), replayed };
  });
}

function readReplayed(ctx: AppContext, { deliveryId, since }: ReplayArgs): Replayed {
  if (deliveryId !== undefined && since === undefined) return { deliveryId };
  if (since !== undefined && deliveryId === undefined)
    return { since: parseBound("since", since, ctx.settings.timezone, false) };
  throw new AppError(
    "invalid",
    "deliveryId, since: give one of the two. deliveryId sends one event again, since all from that time on.",
  );
}

/** The row of a webhook the caller may use; throws `not_found` for every other id. */
export async function findWebhook(reader: Reader, caller: Caller, id: string): Promise<WebhookRow> {
  const row = await findWebhookRow(reader, caller.ownerId, id);
  if (row !== undefined && canReach(caller, row)) return row;
  throw new AppError("not_found", `id: there is no webhook ${quote(id)}. Take ids from list_webhooks.`);
}

/** A limited key has nothing to do with a webhook that tells of other accounts. */
function canReach(caller: Caller, row: WebhookRow): boolean {
  const accountIds = accountIdsOf(row);
  return (
    caller.accountIds === null ||
    (accountIds !== null && accountIds.every((id) => canReachAccount(caller, id)))
  );
}

/** The webhook with its count of waiting deliveries. */
export async function showWebhook(reader: Reader, row: WebhookRow): Promise<Webhook> {
  const pending = await countPending(reader, row.owner_id);
  return toWebhook(row, pending.get(row.id) ?? 0);
}

/** A row as every face shows it; `pending`: how many deliveries wait for it. */
export function toWebhook(row: WebhookRow, pending: number): Webhook {
  return {
    id: row.id,
    url: row.address,
    events: JSON.parse(row.events) as EventKind[],
    accountIds: accountIdsOf(row),
    status: row.status,
    statusReason: row.status_reason,
    pending,
    createdAt: toIso(row.created_at),
    updatedAt: toIso(row.updated_at),
  };
}

function accountIdsOf(row: WebhookRow): string[] | null {
  return row.account_ids === null ? null : (JSON.parse(row.account_ids) as string[]);
}

export function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    event: row.event,
    at: toIso(row.happened_at),
    status: row.status,
    tries: row.tries,
    triedAt: toIsoOrNull(row.tried_at),
    nextTryAt: toIsoOrNull(row.next_at),
    httpStatus: row.http_status,
    error: row.error,
  };
}
