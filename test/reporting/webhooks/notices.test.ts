import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HOUR, MINUTE, SECOND } from "../../../src/domain/time.ts";
import type { DraftEvent } from "../../../src/domain/webhooks/event-data.ts";
import {
  EVENT_KINDS,
  type EventKind,
  type WebhookArgs,
  type WebhookFormat,
} from "../../../src/domain/webhooks/webhook.ts";
import { createOutbound } from "../../../src/media/outbound/outbound.ts";
import type { Caller } from "../../../src/domain/permissions.ts";
import { PlatformFault } from "../../../src/ports/platform-io.ts";
import { askToReconnect } from "../../../src/channels/connecting/renew-tokens.ts";
import { noteEvent, notePosts } from "../../../src/store/queries/events.ts";
import { readDueWebhooks } from "../../../src/store/queries/webhooks.ts";
import { deliverDue, startWebhookLoop } from "../../../src/reporting/webhooks/webhook-deliveries.ts";
import {
  createWebhook,
  listWebhooks,
  replayWebhook,
  testWebhook,
} from "../../../src/reporting/webhooks/webhooks.ts";
import { CHAT_TOKENS, type ChatServices, startChatServices } from "../../support/chat-services.ts";
import { callerOf, callOf, createTestContext, type TestContext } from "../../support/context.ts";
import { queryOf } from "../../support/handles.ts";
import { MAIL_LOGIN, startMailServer } from "../../support/mail-server.ts";
import { addAccount, addPost, drain, seenOf } from "../../support/publishing.ts";
import { scriptedPlatform } from "../../support/scripted-platform.ts";
import { listen } from "../../support/listen.ts";

/* What people are told: tools/create_webhook and tools/test_webhook with formats for people. */

const CHATS = ["ntfy", "slack", "discord", "telegram"] as const;

type Account = Awaited<ReturnType<typeof addAccount>>;

let chats: ChatServices;
let mail: Awaited<ReturnType<typeof startMailServer>>;
let ctx: TestContext;
let closers: AsyncDisposable[];
let problem: string;

beforeEach(async () => {
  problem = "The picture is too large. Give one of at most 1 MB.";
  const platform = scriptedPlatform({
    publish: async () => {
      throw new PlatformFault("rejected", problem);
    },
  });
  chats = await startChatServices();
  mail = await startMailServer();
  const outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
  const media = { forPost: () => ({}) as never, release: async () => {} } as never;
  ctx = await createTestContext({ platformList: [platform], outbound, media, mailer: mail.mailer });
  closers = [chats, mail, ctx, outbound];
});

afterEach(async () => {
  expect(chats.refused).toEqual([]);
  for (const closer of closers) await closer[Symbol.asyncDispose]();
});

async function make(format: WebhookFormat, args: Partial<WebhookArgs> = {}, caller: Partial<Caller> = {}) {
  const url = format === "email" ? "mailto:me@example.com" : chats.targets[format as "ntfy"];
  const made = await createWebhook(callOf(ctx, callerOf(caller)), { url, format, ...args });
  expect(made.secret).toBeNull();
  return made.webhook;
}

async function deliver(): Promise<void> {
  for (const { id } of await readDueWebhooks(ctx.store, ctx.clock.now()))
    await deliverDue(ctx, id, new AbortController().signal);
}

/** Posts that fail at once. */
async function failPosts(account: Account, ...captions: string[]): Promise<void> {
  for (const caption of captions) await addPost(ctx, account, { caption });
  await drain(ctx);
}

const texts = (): string[] =>
  chats.seen.map(({ title, text }) => (title === null ? text : `${title}\n${text}`));

const draft = (over: Partial<DraftEvent> = {}): DraftEvent => ({
  draftId: "dft_1",
  title: "Launch",
  text: "We are live",
  accountIds: [],
  scheduledAt: "2026-11-22T09:00:00.000Z",
  writtenBy: "Claude",
  decision: null,
  posts: [],
  ...over,
});

type DraftKind = Extract<EventKind, `draft.${string}`>;

async function noteDraft(kind: DraftKind, snapshot: DraftEvent, ownerId = "default"): Promise<void> {
  const { accountIds } = snapshot;
  await ctx.store.write((tx) => noteEvent(tx, { ownerId, kind, accountIds, snapshot, at: ctx.clock.now() }));
}

