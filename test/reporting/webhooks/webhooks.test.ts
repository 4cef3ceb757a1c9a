import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agentsWordsFor } from "../../../src/toolkit/words.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../../src/domain/time.ts";
import type { EventKind } from "../../../src/domain/webhooks/webhook.ts";
import { createOutbound } from "../../../src/media/outbound/outbound.ts";
import type { Caller } from "../../../src/domain/permissions.ts";
import { PlatformFault } from "../../../src/ports/platform-io.ts";
import { askToReconnect } from "../../../src/channels/connecting/renew-tokens.ts";
import { cancelPost } from "../../../src/posts/posts.ts";
import { updatePost } from "../../../src/posts/update-post.ts";
import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  replayWebhook,
  testWebhook,
} from "../../../src/reporting/webhooks/webhooks.ts";
import { deliverDue } from "../../../src/reporting/webhooks/webhook-deliveries.ts";
import type { WebhookArgs } from "../../../src/domain/webhooks/webhook.ts";
import {
  leaseWebhook,
  pruneDeliveries,
  readDueWebhooks,
  readNextDelivery,
} from "../../../src/store/queries/webhooks.ts";
import { SHOWN_COLUMNS } from "../../../src/store/schema/tables.ts";
import { toPost } from "../../../src/store/queries/posts.ts";
import { callerOf, callOf, createTestContext, type TestContext } from "../../support/context.ts";
import { addAccount, addPost, drain, readPost, seenOf } from "../../support/publishing.ts";
import { scriptedPlatform } from "../../support/scripted-platform.ts";
import { verifyDelivery } from "../../support/verify-delivery.ts";
import { startReceiver, type Delivery, type Receiver } from "../../support/webhook-receiver.ts";
import { queryOf } from "../../support/handles.ts";

/* What tools/create_webhook, tools/list_webhooks, tools/test_webhook, tools/replay_webhook and tools/delete_webhook do. */

let receiver: Receiver;
let ctx: TestContext;
let closers: AsyncDisposable[];
let fail: boolean;

beforeEach(async () => {
  fail = false;
  const platform = scriptedPlatform({
    publish: async (post) => {
      if (fail) throw new Error("It does not work.");
      return { state: "live", platformPostId: post.id, platformUrl: null };
    },
  });
  receiver = await startReceiver();
  const outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
  const media = { forPost: () => ({}) as never, release: async () => {} } as never;
  ctx = await createTestContext({ platformList: [platform], outbound, media });
  closers = [receiver, ctx, outbound];
});

afterEach(async () => {
  for (const closer of closers) await closer[Symbol.asyncDispose]();
});

async function make(args: Partial<WebhookArgs> = {}, caller: Partial<Caller> = {}) {
  const { webhook, secret } = await createWebhook(callOf(ctx, callerOf(caller)), {
    url: receiver.url,
    ...args,
  });
  return { id: webhook.id, webhook, secret: secret ?? "" };
}

/** Sends what is due to each webhook, as the loop does every second. */
async function deliver(signal = new AbortController().signal): Promise<void> {
  for (const { id } of await readDueWebhooks(ctx.store, ctx.clock.now())) await deliverDue(ctx, id, signal);
}

const advance = (ms: number): Promise<void> => ctx.clock.advance(ms);

async function log(id: string) {
  return (await listWebhooks(callOf(ctx), { id, limit: 100 })).deliveries ?? [];
}

const standing = async (id: string) => (await listWebhooks(callOf(ctx), { id, limit: 1 })).webhooks[0]!;
const verify = (delivery: Delivery, secret: string): any => verifyDelivery(delivery, secret, ctx.clock.now());
const kinds = (): string[] => receiver.deliveries.map((delivery) => JSON.parse(delivery.body).type);

