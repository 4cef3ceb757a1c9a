import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, describe, expect, it } from "vitest";
import { LIVE_STEP } from "../../src/store/engine/ledger.ts";
import type { PostRow } from "../../src/store/schema/tables.ts";
import { queryOf } from "../support/handles.ts";
import { addPost, readPost } from "../support/publishing.ts";
import { buildWorker, makeDataFolder, openFolder, runWorker } from "./fault-runner.ts";

let worker: string;
beforeAll(async () => {
  worker = await buildWorker("call-worker");
});

/** A platform that shows parts of posts, and notes what was asked of it. */
async function startPlatform() {
  const asked: string[] = [];
  const shown = new Map<string, number>();
  const server = createServer(({ method = "", url = "" }, response) => {
    const part = decodeURIComponent(url.slice(1));
    asked.push(`${method} ${part}`);
    if (method === "POST") shown.set(part, (shown.get(part) ?? 0) + 1);
    else shown.delete(part);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    asked,
    shown,
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}

async function prepare(path: string, set: Partial<PostRow>, isLive: boolean): Promise<string> {
  await using ctx = await openFolder(path);
  const account = await queryOf(ctx.store).selectFrom("accounts").selectAll().executeTakeFirstOrThrow();
  const now = Date.now() - 50;
  const { id } = await addPost(ctx, account, { caption: "first", scheduled_at: now, due_at: now, ...set });
  const step = { post_id: id, run: 1, fence: 1, effect_key: "k", request_hash: "h", asked: 0, sent: 1 };
  const done = { ...step, state: "done" as const, handle_enc: null, started_at: now, finished_at: now };
  if (isLive)
    await queryOf(ctx.store)
      .insertInto("effects")
      .values([
        { ...done, step: "first", result: JSON.stringify("first"), http_status: null },
        {
          ...done,
          step: LIVE_STEP,
          result: JSON.stringify({ platformPostId: "first", platformUrl: null }),
          http_status: null,
        },
      ])
      .execute();
  return id;
}

async function ended(path: string, id: string): Promise<PostRow> {
  await using ctx = await openFolder(path);
  return await readPost(ctx, id);
}

interface Round {
  readonly post: PostRow;
  /** As the call that was killed has left it. */
  readonly left: PostRow;
  readonly asked: readonly string[];
  readonly shown: ReadonlyMap<string, number>;
}

/** The call is killed at its first, second, … moment, and made again by another process, until one run lives. */
async function* killAtEach(what: "take down" | "retry", set: Partial<PostRow>): AsyncGenerator<Round> {
  for (let moment = 1; ; moment++) {
    await using platform = await startPlatform();
    await using folder = await makeDataFolder("scripted", { count: 0, accounts: 1 });
    const isLive = set.status === "published";
    if (isLive) platform.shown.set("first", 1);
    const id = await prepare(folder.path, set, isLive);
    const args = [folder.path, platform.address, what, id];
    const { signal, stderr } = await runWorker(worker, [...args, String(moment)]).exit;
    const left = await ended(folder.path, id);
    const again = await runWorker(worker, args).exit;
    expect(again, stderr + again.stderr).toMatchObject({ code: 0 });
    yield { post: await ended(folder.path, id), left, ...platform };
    if (signal !== "SIGKILL") return;
  }
}

interface DraftRound {
  readonly state: string;
  readonly posts: readonly { readonly status: string; readonly scheduled_at: number }[];
}

async function readDraft(path: string): Promise<DraftRound> {
  await using ctx = await openFolder(path);
  const draft = await queryOf(ctx.store).selectFrom("drafts").select("state").executeTakeFirst();
  const posts = await queryOf(ctx.store)
    .selectFrom("posts")
    .select(["status", "scheduled_at"])
    .orderBy("scheduled_at")
    .execute();
  return { state: draft?.state ?? "none", posts };
}

async function readAccountId(path: string): Promise<string> {
  await using ctx = await openFolder(path);
  const { id } = await queryOf(ctx.store).selectFrom("accounts").select("id").executeTakeFirstOrThrow();
  return id;
}

/** What a call that was killed at its first, second, … moment has left, and what it is once another has made it. */
async function* killDrafted(what: string): AsyncGenerator<{ left: DraftRound; done: DraftRound }> {
  for (let moment = 1; ; moment++) {
    await using folder = await makeDataFolder("scripted", { count: 0, accounts: 1 });
    const args = [folder.path, "http://127.0.0.1:9", what, await readAccountId(folder.path)];
    const { signal, stderr } = await runWorker(worker, [...args, String(moment)]).exit;
    const left = await readDraft(folder.path);
    const again = await runWorker(worker, args).exit;
    expect(again, stderr + again.stderr).toMatchObject({ code: 0 });
    yield { left, done: await readDraft(folder.path) };
    if (signal !== "SIGKILL") return;
  }
}

describe.concurrent("kill -9 in the middle of a decision", { timeout: 120_000 }, () => {
  it.each([
    ["approve", { before: "open", after: "scheduled", posts: 1 }],
    ["approve a series", { before: "open", after: "repeating", posts: 14 }],
    ["make ahead", { before: "repeating", after: "repeating", posts: 14 }],
  ])("%s: all posts or none, and each once", async (what, { before, after, posts }) => {
    const seen = new Set<string>();
    for await (const { left, done } of killDrafted(what)) {
      seen.add(`${left.state} ${left.posts.length}`);
      expect(done.state).toBe(after);
      expect(done.posts).toHaveLength(posts);
      expect(new Set(done.posts.map(({ scheduled_at }) => scheduled_at)).size).toBe(posts);
    }
    expect([...seen].sort()).toEqual([`${before} 0`, `${after} ${posts}`].sort());
  });

  it("stop: what waits is cancelled with the decision", async () => {
    const seen = new Set<string>();
    for await (const { left, done } of killDrafted("stop")) {
      const waiting = left.posts.filter(({ status }) => status === "scheduled").length;
      seen.add(`${left.state} ${waiting}`);
      expect(done.state).toBe("ended");
      expect(done.posts.filter(({ status }) => status === "scheduled")).toEqual([]);
    }
    expect([...seen].sort()).toEqual(["ended 0", "repeating 14"]);
  });

  it("take a slot: each post has a slot of its own", async () => {
    for await (const { done } of killDrafted("take a slot")) {
      // A call without an idempotency key that was killed after its effect is made again.
      expect([1, 2]).toContain(done.posts.length);
      expect(new Set(done.posts.map(({ scheduled_at }) => scheduled_at)).size).toBe(done.posts.length);
    }
  });
});

describe.concurrent("kill -9 in the middle of a call", { timeout: 120_000 }, () => {
  it("a post that is taken down is gone when the call is repeated, and nothing follows it", async () => {
    let rounds = 0;
    const live = { status: "published", published_at: 1, platform_post_id: "first" } as const;
    const followsAt = Date.now() + 3_600_000;
    let isStopped = 0;
    for await (const { post, left, asked, shown } of killAtEach("take down", {
      ...live,
      next_at: followsAt,
    })) {
      rounds += 1;
      expect(post).toMatchObject({ status: "cancelled", error: null, next_at: null, published_at: 1 });
      expect([...shown.keys()]).toEqual([]);
      expect(asked.filter((one) => one.startsWith("POST"))).toEqual([]);
      if (left.status !== "published" || left.next_at !== null) continue;
      isStopped += 1;
      expect(left.error).toMatch(/was to be taken down.*Take it down again/);
    }
    expect(isStopped).toBeGreaterThan(1);
    expect(rounds).toBeGreaterThan(5);
  });

  it("a post that is sent again as it was changed goes out once, with the new text", async () => {
    let rounds = 0;
    const failed = { status: "failed", next_at: null, error: "It was refused." } as const;
    for await (const { post, shown } of killAtEach("retry", failed)) {
      rounds += 1;
      expect(post).toMatchObject({ status: "published", caption: "corrected", error: null, run: 2 });
      expect(Object.fromEntries(shown)).toEqual({ corrected: 1, "corrected, second part": 1 });
    }
    expect(rounds).toBeGreaterThan(2);
  });
});