describe("a failed post", () => {
  it.each(CHATS)("is told by %s with channel, text, reason and what to do", async (format) => {
    const webhook = await make(format);
    expect(webhook.events).toEqual([
      "post.failed",
      "account.reconnect_required",
      "account.expiring",
      "draft.waiting",
    ]);
    const post = await addPost(ctx, await addAccount(ctx, { name: "Señor & <Co>" }), {
      caption: "Hello 🎉 <!channel> @everyone",
    });
    await drain(ctx);
    await deliver();
    expect(chats.seen.map(({ service }) => service)).toEqual([format]);
    const [text = ""] = texts();
    const plain = text
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&amp;", "&")
      .replaceAll(/\\([^a-z0-9\s])/gi, "$1");
    expect(plain).toContain('A post did not go out on "Señor & <Co>" (Scripted)');
    expect(plain).toContain("“Hello 🎉 <!channel> @everyone”");
    expect(plain).toContain("It was due on Saturday 21 November 2026, 09:00 (UTC).");
    expect(plain).toContain(problem);
    expect(plain).toContain("Once that is mended, send it again on the page (or ask your agent to).");
    expect(plain).toContain("http://localhost:4747/app/trouble");
    expect(plain).not.toContain(post.id);
    const { deliveries } = await listWebhooks(callOf(ctx), { id: webhook.id, limit: 10 });
    expect(deliveries).toMatchObject([{ event: "post.failed", status: "delivered", tries: 1, error: null }]);
  });

  it("is told by e-mail", async () => {
    const webhook = await make("email");
    await failPosts(await addAccount(ctx), "Hello\nworld");
    await deliver();
    expect(mail.mails).toMatchObject([
      {
        from: "posthorn@example.com",
        to: ["me@example.com"],
        subject: 'A post did not go out on "My channel" (Scripted)',
        text: expect.stringContaining(
          `“Hello world”\nIt was due on Saturday 21 November 2026, 09:00 (UTC).\n${problem}`,
        ),
        raw: expect.stringMatching(/^Message-ID: <evt_\w+@example\.com>\r$/m),
      },
    ]);
    expect((await listWebhooks(callOf(ctx), { id: webhook.id, limit: 1 })).deliveries).toMatchObject([
      { status: "delivered", httpStatus: null },
    ]);
  });

  it.each(CHATS)("fits into what %s takes, however long its words are", async (format) => {
    await make(format);
    problem = "Änderung 🎉 & ".repeat(500);
    const account = await addAccount(ctx, { name: "Ж".repeat(500) });
    await failPosts(account, "日本語 & <b> ".repeat(2_000));
    await deliver();
    await failPosts(account, ...Array<string>(40).fill("日本語 & <b> ".repeat(2_000)));
    await ctx.clock.advance(MINUTE);
    await deliver();
    expect(texts()).toHaveLength(2);
    expect(texts()[1]).toContain("and 39 more");
  });
});

