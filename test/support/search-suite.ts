import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseSearch } from "../../src/domain/text/compare-words.ts";
import { indexOf } from "../../src/store/engine/statements.ts";
import type { PostFilter, Search } from "../../src/store/engine/search.ts";
import type { Store } from "../../src/store/engine/store.ts";
import { BOUNDS, createSearch } from "../../src/store/queries/search.ts";
import { transition } from "../../src/store/queries/posts.ts";
import { addAccount, addPosts } from "./post-rows.ts";
import { checkPages, editSome, fillStore, START } from "./search-oracle.ts";

const ALL = { ownerId: "default", accountIds: null, providers: null, statuses: null, from: null, to: null };

async function read(search: Search, filter: Partial<PostFilter>, limit = 500): Promise<string[]> {
  const page = { before: null, limit, now: () => 0 };
  const { rows } = await search.page({ ...ALL, terms: [], ...filter }, page);
  return rows.map(({ id }) => id);
}

/** What the words find by the text index, which must be what a walk finds. */
async function find(store: Store, words: string): Promise<string[]> {
  const terms = parseSearch(words);
  const [found, walked] = await Promise.all(
    [BOUNDS.candidates, -1].map((candidates) =>
      read(createSearch(store, { ...BOUNDS, candidates }), { terms }),
    ),
  );
  expect(found).toEqual(walked);
  return found ?? [];
}

const BY = [
  ["by the text index", BOUNDS],
  ["by a walk, in small steps", { ...BOUNDS, candidates: -1, step: 20 }],
  ["by whichever fits, in few lists", { ...BOUNDS, candidates: 40, lists: 2 }],
] as const;

const LITERALS = [
  '"',
  "'",
  "''",
  "a'b:*",
  "a OR b",
  "NEAR(a b)",
  "tokens:x",
  "-a",
  "^a",
  "a*",
  "{a}",
  "a & b",
  "!a",
  "(a)",
].concat([
  "a <-> b",
  "a:A",
  "\\",
  "\\'",
  "\ue000a",
  "\ue00064656661756c74",
  "%",
  "_",
  "?",
  "$1",
  "50%off",
  "🎉",
  "…",
  "東",
  "京都",
]);

