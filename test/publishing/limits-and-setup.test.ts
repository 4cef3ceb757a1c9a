import { describe, expect, it } from "vitest";
import { MINUTE } from "../../src/domain/time.ts";
import type { Platform } from "../../src/ports/platform.ts";
import { PlatformFault } from "../../src/ports/platform-io.ts";
import { getStatus, readSetupProblems } from "../../src/reporting/health/status.ts";
import { callOf, callerOf, createTestContext, type TestContext } from "../support/context.ts";
import { addAccount, addPost, drain, readPost } from "../support/publishing.ts";
import { queryOf } from "../support/handles.ts";
import { scriptedPlatform } from "../support/scripted-platform.ts";

/** A platform that answers each sending as told, and then takes everything. */
async function setUp(answer: (accountId: string) => PlatformFault | null) {
  const sent: { accountId: string; at: number }[] = [];
  const publish: Platform["publish"] = async (post, io) => {
    await io.effect({
      step: "create",
      request: {},
      send: async () => {
        sent.push({ accountId: io.account.id, at: io.now() });
        const fault = answer(io.account.id);
        if (fault !== null) throw fault;
        return true;
      },
      reconcile: async () => ({ outcome: "unknown", reason: "Nobody can tell." }),
    });
    return { state: "live", platformPostId: post.id, platformUrl: null };
  };
  const ctx = await createTestContext({
    platformList: [scriptedPlatform({ publish }), scriptedPlatform({ name: "other", publish })],
    media: { forPost: () => ({}) as never, release: async () => {} },
  });
  return { ctx, sent };
}

async function pass(ctx: TestContext, minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute++) {
    await drain(ctx);
    await ctx.clock.advance(MINUTE);
  }
  await drain(ctx);
}

describe("a rate limit", () => {
  it.each([
    ["app", 1],
    ["account", 2],
  ] as const)("of the %s holds up whom it is for, of every owner", async (scope, triesBefore) => {
    let isLimited = true;
    const { ctx, sent } = await setUp(() =>
      isLimited
        ? new PlatformFault("rate", "The app is over its limit.", {
            httpStatus: 429,
            retryAfterMs: 10 * MINUTE,
            scope,
          })
        : null,
    );
    await using _ctx = ctx;
    const mine = await addAccount(ctx);
    const theirs = await addAccount(ctx, { owner_id: "own_2" });
    const elsewhere = await addAccount(ctx, { provider: "other" });
    const start = ctx.clock.now();
    const first = await addPost(ctx, mine);
    await drain(ctx);
    const second = await addPost(ctx, theirs);
    await drain(ctx);
    expect(sent).toHaveLength(triesBefore);
    isLimited = false;
    const other = await addPost(ctx, elsewhere);
    await drain(ctx);
    expect(await readPost(ctx, other.id)).toMatchObject({ status: "published" });

    await pass(ctx, 9);
    expect(sent).toHaveLength(triesBefore + 1);
    await pass(ctx, 2);
    for (const { id } of [first, second])
      expect(await readPost(ctx, id)).toMatchObject({
        status: "published",
        published_at: start + 10 * MINUTE,
      });
  });

  it("of the app shortens nobody's wait", async () => {
    const { ctx } = await setUp(
      () => new PlatformFault("rate", "Over.", { httpStatus: 429, retryAfterMs: MINUTE, scope: "app" }),
    );
    await using _ctx = ctx;
    const until = ctx.clock.now() + 30 * MINUTE;
    const waiting = await addAccount(ctx, {
      owner_id: "own_2",
      next_allowed_at: until,
      wait_cause: "spacing",
    });
    await addPost(ctx, await addAccount(ctx));
    await drain(ctx);
    const rows = queryOf(ctx.store).selectFrom("accounts").selectAll().where("id", "=", waiting.id);
    expect(await rows.executeTakeFirstOrThrow()).toMatchObject({
      next_allowed_at: until,
      wait_cause: "spacing",
    });
  });
});

describe("what whoever runs the installation must mend", () => {
  const WHY = "LinkedIn has retired this version of its API. Set POSTHORN_SCRIPTED_API_VERSION.";

  it("lets posts wait, is told, and forgotten once a post goes out", async () => {
    let isMended = false;
    const { ctx, sent } = await setUp(() => (isMended ? null : new PlatformFault("setup", WHY)));
    await using _ctx = ctx;
    const account = await addAccount(ctx);
    const start = ctx.clock.now();
    const post = await addPost(ctx, account);
    await pass(ctx, 30);
    expect(await readPost(ctx, post.id)).toMatchObject({ status: "scheduled", error: WHY, in_doubt: 0 });
    expect(sent.length).toBeGreaterThan(2);
    expect(sent.length).toBeLessThan(8);
    const gaps = sent.slice(1).map(({ at }, index) => at - (sent[index]?.at ?? start));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(16 * MINUTE);
    const told = { provider: "scripted", reason: WHY, at: expect.any(String) };
    const status = await getStatus(callOf(ctx));
    expect(status.setupProblems).toEqual([told]);
    expect(status.accountsToReconnect).toEqual([]);
    const stranger = callerOf({ ownerId: "own_2" });
    expect((await getStatus(callOf(ctx, stranger))).setupProblems).toEqual([]);
    expect(await readSetupProblems(ctx, ctx.clock.now())).toEqual([told]);

    isMended = true;
    await pass(ctx, 16);
    expect(await readPost(ctx, post.id)).toMatchObject({ status: "published", error: null });
    expect((await getStatus(callOf(ctx))).setupProblems).toEqual([]);
  });

  it("fails the post with the same sentence once its time ran out", async () => {
    const { ctx } = await setUp(() => new PlatformFault("setup", WHY));
    await using _ctx = ctx;
    const post = await addPost(ctx, await addAccount(ctx));
    await pass(ctx, 65);
    const { status, error } = await readPost(ctx, post.id);
    expect({ status, error }).toEqual({ status: "failed", error: expect.stringContaining(WHY) });
  });
});
