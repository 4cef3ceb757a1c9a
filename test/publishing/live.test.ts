import { expect, it, describe } from "vitest";
import { DAY, HOUR, MINUTE } from "../../src/domain/time.ts";
import { PlatformFault } from "../../src/ports/platform-io.ts";
import type { PublishIo } from "../../src/ports/publish-io.ts";
import type { PublishOutcome } from "../../src/ports/platform.ts";
import { MediaUnavailable } from "../../src/ports/media.ts";
import { cancelPost, getPost } from "../../src/posts/posts.ts";
import { retryPost } from "../../src/posts/update-post.ts";
import { schedulePost } from "../../src/posts/schedule-post.ts";
import { bodyOf } from "../../src/reporting/webhooks/event-body.ts";
import { callOf, createTestContext, type TestContext } from "../support/context.ts";
import { queryOf } from "../support/handles.ts";
import { addAccount, addPost, drain, readPost, runTick } from "../support/publishing.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../support/scripted-platform.ts";

const media = { forPost: () => ({}) as never, release: async () => {} };

/** A platform whose posts have a first comment and a thumbnail; counts what it was sent. */
function commented(answers: { comment?: () => unknown; thumbnail?: () => unknown } = {}) {
  const sent: string[] = [];
  const step = (io: PublishIo, name: string, answer: () => unknown, isLive = false) =>
    io.effect<string>({
      step: name,
      request: { name },
      send: async () => {
        sent.push(name);
        const error = answer();
        if (error !== undefined) throw error;
        return name;
      },
      reconcile: async () => ({ outcome: "send_again" }),
      ...(isLive ? { live: () => ({ platformPostId: "p1", platformUrl: "https://p.example/p1" }) } : {}),
    });
  const platform = scriptedPlatform({
    publish: async (_post, io): Promise<PublishOutcome> => {
      await step(io, "post", () => undefined, true);
      await io.followUp("The first comment", async () => {
        await step(io, "comment", answers.comment ?? (() => undefined));
      });
      await io.followUp("The thumbnail", async () => {
        await step(io, "thumbnail", answers.thumbnail ?? (() => undefined));
      });
      return { state: "live", platformPostId: "p1", platformUrl: "https://p.example/p1" };
    },
  });
  return { platform, sent };
}

async function open(platform: ReturnType<typeof scriptedPlatform>): Promise<TestContext> {
  return createTestContext({ platformList: [platform], media });
}

/** Moves the clock to the next try until nothing more is to come. */
async function untilOver(ctx: TestContext, id: string): Promise<void> {
  for (let round = 0; round < 60; round += 1) {
    await drain(ctx);
    const { next_at: nextAt } = await readPost(ctx, id);
    if (nextAt === null) return;
    await ctx.clock.advance(Math.max(nextAt - ctx.clock.now(), 1_000));
  }
  throw new Error("It did not come to an end.");
}

const REFUSED = new PlatformFault("rejected", "Comments are turned off.");