describe("the rate", () => {
  it("is a message a minute and channel; what came meanwhile is one", async () => {
    await make("slack");
    const [one, two] = [await addAccount(ctx, { name: "One" }), await addAccount(ctx, { name: "Two" })];
    await failPosts(one, "first");
    await deliver();
    for (const caption of ["second", "third", "fourth", "fifth"]) {
      await ctx.clock.advance(10 * SECOND);
      await failPosts(one, caption);
      await deliver();
    }
    await failPosts(two, "other");
    await deliver();
    expect(texts().map((text) => text.match(/“(\w+)”/)?.[1])).toEqual(["first", "other"]);
    await ctx.clock.advance(20 * SECOND - 1);
    await deliver();
    expect(texts()).toHaveLength(2);
    await ctx.clock.advance(1);
    await deliver();
    expect(texts()).toHaveLength(3);
    expect(texts()[2]).toContain("“second”");
    expect(texts()[2]).toContain('and 3 more:\n• A post did not go out on "One" (Scripted): “third”');
    await deliver();
    expect(texts()).toHaveLength(3);
  });

  it("counts what was taken, not what was refused", async () => {
    const { id } = await make("discord");
    chats.failures.push(500);
    await failPosts(await addAccount(ctx), "first");
    await deliver();
    expect(texts()).toEqual([]);
    await ctx.clock.advance(5 * SECOND);
    await deliver();
    expect(texts()).toHaveLength(1);
    const { webhooks } = await listWebhooks(callOf(ctx), { id, limit: 1 });
    expect(webhooks).toMatchObject([{ status: "active", pending: 0 }]);
  });

  it("merges what shares a channel, also by way of a draft for several", async () => {
    await make("telegram", { events: ["post.failed", "draft.partly"] });
    const [one, two] = [await addAccount(ctx, { name: "One" }), await addAccount(ctx, { name: "Two" })];
    await failPosts(one, "first");
    await failPosts(two, "second");
    await noteDraft("draft.partly", draft({ accountIds: [one.id, two.id] }));
    await deliver();
    expect(texts()).toHaveLength(1);
    expect(texts()[0]).toMatch(
      /“first”[^]*and 2 more:[^]*“second”[^]*A draft went out only in part: “Launch”/,
    );
  });

  it("is each receiver's own, and that of programs is none", async () => {
    await make("slack");
    await make("discord");
    const standard = await createWebhook(callOf(ctx), {
      url: `${chats.origin}/hook`,
      events: ["post.failed"],
    });
    const account = await addAccount(ctx);
    await failPosts(account, "first", "second");
    await deliver();
    expect(chats.seen.map(({ service }) => service).sort()).toEqual(["discord", "slack"]);
    const { deliveries } = await listWebhooks(callOf(ctx), { id: standard.webhook.id, limit: 10 });
    expect(deliveries?.map(({ tries }) => tries)).toEqual([1, 1]);
    expect(chats.refused.splice(0)).toHaveLength(2);
  });

  it("does not wait for a clock that was put back", async () => {
    await make("ntfy");
    const account = await addAccount(ctx);
    await failPosts(account, "first");
    await deliver();
    await queryOf(ctx.store)
      .updateTable("webhooks")
      .set({ last_told: JSON.stringify({ [account.id]: ctx.clock.now() + HOUR }) })
      .execute();
    await failPosts(account, "second");
    await deliver();
    expect(texts()).toHaveLength(2);
  });
});