describe("events", () => {
  it("tell of every state a post reaches, signed, in order, with the post as it was then", async () => {
    const { secret } = await make();
    const post = await addPost(ctx, await addAccount(ctx), {
      metadata: JSON.stringify({ title: "Señor 🎉" }),
    });
    await drain(ctx);
    await deliver();
    expect(kinds()).toEqual(["post.scheduled", "post.publishing", "post.published"]);
    const events = receiver.deliveries.map((delivery) => verify(delivery, secret));
    expect(events[0]).toEqual({
      type: "post.scheduled",
      timestamp: "2026-11-21T09:00:00.000Z",
      data: toPost(post),
    });
    expect(events.map((event) => [event.data.status, event.data.attempts])).toEqual([
      ["scheduled", 0],
      ["publishing", 1],
      ["published", 1],
    ]);
    expect(events[2].data).toEqual(toPost(await readPost(ctx, post.id)));
    expect(new Set(receiver.deliveries.map((delivery) => delivery.headers["webhook-id"])).size).toBe(3);
  });

  it("hold every field that is shown of a post", async () => {
    await make();
    await addPost(ctx, await addAccount(ctx));
    const { snapshot } = await queryOf(ctx.store)
      .selectFrom("webhook_deliveries")
      .select("snapshot")
      .executeTakeFirstOrThrow();
    expect(Object.keys(JSON.parse(snapshot)).sort()).toEqual([...SHOWN_COLUMNS, "warnings"].sort());
  });

  it("tell of failures, cancellations and new times", async () => {
    const { id } = await make();
    const account = await addAccount(ctx);
    fail = true;
    const failing = await addPost(ctx, account);
    await drain(ctx);
    const waiting = await addPost(ctx, account, { scheduled_at: ctx.clock.now() + HOUR });
    await updatePost(callOf(ctx), { id: waiting.id, caption: "Other words" });
    await updatePost(callOf(ctx), { id: waiting.id, scheduledAt: "2026-11-22T09:00:00Z" });
    await cancelPost(callOf(ctx), { id: waiting.id });
    await deliver();
    const told = receiver.deliveries
      .map(({ body }) => JSON.parse(body))
      .map(({ type, data }) => `${data.id} ${type}`);
    expect(told).toEqual([
      ...["scheduled", "publishing", "failed"].map((state) => `${failing.id} post.${state}`),
      ...["scheduled", "scheduled", "cancelled"].map((state) => `${waiting.id} post.${state}`),
    ]);
    expect((await log(id)).map((delivery) => delivery.status)).toEqual(Array(6).fill("delivered"));
  });

  it("tell of a channel that must be reconnected, once", async () => {
    const { secret } = await make({ events: ["account.reconnect_required"] });
    const account = await addAccount(ctx, { secrets_enc: "sealed" });
    await addPost(ctx, account, { scheduled_at: ctx.clock.now() + HOUR });
    await askToReconnect(ctx, seenOf(account), new PlatformFault("auth", "The password was changed."));
    await askToReconnect(ctx, seenOf(account), new PlatformFault("auth", "The password was changed."));
    await deliver();
    expect(receiver.deliveries).toHaveLength(1);
    expect(verify(receiver.deliveries[0]!, secret)).toMatchObject({
      type: "account.reconnect_required",
      data: {
        id: account.id,
        status: "reconnect_required",
        statusReason: "The password was changed.",
        queuedCount: 1,
        scopes: [],
      },
    });
    expect(receiver.deliveries[0]!.body).not.toContain("sealed");
  });

  it("are written with the change or not at all", async () => {
    await make();
    const account = await addAccount(ctx);
    const broken = addPost(ctx, account, { account_id: "acc_missing" });
    await expect(broken).rejects.toThrow();
    expect(await queryOf(ctx.store).selectFrom("webhook_deliveries").selectAll().execute()).toEqual([]);
  });

  it("are kept for those alone who want them", async () => {
    const account = await addAccount(ctx);
    const other = await addAccount(ctx);
    await addPost(ctx, account);
    expect(await readNextDelivery(ctx.store)).toBeNull();
    const wanting = await make({ events: ["post.published", "post.failed"], accountId: [account.id] });
    await make({}, { ownerId: "other" });
    await addPost(ctx, account);
    await addPost(ctx, other);
    await drain(ctx);
    const rows = await queryOf(ctx.store)
      .selectFrom("webhook_deliveries")
      .select(["webhook_id", "event"])
      .execute();
    expect(rows).toEqual(Array(2).fill({ webhook_id: wanting.id, event: "post.published" }));
  });
});

