import { describe, expect, it } from "vitest";
import type { Context } from "../../../src/app/compose.ts";
import { HOUR, MINUTE } from "../../../src/domain/time.ts";
import { examinePublishing } from "../../../src/app/operations/doctor-checks.ts";
import { PlatformFault } from "../../../src/ports/platform-io.ts";
import { createTestContext, type TestContext } from "../../support/context.ts";
import { addAccount, addPost, drain } from "../../support/publishing.ts";
import { scriptedPlatform } from "../../support/scripted-platform.ts";
import { queryOf } from "../../support/handles.ts";

const platform = scriptedPlatform({
  publish: async (post) => {
    if (post.caption === "bad") throw new PlatformFault("rejected", "The platform refused it.");
    return { state: "live", platformPostId: post.id, platformUrl: null };
  },
});

const open = (): Promise<TestContext> =>
  createTestContext({
    platformList: [platform],
    media: { forPost: () => ({}) as never, release: async () => {} } as never,
  });
const examine = (ctx: TestContext) => examinePublishing(ctx as unknown as Context);

describe("what doctor says of publishing", () => {
  it("is short where nothing was ever done", async () => {
    await using ctx = await open();
    expect(await examine(ctx)).toEqual([
      { topic: "publisher", verdict: "note", text: expect.stringMatching(/^none runs\. Nothing goes out/) },
      { topic: "posts", verdict: "ok", text: "none went out in the last 7 days" },
    ]);
  });

  it("tells how late posts went out, and why the last one failed", async () => {
    await using ctx = await open();
    const account = await addAccount(ctx);
    const now = ctx.clock.now();
    const row = {
      role: "serve" as const,
      host: "here",
      pid: 1,
      version: "1.0.0",
      started_at: now,
      heartbeat_at: now,
    };
    await queryOf(ctx.store)
      .insertInto("workers")
      .values({ ...row, id: "wrk_1" })
      .execute();
    await addPost(ctx, account, { scheduled_at: now - 1_000, due_at: now - 1_000, next_at: now - 1_000 });
    const bad = await addPost(ctx, account, { caption: "bad" });
    await addPost(ctx, account, { scheduled_at: now + HOUR, due_at: now + HOUR, next_at: now + HOUR });
    await drain(ctx);
    const [publisher, posts] = await examine(ctx);
    expect(publisher).toMatchObject({
      verdict: "ok",
      text: expect.stringContaining("1 waiting, the next at 2026-11-21T10:00:00.000Z"),
    });
    expect(posts).toEqual({
      topic: "posts",
      verdict: "note",
      text: `1 failed in the last 7 days. The last to fail, ${bad.id.slice(-6)}: The platform refused it. Apart from that, what went out in the last 7 days was live within a second of its time.`,
    });
  });

  it("counts one as one, ends each sentence, and says how doubts are settled", async () => {
    await using ctx = await open();
    const account = await addAccount(ctx);
    const at = ctx.clock.now();
    const long = 'Scripted says: "a banned word"';
    await addPost(ctx, account, { status: "failed", error: long, next_at: null });
    await addPost(ctx, account, {
      status: "failed",
      error: "outcome unknown: it was lost.",
      in_doubt: 1,
      next_at: null,
    });
    await addPost(ctx, account, { scheduled_at: at, due_at: at, next_at: at });
    await ctx.clock.advance(2 * MINUTE);
    const text = (await examine(ctx)).find(({ topic }) => topic === "posts")?.text ?? "";
    expect(text).toMatch(
      /^1 should be live and is not, 1 may have gone out or not \(.*posthorn call resolve_post '\{"id":"post_…","outcome":"published"\}'/,
    );
    expect(text).toMatch(/[.!?]["”]?\.? Apart from that, /);
    expect(text).not.toMatch(/word" Apart/);
  });

  it("calls posts that are overdue a problem, and channels that posts wait for", async () => {
    await using ctx = await open();
    const account = await addAccount(ctx, {
      status: "reconnect_required",
      status_reason: "The password was changed.",
    });
    await addPost(ctx, account);
    await ctx.clock.advance(2 * MINUTE);
    const findings = await examine(ctx);
    expect(findings.map(({ topic, verdict }) => [topic, verdict])).toEqual([
      ["publisher", "note"],
      ["posts", "problem"],
      ["channel", "problem"],
    ]);
    expect(findings[2]?.text).toMatch(
      /^"My channel" on scripted: The password was changed\. 1 post waits for it\./,
    );
  });

  it("tells of a webhook that hears nothing", async () => {
    await using ctx = await open();
    const webhook = {
      id: "whk_1",
      owner_id: "default",
      address: "https://x.example/hook",
      secrets_enc: "",
      events: "[]",
      account_ids: null,
    };
    const standing = {
      status: "failing",
      status_reason: "The receiver could not be reached.",
      failing_since: 0,
    } as const;
    await queryOf(ctx.store)
      .insertInto("webhooks")
      .values({ ...webhook, ...standing, lease_worker: null, lease_until: 0, created_at: 0, updated_at: 0 })
      .execute();
    expect((await examine(ctx)).at(-1)).toEqual({
      topic: "webhook",
      verdict: "note",
      text: `https://x.example/hook does not get its events: The receiver could not be reached. Send it a test with: posthorn call test_webhook '{"id":"${webhook.id}"}'`,
    });
  });
});
