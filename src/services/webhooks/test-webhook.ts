import { newId } from "../../domain/ids.ts";
import { TEST_EVENT, type Delivery, type Webhook } from "../../domain/webhooks/webhook.ts";
import { endDelivery } from "../../store/queries/publishing/outbox.ts";
import { insertDelivery, type DeliveryRow } from "../../store/queries/webhooks.ts";
import { commitOnce } from "../access/idempotency.ts";
import type { CallContext } from "../context.ts";
import { bodyOf, endOf, send, standingAfter } from "./webhook-deliveries.ts";
import { findWebhook, showWebhook, toDelivery } from "./webhooks.ts";

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
  const answer = await send(ctx, row, { id: test.id, body: bodyOf(ctx, test), signal: call.signal });
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
