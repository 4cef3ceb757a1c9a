import { describe, expect, it } from "vitest";
import { MINUTE, SECOND } from "../../src/domain/time.ts";
import type { AnyPlatform } from "../../src/ports/platform.ts";
import { PlatformFault } from "../../src/ports/platform-io.ts";
import type { EffectSpec, PublishIo, Reconciled } from "../../src/ports/publish-io.ts";
import { createTestContext, type TestContext } from "../support/context.ts";
import { addAccount, addPost, drain, readPost, runTick } from "../support/publishing.ts";
import { scriptedPlatform } from "../support/scripted-platform.ts";
import { queryOf } from "../support/handles.ts";

const NO_MEDIA = { forPost: () => ({}) as never, release: async () => {} };

async function contextWith(platform: AnyPlatform): Promise<TestContext> {
  return createTestContext({ platformList: [platform], media: NO_MEDIA });
}

/** A platform that keeps what was sent to it by key, as one with client-chosen keys does. */
function keyedPlatform(
  faults: { onSend?: (io: PublishIo, key: string) => void; reconcile?: () => Reconciled<string> } = {},
): {
  platform: AnyPlatform;
  live: Map<string, number>;
} {
  const live = new Map<string, number>();
  const platform = scriptedPlatform({
    publish: async (post, io) => {
      if (!io.isDue) return { state: "prepared" };
      const spec: EffectSpec<string> = {
        step: "create",
        request: { caption: post.caption },
        send: async ({ key }) => {
          live.set(key, (live.get(key) ?? 0) + 1);
          faults.onSend?.(io, key);
          return key;
        },
        reconcile: async ({ key }) =>
          faults.reconcile?.() ??
          (live.has(key) ? { outcome: "done", result: key } : { outcome: "send_again" }),
      };
      const id = await io.effect(spec);
      return { state: "live", platformPostId: id, platformUrl: `https://platform.example/${id}` };
    },
  });
  return { platform, live };
}

