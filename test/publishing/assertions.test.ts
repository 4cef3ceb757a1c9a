import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AssertionName, ASSERTIONS, failures, onFailure } from "../../src/domain/assertions.ts";
import { assert, AssertionFailed } from "../../src/domain/errors.ts";
import { MINUTE } from "../../src/domain/time.ts";
import { PlatformFault } from "../../src/ports/platform-io.ts";
import { claimDue, LateCauses, type PostAtWork } from "../../src/publishing/claim.ts";
import { createEffects } from "../../src/publishing/effects.ts";
import { insertDraftPosts, makeSeriesPosts } from "../../src/posts/drafts/series.ts";
import { preparePost } from "../../src/posts/prepare.ts";
import { schedulePosts } from "../../src/posts/schedule-post.ts";
import { reserveSlots } from "../../src/posts/store-posts.ts";
import { findDraftRow } from "../../src/store/queries/drafts.ts";
import { toPost, transition } from "../../src/store/queries/posts.ts";
import type { PostRow } from "../../src/store/schema/tables.ts";
import { callOf, createTestContext, type TestContext } from "../support/context.ts";
import { queryOf } from "../support/handles.ts";
import { addAccount, addPost, readPost, runTick } from "../support/publishing.ts";
import { startService } from "../support/service.ts";
import { scriptedPlatform } from "../support/scripted-platform.ts";
import { change } from "../../src/store/engine/statements.ts";
import { decideDraft } from "../../src/posts/drafts/decide-draft.ts";
import { saveDraft } from "../../src/posts/drafts/save-draft.ts";

const DAILY = { unit: "day", every: 1, timezone: "UTC", from: "2026-11-21" };
type Publish = Parameters<typeof scriptedPlatform>[0]["publish"];

const IDS = { platformPostId: "1", platformUrl: null };

/** Texts that reached the platform. */
let sent: string[];
/** What the first post does; each other one is sent. */
let publish: Publish;
let ctx: TestContext;
let stopListening: () => void;
let told: [AssertionName, string | null][];
let before: Record<string, number>;

const send: Publish = async (post, io) => {
  await io.effect<string>({
    step: "create",
    request: {},
    send: async () => {
      sent.push(post.caption ?? "");
      return "1";
    },
    reconcile: async () => ({ outcome: "send_again" }),
    live: () => IDS,
  });
  return { state: "live", ...IDS };
};

beforeEach(async () => {
  sent = [];
  told = [];
  before = { ...failures };
  publish = send;
  const platform = scriptedPlatform({
    publish: (post, io) => (post.caption === "Broken" ? publish : send)(post, io),
  });
  const media = { forPost: () => ({}) as never, release: async () => {} };
  ctx = await createTestContext({ platformList: [platform], media });
  stopListening = onFailure((name, id) => told.push([name, id]));
});
afterEach(async () => {
  stopListening();
  await ctx[Symbol.asyncDispose]();
});

/** A post that something will be amiss with. */
async function broken(overrides: Partial<PostRow> = {}): Promise<PostRow> {
  return addPost(ctx, await addAccount(ctx, { id: "acc_broken" }), { caption: "Broken", ...overrides });
}

const damage = (row: Pick<PostRow, "id">, set: Partial<PostRow>): Promise<unknown> =>
  queryOf(ctx.store).updateTable("posts").set(set).where("id", "=", row.id).execute();

async function addStep({ id, run }: PostRow, more: { readonly fence?: number; readonly result?: string }) {
  const step = { post_id: id, run, step: "create", effect_key: "", request_hash: "", state: "done" as const };
  const at = { asked: 0, sent: 1, started_at: 1, finished_at: 1, fence: 0, result: '"1"', ...more };
  await queryOf(ctx.store)
    .insertInto("effects")
    .values({ ...step, ...at })
    .execute();
}

