import { describe, expect, it } from "vitest";
import type { ListPostsArgs } from "../../src/domain/posts/post-lists.ts";
import { listPosts } from "../../src/posts/list-posts.ts";
import type { AnyPlatform } from "../../src/ports/platform.ts";
import { callOf, callerOf, createTestContext, type TestContext } from "../support/context.ts";
import { addAccount, addPosts } from "../support/post-rows.ts";

async function createShelf(): Promise<TestContext> {
  const names = ["feed", "webhook"];
  const platforms = new Map(names.map((name) => [name, { name, title: name } as AnyPlatform]));
  const ctx = await createTestContext({
    platforms,
    settings: { timezone: "Europe/Berlin", maxLatenessMs: 0, uploadFolders: [], platformSettings: {} },
  });
  await addAccount(ctx.store, { id: "acc_1" });
  await addAccount(ctx.store, { id: "acc_2", provider: "webhook" });
  await addAccount(ctx.store, { id: "acc_9", ownerId: "other" });
  await addPosts(ctx.store, [
    { id: "post_a", scheduledAt: "2026-12-01T09:00:00Z", caption: "Summer launch", status: "published" },
    {
      id: "post_b",
      scheduledAt: "2026-12-02T09:00:00Z",
      accountId: "acc_2",
      provider: "webhook",
      metadata: { title: "Sommerfest, 50%off" },
    },
    { id: "post_c", scheduledAt: "2026-12-03T09:00:00Z", caption: "Winter", status: "failed" },
    { id: "post_d", scheduledAt: "2026-12-03T09:00:00Z", caption: "Winter too" },
    {
      id: "post_z",
      scheduledAt: "2026-12-02T10:00:00Z",
      accountId: "acc_9",
      ownerId: "other",
      caption: "Summer of others",
    },
  ]);
  return ctx;
}

const args = (given: Partial<ListPostsArgs> = {}): ListPostsArgs => ({ limit: 50, ...given });

