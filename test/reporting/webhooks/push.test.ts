import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createKey, revokeKey, type KeyInput } from "../../../src/access/api-keys.ts";
import type { Caller } from "../../../src/domain/permissions.ts";
import { DAY, HOUR, MINUTE } from "../../../src/domain/time.ts";
import type { DraftEvent } from "../../../src/domain/webhooks/event-data.ts";
import { createOutbound } from "../../../src/media/outbound/outbound.ts";
import { PlatformFault } from "../../../src/ports/platform-io.ts";
import { noteEvent } from "../../../src/store/queries/events.ts";
import { readDueWebhooks } from "../../../src/store/queries/webhooks.ts";
import { subscribeBrowser, unsubscribeBrowser } from "../../../src/reporting/webhooks/browsers.ts";
import { readPublicPushKey } from "../../../src/reporting/webhooks/push.ts";
import { deliverDue } from "../../../src/reporting/webhooks/webhook-deliveries.ts";
import { createWebhook, listWebhooks, testWebhook } from "../../../src/reporting/webhooks/webhooks.ts";
import { callerOf, callOf, createTestContext, type TestContext } from "../../support/context.ts";
import { queryOf } from "../../support/handles.ts";
import { addAccount, addPost, drain } from "../../support/publishing.ts";
import { type Browser, startPushService } from "../../support/push-service.ts";
import { scriptedPlatform } from "../../support/scripted-platform.ts";

/* What a browser is told: Web Push, to a strict push service that decrypts it. */

let service: Awaited<ReturnType<typeof startPushService>>;
let ctx: TestContext;
let closers: AsyncDisposable[];
let publicKey: string;
let problem: string;

beforeEach(async () => {
  problem = "The picture is too large.";
  const platform = scriptedPlatform({
    publish: async () => {
      throw new PlatformFault("rejected", problem);
    },
  });
  service = await startPushService();
  const outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
  const media = { forPost: () => ({}) as never, release: async () => {} } as never;
  ctx = await createTestContext({ platformList: [platform], outbound, media });
  publicKey = await readPublicPushKey(ctx);
  closers = [service, ctx, outbound];
});

afterEach(async () => {
  expect(service.refused).toEqual([]);
  for (const closer of closers) await closer[Symbol.asyncDispose]();
});

/** A person, by the id of a key of theirs. */
async function person(input: KeyInput = {}): Promise<Caller> {
  const { apiKey } = await createKey(callOf(ctx), { permissions: ["read"], ...input });
  return callerOf({ keyId: apiKey.id, permissions: apiKey.permissions, accountIds: apiKey.accountIds });
}

async function deliver(): Promise<void> {
  for (const { id } of await readDueWebhooks(ctx.store, ctx.clock.now()))
    await deliverDue(ctx, id, new AbortController().signal);
}

type Account = Awaited<ReturnType<typeof addAccount>>;

async function failPost(account: Account, caption = "Hello"): Promise<void> {
  await addPost(ctx, account, { caption });
  await drain(ctx);
  await deliver();
}

const listed = async () => (await listWebhooks(callOf(ctx), { limit: 50 })).webhooks;
const subscribe = (caller: Caller, { subscription }: Browser, name = "Firefox on Linux") =>
  subscribeBrowser(callOf(ctx, caller), { ...subscription, name });

