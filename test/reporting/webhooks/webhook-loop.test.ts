import { createServer } from "node:http";
import { expect, it } from "vitest";
import { DAY } from "../../../src/domain/time.ts";
import { createOutbound } from "../../../src/media/outbound/outbound.ts";
import { startWebhookLoop } from "../../../src/reporting/webhooks/webhook-deliveries.ts";
import { createWebhook } from "../../../src/reporting/webhooks/webhooks.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { addAccount, addPost } from "../../support/publishing.ts";
import { startReceiver } from "../../support/webhook-receiver.ts";
import { queryOf } from "../../support/handles.ts";
import { listen } from "../../support/listen.ts";

/** Takes everything and never answers a POST. */
async function startSilentReceiver(): Promise<
  AsyncDisposable & { readonly url: string; readonly asked: Promise<void> }
> {
  let resolve = (): void => {};
  const asked = new Promise<void>((done) => (resolve = done));
  const server = createServer((request, response) => {
    if (request.method === "HEAD") return void response.end();
    resolve();
  });
  const listening = await listen(server);
  return {
    url: `${listening.origin}/hook`,
    asked,
    [Symbol.asyncDispose]: listening[Symbol.asyncDispose],
  };
}

it("is not held up by a receiver that does not answer, neither for others nor at its end", async () => {
  await using silent = await startSilentReceiver();
  await using receiver = await startReceiver();
  await using outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
  await using ctx = await createTestContext({ outbound });
  for (const url of [silent.url, receiver.url]) await createWebhook(callOf(ctx), { url });
  await addPost(ctx, await addAccount(ctx), { scheduled_at: ctx.clock.now() + DAY });
  const loop = startWebhookLoop(ctx);
  await silent.asked;
  await expect.poll(() => receiver.deliveries.length).toBe(1);
  await loop.close(10);
  const rows = await queryOf(ctx.store)
    .selectFrom("webhook_deliveries")
    .select(["status", "tries"])
    .orderBy("seq")
    .execute();
  expect(rows).toEqual([
    { status: "pending", tries: 0 },
    { status: "delivered", tries: 1 },
  ]);
  expect(await queryOf(ctx.store).selectFrom("webhooks").select("lease_worker").execute()).toEqual(
    Array(2).fill({ lease_worker: null }),
  );
});
