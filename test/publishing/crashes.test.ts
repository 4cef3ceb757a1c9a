import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/domain/ids.ts";
import { MINUTE, SECOND } from "../../src/domain/time.ts";
import { TIME_LIMITS } from "../../src/domain/time-limits.ts";
import { fromStored } from "../../src/domain/sentences.ts";
import { claimDue, LateCauses } from "../../src/publishing/claim.ts";
import { type Publisher, startPublisher } from "../../src/publishing/loop.ts";
import type { ClaimedPost } from "../../src/store/engine/claims.ts";
import { takeOver } from "../../src/store/queries/publishing/release.ts";
import { agentsWords } from "../../src/toolkit/words.ts";
import { createTestContext, type TestContext } from "../support/context.ts";
import { queryOf } from "../support/handles.ts";
import { addAccount, addPost, readPost } from "../support/publishing.ts";
import { scriptedPlatform } from "../support/scripted-platform.ts";

let ctx: TestContext;
beforeEach(async () => {
  ctx = await createTestContext();
});
afterEach(async () => ctx[Symbol.asyncDispose]());

/** By a process that ends in the next moment. */
async function claimBy(workerId: string): Promise<readonly ClaimedPost[]> {
  const times = { started_at: ctx.clock.now(), heartbeat_at: ctx.clock.now() };
  const row = { id: workerId, role: "serve", host: "test", pid: 1, version: "0", ...times } as const;
  await queryOf(ctx.store)
    .insertInto("workers")
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const worker = { ...ctx, workerId };
  const all = [];
  for (const isQuarantined of [false, true])
    all.push(...(await claimDue(worker, { limit: 10, isQuarantined, lateCauses: new LateCauses() })).posts);
  return all;
}

const die = (workerId: string, arrivedAt = -Infinity) =>
  ctx.store.write((tx) => takeOver(tx, workerId, { now: ctx.clock.now(), arrivedAt }));

const intent = (post: ClaimedPost, step: string) =>
  ctx.store.ledger.intent(post.lease, {
    run: 1,
    step,
    effect_key: "key",
    request_hash: "hash",
    started_at: ctx.clock.now(),
  });

const due = async (caption: string, account?: Awaited<ReturnType<typeof addAccount>>) =>
  addPost(ctx, account ?? (await addAccount(ctx)), { caption, scheduled_at: ctx.clock.now() });

