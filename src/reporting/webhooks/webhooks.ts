import { decodeCursor, encodeCursor, unknownCursor } from "../../domain/cursor.ts";
import { join, say, withSteps } from "../../domain/sentences.ts";
import { AppError } from "../../domain/errors.ts";
import { type Caller, canReachAccount } from "../../domain/permissions.ts";
import { SECOND, toIso, toIsoOrNull } from "../../domain/time.ts";
import { parseBound } from "../../domain/parse-time.ts";
import { quote } from "../../domain/text/plain-text.ts";
import {
  type Delivery,
  EVENT_KINDS,
  type EventKind,
  type ListWebhooksArgs,
  type ReplayArgs,
  TEST_EVENT,
  type Webhook,
  usualEvents,
  type WebhookArgs,
  type WebhookFormat,
  type WebhookList,
} from "../../domain/webhooks/webhook.ts";
import type { Reader } from "../../store/engine/store.ts";
import {
  countPending,
  deleteWebhookRow,
  type DeliveryRow,
  findWebhookRow,
  insertDelivery,
  insertWebhook,
  listDeliveryRows,
  listWebhookRows,
  type ReplaySelection,
  requeueDeliveries,
  type WebhookRow,
  endDelivery,
} from "../../store/queries/webhooks.ts";
import { commitOnce } from "../../access/idempotency.ts";
import type { AppContext, CallContext } from "../../context.ts";
import { newId } from "../../domain/ids.ts";
import { type Receiver, readReceiver, showReceiver } from "../../domain/webhooks/receivers.ts";
import { makeSecret, readSecret } from "../../domain/webhooks/standard-webhooks.ts";
import { findAccount } from "../../channels/accounts/accounts.ts";
import { noMailServer, sealTarget, send, type Target } from "./send.ts";
import { endOf, standingAfter } from "./webhook-deliveries.ts";

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
  const of = { ownerId: caller.ownerId, webhookId: row.id };
  const found = await listDeliveryRows(store, of, { limit: args.limit + 1, before });
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
      withSteps(join("The webhook is turned off.", row.status_reason), { do: "test_webhook" }),
    );
  }
  return commitOnce(call, async (tx) => {
    const of = { ownerId: caller.ownerId, webhookId: row.id };
    const replayed = await requeueDeliveries(tx, of, which, ctx.clock.now());
    if (replayed === 0 && "deliveryId" in which) {
      throw new AppError(
        "not_found",
        say(`there is no event ${quote(which.deliveryId)} that can be sent again.`, {
          field: "deliveryId",
          next: [{ do: "list", of: "webhooks" }],
        }),
      );
    }
    return { webhook: await showWebhook(tx, row), replayed };
  });
}

function readReplayed(ctx: AppContext, { deliveryId, since }: ReplayArgs): ReplaySelection {
  if (deliveryId !== undefined && since === undefined) return { deliveryId };
  if (since !== undefined && deliveryId === undefined)
    return { since: parseBound("since", since, ctx.settings.timezone, false) };
  throw new AppError(
    "invalid",
    "deliveryId, since: give one of the two. deliveryId sends one event again, since all from that time on.",
  );
}