/** Whatever it claims comes back changed, as by a mistake in the claim. */
function claiming(changed: (claimed: PostAtWork) => Partial<PostAtWork>): void {
  const { claims } = ctx.store;
  const claim: typeof claims.claim = async (wish) => {
    const batch = await claims.claim(wish);
    const posts = batch.posts.map((one) =>
      one.post.caption === "Broken" ? { ...one, ...changed(one as PostAtWork) } : one,
    );
    return { ...batch, posts };
  };
  Object.assign(ctx, { store: { ...ctx.store, claims: { ...claims, claim } } });
}

/** Works on what is due, another channel's post among it, and reads the broken one. */
async function tick({ id }: PostRow): Promise<PostRow> {
  await addPost(ctx, await addAccount(ctx), { caption: "Another" });
  await runTick(ctx);
  return readPost(ctx, id);
}

const reason = (name: AssertionName): unknown => expect.stringContaining(ASSERTIONS[name]);
const GIVEN_BACK = { status: "scheduled", in_doubt: 0, tries: 1, lease_worker: null };
const IN_DOUBT = { status: "failed", in_doubt: 1, next_at: null, lease_worker: null };

/** How each is broken, and how what it is about stands after that. */
const BREAKS: Record<AssertionName, () => Promise<void>> = {
  claim_due: async () => {
    const post = await broken({ scheduled_at: ctx.clock.now() + 1 });
    const { claims } = ctx.store;
    const claim: typeof claims.claim = (wish) => claims.claim({ ...wish, now: () => wish.now() + 1 });
    Object.assign(ctx, { store: { ...ctx.store, claims: { ...claims, claim } } });
    expect(await tick(post)).toMatchObject({ ...GIVEN_BACK, error: reason("claim_due") });
  },
  claim_channel: async () => {
    const post = await broken();
    claiming(({ account }) => ({ account: { ...account, paused: 1 } }));
    expect(await tick(post)).toMatchObject({ ...GIVEN_BACK, error: reason("claim_channel") });
  },
  claim_open: async () => {
    const post = await broken({ status: "cancelled" });
    expect(await tick(post)).toMatchObject({
      status: "cancelled",
      next_at: null,
      error: reason("claim_open"),
    });
  },
  claim_fence: async () => {
    const post = await broken();
    await addStep(post, { fence: 9 });
    expect(await tick(post)).toMatchObject({ ...GIVEN_BACK, error: reason("claim_fence") });
  },
  ledger_own: async () => {
    const post = await broken();
    await addStep(post, {});
    claiming(({ effects }) => ({ effects: effects.map((step) => ({ ...step, run: 7 })) }));
    expect(await tick(post)).toMatchObject({ ...GIVEN_BACK, error: reason("ledger_own") });
  },
  ledger_readable: async () => {
    const post = await broken();
    await addStep(post, { result: "{broken" });
    expect(await tick(post)).toMatchObject({ ...IN_DOUBT, error: reason("ledger_readable") });
  },
  send_due: async () => {
    const now = ctx.clock.now();
    const post = await broken({ due_at: now, scheduled_at: now + MINUTE });
    expect(await tick(post)).toMatchObject({ ...GIVEN_BACK, error: reason("send_due") });
  },
  send_begun: async () => {
    const post = await broken();
    publish = async (of, io) => {
      await damage(of, { run: 2 });
      return send(of, io);
    };
    expect(await tick(post)).toMatchObject({ ...GIVEN_BACK, error: reason("send_begun") });
  },
  send_unanswered: async () => {
    const post = await broken();
    publish = async (of, io) => {
      await addStep(post, {});
      return send(of, io);
    };
    expect(await tick(post)).toMatchObject({ ...GIVEN_BACK, error: reason("send_unanswered") });
  },
  send_noted: async () => {
    await broken();
    const [claimed] = (await claimDue(ctx, { limit: 1, lateCauses: new LateCauses() })).posts;
    let isNoted = false;
    const liveness = { ...ctx.store.liveness, check: () => void (isNoted = true) };
    const effects = createEffects({
      ctx: { ...ctx, store: { ...ctx.store, liveness } },
      lease: claimed!.lease,
      run: 1,
      rows: [],
      signal: new AbortController().signal,
      deadline: Infinity,
      isTimeFor: () => true,
      isReconcileOnly: false,
      reconciles: "server_key",
      requestsBegun: () => 0,
    });
    const spec = {
      // It is written down under another name than it is sent under.
      get step() {
        return isNoted ? "other" : "create";
      },
      request: {},
      send: async () => (sent.push("Broken"), "1"),
      reconcile: async () => ({ outcome: "send_again" as const }),
    };
    await expect(effects.effect(spec)).rejects.toThrow(ASSERTIONS.send_noted);
  },
  answer_awaited: async () => {
    const post = await broken();
    publish = async (_of, io) => {
      await io.effect<string>({
        step: "create",
        request: {},
        send: async () => {
          await change(ctx.store, sql`UPDATE effects SET state = 'done', result = '"other"'`);
          return "1";
        },
        reconcile: async () => ({ outcome: "send_again" }),
      });
      return { state: "live", ...IDS };
    };
    expect(await tick(post)).toMatchObject({ ...IN_DOUBT, error: reason("answer_awaited") });
    const { result } = await queryOf(ctx.store)
      .selectFrom("effects")
      .select("result")
      .where("post_id", "=", post.id)
      .executeTakeFirstOrThrow();
    expect(result).toBe('"other"');
  },
  follow_up_live: async () => {
    const post = await broken();
    publish = async (_of, io) => {
      await io.followUp("The comment", async () => void sent.push("Comment"));
      return { state: "live", ...IDS };
    };
    expect(await tick(post)).toMatchObject({ ...GIVEN_BACK, error: reason("follow_up_live") });
  },
  status_waiting: async () => {
    const post = await broken({ in_doubt: 1 });
    expect(await tick(post)).toMatchObject({ ...IN_DOUBT, error: reason("status_waiting") });
  },
  status_published: async () => {
    const post = await broken({ status: "published" });
    expect(await tick(post)).toMatchObject({ status: "published", next_at: null });
  },
  status_failed: async () => {
    const post = await broken();
    publish = async () => {
      throw new PlatformFault("rejected", "");
    };
    expect(await tick(post)).toMatchObject({ ...GIVEN_BACK, error: reason("status_failed") });
  },
  status_cancelled: async () => {
    const post = await broken();
    const at = { ownerId: post.owner_id, id: post.id };
    const cancel = ctx.store.write((tx) => transition(tx, at, "cancel", { updated_at: 1 }));
    await expect(cancel).rejects.toThrow(ASSERTIONS.status_cancelled);
    expect((await readPost(ctx, post.id)).status).toBe("scheduled");
  },
  error_readable: async () => {
    const post = await broken({ status: "failed", next_at: null, error: '[{"field":null,"wh' });
    expect(
      toPost(await queryOf(ctx.store).selectFrom("posts").selectAll().executeTakeFirstOrThrow()).error,
    ).toEqual(reason("error_readable"));
    expect(post.id).toBe(told[0]?.[1]);
  },
  approval_revision: async () => {
    const { id } = await draftOf(null);
    await expect(
      ctx.store.write(async (tx) => {
        const row = (await findDraftRow(tx, "default", id))!;
        await insertDraftPosts(tx, callOf(ctx), { ...row, revision: row.revision + 1 }, []);
      }),
    ).rejects.toThrow(ASSERTIONS.approval_revision);
  },
  approval_given: async () => {
    const { id } = await draftOf({ ...DAILY, time: "09:30" });
    await draftOf({ ...DAILY, time: "10:30" });
    await change(ctx.store, sql`DELETE FROM post_plans`);
    await change(ctx.store, sql`UPDATE drafts SET decision = NULL WHERE id = ${id}`);
    await makeSeriesPosts(ctx, new AbortController().signal);
    const made = await queryOf(ctx.store).selectFrom("post_plans").select("draft_id").distinct().execute();
    expect(made).toHaveLength(1);
    expect(made[0]?.draft_id).not.toBe(id);
  },
  slot_single: async () => {
    const days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    const schedule = JSON.stringify({
      timezone: "UTC",
      slots: [{ days, times: ["09:00"] }],
      minGapMinutes: 0,
    });
    const { id } = await addAccount(ctx, { id: "acc_broken", schedule });
    const input = { accountId: id, caption: "Broken", slot: "next" as const };
    const one = await preparePost(callOf(ctx), input, {});
    // It has the slot, and another time.
    const other = {
      ...one,
      isInSlot: false,
      row: { ...one.row, slot_at: one.row.scheduled_at, scheduled_at: 1 },
    };
    const reserve = ctx.store.write((tx) => reserveSlots(callOf(ctx), tx, [other, one]));
    await expect(reserve).rejects.toThrow(ASSERTIONS.slot_single);
    const { results } = await schedulePosts(callOf(ctx), { posts: [input, input] });
    expect(results.map(({ error }) => error)).toEqual([null, null]);
  },
};

