import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openStore } from "../../../src/store/open-store.ts";
import type { Store } from "../../../src/store/engine/store.ts";
import type { PostFilter } from "../../../src/store/engine/search.ts";
import { parseSearch } from "../../../src/domain/compare-words.ts";
import { addAccount, addPosts } from "../../support/post-rows.ts";
import { rawOf } from "../../support/handles.ts";
import { checkPages, editSome, fillStore, START } from "../../support/search-oracle.ts";

describe("a page", () => {
  let store: Store;
  let posts: Awaited<ReturnType<typeof fillStore>>;

  beforeAll(async () => {
    store = await openStore({ file: ":memory:" });
    posts = await fillStore(store);
  });
  afterAll(() => store[Symbol.asyncDispose]());

  it("has words of every kind of prefix in its index", () => {
    const depths = rawOf(store).prepare("SELECT DISTINCT depth FROM search_terms").all([]);
    expect(depths.length).toBeGreaterThan(3);
  });

  it(
    "finds what a plain scan finds, in order and page by page, for any filters and words",
    { timeout: 120_000 },
    () => checkPages(store.search, posts, { numRuns: 2_000 }),
  );

  it("keeps to its filters with more accounts than are worth a list each", async () => {
    await using store = await openStore({ file: ":memory:" });
    const ids = Array.from({ length: 330 }, (_, at) => `acc_${at}`);
    for (const id of ids) await addAccount(store, { id, provider: "bluesky" });
    await addPosts(
      store,
      ids.flatMap((accountId, at) => [
        {
          id: `post_a${at}`,
          accountId,
          provider: "bluesky",
          caption: "wanted words",
          scheduledAt: START + at * 60_000,
          status: "failed" as const,
        },
        {
          id: `post_b${at}`,
          accountId,
          provider: "bluesky",
          caption: "other words",
          scheduledAt: START + at * 60_000,
        },
      ]),
    );
    const filter = { ownerId: "default", providers: null, statuses: null, terms: [], from: null, to: null };
    const many = ids.slice(5);
    const failed = many.map((id) => id.replace("acc_", "post_a")).reverse();
    const read = async (part: Partial<PostFilter>): Promise<string[]> => {
      const { rows } = await store.search.page(
        { ...filter, accountIds: many, ...part },
        { before: null, limit: 500, now: () => performance.now() },
      );
      return rows.map(({ id }) => id);
    };
    expect(await read({})).toHaveLength(500);
    expect(await read({ statuses: ["failed"] })).toEqual(failed);
    expect(await read({ terms: parseSearch("wanted") })).toEqual(failed);
    expect(await read({ terms: parseSearch("words"), statuses: ["failed"] })).toEqual(failed);
    expect(
      await read({
        accountIds: null,
        providers: ["bluesky"],
        terms: parseSearch("words"),
        statuses: ["failed"],
      }),
    ).toHaveLength(330);
    expect(await read({ accountIds: null, providers: ["feed"], terms: parseSearch("words") })).toEqual([]);
  });

  it("finds what it found after posts were reworded and moved", { timeout: 60_000 }, async () => {
    posts = await editSome(store, posts);
    await checkPages(store.search, posts, { numRuns: 200 });
  });
});