describe("what follows a live post", () => {
  it("leaves it published when it is refused, tells why, and is never a reason to send it again", async () => {
    const { platform, sent } = commented({ comment: () => REFUSED });
    await using ctx = await open(platform);
    const post = await addPost(ctx, await addAccount(ctx));
    await drain(ctx);
    expect(sent).toEqual(["post", "comment", "thumbnail"]);
    expect(await readPost(ctx, post.id)).toMatchObject({
      status: "published",
      error: null,
      platform_post_id: "p1",
      next_at: null,
    });
    expect((await getPost(callOf(ctx), { id: post.id })).warnings).toEqual([
      "The first comment did not go through: Comments are turned off.",
    ]);
    await expect(retryPost(callOf(ctx), { id: post.id })).rejects.toMatchObject({ kind: "conflict" });
    await ctx.clock.advance(2 * HOUR);
    await drain(ctx);
    expect(sent).toEqual(["post", "comment", "thumbnail"]);
  });

  it.each([
    ["a problem of the platform's", new PlatformFault("transient", "It has a problem.")],
    ["a lost answer", new PlatformFault("ambiguous", "The answer was lost.")],
    ["a limit", new PlatformFault("rate", "Slow down.", { retryAfterMs: 2 * MINUTE })],
    ["media that does not answer", new MediaUnavailable("The source does not answer.")],
  ])("is tried again after %s, while the post is published already", async (_what, trouble) => {
    let isTroubled = true;
    const { platform, sent } = commented({ comment: () => (isTroubled ? trouble : undefined) });
    await using ctx = await open(platform);
    const post = await addPost(ctx, await addAccount(ctx));
    await runTick(ctx);
    const publishedAt = ctx.clock.now();
    expect(await readPost(ctx, post.id)).toMatchObject({ status: "published", published_at: publishedAt });
    expect(sent).toEqual(["post", "comment", "thumbnail"]);
    isTroubled = false;
    await untilOver(ctx, post.id);
    expect(sent).toEqual(["post", "comment", "thumbnail", "comment"]);
    expect(await readPost(ctx, post.id)).toMatchObject({
      status: "published",
      published_at: publishedAt,
      warnings: null,
      attempts: 1,
    });
  });

  it("holds up the other posts of its channel for a limit, and not for a platform that is still at work", async () => {
    const waitAfter = async (outcome: PublishOutcome | PlatformFault) => {
      const platform = scriptedPlatform({
        publish: async (_post, io): Promise<PublishOutcome> => {
          await io.live({ platformPostId: "p1", platformUrl: null });
          if (outcome instanceof PlatformFault) throw outcome;
          return outcome;
        },
      });
      await using ctx = await open(platform);
      const account = await addAccount(ctx);
      const { id } = await addPost(ctx, account);
      await runTick(ctx);
      const { next_at: nextAt } = await readPost(ctx, id);
      const row = await queryOf(ctx.store).selectFrom("accounts").selectAll().executeTakeFirstOrThrow();
      return [(nextAt ?? 0) - ctx.clock.now() >= 30_000, row.next_allowed_at > ctx.clock.now()];
    };
    expect(await waitAfter({ state: "processing", checkAgainMs: 30_000 })).toEqual([true, false]);
    expect(await waitAfter(new PlatformFault("rate", "Slower.", { retryAfterMs: 30_000 }))).toEqual([
      true,
      true,
    ]);
  });

  it("becomes a warning when it does not work for an hour", async () => {
    const trouble = new PlatformFault("transient", "It has a problem.");
    const { platform, sent } = commented({ comment: () => trouble });
    await using ctx = await open(platform);
    const post = await addPost(ctx, await addAccount(ctx));
    await runTick(ctx);
    const since = ctx.clock.now();
    await untilOver(ctx, post.id);
    expect(ctx.clock.now() - since).toBeLessThanOrEqual(HOUR);
    expect(sent.filter((name) => name === "comment").length).toBeGreaterThan(4);
    expect(sent.filter((name) => name === "post")).toHaveLength(1);
    expect((await getPost(callOf(ctx), { id: post.id })).warnings).toEqual([
      "The first comment did not go through: It has a problem. It was tried for an hour.",
    ]);
  });

  it("leaves it published when the platform's file itself has a bug afterwards", async () => {
    const { platform, sent } = commented({ thumbnail: () => new TypeError("undefined is not a function") });
    await using ctx = await open(platform);
    const post = await addPost(ctx, await addAccount(ctx));
    await drain(ctx);
    expect(await readPost(ctx, post.id)).toMatchObject({ status: "published" });
    expect((await getPost(callOf(ctx), { id: post.id })).warnings).toEqual([
      expect.stringMatching(/^The thumbnail did not go through: /),
    ]);
    expect(sent.filter((name) => name === "post")).toHaveLength(1);
  });

  it("goes on where it was when the process ends in it, and the post is published at once", async () => {
    let isDying = true;
    const { platform, sent } = commented({
      comment: () => (isDying ? new Error("The process dies here.") : undefined),
    });
    await using ctx = await open(platform);
    const post = await addPost(ctx, await addAccount(ctx));
    const dead = { ...ctx, workerId: "worker_dead" };
    // Its process ends before anything is written about how the attempt ended.
    const dying: TestContext = {
      ...dead,
      store: {
        ...ctx.store,
        ledger: {
          ...ctx.store.ledger,
          once: async () => Promise.reject(new Error("gone")),
          finishAttempt: async () => Promise.reject(new Error("gone")),
        },
      },
    } as TestContext;
    await expect(runTick(dying)).rejects.toThrow("gone");
    expect(await readPost(ctx, post.id)).toMatchObject({ status: "publishing", platform_post_id: "p1" });
    await ctx.store.claims.takeOver("worker_dead", ctx.clock.now());
    expect(await readPost(ctx, post.id)).toMatchObject({ status: "published", platform_post_id: "p1" });
    isDying = false;
    await untilOver(ctx, post.id);
    expect(sent.filter((name) => name === "post")).toHaveLength(1);
    expect(await readPost(ctx, post.id)).toMatchObject({ status: "published", warnings: null });
  });

  it("is given up, and the post stays published, when it ends every process that tries it", async () => {
    const { platform } = commented({ comment: () => new PlatformFault("transient", "Later.") });
    await using ctx = await open(platform);
    const post = await addPost(ctx, await addAccount(ctx));
    await runTick(ctx);
    for (let end = 0; end < 5; end += 1) {
      await queryOf(ctx.store)
        .updateTable("posts")
        .set({ lease_worker: `worker_${end}` })
        .where("id", "=", post.id)
        .execute();
      await ctx.store.claims.takeOver(`worker_${end}`, ctx.clock.now());
      if ((await readPost(ctx, post.id)).next_at === null) break;
    }
    expect(await readPost(ctx, post.id)).toMatchObject({ status: "published", next_at: null, error: null });
    expect((await getPost(callOf(ctx), { id: post.id })).warnings).toEqual([
      expect.stringContaining("the program ended 4 times"),
    ]);
  });

  it("waits for a channel that must be reconnected, and never makes the post failed", async () => {
    const { platform } = commented({ comment: () => new PlatformFault("auth", "The token is over.") });
    await using ctx = await open(platform);
    const account = await addAccount(ctx);
    const post = await addPost(ctx, account);
    await runTick(ctx);
    await queryOf(ctx.store).updateTable("accounts").set({ status: "reconnect_required" }).execute();
    await ctx.clock.advance(3 * HOUR);
    for (let tick = 0; tick < 3; tick += 1) await runTick(ctx);
    expect(await readPost(ctx, post.id)).toMatchObject({ status: "published", error: null });
    await queryOf(ctx.store).updateTable("accounts").set({ status: "connected" }).execute();
    await untilOver(ctx, post.id);
    expect((await getPost(callOf(ctx), { id: post.id })).warnings).toHaveLength(1);
  });

  it("tells the warnings in the event of the post", async () => {
    const { platform } = commented({ comment: () => REFUSED });
    await using ctx = await open(platform);
    const account = await addAccount(ctx);
    const now = ctx.clock.now();
    const webhook = {
      id: "wh_1",
      owner_id: account.owner_id,
      address: "",
      secrets_enc: "",
      events: '["post.published"]',
    };
    await queryOf(ctx.store)
      .insertInto("webhooks")
      .values({
        ...webhook,
        account_ids: null,
        status: "active",
        status_reason: null,
        failing_since: null,
        lease_worker: null,
        lease_until: 0,
        created_at: now,
        updated_at: now,
      })
      .execute();
    await addPost(ctx, account);
    await drain(ctx);
    const rows = await queryOf(ctx.store).selectFrom("webhook_deliveries").selectAll().execute();
    const [delivery] = rows;
    expect(rows).toHaveLength(1);
    expect(JSON.parse(bodyOf(ctx, delivery!))).toMatchObject({
      type: "post.published",
      data: { warnings: ["The first comment did not go through: Comments are turned off."] },
    });
  });
});

