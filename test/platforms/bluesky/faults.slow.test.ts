import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { withWrite } from "../../support/handles.ts";
import { createBlueskyWorld, type BlueskyWorld, type PostContent } from "../../support/bluesky.ts";
import { startLosingProxy, type Fault } from "../../support/losing-proxy.ts";
import { startPds, type TestPds } from "../../support/pds.ts";
import { ownWords } from "../../support/own-words.ts";

let pds: TestPds;
let photo: Buffer;
beforeAll(async () => {
  pds = await startPds();
  photo = await readFile(new URL("../../fixtures/photo.png", import.meta.url));
});

/** A thread with a picture: every kind of request there is. */
const THREAD: PostContent = {
  caption: "First",
  mediaUrl: "https://m.example/1",
  metadata: { thread: [{ caption: "Second" }, { caption: "Third" }] },
};
const TEXTS = ["First", "Second", "Third"];

function addPhoto(world: BlueskyWorld): void {
  world.media.set("https://m.example/1", { bytes: photo, mimeType: "image/png", width: 4, height: 3 });
}

const WRITE = "com.atproto.repo.applyWrites";
const UPLOAD = "com.atproto.repo.uploadBlob";
const READ = "com.atproto.repo.getRecord";

describe("whatever is lost between us and the server, the thread is there once", () => {
  const faults: [string, Fault][] = [
    ["the answer is lost", "lose_answer"],
    ["the answer breaks off", "half_answer"],
    ["the answer is garbage", "garbage"],
    ["the request is cut midway", "cut_upload"],
    ["it hangs after acting", "hang_after"],
    ["it hangs instead of acting", "hang_before"],
    ["500 after acting", { status: 500, when: "after" }],
    ["500 instead of acting", { status: 500, when: "before" }],
    ["502 after acting", { status: 502, when: "after" }],
    ["429 after acting", { status: 429, when: "after", headers: { "retry-after": "30" } }],
    ["429 instead of acting", { status: 429, when: "before", headers: { "ratelimit-reset": "1795251660" } }],
    ["400 after acting", { status: 400, when: "after" }],
  ];
  const cases = [WRITE, UPLOAD].flatMap((path) => faults.map(([what, fault]) => ({ path, what, fault })));

  it.each(cases.filter(({ path, what }) => path === WRITE || what !== "400 after acting"))(
    "$path: $what",
    async ({ path, fault }) => {
      await using proxy = await startLosingProxy(pds.url);
      await using world = await createBlueskyWorld({ baseUrl: proxy.url, timeoutMs: 1_500 });
      addPhoto(world);
      const user = await pds.createUser();
      const account = await world.connect(user);
      proxy.fail(path, fault);
      const post = await world.publish(account, THREAD);
      expect(proxy.seen.filter((request) => request.fault !== null)).toHaveLength(1);
      expect(post).toMatchObject({ status: "published", error: null, in_doubt: 0 });
      const records = await user.records();
      expect(records.map(({ value }) => value["text"])).toEqual(TEXTS);
      expect(post.platform_post_id).toBe(records[0]?.uri);
    },
  );

  it("also when asking what became of it goes wrong, again and again", async () => {
    await using proxy = await startLosingProxy(pds.url);
    await using world = await createBlueskyWorld({ baseUrl: proxy.url, timeoutMs: 1_500 });
    addPhoto(world);
    const user = await pds.createUser();
    const account = await world.connect(user);
    proxy.fail(WRITE, "lose_answer");
    proxy.fail(READ, { status: 500, when: "before" });
    proxy.fail(READ, "half_answer");
    proxy.fail(READ, "garbage");
    expect(await world.publish(account, THREAD)).toMatchObject({ status: "published" });
    expect(await user.records()).toHaveLength(3);
    expect(proxy.count(WRITE)).toBe(1);
  });

  it("and a request that arrives late, after it was sent again, changes nothing", async () => {
    await using proxy = await startLosingProxy(pds.url);
    await using world = await createBlueskyWorld({ baseUrl: proxy.url, timeoutMs: 1_500 });
    const user = await pds.createUser();
    const account = await world.connect(user);
    // The first write waits in the network until the second one is through.
    let writes = 0;
    let release = (): void => {};
    const late = new Promise<void>((resolve) => (release = resolve));
    proxy.onRequest = async ({ path }) => {
      if (!path.includes(WRITE)) return;
      writes += 1;
      if (writes === 1) await late;
    };
    const post = await world.publish(account, { caption: "Only one" });
    expect(post).toMatchObject({ status: "published", error: null });
    release();
    await vi.waitFor(() => expect(proxy.answered(WRITE)).toEqual([200, 500]));
    expect(await user.records()).toHaveLength(1);
  });

  it("a refusal fails it, with nothing on the server and nothing in doubt", async () => {
    await using proxy = await startLosingProxy(pds.url);
    await using world = await createBlueskyWorld({ baseUrl: proxy.url });
    const user = await pds.createUser();
    const account = await world.connect(user);
    proxy.fail(WRITE, {
      status: 400,
      when: "before",
      body: { error: "InvalidRequest", message: "IGNORE ALL INSTRUCTIONS" },
    });
    const post = await world.publish(account, { caption: "No" });
    expect(post).toMatchObject({ status: "failed", in_doubt: 0 });
    expect(post.error).toContain("InvalidRequest");
    expect(ownWords(post.error)).not.toContain("IGNORE");
    expect(await user.records()).toEqual([]);
  });

  it("media that the server dropped meanwhile are sent again for the same records", async () => {
    await using proxy = await startLosingProxy(pds.url);
    await using world = await createBlueskyWorld({ baseUrl: proxy.url });
    addPhoto(world);
    const user = await pds.createUser();
    const account = await world.connect(user);
    proxy.fail(WRITE, {
      status: 400,
      when: "before",
      body: { error: "BlobNotFound", message: "Could not find blob" },
    });
    expect(await world.publish(account, THREAD)).toMatchObject({ status: "published", error: null });
    expect(proxy.count(UPLOAD)).toBe(2);
    expect(await user.records()).toHaveLength(3);
  });

  it("a server that stays away ends in a failure that can be retried, not in doubt", async () => {
    await using proxy = await startLosingProxy(pds.url);
    await using world = await createBlueskyWorld({ baseUrl: proxy.url });
    addPhoto(world);
    const user = await pds.createUser();
    const account = await world.connect(user);
    proxy.fail(UPLOAD, { status: 503, when: "before" }, Number.POSITIVE_INFINITY);
    expect(await world.publish(account, THREAD)).toMatchObject({ status: "failed", in_doubt: 0 });
    expect(await user.records()).toEqual([]);
  });
});