describe("a delivery that fails", () => {
  it("is tried again by the schedule, under the same id and with the same body, then given up", async () => {
    const { id } = await make({ events: ["post.scheduled"] });
    receiver.replies.push(...Array(10).fill({ status: 500 }));
    await addPost(ctx, await addAccount(ctx));
    const waits = [
      0,
      5 * SECOND,
      5 * MINUTE,
      30 * MINUTE,
      2 * HOUR,
      5 * HOUR,
      10 * HOUR,
      14 * HOUR,
      20 * HOUR,
      24 * HOUR,
    ];
    for (const [tries, wait] of waits.entries()) {
      if (wait > 0) {
        await advance(wait - 1);
        await deliver();
        expect(receiver.deliveries).toHaveLength(tries);
        await advance(1);
      }
      await deliver();
      expect(receiver.deliveries).toHaveLength(tries + 1);
    }
    expect(
      new Set(receiver.deliveries.map(({ headers, body }) => `${String(headers["webhook-id"])} ${body}`))
        .size,
    ).toBe(1);
    expect(await log(id)).toMatchObject([
      {
        status: "failed",
        tries: 10,
        httpStatus: 500,
        nextTryAt: null,
        error: expect.stringContaining("HTTP 500"),
      },
    ]);
    expect(await readNextDelivery(ctx.store)).toBeNull();
  });

  it("does not hold up those after it", async () => {
    const { id } = await make({ events: ["post.scheduled"] });
    receiver.replies.push({ status: 503 });
    const account = await addAccount(ctx);
    const first = await addPost(ctx, account);
    const second = await addPost(ctx, account);
    await deliver();
    await advance(5 * SECOND);
    await deliver();
    const ids = receiver.deliveries.map(({ body }) => JSON.parse(body).data.id);
    expect(ids).toEqual([first.id, second.id, first.id]);
    expect(await standing(id)).toMatchObject({ status: "active", statusReason: null, pending: 0 });
  });

  it.each([
    ["cut", "did not answer properly"],
    [{ status: 302, headers: { location: "http://127.0.0.1/" } }, "redirects"],
    [{ status: 401 }, "signature"],
    [{ status: 404 }, "nothing at this address"],
    [{ status: 418 }, "refused it (HTTP 418)"],
  ] as const)("says why in a sentence: %j", async (reply, reason) => {
    const { id } = await make({ events: ["post.scheduled"] });
    receiver.replies.push(reply);
    await addPost(ctx, await addAccount(ctx));
    await deliver();
    expect((await log(id))[0]).toMatchObject({
      status: "pending",
      tries: 1,
      error: expect.stringContaining(reason),
    });
    expect(await standing(id)).toMatchObject({
      status: "failing",
      statusReason: expect.stringContaining(reason),
      pending: 1,
    });
    expect(ctx.log.text()).not.toContain("canary-token");
  });

  it("waits as long as the receiver asks for", async () => {
    const { id } = await make({ events: ["post.scheduled"] });
    receiver.replies.push({ status: 429, headers: { "retry-after": "120" } });
    await addPost(ctx, await addAccount(ctx));
    await deliver();
    expect((await log(id))[0]?.nextTryAt).toBe("2026-11-21T09:02:00.000Z");
  });

  it("turns the webhook off when the address is gone, or nothing got through for days; a test turns it on again", async () => {
    const { id } = await make({ events: ["post.scheduled"] });
    const account = await addAccount(ctx);
    receiver.replies.push({ status: 410 });
    await addPost(ctx, account);
    await addPost(ctx, account);
    await deliver();
    expect(receiver.deliveries).toHaveLength(1);
    expect(await standing(id)).toMatchObject({
      status: "disabled",
      statusReason: expect.stringContaining("gone"),
      pending: 0,
    });
    await addPost(ctx, account);
    expect(await log(id)).toHaveLength(2);
    const refused = await replayWebhook(callOf(ctx), { id, since: "2026-11-21" }).catch(agentsWordsFor);
    expect(refused).toMatch(/turned off.*test_webhook/);

    receiver.replies.push({ status: 500 });
    expect(await testWebhook(callOf(ctx), { id })).toMatchObject({
      webhook: { status: "disabled" },
    });
    const tested = await testWebhook(callOf(ctx), { id });
    expect(tested).toMatchObject({
      webhook: { status: "active", statusReason: null },
      delivery: { status: "delivered" },
    });
    expect(await replayWebhook(callOf(ctx), { id, since: "2026-11-21" })).toMatchObject({
      replayed: 2,
      webhook: { pending: 2 },
    });

    for (let day = 0; day < 6; day += 1) {
      receiver.replies.push(...Array(50).fill({ status: 500 }));
      await addPost(ctx, account);
      for (const wait of [0, 5 * SECOND, 5 * MINUTE, DAY - 5 * MINUTE - 5 * SECOND]) {
        await advance(wait);
        await deliver();
      }
      if (day < 4) expect((await standing(id)).status).toBe("failing");
    }
    expect(await standing(id)).toMatchObject({
      status: "disabled",
      statusReason: expect.stringMatching(/Nothing has got through since/),
    });
  });
});