describe("publishing one post", () => {
  it("sends it once and records where it is", async () => {
    const { platform, live } = keyedPlatform();
    await using ctx = await contextWith(platform);
    const account = await addAccount(ctx);
    const post = await addPost(ctx, account);
    await drain(ctx);
    const row = await readPost(ctx, post.id);
    expect(row).toMatchObject({
      status: "published",
      attempts: 1,
      error: null,
      next_at: null,
      lease_worker: null,
      in_doubt: 0,
    });
    expect([...live.values()]).toEqual([1]);
    expect(row.platform_post_id).toBe([...live.keys()][0]);
    expect(await queryOf(ctx.store).selectFrom("attempts").select(["outcome", "number"]).execute()).toEqual([
      { outcome: "published", number: 1 },
    ]);
    expect(
      await queryOf(ctx.store)
        .selectFrom("accounts")
        .select(["in_flight_post", "last_published_at"])
        .executeTakeFirst(),
    ).toEqual({
      in_flight_post: null,
      last_published_at: ctx.clock.now(),
    });
  });

  it("leaves one line in the log for each attempt, with ids and numbers and nothing that was sent", async () => {
    let isRefused = true;
    const platform = scriptedPlatform({
      publish: async (post) => {
        await ctx.clock.advance(250);
        if (isRefused) throw new PlatformFault("rejected", "The platform refused it.");
        return { state: "live", platformPostId: post.id, platformUrl: null };
      },
    });
    await using ctx: TestContext = await contextWith(platform);
    const account = await addAccount(ctx, { secrets_enc: "sealed-canary" });
    const refused = await addPost(ctx, account, { caption: "caption-canary" });
    await drain(ctx);
    isRefused = false;
    const live = await addPost(ctx, account, { caption: "caption-canary" });
    await drain(ctx);
    const lines = ctx.log.lines.filter((line) => line.message === "attempt ended");
    const ids = {
      accountId: account.id,
      provider: "scripted",
      attempt: 1,
      run: 1,
      durationMs: 250,
      nextAt: null,
    };
    expect(lines).toEqual([
      {
        level: "warn",
        message: "attempt ended",
        fields: expect.objectContaining({
          ...ids,
          postId: refused.id,
          outcome: "failed",
          reason: "The platform refused it.",
        }),
      },
      {
        level: "info",
        message: "attempt ended",
        fields: expect.objectContaining({ ...ids, postId: live.id, outcome: "published", latenessMs: 250 }),
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain("canary");
  });

  it("is never early", async () => {
    const { platform, live } = keyedPlatform();
    await using ctx = await contextWith(platform);
    const post = await addPost(ctx, await addAccount(ctx), { scheduled_at: ctx.clock.now() + 1 });
    await drain(ctx);
    expect(live.size).toBe(0);
    await ctx.clock.advance(1);
    await drain(ctx);
    expect((await readPost(ctx, post.id)).status).toBe("published");
  });

  it("asks before it repeats a step whose answer was lost, and adopts what is there", async () => {
    let isLost = true;
    const { platform, live } = keyedPlatform({
      onSend: () => {
        if (isLost) {
          isLost = false;
          throw new PlatformFault("ambiguous", "The answer was lost.");
        }
      },
    });
    await using ctx = await contextWith(platform);
    const post = await addPost(ctx, await addAccount(ctx));
    await runTick(ctx);
    expect(await readPost(ctx, post.id)).toMatchObject({ status: "publishing", in_doubt: 1 });
    await ctx.clock.advance(MINUTE);
    await drain(ctx);
    expect(await readPost(ctx, post.id)).toMatchObject({ status: "published", in_doubt: 0, error: null });
    expect([...live.values()]).toEqual([1]);
  });

  it("tries a request that never left again, and gives up after a while with the reason", async () => {
    const platform = scriptedPlatform({
      publish: async (_post, io) => {
        await io.effect({
          step: "create",
          request: null,
          send: async () => {
            throw new PlatformFault("not_sent", "The platform could not be reached.");
          },
          reconcile: async () => ({ outcome: "unknown", reason: "never asked" }),
        });
        return { state: "prepared" };
      },
    });
    await using ctx = await contextWith(platform);
    const post = await addPost(ctx, await addAccount(ctx));
    await runTick(ctx);
    const waiting = await readPost(ctx, post.id);
    expect(waiting).toMatchObject({
      status: "scheduled",
      in_doubt: 0,
      tries: 1,
      error: "The platform could not be reached.",
    });
    for (let minute = 0; minute < 70; minute++) {
      await ctx.clock.advance(MINUTE);
      await drain(ctx);
    }
    const row = await readPost(ctx, post.id);
    expect(row.status).toBe("failed");
    expect(row.error).toMatch(/could not be reached.*Send it again\./);
  });

  it("fails what the platform refuses, with its sentence", async () => {
    const { platform } = keyedPlatform({
      onSend: () => {
        throw new PlatformFault("rejected", "The text is too long for the platform.");
      },
    });
    await using ctx = await contextWith(platform);
    const post = await addPost(ctx, await addAccount(ctx));
    await drain(ctx);
    expect(await readPost(ctx, post.id)).toMatchObject({
      status: "failed",
      error: "The text is too long for the platform.",
      in_doubt: 0,
    });
  });

  it("says that an outcome is unknown instead of guessing", async () => {
    const { platform, live } = keyedPlatform({
      onSend: () => {
        throw new PlatformFault("ambiguous", "The answer was lost.");
      },
      reconcile: () => ({ outcome: "unknown", reason: "The platform keeps no list." }),
    });
    await using ctx = await contextWith(platform);
    const post = await addPost(ctx, await addAccount(ctx));
    await runTick(ctx);
    await ctx.clock.advance(MINUTE);
    await drain(ctx);
    const row = await readPost(ctx, post.id);
    expect(row).toMatchObject({ status: "failed", in_doubt: 1 });
    expect(row.error).toMatch(/^outcome unknown: The platform keeps no list\. Look at .* resolve_post/);
    expect([...live.values()]).toEqual([1]);
  });

  it("asks for a reconnection when the platform refuses the tokens, and the post waits", async () => {
    const { platform } = keyedPlatform({
      onSend: () => {
        throw new PlatformFault("auth", "The password was refused.");
      },
    });
    await using ctx = await contextWith(platform);
    const account = await addAccount(ctx);
    const post = await addPost(ctx, account);
    await drain(ctx);
    expect(await readPost(ctx, post.id)).toMatchObject({ status: "scheduled" });
    const row = await queryOf(ctx.store).selectFrom("accounts").selectAll().executeTakeFirstOrThrow();
    expect(row).toMatchObject({ status: "reconnect_required", status_reason: "The password was refused." });
    await ctx.clock.advance(61 * MINUTE);
    await drain(ctx);
    const failed = await readPost(ctx, post.id);
    expect(failed.status).toBe("failed");
    expect(failed.error).toMatch(/missed its time.*must be reconnected first.*send it again\./i);
  });

  it("calls a post unknown that was on its way when its channel went", async () => {
    const platform = scriptedPlatform({
      publish: async (post) => ({ state: "held", platformPostId: post.id, platformUrl: null }),
    });
    await using ctx = await contextWith(platform);
    const now = ctx.clock.now();
    const post = await addPost(ctx, await addAccount(ctx), {
      scheduled_at: now + 10 * MINUTE,
      due_at: now,
      next_at: now,
    });
    await drain(ctx);
    await queryOf(ctx.store).updateTable("accounts").set({ status: "disconnected" }).execute();
    await ctx.clock.advance(69 * MINUTE);
    await drain(ctx);
    expect((await readPost(ctx, post.id)).status).toBe("uploaded");
    await ctx.clock.advance(2 * MINUTE);
    await drain(ctx);
    expect(await readPost(ctx, post.id)).toMatchObject({
      status: "failed",
      in_doubt: 1,
      error: expect.stringMatching(/^outcome unknown: .*resolve_post/),
    });
  });

  it("makes the account wait, not only the post, when the platform asks for a pause", async () => {
    let isFirst = true;
    const { platform, live } = keyedPlatform({
      onSend: (_io, key) => {
        if (!isFirst) return;
        isFirst = false;
        live.delete(key);
        throw new PlatformFault("rate", "The platform asks to wait.", { retryAfterMs: 90 * SECOND });
      },
    });
    await using ctx = await contextWith(platform);
    const account = await addAccount(ctx);
    const first = await addPost(ctx, account);
    const second = await addPost(ctx, account);
    await drain(ctx);
    await ctx.clock.advance(89 * SECOND);
    await drain(ctx);
    expect(live.size).toBe(0);
    await ctx.clock.advance(SECOND);
    await drain(ctx);
    expect((await readPost(ctx, first.id)).status).toBe("published");
    expect((await readPost(ctx, second.id)).status).toBe("published");
    expect(live.size).toBe(2);
  });

  it("keeps what it made once across tries", async () => {
    let made = 0;
    let tries = 0;
    const platform = scriptedPlatform({
      publish: async (_post, io) => {
        const key = await io.once("key", () => `k${(made += 1)}`);
        tries += 1;
        if (tries < 3) throw new PlatformFault("transient", "Busy.");
        return { state: "live", platformPostId: key, platformUrl: null };
      },
    });
    await using ctx = await contextWith(platform);
    const post = await addPost(ctx, await addAccount(ctx));
    for (let round = 0; round < 5; round++) {
      await drain(ctx);
      await ctx.clock.advance(MINUTE);
    }
    expect(await readPost(ctx, post.id)).toMatchObject({
      status: "published",
      platform_post_id: "k1",
      attempts: 3,
    });
    expect(made).toBe(1);
  });

  it("holds a post on the platform until its time, in one attempt", async () => {
    const platform = scriptedPlatform({
      publish: async (_post, io) =>
        io.isDue
          ? { state: "live", platformPostId: "p1", platformUrl: "https://platform.example/p1" }
          : { state: "held", platformPostId: "p1", platformUrl: "https://platform.example/p1" },
    });
    await using ctx = await contextWith(platform);
    const now = ctx.clock.now();
    const post = await addPost(ctx, await addAccount(ctx), {
      scheduled_at: now + 10 * MINUTE,
      due_at: now,
      next_at: now,
    });
    await drain(ctx);
    expect(await readPost(ctx, post.id)).toMatchObject({
      status: "uploaded",
      platform_post_id: "p1",
      published_at: null,
    });
    await ctx.clock.advance(10 * MINUTE);
    await drain(ctx);
    expect(await readPost(ctx, post.id)).toMatchObject({
      status: "published",
      attempts: 1,
      published_at: ctx.clock.now(),
    });
  });

  it("fails a post of a bug of ours with the fixed sentence, and logs the stack", async () => {
    const platform = scriptedPlatform({
      publish: async () => {
        throw new TypeError("x is not a function");
      },
    });
    await using ctx = await contextWith(platform);
    const post = await addPost(ctx, await addAccount(ctx));
    await drain(ctx);
    const row = await readPost(ctx, post.id);
    expect(row.error).toMatch(/^Something went wrong on our side/);
    expect(ctx.log.lines.some((line) => line.level === "error")).toBe(true);
  });
});

describe("order, spacing and lateness", () => {
  it("works on one post of an account at a time, first due first", async () => {
    const sent: string[] = [];
    const platform = scriptedPlatform({
      publish: async (post) => {
        sent.push(post.caption ?? "");
        return { state: "live", platformPostId: post.id, platformUrl: null };
      },
    });
    await using ctx = await contextWith(platform);
    const account = await addAccount(ctx);
    const now = ctx.clock.now();
    await addPost(ctx, account, { caption: "second", scheduled_at: now - 1 * SECOND });
    await addPost(ctx, account, { caption: "third", scheduled_at: now });
    await addPost(ctx, account, { caption: "first", scheduled_at: now - 2 * SECOND });
    expect(await runTick(ctx)).toBe(1);
    await drain(ctx);
    expect(sent).toEqual(["first", "second", "third"]);
  });

  it("sends what is left over from downtime oldest first and spaced, and fails what is too late", async () => {
    const sentAt: [string, number][] = [];
    const platform = scriptedPlatform({
      publish: async (post, io) => {
        sentAt.push([post.caption ?? "", io.now()]);
        return { state: "live", platformPostId: post.id, platformUrl: null };
      },
    });
    await using ctx = await contextWith(platform);
    const account = await addAccount(ctx);
    const now = ctx.clock.now();
    const old = await addPost(ctx, account, { caption: "too late", scheduled_at: now - 61 * MINUTE });
    await addPost(ctx, account, { caption: "b", scheduled_at: now - 20 * MINUTE });
    await addPost(ctx, account, { caption: "a", scheduled_at: now - 30 * MINUTE });
    for (let second = 0; second < 40; second++) {
      await drain(ctx);
      await ctx.clock.advance(SECOND);
    }
    expect(sentAt).toEqual([
      ["a", now],
      ["b", now + 30 * SECOND],
    ]);
    expect(await readPost(ctx, old.id)).toMatchObject({ status: "failed", attempts: 0 });
    expect((await readPost(ctx, old.id)).error).toMatch(/missed its time.*Send it again\./);
  });

  it("does not let a busy account's backlog hide another account's post", async () => {
    const platform = scriptedPlatform({
      publish: async (post) => ({ state: "live", platformPostId: post.id, platformUrl: null }),
    });
    await using ctx = await contextWith(platform);
    const busy = await addAccount(ctx, { in_flight_post: "post_elsewhere" });
    for (let n = 0; n < 20; n++) await addPost(ctx, busy, { scheduled_at: ctx.clock.now() - SECOND });
    const post = await addPost(ctx, await addAccount(ctx));
    await drain(ctx);
    expect((await readPost(ctx, post.id)).status).toBe("published");
  });
});
