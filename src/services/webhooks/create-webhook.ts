import { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { Caller } from "../../domain/permissions.ts";
import { makeSecret, readSecret } from "../../domain/webhooks/standard-webhooks.ts";
import { SECOND } from "../../domain/time.ts";
import {
  EVENT_KINDS,
  type EventKind,
  type Webhook,
  type WebhookArgs,
} from "../../domain/webhooks/webhook.ts";
import type { Tx } from "../../store/engine/store.ts";
import { insertWebhook, listWebhookRows, type WebhookRow } from "../../store/queries/webhooks.ts";
import { findAccount } from "../accounts/accounts.ts";
import { commitOnce } from "../access/idempotency.ts";
import type { AppContext, CallContext } from "../context.ts";
import { sealTarget } from "./webhook-targets.ts";
import { toWebhook } from "./webhooks.ts";

/** More receivers than this are better served by one that hands on. */
const MAX_WEBHOOKS = 50;

const KNOCK_TIMEOUT_MS = 10 * SECOND;

/** `secret` is shown this once, and only where it was made here. */
export async function createWebhook(
  call: CallContext,
  args: WebhookArgs,
): Promise<{ webhook: Webhook; secret: string | null }> {
  const { ctx, caller } = call;
  const url = ctx.outbound.assertAllowed("url", args.url);
  url.hash = "";
  const secret = args.secret === undefined ? makeSecret() : readSecret(args.secret);
  const accountIds = await readAccountIds(ctx, caller, args.accountId);
  await knock(call, url);
  const row = makeRow(ctx, caller.ownerId, { url, secret, events: args.events ?? EVENT_KINDS, accountIds });
  return commitOnce(call, async (tx) => {
    await requireRoom(tx, caller.ownerId);
    await insertWebhook(tx, row);
    return { webhook: toWebhook(row, 0), secret: args.secret === undefined ? secret : null };
  });
}

/** A limited key makes webhooks for its accounts alone. */
async function readAccountIds(
  ctx: AppContext,
  caller: Caller,
  given: readonly string[] | undefined,
): Promise<readonly string[] | null> {
  if (given === undefined) return caller.accountIds;
  const ids = new Set<string>();
  for (const text of given) ids.add((await findAccount(ctx, caller, text)).id);
  return [...ids];
}

/**
 * A name may lead into a private network, which only a connection shows. Whether anybody is there
 * `test_webhook` tells.
 */
async function knock({ ctx, signal }: CallContext, url: URL): Promise<void> {
  try {
    const request = {
      method: "HEAD",
      url: url.href,
      newConnection: true,
      timeoutMs: KNOCK_TIMEOUT_MS,
      signal,
    } as const;
    const response = await ctx.outbound.request(request);
    response.body.destroy();
  } catch (error) {
    if (error instanceof AppError) throw new AppError(error.kind, `url: ${error.message}`, { cause: error });
  }
}

async function requireRoom(tx: Tx, ownerId: string): Promise<void> {
  const rows = await listWebhookRows(tx, ownerId);
  if (rows.length < MAX_WEBHOOKS) return;
  throw new AppError(
    "conflict",
    `There are ${MAX_WEBHOOKS} webhooks already, the most there can be. Delete one first.`,
  );
}

function makeRow(
  ctx: AppContext,
  ownerId: string,
  made: { url: URL; secret: string; events: readonly EventKind[]; accountIds: readonly string[] | null },
): WebhookRow {
  const now = ctx.clock.now();
  const id = newId("whk");
  return {
    id,
    owner_id: ownerId,
    address: shownAddress(made.url),
    secrets_enc: sealTarget(ctx, { owner_id: ownerId, id }, { url: made.url.href, secret: made.secret }),
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

function shownAddress(url: URL): string {
  return `${url.origin}${url.pathname}${url.search === "" ? "" : "?…"}`;
}