describe("a browser that is subscribed", () => {
  it("is told what needs a person, encrypted, with the page where it is dealt with", async () => {
    const browser = service.subscribe(publicKey);
    const { webhook } = await subscribe(await person(), browser);
    expect(webhook).toMatchObject({
      format: "push",
      url: `${service.origin}/… (Firefox on Linux)`,
      events: ["post.failed", "account.reconnect_required", "account.expiring", "draft.waiting"],
      accountIds: null,
    });
    await failPost(await addAccount(ctx, { name: "News" }));
    expect(browser.seen).toEqual([
      {
        id: expect.stringMatching(/^evt_/),
        title: 'A post did not go out on "News" (Scripted)',
        body: expect.stringContaining(`“Hello”\nIt was due on Saturday 21 November 2026, 09:00 (UTC).\n`),
        url: "/app/trouble",
      },
    ]);
    expect(service.headers[0]).toMatchObject({ ttl: String(DAY / 1_000), urgency: "high" });
    await testWebhook(callOf(ctx), { id: webhook.id });
    expect(browser.seen[1]).toMatchObject({ title: "Posthorn: a test", url: "/app/settings" });
  });

  it("gets what fits, however long its words are", async () => {
    const browser = service.subscribe(publicKey);
    await subscribe(await person(), browser);
    problem = "Änderung 🎉 & ".repeat(500);
    await failPost(await addAccount(ctx, { name: "Ж".repeat(500) }), "日本語 & <b> ".repeat(2_000));
    expect(browser.seen).toHaveLength(1);
  });

  it("is found again, and taken over by another person who sits at it", async () => {
    const browser = service.subscribe(publicKey);
    const [one, two] = [await person(), await person()];
    const first = await subscribe(one, browser);
    expect(await subscribe(one, browser)).toEqual(first);
    const second = await subscribe(two, browser);
    expect(await listed()).toEqual([second.webhook]);
    await unsubscribeBrowser(callOf(ctx, one), { endpoint: browser.subscription.endpoint });
    expect(await listed()).toEqual([]);
    await unsubscribeBrowser(callOf(ctx, one), { endpoint: browser.subscription.endpoint });
  });

  it("is another owner's own", async () => {
    const browser = service.subscribe(publicKey);
    await subscribe(await person(), browser);
    const other = callOf(ctx, callerOf({ ownerId: "other", keyId: "key_other" }));
    await unsubscribeBrowser(other, { endpoint: browser.subscription.endpoint });
    expect(await listed()).toHaveLength(1);
  });

  it("hears only of what its person's key reaches", async () => {
    const [mine, theirs] = [await addAccount(ctx), await addAccount(ctx)];
    const browser = service.subscribe(publicKey);
    await subscribe(await person({ accountIds: [mine.id] }), browser);
    await failPost(theirs, "theirs");
    await failPost(mine, "mine");
    expect(browser.seen.map(({ body }) => body)).toEqual([expect.stringContaining("“mine”")]);
  });

  it("hears nothing more once that key is revoked or over", async () => {
    const [gone, over] = [service.subscribe(publicKey), service.subscribe(publicKey)];
    const caller = await person();
    await subscribe(caller, gone);
    await subscribe(await person({ expires: "2026-11-22T09:00:00Z" }), over);
    await revokeKey(callOf(ctx), { key: caller.keyId });
    await failPost(await addAccount(ctx));
    expect([gone.seen.length, over.seen.length]).toEqual([0, 1]);
    expect(await listed()).toHaveLength(1);
    await ctx.clock.advance(2 * DAY);
    await failPost(await addAccount(ctx));
    expect(over.seen).toHaveLength(1);
    expect(await listed()).toEqual([]);
  });

  it.each([404, 410])("ends with an answer of %d, and is not tried again", async (status) => {
    const browser = service.subscribe(publicKey);
    await subscribe(await person(), browser);
    service.failures.push(status);
    await failPost(await addAccount(ctx));
    expect(await listed()).toEqual([]);
    await ctx.clock.advance(DAY);
    await deliver();
    expect(browser.seen).toEqual([]);
  });

  it("is tried again where the service has a problem", async () => {
    const browser = service.subscribe(publicKey);
    await subscribe(await person(), browser);
    service.failures.push(503, 403);
    await failPost(await addAccount(ctx));
    await ctx.clock.advance(MINUTE);
    await deliver();
    expect(await listed()).toMatchObject([
      { status: "failing", statusReason: expect.stringMatching(/^The push service does not know this Post/) },
    ]);
    await ctx.clock.advance(HOUR);
    await deliver();
    expect(browser.seen).toHaveLength(1);
    expect(await listed()).toMatchObject([{ status: "active", pending: 0 }]);
  });

  it("is led to the draft that waits, and to nothing where there is no page", async () => {
    const browser = service.subscribe(publicKey);
    await subscribe(await person(), browser);
    const snapshot: DraftEvent = {
      draftId: "dft_1",
      title: "Launch",
      text: "We are live",
      accountIds: [],
      scheduledAt: null,
      writtenBy: "Claude",
      decision: null,
      posts: [],
    };
    const note = (): Promise<void> =>
      ctx.store.write((tx) =>
        noteEvent(tx, {
          ownerId: "default",
          kind: "draft.waiting",
          accountIds: [],
          snapshot,
          at: ctx.clock.now(),
        }),
      );
    await note();
    await deliver();
    Object.assign(ctx.settings, { hasPage: false });
    await note();
    await ctx.clock.advance(MINUTE);
    await deliver();
    expect(browser.seen.map(({ url }) => url)).toEqual(["/app/review?draft=dft_1", null]);
    expect(browser.seen.map(({ body }) => body.split("\n").at(-1))).toEqual([
      "Decide on the page.",
      "Decide with: posthorn approve dft_1",
    ]);
  });
});