describe("sending", () => {
  it("is done by one process at a time, and taken over when that one is dead or hangs", async () => {
    const { id } = await make({ events: ["post.scheduled"] });
    await addPost(ctx, await addAccount(ctx));
    const take = (): Promise<unknown> =>
      ctx.store.write(async (tx) =>
        leaseWebhook(
          tx,
          { webhookId: id, workerId: "wrk_other" },
          { now: ctx.clock.now(), until: ctx.clock.now() + MINUTE },
        ),
      );
    expect(await take()).not.toBeNull();
    await deliver();
    await deliverDue(ctx, id, new AbortController().signal);
    expect(receiver.deliveries).toHaveLength(0);
    await advance(MINUTE);
    await deliver();
    expect(receiver.deliveries).toHaveLength(1);

    await addPost(ctx, await addAccount(ctx));
    expect(await take()).not.toBeNull();
    await ctx.store.claims.freeWorker("wrk_other", ctx.clock.now());
    await deliver();
    expect(receiver.deliveries).toHaveLength(2);
  });

  it("that our own end breaks off is no try, and leaves the webhook to the next process", async () => {
    const { id } = await make({ events: ["post.scheduled"] });
    await addPost(ctx, await addAccount(ctx));
    const stop = new AbortController();
    stop.abort(new Error("The process is stopping."));
    await deliver(stop.signal);
    expect((await log(id))[0]).toMatchObject({ status: "pending", tries: 0 });
    await deliver();
    expect((await log(id))[0]).toMatchObject({ status: "delivered", tries: 1 });
  });

  it("reaches no private address, whatever the name says later", async () => {
    const guarded = createOutbound({
      allowedHosts: [],
      lookup: async () => [{ address: "10.0.0.7", family: 4 }],
    });
    closers.push(guarded);
    const call = { ...callOf(ctx), ctx: { ...ctx, outbound: guarded } };
    await expect(createWebhook(call, { url: "http://127.0.0.1/hook" })).rejects.toThrow(
      /^url: .*private network/,
    );
    await expect(createWebhook(call, { url: "https://hooks.example/x" })).rejects.toThrow(
      /^url: .*private network/,
    );
    const { id } = await make({ events: ["post.scheduled"] });
    await addPost(ctx, await addAccount(ctx));
    await deliverDue({ ...ctx, outbound: guarded }, id, new AbortController().signal);
    expect((await log(id))[0]).toMatchObject({
      status: "pending",
      error: expect.stringContaining("private network"),
      httpStatus: null,
    });
    expect(receiver.deliveries).toHaveLength(0);
  });
});