describe("messages", () => {
  it("say how a channel is connected again", async () => {
    await make("ntfy");
    const account = await addAccount(ctx, { name: "News" });
    await addPost(ctx, account, { scheduled_at: ctx.clock.now() + HOUR });
    await askToReconnect(ctx, seenOf(account), new PlatformFault("auth", "The password was changed."));
    await deliver();
    expect(texts()).toEqual([
      `"News" (Scripted) must be reconnected\nThe password was changed.\n1 post waits for it.\nReconnect it on the page (or ask your agent to).\n\nhttp://localhost:4747/app/channels?account=${account.id}`,
    ]);
    expect(chats.seen[0]?.headers).toMatchObject({ priority: "4", tags: "warning" });
  });

  it("name commands where there is no page", async () => {
    Object.assign(ctx.settings, { hasPage: false });
    await make("ntfy");
    const [one, two] = [await addAccount(ctx, { name: "News" }), await addAccount(ctx)];
    const post = await addPost(ctx, one);
    await drain(ctx);
    await askToReconnect(ctx, seenOf(two), new PlatformFault("auth", "The password was changed."));
    await deliver();
    expect(texts()[0]).toContain(
      `Once that is mended, send it again with: posthorn retry ${post.id} (or ask your agent to).`,
    );
    expect(texts()[1]).toContain(
      `Reconnect it with: posthorn connect scripted --account ${two.id} (or ask your agent to).`,
    );
    expect(chats.seen.map(({ link }) => link)).toEqual([null, null]);
  });

  it("link to a live post where that is told", async () => {
    await make("ntfy", { events: ["post.published"] });
    const account = await addAccount(ctx);
    const post = await addPost(ctx, account, { scheduled_at: ctx.clock.now() + HOUR });
    const live = { status: "published", platform_url: "https://scripted.example/1" } as const;
    await ctx.store.write((tx) => notePosts(tx, [{ ...post, ...live }]));
    await deliver();
    expect(chats.seen).toMatchObject([{ link: "https://scripted.example/1" }]);
    expect(texts()[0]).toMatch(
      /^A post is live on "My channel" \(Scripted\)\n[^]*\n\nhttps:\/\/scripted\.example\/1$/,
    );
  });

  it("tell of drafts that wait, are decided, and went out in part", async () => {
    await make("slack", { events: ["draft.waiting", "draft.decided", "draft.partly"] });
    const account = await addAccount(ctx, { name: "News" });
    const accountIds = [account.id];
    await noteDraft("draft.waiting", draft({ accountIds }));
    await deliver();
    expect(texts()[0]).toMatch(
      /^A draft waits for your decision\n“Launch”\n“We are live”\nFor: "News" \(Scripted\)\.\nIts time: Sunday 22 November 2026, 09:00 \(UTC\)\.\nWritten by Claude\.\n/,
    );
    await ctx.clock.advance(MINUTE);
    const decision = { what: "changes", by: "Alice", note: "Shorter, please" } as const;
    await noteDraft("draft.decided", draft({ accountIds, decision }));
    await deliver();
    expect(texts()[1]).toMatch(/^A draft needs changes by Alice\n[^]*Note: “Shorter, please”/);
    await ctx.clock.advance(MINUTE);
    const failed = {
      id: "post_1",
      accountId: account.id,
      status: "failed",
      platformUrl: null,
      error: "Too long.",
    };
    await noteDraft("draft.partly", draft({ accountIds, posts: [failed] }));
    await deliver();
    expect(texts()[2]).toContain('"News" (Scripted): failed. Too long.');
  });

  it.each([...CHATS, "email"] as const)("are tried out by a test: %s", async (format) => {
    const { id } = await make(format);
    expect(await testWebhook(callOf(ctx), { id })).toMatchObject({
      webhook: { format, status: "active" },
      delivery: { event: "webhook.test", status: "delivered", error: null },
    });
    const told = format === "email" ? mail.mails.map(({ text }) => text) : texts();
    expect(told).toEqual([expect.stringContaining("Messages from Posthorn arrive here.")]);
  });

  it("are sent again by a replay", async () => {
    const { id } = await make("slack");
    await failPosts(await addAccount(ctx), "first");
    await deliver();
    expect(await replayWebhook(callOf(ctx), { id, since: "2026-11-21" })).toMatchObject({ replayed: 1 });
    await ctx.clock.advance(MINUTE);
    await deliver();
    expect(texts()).toHaveLength(2);
    expect(texts()[1]).toBe(texts()[0]);
  });
});

describe("what stands in the way", () => {
  it.each([
    ["slack", 404, "knows nothing at this address"],
    ["telegram", 400, "does not take the message (HTTP 400). Check the token, chat or topic"],
    ["ntfy", 403, "does not let it write there"],
    ["discord", 401, "does not accept the access"],
    ["discord", 429, "come again later"],
  ] as const)("is told in a sentence: %s, HTTP %i", async (format, status, reason) => {
    const { id } = await make(format);
    chats.failures.push(status);
    const { delivery } = await testWebhook(callOf(ctx), { id });
    expect(delivery).toMatchObject({
      status: "failed",
      httpStatus: status,
      error: expect.stringContaining(reason),
    });
  });

  it("by e-mail is told in a sentence, too, without the password", async () => {
    const { id } = await make("email");
    const refused = await make("email", { url: "mailto:unknown@example.com" });
    expect((await testWebhook(callOf(ctx), { id: refused.id })).delivery.error).toBe(
      "The mail server does not take messages from this sender to this address (SMTP 550).",
    );
    await mail[Symbol.asyncDispose]();
    const { delivery } = await testWebhook(callOf(ctx), { id });
    expect(delivery.error).toBe("The mail server of POSTHORN_SMTP_URL could not be reached, or broke off.");
    expect(ctx.log.text()).not.toContain(MAIL_LOGIN.password);
    Object.assign(ctx, { mailer: null });
    expect((await testWebhook(callOf(ctx), { id })).delivery.error).toMatch(/POSTHORN_SMTP_URL, for example/);
    await expect(make("email")).rejects.toThrow(
      /^format: e-mail needs a mail server\. Set POSTHORN_SMTP_URL/,
    );
  });

  it("at one receiver does not hold up the others", async () => {
    const { createServer } = await import("node:http");
    let asked = (): void => {};
    const wasAsked = new Promise<void>((done) => (asked = done));
    const dead = createServer((request, response) => {
      if (request.method === "HEAD") return void response.end();
      asked();
    });
    const listening = await listen(dead);
    const { port } = dead.address() as { port: number };
    await make("slack", { url: `http://127.0.0.1:${port}/services/x` });
    await make("discord");
    await failPosts(await addAccount(ctx), "first");
    const loop = startWebhookLoop(ctx);
    await wasAsked;
    await expect.poll(() => texts().length).toBe(1);
    await loop.close(10);
    await listening[Symbol.asyncDispose]();
  });

  it.each([
    [
      "accountIds",
      { accountId: ["acc_1"], accountIds: ["acc_1"] },
      /^accountIds: means the same as accountId/,
    ],
    ["secret", { secret: `whsec_${"a".repeat(40)}` }, /^secret: nothing is signed for slack/],
    ["url", { url: "https://10.0.0.1/x" }, /^url: .*private network/],
    ["url", { url: "https://user:canary@hooks.slack.com/x" }, /^url: .*user name or password/],
  ] satisfies [string, Partial<WebhookArgs>, RegExp][])(
    "is refused when it is made: %s",
    async (_field, args, reason) => {
      await expect(make("slack", args)).rejects.toThrow(reason);
    },
  );
});