/** One that was approved. */
async function draftOf(repeat: object | null): Promise<{ id: string }> {
  const account = await addAccount(ctx);
  const targets = [{ accountId: account.id }];
  const { draft } = await saveDraft(callOf(ctx), { caption: "Broken", targets, repeat } as never);
  await decideDraft(callOf(ctx), { id: draft.id, revision: 1, decision: "approve" });
  return draft;
}

/** After these the platform, or nothing, was reached in another way. */
const NO_TICK = [
  "send_noted",
  "status_cancelled",
  "error_readable",
  "approval_revision",
  "approval_given",
  "slot_single",
];

describe("an assertion of the publishing protocol", () => {
  it.each(Object.keys(ASSERTIONS) as AssertionName[])(
    "stops what breaks %s, and that alone",
    async (name) => {
      await BREAKS[name]();
      expect(sent).toEqual(NO_TICK.includes(name) ? [] : ["Another"]);
      expect(new Set(told.map(([one]) => one))).toEqual(new Set([name]));
      const counted = Object.entries(failures).filter(([one, count]) => count > before[one]!);
      expect(counted).toEqual([[name, before[name]! + told.length]]);
      expect(told.every(([, id]) => id !== null && /^(post|dft)_/.test(id))).toBe(true);
    },
  );

  it("fails for certain what does not pass in eight tries", async () => {
    const post = await broken();
    claiming(({ account }) => ({ account: { ...account, paused: 1 } }));
    // The last waits are longer than five minutes.
    for (let looks = 0; looks < 11; looks += 1) {
      await runTick(ctx);
      await ctx.clock.advance(5 * MINUTE);
    }
    expect(await readPost(ctx, post.id)).toMatchObject({
      status: "failed",
      in_doubt: 0,
      error: `${new AssertionFailed("claim_channel").message} It was tried 8 times. Send it again.`,
    });
    expect(sent).toEqual([]);
  });
});

it("is a line in the log of each service of the process, with its name and the post, and no text", async () => {
  const service = await startService();
  expect(() => assert("claim_due", false, "post_1")).toThrow(AssertionFailed);
  const lines = service.log.lines.filter(({ message }) => message === "an assertion failed");
  expect(lines).toMatchObject([{ level: "error", fields: { assertion: "claim_due", id: "post_1" } }]);
  await service[Symbol.asyncDispose]();
  expect(() => assert("claim_due", false, "post_1")).toThrow(AssertionFailed);
  expect(service.log.lines.filter(({ message }) => message === "an assertion failed")).toEqual(lines);
});

it("has a place in the source for each", () => {
  const root = join(import.meta.dirname, "../../src");
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith(".ts"),
  );
  const source = files
    .filter((path) => !path.endsWith("assertions.ts"))
    .map((path) => readFileSync(join(root, path), "utf8"))
    .join("\n");
  const missing = Object.keys(ASSERTIONS).filter((name) => !source.includes(`("${name}"`));
  expect(missing).toEqual([]);
});
