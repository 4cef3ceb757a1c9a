import { describe, expect, it } from "vitest";
import { openStore } from "../../../src/store/open-store.ts";
import type { Store } from "../../../src/store/engine/store.ts";
import { rateSearch } from "../../../src/store/search/search-clauses.ts";
import { parseSearch } from "../../../src/store/search/search-text.ts";
import { compileSearch, type CompiledSearch } from "../../../src/store/search/search.ts";
import { addAccount, addPosts } from "../../support/post-rows.ts";
import { queryOf } from "../../support/handles.ts";

const EVERYTHING = { floor: 0n, ceiling: 2n ** 63n - 1n };

/** Each post has `common`, each tenth `usual`, two have `rare`. */
async function createShelf(): Promise<Db> {
  const store = await openStore({ file: ":memory:" });
  await addAccount(store, { id: "acc_1" });
  const posts = Array.from({ length: 1_000 }, (_, at) => ({
    id: `post_${at}`,
    caption: `common ${at % 10 === 0 ? "usual" : ""} ${at % 500 === 0 ? "rare" : ""}`,
    scheduledAt: Date.UTC(2026, 0, 1) + at * 60_000,
  }));
  await addPosts(store, posts);
  return store;
}

async function compile(store: Store, search: string): Promise<CompiledSearch> {
  const compiled = await compileSearch(store, parseSearch(search));
  if (compiled === null) throw new Error("nothing begins so");
  return compiled;
}

describe("rateSearch", () => {
  it("leaves out what is far more frequent than the rarest, and asks for a comparison instead", async () => {
    await using store = await createShelf();
    const { all, rarest } = await rateSearch(store, await compile(store, "common rare"), EVERYTHING);
    expect(all).toMatchObject({ clauses: (await compile(store, "rare")).clauses, needsCheck: true });
    expect(rarest).toBeNull();
  });

  it("keeps clauses that are about as frequent, the rarest first", async () => {
    await using store = await createShelf();
    const [common, usual] = [await compile(store, "common"), await compile(store, "usual")];
    const both = await rateSearch(store, await compile(store, "common usual"), EVERYTHING);
    expect(both.all).toMatchObject({ clauses: [...usual.clauses, ...common.clauses], needsCheck: false });
    expect(both.rarest).toMatchObject({ clauses: usual.clauses, needsCheck: true });
    expect(both.all.density).toEqual({
      hits: both.rarest?.density?.hits,
      entries: expect.closeTo((both.rarest?.density?.hits ?? 0) * 11, 12),
    });
  });

  it("keeps a single one", async () => {
    await using store = await createShelf();
    const compiled = await compile(store, "common");
    expect(await rateSearch(store, compiled, EVERYTHING)).toMatchObject({
      all: compiled,
      rarest: null,
    });
  });
});
