import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { createOutbound } from "../../src/media/outbound/outbound.ts";
import { createWebhook } from "../../src/reporting/webhooks/webhooks.ts";
import { createCipher } from "../../src/store/engine/cipher.ts";
import { callOf } from "../support/context.ts";
import { addPost } from "../support/publishing.ts";
import { startReceiver, type Receiver } from "../support/webhook-receiver.ts";
import { buildWorker, makeDataFolder, openFolder, runWorker } from "./fault-runner.ts";
import { queryOf } from "../support/handles.ts";

let worker: string;
beforeAll(async () => {
  worker = await buildWorker("webhook-worker");
});

/** A webhook, and after it a post that is due: its three events are all wanted. */
async function prepare(path: string, receiver: Receiver): Promise<string> {
  await using ctx = await openFolder(path);
  await using outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
  const cipher = createCipher(await readFile(join(path, "key")));
  await createWebhook(callOf({ ...ctx, outbound, cipher }), { url: receiver.url });
  const account = await queryOf(ctx.store).selectFrom("accounts").selectAll().executeTakeFirstOrThrow();
  const due = Date.now() - 50;
  return (await addPost(ctx, account, { scheduled_at: due, due_at: due, next_at: due })).id;
}

describe.concurrent("kill -9 around an event", { timeout: 60_000 }, () => {
  it.each(["sending", "answered"].flatMap((point) => [1, 2, 3].map((hit) => [point, hit] as const)))(
    "%s, number %i: every event arrives, in order, under one id",
    async (point, hit) => {
      await using receiver = await startReceiver();
      await using folder = await makeDataFolder("scripted", { count: 0, accounts: 1 });
      const postId = await prepare(folder.path, receiver);
      expect(await runWorker(worker, [folder.path, point, String(hit)]).exit).toMatchObject({
        signal: "SIGKILL",
      });
      expect(await runWorker(worker, [folder.path]).exit).toMatchObject({ code: 0 });

      const arrived = receiver.deliveries.map(({ headers, body }) => ({
        id: String(headers["webhook-id"]),
        body,
      }));
      const first = new Map(arrived.toReversed().map(({ id, body }) => [id, body]));
      const told = [...first.values()].toReversed().map((body) => JSON.parse(body));
      expect(told.map(({ type, data }) => [type, data.id])).toEqual(
        ["post.scheduled", "post.publishing", "post.published"].map((type) => [type, postId]),
      );
      // What comes again is the same to the last byte.
      for (const { id, body } of arrived) expect(body).toBe(first.get(id));
      expect(arrived).toHaveLength(point === "answered" ? 4 : 3);
    },
  );

  it("two processes at once send each event once", async () => {
    await using receiver = await startReceiver();
    await using folder = await makeDataFolder("scripted", { count: 0, accounts: 1 });
    await prepare(folder.path, receiver);
    const both = [runWorker(worker, [folder.path]), runWorker(worker, [folder.path])];
    for (const { exit } of both) expect(await exit).toMatchObject({ code: 0 });
    expect(receiver.deliveries.map(({ body }) => JSON.parse(body).type)).toEqual([
      "post.scheduled",
      "post.publishing",
      "post.published",
    ]);
  });
});