/** The row of a webhook the caller may use; throws `not_found` for every other id. */
async function findWebhook(reader: Reader, caller: Caller, id: string): Promise<WebhookRow> {
  const row = await findWebhookRow(reader, caller.ownerId, id);
  if (row !== undefined && canReach(caller, row)) return row;
  throw new AppError(
    "not_found",
    say(`there is no webhook ${quote(id)}.`, { field: "id", next: [{ do: "list", of: "webhooks" }] }),
  );
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
function toWebhook(row: WebhookRow, pending: number): Webhook {
  return {
    id: row.id,
    format: row.format,
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

function toDelivery(row: DeliveryRow): Delivery {
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

/** More receivers than this are better served by one that hands on. */
const MAX_WEBHOOKS = 50;

const KNOCK_TIMEOUT_MS = 10 * SECOND;

/** `secret` is shown this once, and only where it was made here. */
export function createWebhook(
  call: CallContext,
  args: WebhookArgs,
): Promise<{ webhook: Webhook; secret: string | null }> {
  return makeWebhook(call, args);
}

/** `keyId`: the key that it ends with. */
export async function makeWebhook(
  call: CallContext,
  args: WebhookArgs,
  bound: { readonly keyId?: string } = {},
): Promise<{ webhook: Webhook; secret: string | null }> {
  const { ctx, caller } = call;
  const { format = "standard" } = args;
  const receiver = readReceiver(format, args.url);
  if (receiver.format !== "email") ctx.outbound.assertAllowed("url", receiver.url.href);
  const secret = readSigning(format, args.secret);
  if (args.accountId !== undefined && args.accountIds !== undefined)
    throw new AppError("invalid", "accountIds: means the same as accountId. Give one of the two.");
  const accountIds = await readAccountIds(ctx, caller, args);
  if (receiver.format === "email" && ctx.mailer === null) throw noMailServer();
  if (receiver.format !== "email") await knock(call, receiver);
  const events = args.events ?? usualEvents(format);
  const row = makeRow(ctx, caller.ownerId, {
    receiver,
    target: { url: args.url, secret: secret ?? "", ...bound },
    events,
    accountIds,
  });
  return commitOnce(call, async (tx) => {
    // Browsers count for themselves: anyone who reads may add theirs.
    const others = (await listWebhookRows(tx, caller.ownerId)).filter(
      (one) => (one.format === "push") === (format === "push"),
    );
    if (others.length >= MAX_WEBHOOKS)
      throw new AppError(
        "conflict",
        `There are ${MAX_WEBHOOKS} ${format === "push" ? "browsers with notices" : "webhooks"} already, the most there can be. Delete one first.`,
      );
    await insertWebhook(tx, row);
    return { webhook: toWebhook(row, 0), secret: args.secret === undefined ? secret : null };
  });
}

/** Null where people are told: nothing is signed for them. */
function readSigning(format: WebhookFormat, given: string | undefined): string | null {
  if (format === "standard") return given === undefined ? makeSecret() : readSecret(given);
  if (given === undefined) return null;
  throw new AppError("invalid", `secret: nothing is signed for ${format}. Leave it out.`);
}

/** A limited key makes webhooks only for its accounts. */
async function readAccountIds(
  ctx: AppContext,
  caller: Caller,
  { accountId, accountIds }: Pick<WebhookArgs, "accountId" | "accountIds">,
): Promise<readonly string[] | null> {
  const given = accountId ?? accountIds;
  if (given === undefined) return caller.accountIds;
  const field = accountId === undefined ? "accountIds" : "accountId";
  const ids = new Set<string>();
  for (const [at, text] of given.entries())
    ids.add((await findAccount(ctx, caller, text, `${field}[${at}]`)).id);
  return [...ids];
}

type HttpReceiver = Exclude<Receiver, { readonly format: "email" }>;

/** A name may lead into a private network, which only a connection shows. `test_webhook` tells the rest. */
async function knock({ ctx, signal }: CallContext, { format, url }: HttpReceiver): Promise<void> {
  // A service of messages is not touched where a request says something.
  const href = format === "standard" ? url.href : `${url.origin}/`;
  const limits = { newConnection: true, timeoutMs: KNOCK_TIMEOUT_MS, signal };
  try {
    const response = await ctx.outbound.request({ method: "HEAD", url: href, ...limits });
    response.body.destroy();
  } catch (error) {
    if (error instanceof AppError) throw error.about("url");
  }
}

function makeRow(
  ctx: AppContext,
  ownerId: string,
  made: {
    receiver: Receiver;
    target: Target;
    events: readonly EventKind[];
    accountIds: readonly string[] | null;
  },
): WebhookRow {
  const now = ctx.clock.now();
  const id = newId("whk");
  return {
    id,
    owner_id: ownerId,
    address: showReceiver(made.receiver),
    format: made.receiver.format,
    last_told: "{}",
    secrets_enc: sealTarget(ctx, { owner_id: ownerId, id }, made.target),
    events: JSON.stringify(EVENT_KINDS.filter((kind) => made.events.includes(kind))),
    account_ids: made.accountIds === null ? null : JSON.stringify(made.accountIds),
    status: "active",
    status_reason: null,
    failing_since: null,
    lease_worker: null,
    lease_until: 0,
    created_at: now,
    updated_at: now,
  };
}

/** Sends a signed test now, past the queue. One that gets through turns a webhook on again. */
export async function testWebhook(
  call: CallContext,
  args: { id: string },
): Promise<{ webhook: Webhook; delivery: Delivery }> {
  const { ctx } = call;
  const row = await findWebhook(ctx.store, call.caller, args.id);
  const test: Omit<DeliveryRow, "seq"> = {
    id: newId("evt"),
    owner_id: row.owner_id,
    webhook_id: row.id,
    event: TEST_EVENT,
    happened_at: ctx.clock.now(),
    snapshot: "{}",
    status: "failed",
    tries: 0,
    next_at: null,
    tried_at: null,
    http_status: null,
    error: null,
  };
  const answer = await send(ctx, row, { deliveries: [test], signal: call.signal });
  const now = ctx.clock.now();
  return commitOnce(call, async (tx) => {
    const current = await findWebhook(tx, call.caller, args.id);
    const standing = answer.error === null ? standingAfter(current, { answer, tries: 1, now }) : current;
    const delivery = await insertDelivery(tx, test);
    const end = { ...endOf(delivery, { answer, now, isDisabled: true }), next_at: null };
    await endDelivery(tx, row.id, end, standing);
    return {
      webhook: await showWebhook(tx, { ...current, ...standing }),
      delivery: toDelivery({ ...delivery, ...end, tries: 1, tried_at: now }),
    };
  });
}
