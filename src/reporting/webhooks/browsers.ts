import * as z from "zod";
import { commitOnce } from "../../access/idempotency.ts";
import type { CallContext } from "../../context.ts";
import { AppError } from "../../domain/errors.ts";
import { plainText } from "../../domain/text/plain-text.ts";
import { readReceiver } from "../../domain/webhooks/receivers.ts";
import type { Webhook } from "../../domain/webhooks/webhook.ts";
import { deleteWebhookRow, listWebhookRows, type WebhookRow } from "../../store/queries/webhooks.ts";
import { openTarget, type Target } from "./send.ts";
import { makeWebhook, showWebhook } from "./webhooks.ts";

/*
 * Browsers in which a person reads the page are told by Web Push. Those who may read may subscribe the browser that
 * they sit at, and it is told of what their key sees, for as long as that key is good. An endpoint is a secret of its
 * browser: who names it sits there.
 */

const MAX_NAME_CHARS = 60;

/** As `PushSubscription.toJSON()` gives it, and what to call the browser. */
export const BrowserArgs = z.object({
  endpoint: z.string().min(1).max(2_048),
  keys: z.object({ p256dh: z.string().max(200), auth: z.string().max(200) }),
  name: z.string().max(200).optional(),
});

/** Subscribes the caller's browser to what needs a person. Doing so again changes nothing. */
export async function subscribeBrowser(
  call: CallContext,
  args: z.infer<typeof BrowserArgs>,
): Promise<{ webhook: Webhook }> {
  const { ctx, caller } = call;
  const target = { url: addressOf(args), secret: "", keyId: caller.keyId };
  const known = await findBrowsers(call, args.endpoint);
  const same = known.find(({ target: old }) => old.url === target.url && old.keyId === target.keyId);
  if (same !== undefined && same.row.status !== "disabled")
    return { webhook: await showWebhook(ctx.store, same.row) };
  const { webhook } = await makeWebhook(call, { format: "push", url: target.url }, { keyId: caller.keyId });
  await forget(call, known);
  return { webhook };
}

/** Throws nothing where it was not subscribed. */
export async function unsubscribeBrowser(call: CallContext, args: { endpoint: string }): Promise<void> {
  await forget(call, await findBrowsers(call, args.endpoint));
}

interface Browser {
  readonly row: WebhookRow;
  readonly target: Target;
}

async function forget(call: CallContext, browsers: readonly Browser[]): Promise<void> {
  if (browsers.length === 0) return;
  await commitOnce(call, async (tx) => {
    for (const { row } of browsers) await deleteWebhookRow(tx, row.owner_id, row.id);
    return {};
  });
}

/** More than one where another person, or a subscription with other keys, was there before. */
async function findBrowsers({ ctx, caller }: CallContext, endpoint: string): Promise<Browser[]> {
  const rows = await listWebhookRows(ctx.store, caller.ownerId);
  return rows
    .filter(({ format }) => format === "push")
    .map((row) => ({ row, target: openTarget(ctx, row) }))
    .filter(({ target }) => withoutHash(target.url) === withoutHash(endpoint));
}

function withoutHash(address: string): string {
  return address.split("#")[0] ?? "";
}

/** All of a subscription in one address, whose fragment goes nowhere. */
function addressOf({ endpoint, keys, name = "" }: z.infer<typeof BrowserArgs>): string {
  const plainName = plainText(name, MAX_NAME_CHARS);
  const parts = { p256dh: keys.p256dh, auth: keys.auth, ...(plainName === "" ? {} : { name: plainName }) };
  const address = `${withoutHash(endpoint)}#${new URLSearchParams(parts).toString()}`;
  try {
    readReceiver("push", address);
    return address;
  } catch (cause) {
    throw new AppError(
      "invalid",
      "endpoint, keys: this is no subscription of a browser. Turn notices off and on again in the browser.",
      { cause },
    );
  }
}