describe("the keys that push services know us by", () => {
  it("are made once for all processes, and sealed", async () => {
    const fresh = await createTestContext();
    closers.push(fresh);
    const keys = await Promise.all([1, 2, 3].map(() => readPublicPushKey({ ...fresh })));
    expect(new Set(keys).size).toBe(1);
    expect(Buffer.from(keys[0] ?? "", "base64url")).toHaveLength(65);
    const row = await queryOf(fresh.store)
      .selectFrom("meta")
      .selectAll()
      .where("key", "=", "push_keys")
      .executeTakeFirstOrThrow();
    expect(row.value).toMatch(/^v1\./);
  });
});

describe("what is no subscription", () => {
  const refuse = async (over: object): Promise<string> =>
    subscribeBrowser(callOf(ctx, await person()), {
      ...service.subscribe(publicKey).subscription,
      ...over,
    }).then(
      () => "",
      (error: Error) => error.message,
    );

  it("is refused: addresses inside, keys that are none", async () => {
    const { keys } = service.subscribe(publicKey).subscription;
    expect(await refuse({ endpoint: "https://10.0.0.1/push" })).toMatch(
      /^url: The address leads to a private/,
    );
    const off = Buffer.from(keys.p256dh, "base64url").fill(1, 1).toString("base64url");
    for (const over of [
      { endpoint: "javascript:alert(1)" },
      { keys: { ...keys, auth: "short" } },
      { keys: { ...keys, p256dh: "AAAA" } },
      { keys: { ...keys, p256dh: off } },
    ])
      expect(await refuse(over)).toMatch(/^endpoint, keys: this is no subscription of a browser/);
    expect(await listed()).toEqual([]);
  });

  it("is refused by create_webhook, which takes one as an address", async () => {
    const { endpoint, keys } = service.subscribe(publicKey).subscription;
    await expect(createWebhook(callOf(ctx), { url: endpoint, format: "push" })).rejects.toThrow(
      /^url: it has/,
    );
    const url = `${endpoint}#${new URLSearchParams(keys).toString()}`;
    const { webhook, secret } = await createWebhook(callOf(ctx), { url, format: "push" });
    expect([webhook.url, secret]).toEqual([`${service.origin}/…`, null]);
    await expect(subscribeBrowser(callOf(ctx), { endpoint, keys })).resolves.toBeDefined();
  });

  it("is not made without end, and takes no place from others", async () => {
    const caller = await person();
    for (let n = 0; n < 50; n++) await subscribe(caller, service.subscribe(publicKey));
    await expect(subscribe(caller, service.subscribe(publicKey))).rejects.toThrow(/50 browsers with notices/);
    const url = `${service.origin}/hook`;
    await expect(createWebhook(callOf(ctx), { url })).resolves.toBeDefined();
  });
});