/** What a search promises, on a store of either engine. */
export function describeSearch(open: () => Promise<Store>): void {
  describe("a page of any filters and words", () => {
    let store: Store;
    let posts: Awaited<ReturnType<typeof fillStore>>;

    beforeAll(async () => {
      store = await open();
      posts = await fillStore(store);
    });
    afterAll(() => store[Symbol.asyncDispose]());

    it.each(BY)("shows what a plain comparison finds, %s", { timeout: 120_000 }, (_, bounds) =>
      checkPages(createSearch(store, bounds), posts, { numRuns: 150 }),
    );

    it.each(BY)("and so after posts were reworded and moved, %s", { timeout: 120_000 }, async (_, bounds) => {
      posts = await editSome(store, posts);
      await checkPages(createSearch(store, bounds), posts, { numRuns: 60 });
    });

    it("ends early when its time is over, and goes on from there", async () => {
      const search = createSearch(store, { ...BOUNDS, candidates: -1, ms: 60, step: 50 });
      const terms = parseSearch("nowhereatall");
      let minutes = 0;
      const now = (): number => (minutes += 1) * 60_000;
      const first = await search.page({ ...ALL, terms }, { before: null, limit: 5, now });
      expect(first.rows).toEqual([]);
      const second = await search.page({ ...ALL, terms }, { before: first.next, limit: 5, now });
      expect(second.next?.at).toBeLessThan(first.next?.at ?? 0);
    });

    it("keeps to its filters with more accounts than are worth a list each", async () => {
      const ids = Array.from({ length: 130 }, (_, at) => `acc_many_${at}`);
      for (const id of ids) await addAccount(store, { id, ownerId: "many", provider: "bluesky" });
      const at = (accountId: string, n: number) => ({
        ...{ accountId, ownerId: "many", provider: "bluesky", scheduledAt: START + n * 60_000 },
      });
      await addPosts(
        store,
        ids.flatMap((id, n) => [
          { ...at(id, n), id: `post_a${n}`, caption: "wanted words", status: "failed" as const },
          { ...at(id, n), id: `post_b${n}`, caption: "other words" },
        ]),
      );
      const many = { ownerId: "many", accountIds: ids.slice(5) };
      const failed = ids
        .slice(5)
        .map((id) => id.replace("acc_many_", "post_a"))
        .reverse();
      expect(await read(store.search, many)).toHaveLength(250);
      expect(await read(store.search, { ...many, statuses: ["failed"] })).toEqual(failed);
      expect(await read(store.search, { ...many, terms: parseSearch("wanted") })).toEqual(failed);
      const everywhere = { ...many, accountIds: null, terms: parseSearch("words") };
      expect(await read(store.search, { ...everywhere, providers: ["bluesky"] })).toHaveLength(260);
      expect(await read(store.search, { ...everywhere, providers: ["feed"] })).toEqual([]);
    });
  });

  describe("the words of posts", () => {
    it("are found by the beginning of each, newest first, as they are now", async () => {
      await using store = await open();
      await addAccount(store, { id: "acc_1" });
      await addPosts(store, [
        { id: "one", caption: "Summer launch" },
        { id: "two", caption: "Launching in summer" },
      ]);
      expect(await find(store, "laun SUM")).toEqual(["two", "one"]);
      expect(await find(store, "aunch")).toEqual([]);
      expect(await find(store, "launchi")).toEqual(["two"]);
      const edit = (set: { caption?: string; scheduled_at?: number }): Promise<unknown> =>
        store.write((tx) =>
          transition(tx, { ownerId: "default", id: "one" }, "edit", { ...set, updated_at: 1 }),
        );
      await edit({ caption: "Winter launch" });
      expect(await find(store, "summer")).toEqual(["two"]);
      await edit({ scheduled_at: START + 900 * 86_400_000 });
      expect(await find(store, "launch")).toEqual(["one", "two"]);
    });

    it("are none of a transaction that failed", async () => {
      await using store = await open();
      await addAccount(store, { id: "acc_1" });
      await addPosts(store, [{ id: "one", caption: "stays" }]);
      const failing = store.write(async (tx) => {
        await indexOf(tx).put(tx, "one", ["gone"]);
        throw new Error("no");
      });
      await expect(failing).rejects.toThrow("no");
      expect(await find(store, "stays")).toEqual(["one"]);
    });

    it("are taken literally", async () => {
      await using store = await open();
      await addAccount(store, { id: "acc_1" });
      await addPosts(store, [
        ...LITERALS.map((text, at) => ({ id: `post_${at}`, caption: `before ${text} after` })),
        { id: "other", caption: "quite other words" },
      ]);
      for (const [at, text] of LITERALS.entries()) {
        const ids = await find(store, text);
        expect(ids).toContain(`post_${at}`);
        expect(ids).not.toContain("other");
      }
    });

    it("may be as many, as long and as different as a post takes", { timeout: 60_000 }, async () => {
      await using store = await open();
      await addAccount(store, { id: "acc_1" });
      const han = Array.from({ length: 100_000 }, (_, at) =>
        String.fromCodePoint(0x4e00 + ((at * 7_919 + Math.floor(at / 20_000) * 31) % 20_000)),
      ).join("");
      const words = Array.from({ length: 14_000 }, (_, at) => `w${at}`).join(" ");
      await addPosts(store, [
        { id: "han", caption: han },
        { id: "words", caption: `${words} ${"z".repeat(10_000)}` },
      ]);
      expect(await find(store, han.slice(-12))).toEqual(["han"]);
      expect(await find(store, han.slice(-1))).toEqual(["han"]);
      expect(await find(store, han.slice(50_000, 50_400))).toEqual(["han"]);
      expect(await find(store, "w13999")).toEqual(["words"]);
      expect(await find(store, "z".repeat(50))).toEqual(["words"]);
      expect(await find(store, `${"z".repeat(50)}y`)).toEqual([]);
    });
  });
}