describe("webhooks", () => {
  it("keep their secret to themselves; a made one is shown once", async () => {
    const { id, webhook, secret } = await make();
    expect(secret).toMatch(/^whsec_/);
    expect(webhook.url).toBe(`${receiver.url.split("?")[0]}?…`);
    const given = `whsec_${Buffer.from("0123456789abcdef0123456789abcdef").toString("base64")}`;
    const own = await createWebhook(callOf(ctx), { url: receiver.url, secret: given });
    expect(own.secret).toBeNull();
    await expect(make({ secret: "short" })).rejects.toThrow(/^secret: must be whsec_/);
    const shown = JSON.stringify([
      await listWebhooks(callOf(ctx), { limit: 50 }),
      await listWebhooks(callOf(ctx), { id, limit: 5 }),
    ]);
    const stored = JSON.stringify(await queryOf(ctx.store).selectFrom("webhooks").selectAll().execute());
    for (const hidden of [secret.slice(6), given.slice(6), "canary-token"]) {
      expect(shown).not.toContain(hidden);
      expect(stored).not.toContain(hidden);
    }
    await testWebhook(callOf(ctx), { id: own.webhook.id });
    expect(verify(receiver.deliveries[0]!, given)).toMatchObject({
      type: "webhook.test",
      data: { webhookId: own.webhook.id },
    });
    expect(receiver.deliveries[0]!.path).toContain("canary-token");
  });

  it("list their deliveries newest first, a page at a time", async () => {
    const { id } = await make({ events: ["post.scheduled"] });
    const account = await addAccount(ctx);
    for (let n = 0; n < 5; n += 1) await addPost(ctx, account);
    const all = await log(id);
    const first = await listWebhooks(callOf(ctx), { id, limit: 2 });
    const second = await listWebhooks(callOf(ctx), { id, limit: 3, cursor: first.nextCursor! });
    expect([...first.deliveries!, ...second.deliveries!]).toEqual(all);
    expect(second.nextCursor).toBeNull();
    expect(
      all.every(
        (delivery) => delivery.status === "pending" && delivery.tries === 0 && delivery.httpStatus === null,
      ),
    ).toBe(true);
    await expect(listWebhooks(callOf(ctx), { limit: 2, cursor: first.nextCursor! })).rejects.toThrow(
      /^cursor: /,
    );
    await expect(listWebhooks(callOf(ctx), { id, limit: 2, cursor: "x" })).rejects.toThrow(/^cursor: /);
  });

  it("send one event or all since a time again, in order and under their ids", async () => {
    const { id } = await make({ events: ["post.scheduled"] });
    const account = await addAccount(ctx);
    for (let n = 0; n < 3; n += 1) {
      await addPost(ctx, account);
      await advance(MINUTE);
    }
    await deliver();
    await testWebhook(callOf(ctx), { id });
    const ids = (): string[] =>
      receiver.deliveries.splice(0).map(({ headers }) => String(headers["webhook-id"]));
    const [one, two, three, test] = ids();
    expect(await replayWebhook(callOf(ctx), { id, deliveryId: two! })).toMatchObject({ replayed: 1 });
    await deliver();
    expect(ids()).toEqual([two]);
    expect(await replayWebhook(callOf(ctx), { id, since: "2026-11-21T09:01:00Z" })).toMatchObject({
      replayed: 2,
    });
    await deliver();
    expect(ids()).toEqual([two, three]);
    expect(await replayWebhook(callOf(ctx), { id, since: "2026-11-21" })).toMatchObject({ replayed: 3 });
    await deliver();
    expect(ids()).toEqual([one, two, three]);
    for (const deliveryId of [test!, "evt_missing"]) {
      await expect(replayWebhook(callOf(ctx), { id, deliveryId })).rejects.toThrow(
        /^deliveryId: there is no event/,
      );
    }
    await expect(replayWebhook(callOf(ctx), { id })).rejects.toThrow(/give one of the two/);
  });

  it("are gone with their log when deleted", async () => {
    const { id } = await make();
    await addPost(ctx, await addAccount(ctx));
    expect((await deleteWebhook(callOf(ctx), { id })).webhook).toMatchObject({ id, pending: 1 });
    expect(await readNextDelivery(ctx.store)).toBeNull();
    await expect(deleteWebhook(callOf(ctx), { id })).rejects.toThrow(/no webhook/);
    await addPost(ctx, await addAccount(ctx));
    expect(await queryOf(ctx.store).selectFrom("webhook_deliveries").selectAll().execute()).toEqual([]);
  });

  it("of a limited key tell of its accounts alone, and others are not there for it", async () => {
    const [mine, other] = [await addAccount(ctx), await addAccount(ctx)];
    const limited = { accountIds: [mine.id] };
    const whole = await make();
    const own = await make({}, limited);
    expect(own.webhook.accountIds).toEqual([mine.id]);
    for (const field of ["accountId", "accountIds"])
      await expect(make({ [field]: [mine.id, other.id] }, limited)).rejects.toThrow(
        `${field}[1]: there is no account`,
      );
    const { webhooks } = await listWebhooks(callOf(ctx, callerOf(limited)), { limit: 50 });
    expect(webhooks.map(({ id }) => id)).toEqual([own.id]);
    await expect(deleteWebhook(callOf(ctx, callerOf(limited)), { id: whole.id })).rejects.toThrow(
      /no webhook/,
    );
    await addPost(ctx, other);
    expect([(await log(whole.id)).length, (await log(own.id)).length]).toEqual([1, 0]);
  });

  it("are at most fifty", async () => {
    for (let n = 0; n < 50; n += 1) await make({ events: ["post.failed"] satisfies EventKind[] });
    await expect(make()).rejects.toThrow(/50 webhooks already/);
  });
});

it("old deliveries are forgotten, waiting ones never", async () => {
  const { id } = await make({ events: ["post.scheduled"] });
  await addPost(ctx, await addAccount(ctx));
  await deliver();
  await addPost(ctx, await addAccount(ctx));
  await advance(31 * DAY);
  await addPost(ctx, await addAccount(ctx));
  const before = ctx.clock.now() - 30 * DAY;
  expect(await ctx.store.write(async (tx) => pruneDeliveries(tx, { before, limit: 10 }))).toBe(1);
  expect((await log(id)).map((delivery) => delivery.status)).toEqual(["pending", "pending"]);
});
