import { afterAll, beforeEach, describe, expect, it, vi, beforeAll } from "vitest";
import { loadCatalog } from "../../src/app/setup.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { AnyPlatform } from "../../src/ports/platform.ts";
import { PlatformFault } from "../../src/ports/platform-io.ts";
import { getAccountAnalytics } from "../../src/reporting/results/account-analytics.ts";
import { listChoices } from "../../src/channels/connecting/list-choices.ts";
import { inspectAccount } from "../../src/channels/connecting/inspect.ts";
import { createPlatformIo } from "../../src/channels/connecting/account-io.ts";
import { readInsights } from "../../src/posts/posts.ts";
import { editPublishedPost } from "../../src/posts/live-posts.ts";
import { readStepResults, toPlatformPost } from "../../src/publishing/publish-io.ts";
import type { PostRow } from "../../src/store/schema/tables.ts";
import { callOf, type TestContext, watchContexts } from "../support/context.ts";
import { finish } from "../support/contract/ends.ts";
import { readStage } from "../support/contract/read-stage.ts";
import { contentOf, type PlatformFixture, type Stage } from "../support/contract/stage.ts";
import { rawOf } from "../support/handles.ts";
import { SPITES, spitefulDoor, type Spite, type SpitefulDoor } from "../support/hostile-answers.ts";
import { addPost, readPost } from "../support/publishing.ts";

/*
 * What the servers of users answer, and what it costs: expressions that begin anew at each sign of 1 MB take
 * minutes, so that a test of these would end by its time limit.
 */

const made = { spite: null as Spite | null, contexts: [] as TestContext[] };

// Every stage asks through a door that can be spiteful, from connecting on.
beforeAll(() =>
  watchContexts({
    door: (outbound) => Object.assign(spitefulDoor(outbound), { spite: made.spite }),
    onContext: (ctx) => made.contexts.push(ctx),
  }),
);
afterAll(() => watchContexts(null));

vi.setConfig({ testTimeout: 120_000 });

beforeEach(() => {
  made.spite = null;
  made.contexts = [];
});

/** Longest of what anybody keeps: results of steps, facts about a channel. */
const MAX_KEPT_CHARS = 66_000;

const OBEYED = /\p{Cc}|\u202e|\\u001b|\\u202e|javascript:/iu;

/** Written by the test. */
const OWN_COLUMNS = ["caption", "metadata"];

function expectClean(text: string, place: string): void {
  expect([place, text.length <= MAX_KEPT_CHARS]).toEqual([place, true]);
  expect([place, OBEYED.exec(text)?.[0]]).toEqual([place, undefined]);
}

/** Every text in every row of the database. */
function expectCleanRows(ctx: TestContext): void {
  const db = rawOf(ctx.store);
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all([]) as {
    name: string;
  }[];
  for (const { name } of tables.filter((table) => !table.name.includes("search"))) {
    for (const row of db.prepare(`SELECT * FROM "${name}"`).all([]) as object[]) {
      for (const [column, value] of Object.entries(row))
        if (typeof value === "string" && !OWN_COLUMNS.includes(column))
          expectClean(value, `${name}.${column}`);
    }
  }
  const ids = db.prepare("SELECT platform_post_id AS id FROM posts").all([]) as { id: string | null }[];
  for (const { id } of ids) expect((id ?? "").length).toBeLessThanOrEqual(512);
  const bugs = ctx.log.lines.filter(({ level }) => level === "error");
  expect(bugs.map(({ message, fields }) => `${message}: ${String(Reflect.get(fields, "err"))}`)).toEqual([]);
  expect(ctx.log.text()).not.toContain("RangeError");
}

/** A calm answer, or a calm refusal. */
async function calm(work: () => Promise<unknown>): Promise<void> {
  let said: unknown;
  try {
    said = await work();
  } catch (error) {
    // Some wait, on a clock that stands still, for what never comes.
    const isOver = error instanceof Error && error.name === "TimeoutError";
    const isCalm = isOver || error instanceof AppError || error instanceof PlatformFault;
    if (!isCalm) throw error;
    said = error.message;
    expect(error.message.length).toBeLessThanOrEqual(2_000);
  }
  expectClean(JSON.stringify(said ?? null), "an answer");
}

