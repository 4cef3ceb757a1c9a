import { toIso } from "../../domain/time.ts";
import { fromStored, Message } from "../../domain/sentences.ts";
import { TEST_EVENT } from "../../domain/webhooks/webhook.ts";
import type { DeliveryRow } from "../../store/queries/webhooks.ts";
import { showSnapshot } from "../../store/queries/posts.ts";
import { type ShownAccount, toAccount } from "../../channels/accounts/accounts.ts";
import type { AppContext } from "../../context.ts";

/** A delivery, stored or not. */
export type EventDelivery = Omit<DeliveryRow, "seq">;

/** The same on each try: everything in it was fixed when the event happened. */
export function bodyOf(ctx: AppContext, row: EventDelivery): string {
  const body = { type: row.event, timestamp: toIso(row.happened_at), data: dataOf(ctx, row) };
  return JSON.stringify(body, function (this: Readonly<Record<string, unknown>>, key, value: unknown) {
    // `value` is in plain words already (`toJSON`).
    const said = this[key];
    return said instanceof Message ? ctx.inWords(said) : value;
  });
}

/** What programs get as `data`. */
export function dataOf(ctx: AppContext, row: EventDelivery): object {
  const { event, snapshot, webhook_id: webhookId } = row;
  if (event === TEST_EVENT) return { webhookId };
  if (event.startsWith("post.")) return showSnapshot(snapshot);
  if (!event.startsWith("account.")) return JSON.parse(snapshot, readError) as object;
  const { queued, ...account }: ShownAccount & { queued: number } = JSON.parse(snapshot);
  return toAccount(ctx, account, queued);
}

/** Errors of posts stand in a snapshot as in their rows. */
function readError(key: string, value: unknown): unknown {
  return key === "error" && typeof value === "string" ? fromStored(value) : value;
}