describe("a step that the platform forgets", () => {
  function withContainer(isGone: () => boolean, publish: () => unknown) {
    const made: number[] = [];
    const platform = scriptedPlatform({
      publish: async (_post, io) => {
        const container = await io.effect<number>({
          step: "container",
          request: {},
          send: async () => made.push(made.length + 1),
          reconcile: async () => ({ outcome: "send_again" }),
          isGone: async () => isGone(),
        });
        const id = await io.effect<string>({
          step: "publish",
          request: { container },
          send: async () => {
            const error = publish();
            if (error !== undefined) throw error;
            return `of ${container}`;
          },
          reconcile: async () => ({ outcome: "done", result: `settled ${container}` }),
          live: (result) => ({ platformPostId: result, platformUrl: null }),
        });
        return { state: "live", platformPostId: id, platformUrl: null };
      },
    });
    return { platform, made };
  }

  it("is made anew once it is gone", async () => {
    let tries = 0;
    const { platform, made } = withContainer(
      () => tries === 1,
      () => (++tries === 1 ? new PlatformFault("not_sent", "Out of reach.") : undefined),
    );
    await using ctx = await open(platform);
    const post = await addPost(ctx, await addAccount(ctx));
    await untilOver(ctx, post.id);
    expect(made).toEqual([1, 2]);
    expect(await readPost(ctx, post.id)).toMatchObject({ status: "published", platform_post_id: "of 2" });
  });

  it("is not asked about while what was made of it is in doubt", async () => {
    const { platform, made } = withContainer(
      () => true,
      () => new PlatformFault("ambiguous", "The answer was lost."),
    );
    await using ctx = await open(platform);
    const post = await addPost(ctx, await addAccount(ctx));
    await untilOver(ctx, post.id);
    expect(made).toEqual([1]);
    expect(await readPost(ctx, post.id)).toMatchObject({
      status: "published",
      platform_post_id: "settled 1",
    });
  });
});

it("tells a step how often it was sent before, and forgets what never left this machine", async () => {
  const answers = ["not_sent", "ambiguous", "ambiguous"] as const;
  const seen: number[] = [];
  const platform = scriptedPlatform({
    publish: async (_post, io) => {
      const id = await io.effect<string>({
        step: "create",
        request: {},
        send: async ({ timesSent }) => {
          const kind = answers[seen.push(timesSent) - 1];
          if (kind !== undefined) throw new PlatformFault(kind, "It did not work.");
          return "1";
        },
        reconcile: async () => ({ outcome: "send_again" }),
      });
      return { state: "live", platformPostId: id, platformUrl: null };
    },
  });
  await using ctx = await open(platform);
  const post = await addPost(ctx, await addAccount(ctx));
  await untilOver(ctx, post.id);
  expect(seen).toEqual([0, 0, 1, 2]);
});