describe("receivers", () => {
  it("keep their tokens to themselves", async () => {
    for (const format of [...CHATS, "email"] as const) await make(format);
    const account = await addAccount(ctx);
    await failPosts(account, "first");
    chats.failures.push(500, 403, 404);
    await deliver();
    const { webhooks } = await listWebhooks(callOf(ctx), { limit: 50 });
    const logs = await Promise.all(webhooks.map(({ id }) => listWebhooks(callOf(ctx), { id, limit: 10 })));
    const rows = await queryOf(ctx.store).selectFrom("webhooks").selectAll().execute();
    const everything = JSON.stringify([webhooks, logs, rows]) + ctx.log.text();
    expect(everything).not.toMatch(/canary/i);
    for (const token of Object.values(CHAT_TOKENS)) expect(everything).not.toContain(token);
    expect(webhooks.map(({ url }) => url)).toEqual([
      `${chats.origin}/…`,
      `${chats.origin}/…`,
      `${chats.origin}/…`,
      "telegram://…@-100987",
      "mailto:me@example.com",
    ]);
  });

  it("of programs hear of everything unless they say what, and of drafts in our words", async () => {
    const { webhook } = await createWebhook(callOf(ctx), { url: `${chats.origin}/hook` });
    expect(webhook).toMatchObject({ format: "standard", events: [...EVENT_KINDS] });
    await noteDraft("draft.waiting", draft());
    const { snapshot } = await queryOf(ctx.store)
      .selectFrom("webhook_deliveries")
      .select("snapshot")
      .executeTakeFirstOrThrow();
    expect(JSON.parse(snapshot)).toEqual(draft());
  });

  it("hear nothing of another owner's, nor beyond their channels", async () => {
    const [mine, other] = [await addAccount(ctx), await addAccount(ctx)];
    await make("discord", { events: ["draft.waiting"] }, { ownerId: "other" });
    await make("slack", { events: ["draft.waiting"], accountIds: [mine.id] });
    await make("telegram", { events: ["draft.waiting"] }, { accountIds: [mine.id] });
    await noteDraft("draft.waiting", draft({ accountIds: [other.id] }));
    await noteDraft("draft.waiting", draft({ accountIds: [mine.id, other.id] }));
    await noteDraft("draft.waiting", draft());
    await deliver();
    expect(texts()).toEqual([]);
    await noteDraft("draft.waiting", draft({ accountIds: [mine.id] }));
    await deliver();
    expect(chats.seen.map(({ service }) => service).sort()).toEqual(["slack", "telegram"]);
    await noteDraft("draft.waiting", draft(), "other");
    await deliver();
    expect(chats.seen.at(-1)?.service).toBe("discord");
  });
});