describe("a post whose process ends while it works on it", () => {
  it("outlives any number of ends within a moment, and is given up after four that are spaced", async () => {
    const { id } = await due("guilty");
    const waits = [];
    for (let crash = 1; ; crash++) {
      const worker = newId("wrk");
      expect((await claimBy(worker)).map(({ post }) => post.id)).toEqual([id]);
      const { failed } = await die(worker);
      if (failed.length > 0) break;
      const { next_at: nextAt } = await readPost(ctx, id);
      waits.push(Math.max(0, nextAt! - ctx.clock.now()));
      // Other processes that end meanwhile did not have it.
      const other = newId("wrk");
      if (waits.at(-1)! > 0) expect(await claimBy(other)).toEqual([]);
      await ctx.clock.advance(waits.at(-1)!);
      expect(crash).toBeLessThan(10);
    }
    expect(waits).toEqual([0, TIME_LIMITS.secondCrash, TIME_LIMITS.thirdCrash]);
    expect(waits.reduce((sum, ms) => sum + ms)).toBeGreaterThanOrEqual(TIME_LIMITS.machineTrouble);
    const post = await readPost(ctx, id);
    expect(post).toMatchObject({ status: "failed", in_doubt: 0, crashes: 0 });
    expect(agentsWords(fromStored(post.error ?? ""))).toMatch(
      /^The program ended 4 times in a row while it worked on this post\. .*send it again\.$/i,
    );
    const attempts = await queryOf(ctx.store).selectFrom("attempts").select("outcome").execute();
    expect(attempts.map(({ outcome }) => outcome)).toEqual([...Array(3).fill("interrupted"), "failed"]);
  });

  it("is in doubt where it may be out", async () => {
    const { id } = await due("guilty");
    for (let crash = 1; crash <= 4; crash++) {
      const worker = newId("wrk");
      const [post] = await claimBy(worker);
      if (crash === 1) await intent(post!, "create");
      await die(worker);
      await ctx.clock.advance(MINUTE);
    }
    const { status, in_doubt, error } = await readPost(ctx, id);
    expect({ status, in_doubt }).toEqual({ status: "failed", in_doubt: 1 });
    expect(agentsWords(fromStored(error ?? ""))).toMatch(
      /^outcome unknown: the program ended 4 times in a row /,
    );
  });

  it("is worked on after the others once it was there twice, with no other such post beside it", async () => {
    const order: string[] = [];
    // The first posts are taken up while it starts.
    let publisher: Publisher | null = null;
    let [working, most] = [0, 0];
    const platform = scriptedPlatform({
      publish: async ({ caption, id }) => {
        order.push(caption ?? "");
        if (caption === "suspect") most = Math.max(most, (working += 1));
        // The publisher is woken meanwhile, and looks for more.
        for (let wakes = 0; wakes < 5; wakes++, publisher?.wake())
          await new Promise((resolve) => setTimeout(resolve, 5));
        if (caption === "suspect") working -= 1;
        return { state: "live", platformPostId: id, platformUrl: null };
      },
    });
    const media = { forPost: () => ({}) as never, release: async () => {} };
    await using own = await createTestContext({ platformList: [platform], media });
    for (const [caption, crashes] of [...Array(4).fill(["suspect", 2]), ...Array(4).fill(["other", 1])]) {
      const { id } = await addPost(own, await addAccount(own), { caption, scheduled_at: own.clock.now() });
      await queryOf(own.store).updateTable("posts").set({ crashes }).where("id", "=", id).execute();
    }
    const identity = { role: "serve", host: "test", pid: process.pid, version: "0" } as const;
    publisher = await startPublisher({ ...own, workerId: newId("wrk") }, { identity });
    await expect.poll(() => order.length).toBe(8);
    await publisher.close();
    expect(most).toBe(1);
    expect(order.slice(0, 4)).toEqual(Array(4).fill("other"));
  });

  it("begins to count anew once it got further", async () => {
    const { id } = await due("slow");
    for (let n = 0; n < 6; n++) {
      const worker = newId("wrk");
      const [post] = await claimBy(worker);
      await intent(post!, `step ${n}`);
      const done = { result: null, httpStatus: 200, at: ctx.clock.now() };
      await ctx.store.ledger.end(post!.lease, { run: 1, step: `step ${n}`, state: "done", ...done });
      expect((await die(worker)).failed).toEqual([]);
      expect((await readPost(ctx, id)).next_at).toBeLessThanOrEqual(ctx.clock.now());
    }
  });

  it("is given up although it asks its platform between its ends", async () => {
    const { id } = await due("guilty");
    const failed: string[] = [];
    for (let crash = 1; failed.length === 0; crash++) {
      const worker = newId("wrk");
      await ctx.clock.advance(MINUTE);
      const [post] = await claimBy(worker);
      await intent(post!, "create");
      failed.push(...(await die(worker)).failed);
      expect(crash).toBeLessThan(10);
      if (failed.length > 0) continue;
      await ctx.clock.advance(MINUTE);
      const [asking] = await claimBy(newId("wrk"));
      const now = ctx.clock.now();
      const retrying = { outcome: "retrying", error: "Not settled yet." } as const;
      await ctx.store.ledger.finishAttempt(asking!.lease, {
        ...{ at: now, trigger: null, nextAt: now, error: null, isInDoubt: true, tries: crash },
        ...{ platformPostId: null, platformUrl: null, publishedAt: null, warnings: null, accountWait: null },
        attempt: retrying,
      });
    }
    expect(failed).toEqual([id]);
    expect(await readPost(ctx, id)).toMatchObject({ status: "failed", in_doubt: 1 });
  });

  it("holds up no other post of its channel meanwhile", async () => {
    const account = await addAccount(ctx);
    const guilty = await due("guilty", account);
    for (let n = 0; n < 2; n++) {
      const worker = newId("wrk");
      await claimBy(worker);
      await die(worker);
    }
    const other = await due("other", account);
    expect((await claimBy(newId("wrk"))).map(({ post }) => post.id)).toEqual([other.id]);
    expect(await readPost(ctx, guilty.id)).toMatchObject({ status: "publishing", lease_worker: null });
  });

  it("is asked about only when what it sent has arrived, also where its channel is connected anew", async () => {
    const { startWaitingPosts } = await import("../../src/store/queries/accounts.ts");
    const account = await addAccount(ctx);
    const sent = await due("sent", account);
    const [post] = await claimBy("wrk_dead");
    await intent(post!, "create");
    const other = await due("other", account);
    const arrivedAt = ctx.clock.now() + 20 * SECOND;
    await die("wrk_dead", arrivedAt);
    expect((await claimBy("wrk_next")).map(({ post: { id } }) => id)).toEqual([other.id]);
    await die("wrk_next");
    await ctx.store.write((tx) => startWaitingPosts(tx, account.id, ctx.clock.now()));
    expect((await readPost(ctx, sent.id)).next_at).toBe(arrivedAt);
    await ctx.clock.advance(20 * SECOND);
    expect((await claimBy("wrk_last")).map(({ post: { id } }) => id)).toContain(sent.id);
  });
});

describe("posts of a channel whose process died", () => {
  it.each([
    [3 * MINUTE - SECOND, 0],
    [3 * MINUTE + SECOND, TIME_LIMITS.spacing],
  ])("%d ms late are spaced by %d ms", async (lateMs, spacedBy) => {
    const account = await addAccount(ctx);
    const at = ctx.clock.now();
    await addPost(ctx, account, { scheduled_at: at - lateMs });
    await claimBy("wrk_one");
    const row = await queryOf(ctx.store)
      .selectFrom("accounts")
      .select("next_allowed_at")
      .where("id", "=", account.id)
      .executeTakeFirstOrThrow();
    expect(Math.max(0, row.next_allowed_at - at)).toBe(spacedBy);
  });
});