function doorOf({ ctx }: Stage): SpitefulDoor {
  return ctx.outbound as SpitefulDoor;
}

async function publish(fixture: PlatformFixture, stage: Stage): Promise<PostRow> {
  const { id } = await addPost(stage.ctx, stage.account, contentOf(fixture.post));
  await finish(stage.ctx, id);
  return readPost(stage.ctx, id);
}

/** Everything that is done with a channel and a post that is live. */
async function useAll(platform: AnyPlatform, { ctx, account }: Stage, post: PostRow): Promise<void> {
  const call = callOf(ctx);
  await calm(() => inspectAccount(ctx, account));
  await calm(() => readInsights(ctx, post));
  const days = { from: "2026-11-01", granularity: "day" as const, accountId: account.id };
  await calm(() => getAccountAnalytics(call, days));
  for (const field of Object.keys(platform.choices ?? {}))
    await calm(() => listChoices(call, { accountId: account.id, field, search: "horn" }));
  if (platform.edit !== undefined)
    await calm(() => editPublishedPost(call, { id: post.id, caption: "Another horn" }));
  if (platform.remove === undefined) return;
  const io = await createPlatformIo(ctx, account, AbortSignal.timeout(500));
  const results = await readStepResults(ctx, post);
  await calm(async () => platform.remove?.(toPlatformPost(platform, post), { ...io, ...results }));
}

const { platforms } = await loadCatalog();
const outward = platforms.filter(({ isLocal }) => isLocal !== true);

describe.each(outward.map((platform) => [platform.name, platform] as const))("%s", (name, platform) => {
  const stageOf = readStage(name);

  describe.each(Object.entries(SPITES))("whose servers answer with %s", (_what, spite) => {
    it("connects calmly, or not at all", async () => {
      const fixture = await stageOf;
      made.spite = spite;
      try {
        await using stage = await fixture.openStage(platform);
        expectCleanRows(stage.ctx);
      } catch (error) {
        if (error instanceof Error && error.name === "AssertionError") throw error;
        expectClean(String(error), "what connecting says");
        expect(error).not.toBeInstanceOf(RangeError);
        for (const ctx of made.contexts) expectCleanRows(ctx);
      }
    });

    it("publishes calmly, once at the most", async () => {
      const fixture = await stageOf;
      await using stage = await fixture.openStage(platform);
      doorOf(stage).spite = spite;
      await publish(fixture, stage);
      expectCleanRows(stage.ctx);
      doorOf(stage).spite = null;
      // What a server said of a post is sent back to it by some.
      const shown = await stage.published().catch((error: unknown) => {
        if (!String(error).includes("asked wrongly")) throw error;
        return 0;
      });
      expect(shown).toBeLessThanOrEqual(1);
    });

    it("is used calmly", async () => {
      const fixture = await stageOf;
      const stage = await fixture.openStage(platform);
      try {
        const post = await publish(fixture, stage);
        expect(post.status).toBe("published");
        doorOf(stage).spite = spite;
        await useAll(platform, stage, post);
        expectCleanRows(stage.ctx);
      } finally {
        // An edit of Matrix sends back what the server said of the post.
        await Promise.resolve(stage[Symbol.asyncDispose]()).catch((error: unknown) => {
          if (!String(error).includes("asked wrongly")) throw error;
        });
      }
    });
  });

  it("is refused calmly at every request of a post, in so many words", async () => {
    const fixture = await stageOf;
    let requests = 1;
    for (let only = 0; only < requests; only += 1) {
      await using stage = await fixture.openStage(platform);
      const door = doorOf(stage);
      Object.assign(door, { spite: SPITES["1 MB of one word"], count: 0, only });
      await publish(fixture, stage);
      requests = Math.max(requests, only === 0 ? door.count : requests);
      expectCleanRows(stage.ctx);
    }
  });
});