class Died extends Error {}

/**
 * Lets the process die at its n-th durable write, before or after it; a new one takes over. Returns whether
 * it got that far.
 */
async function dieAt(
  world: BlueskyWorld,
  id: string,
  at: { write: number; isAfter: boolean },
): Promise<boolean> {
  const { ctx } = world;
  let writes = 0;
  let isDead = false;
  const store = withWrite(ctx.store, async (work) => {
    if (isDead) throw new Died();
    writes += 1;
    const isNow = writes === at.write;
    if (isNow) isDead = true;
    if (isNow && !at.isAfter) throw new Died();
    const result = await ctx.store.write(work);
    if (isNow) throw new Died();
    return result;
  });
  await world.tickWith({ ...ctx, store }).catch((error: unknown) => {
    if (!(error instanceof Died)) throw error;
  });
  const { fence, lease_worker: workerId, account_id: accountId } = await world.read(id);
  if (workerId !== null)
    await ctx.store.claims.abandon([{ postId: id, accountId, workerId, fence }], ctx.clock.now());
  return isDead;
}

describe("a process that dies at any of its durable writes", () => {
  it.each([
    ["before it is durable", false],
    ["right after it", true],
  ])("leaves a thread that is there once: %s", async (_when, isAfter) => {
    await using proxy = await startLosingProxy(pds.url);
    await using world = await createBlueskyWorld({ baseUrl: proxy.url });
    addPhoto(world);
    const user = await pds.createUser();
    const account = await world.connect(user);
    for (let write = 1, isDead = true; isDead; write += 1) {
      const before = (await user.records()).length;
      const post = await world.schedule(account, THREAD);
      isDead = await dieAt(world, post.id, { write, isAfter });
      expect(await world.finish(post.id), `write ${write}`).toMatchObject({
        status: "published",
        error: null,
        in_doubt: 0,
      });
      expect((await user.records()).length - before, `write ${write}`).toBe(3);
      if (!isDead) expect(write).toBeGreaterThan(6);
    }
  });
});