describe("listPosts", () => {
  it("lists the caller's own posts, newest scheduled time first", async () => {
    await using ctx = await createShelf();
    const page = await listPosts(callOf(ctx), args());
    expect(page.posts.map(({ id }) => id)).toEqual(["post_d", "post_c", "post_b", "post_a"]);
    expect(page.nextCursor).toBeNull();
    expect(page.posts[2]).toMatchObject({
      accountId: "acc_2",
      provider: "webhook",
      scheduledAt: "2026-12-02T09:00:00.000Z",
      status: "scheduled",
    });
  });

  it.each<[Partial<ListPostsArgs>, string]>([
    [{ accountId: ["acc_1"] }, "dca"],
    [{ accountId: ["acc_missing"] }, ""],
    [{ accountId: ["acc_9"] }, ""],
    [{ accountId: ["acc_2", "acc_9"] }, "b"],
    [{ provider: ["webhook"] }, "b"],
    [{ provider: ["webhook", "feed"], status: ["failed", "published"] }, "ca"],
    [{ accountId: ["acc_1"], provider: ["webhook"] }, ""],
    [{ accountId: ["acc_2", "acc_2"] }, "b"],
    [{ provider: ["webhook", "webhook"] }, "b"],
    [{ status: ["failed", "published", "failed"] }, "ca"],
    [{ search: "som" }, "b"],
    [{ search: "SUM launch" }, "a"],
    [{ search: "50%off" }, "b"],
    [{ search: "title" }, ""],
    [{ search: "  " }, "dcba"],
    [{ search: "winter", status: ["failed"] }, "c"],
    [{ from: "2026-12-02" }, "dcb"],
    [{ to: "2026-12-02" }, "ba"],
    [{ from: "2026-12-02", to: "2026-12-02" }, "b"],
    [{ from: "2026-12-02T10:00:00+01:00", to: "2026-12-03T10:00:00" }, "dcb"],
    [{ from: "2026-12-02T10:00:00.001", to: "2026-12-03T09:59:59.999" }, ""],
  ])("filters by %j", async (filter, letters) => {
    await using ctx = await createShelf();
    const { posts } = await listPosts(callOf(ctx), args(filter));
    expect(posts.map(({ id }) => id.slice(-1)).join("")).toBe(letters);
  });

  it("walks through pages that neither repeat nor leave out a post, whatever their size", async () => {
    await using ctx = await createShelf();
    const first = await listPosts(callOf(ctx), args({ limit: 1, provider: ["webhook", "feed"] }));
    expect(first.posts.map(({ id }) => id)).toEqual(["post_d"]);
    const cursor = first.nextCursor ?? "";
    const second = await listPosts(
      callOf(ctx),
      args({ limit: 2, provider: ["feed", "webhook", "feed"], cursor }),
    );
    expect(second.posts.map(({ id }) => id)).toEqual(["post_c", "post_b"]);
    const third = await listPosts(
      callOf(ctx),
      args({ limit: 1, provider: ["feed", "webhook"], cursor: second.nextCursor ?? "" }),
    );
    expect(third.posts.map(({ id }) => id)).toEqual(["post_a"]);
    expect(third.nextCursor).toBeNull();
  });

  it("keeps its place when posts are added before it", async () => {
    await using ctx = await createShelf();
    const first = await listPosts(callOf(ctx), args({ limit: 2 }));
    await addPosts(ctx.store, [{ id: "post_e", scheduledAt: "2026-12-05T09:00:00Z" }]);
    const second = await listPosts(callOf(ctx), args({ limit: 2, cursor: first.nextCursor ?? "" }));
    expect(second.posts.map(({ id }) => id)).toEqual(["post_b", "post_a"]);
  });

  it("shows a limited key its accounts alone", async () => {
    await using ctx = await createShelf();
    const limited = callerOf({ accountIds: ["acc_2", "acc_9"] });
    const filters: Partial<ListPostsArgs>[] = [
      {},
      { accountId: ["acc_1", "acc_2"] },
      { search: "s" },
      { provider: ["webhook"] },
      { status: ["scheduled"] },
    ];
    for (const filter of filters) {
      const { posts } = await listPosts(callOf(ctx, limited), args(filter));
      expect(posts.map(({ id }) => id)).toEqual(["post_b"]);
    }
    expect((await listPosts(callOf(ctx, limited), args({ accountId: ["acc_1"] }))).posts).toEqual([]);
    expect((await listPosts(callOf(ctx, callerOf({ accountIds: [] })), args())).posts).toEqual([]);
  });

  it("refuses the cursor of other filters, and text that is none", async () => {
    await using ctx = await createShelf();
    const { nextCursor } = await listPosts(callOf(ctx), args({ limit: 1 }));
    const cursor = nextCursor ?? "";
    await expect(listPosts(callOf(ctx), args({ status: ["failed"], cursor }))).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(/^cursor: belongs to other filters\./),
    });
    await expect(listPosts(callOf(ctx), args({ cursor: "abc" }))).rejects.toThrow(/^cursor: is not valid\./);
    const huge = Buffer.from(
      Buffer.from(cursor, "base64url").toString().slice(0, 12) + "9".repeat(19),
    ).toString("base64url");
    await expect(listPosts(callOf(ctx), args({ cursor: huge }))).rejects.toThrow(/^cursor: is not valid\./);
  });

  it.each([
    [
      { provider: ["myspace"] },
      'provider: "myspace" is not a known platform. The platforms are feed, webhook.',
    ],
    [{ from: "soon" }, 'from: "soon" is not a date. Give one such as 2031-01-30.'],
    [
      { from: "2026-12-03", to: "2026-12-02" },
      'from: "2026-12-03" is after to ("2026-12-02"), so no post can fit.',
    ],
  ])("says what is wrong with %j", async (filter, sentence) => {
    await using ctx = await createShelf();
    await expect(listPosts(callOf(ctx), args(filter))).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringContaining(sentence),
    });
  });
});