describe("outcomes without an end", () => {
  it("asks a platform that is still at work for two hours, then lets a person look", async () => {
    const platform = scriptedPlatform({
      publish: async () => ({ state: "processing", checkAgainMs: 5 * MINUTE }),
    });
    await using ctx = await open(platform);
    const post = await addPost(ctx, await addAccount(ctx));
    const since = ctx.clock.now();
    await untilOver(ctx, post.id);
    expect(ctx.clock.now() - since).toBeGreaterThan(2 * HOUR);
    expect(ctx.clock.now() - since).toBeLessThan(2 * HOUR + 10 * MINUTE);
    expect(await readPost(ctx, post.id)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/^outcome unknown: /),
    });
  });

  it("looks at a post that stays private more and more seldom, says so, and keeps it uploaded", async () => {
    let looks = 0;
    const platform = scriptedPlatform({
      publish: async () => {
        looks += 1;
        return { state: "held", platformPostId: "v1", platformUrl: null };
      },
    });
    await using ctx = await open(platform);
    const post = await addPost(ctx, await addAccount(ctx));
    const since = ctx.clock.now();
    while (ctx.clock.now() - since < HOUR) {
      await drain(ctx);
      await ctx.clock.advance(((await readPost(ctx, post.id)).next_at ?? 0) - ctx.clock.now());
    }
    expect(looks).toBeLessThan(90);
    await drain(ctx);
    expect(await readPost(ctx, post.id)).toMatchObject({
      status: "uploaded",
      platform_post_id: "v1",
      error: expect.stringContaining("still private"),
    });
  });

  it("tells the person what a held post waits for", async () => {
    const platform = scriptedPlatform({
      publish: async () => ({
        state: "held",
        platformPostId: "v1",
        platformUrl: null,
        note: "Finish it in the app.",
      }),
    });
    await using ctx = await open(platform);
    const post = await addPost(ctx, await addAccount(ctx));
    await runTick(ctx);
    expect(await readPost(ctx, post.id)).toMatchObject({
      status: "uploaded",
      error: "Finish it in the app.",
    });
  });
});

describe("a platform that publishes by itself what it holds", () => {
  const held = () =>
    scriptedPlatform({
      capabilities: { ...TEXT_CAPABILITIES, scheduling: "platform" },
      publish: async (_post, io) => {
        if (io.isDue) throw new PlatformFault("auth", "The token is over.");
        return { state: "held", platformPostId: "v1", platformUrl: null };
      },
      insights: async () => ({ state: "live", visibility: "public", metrics: {} }),
      remove: async () => {},
    });

  it("leaves a post uploaded, not failed, when our token dies before its time", async () => {
    await using ctx = await open(held());
    const at = ctx.clock.now() + HOUR;
    const post = await addPost(ctx, await addAccount(ctx), { scheduled_at: at, due_at: ctx.clock.now() });
    await runTick(ctx);
    expect(await readPost(ctx, post.id)).toMatchObject({ status: "uploaded" });
    for (let hour = 0; hour < 5; hour += 1) {
      await ctx.clock.advance(HOUR);
      await runTick(ctx);
    }
    expect(await readPost(ctx, post.id)).toMatchObject({
      status: "uploaded",
      platform_post_id: "v1",
      error: expect.stringContaining("must be reconnected"),
    });
  });

  it("does not take back what went live a moment ago", async () => {
    await using ctx = await open(held());
    const at = ctx.clock.now() + HOUR;
    const post = await addPost(ctx, await addAccount(ctx), { scheduled_at: at, due_at: ctx.clock.now() });
    await runTick(ctx);
    await expect(cancelPost(callOf(ctx), { id: post.id, fromPlatform: true })).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("went live"),
    });
    expect(await readPost(ctx, post.id)).toMatchObject({ status: "uploaded" });
  });

  it("is named when a post is scheduled ahead on it", async () => {
    await using ctx = await open(held());
    const account = await addAccount(ctx);
    const wish = { accountId: account.id, caption: "Hello", dryRun: true };
    const later = new Date(ctx.clock.now() + DAY).toISOString();
    const ahead = await schedulePost(callOf(ctx), { ...wish, scheduledAt: later, leadMinutes: 30 });
    expect(ahead.warnings.map(String)).toEqual([expect.stringContaining("publishes it by itself")]);
    expect((await schedulePost(callOf(ctx), { ...wish, scheduledAt: later })).warnings).toEqual([]);
  });
});
