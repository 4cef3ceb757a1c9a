import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { POST_STATUSES, type PostStatus } from "../../../src/domain/posts/post-states.ts";
import { openStore } from "../../../src/store/open-store.ts";
import type { Store } from "../../../src/store/engine/store.ts";
import type { PostFilter } from "../../../src/store/engine/search.ts";
import { parseSearch } from "../../../src/domain/compare-words.ts";
import { addAccount, addPosts, type TestPost } from "../../support/post-rows.ts";
import { rawOf } from "../../support/handles.ts";

const START = Date.UTC(2026, 0, 1);
const ACCOUNTS = [
  { id: "acc_1", ownerId: "default", provider: "feed" },
  { id: "acc_2", ownerId: "default", provider: "webhook" },
  { id: "acc_3", ownerId: "default", provider: "bluesky" },
  { id: "acc_4", ownerId: "default", provider: "bluesky" },
  { id: "acc_9", ownerId: "other", provider: "feed" },
] as const;

// Few letters make many words of one beginning, which is what the index has to cut short.
const Word = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: fc.constantFrom("a", "b", "n"), minLength: 1, maxLength: 7 }) },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom("0", "1"), minLength: 12, maxLength: 16 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "Été",
      "e\u0301te",
      "ETE",
      "straße",
      "STRASSE",
      "Ωmega",
      "ωMEGA",
      "ünder_score",
      "naïve",
    ),
  },
  {
    weight: 2,
    arbitrary: fc.string({
      unit: fc.constantFrom("東", "京", "タ", "ワ", "ー", "a"),
      minLength: 1,
      maxLength: 6,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "50%off",
      "50%",
      "C:\\temp",
      "c:\\temp\\log",
      "🎉",
      "🎉🎉",
      "a-b",
      "ab-n",
      "b-a",
      '"no"',
      "a*",
      "(a)",
      "'",
      "OR",
      "a'b",
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom("x", "y"), minLength: 39, maxLength: 44 }) },
);
const Text = fc
  .array(Word, { maxLength: 9 })
  .chain((words) => fc.constantFrom(" ", "\n", ", ", " ").map((gap) => words.join(gap)));
const Metadata = fc.option(fc.record({ title: Text, description: Text, link: Text }, { requiredKeys: [] }), {
  nil: null,
});

const AnyPost = fc.record({
  account: fc.constantFrom(...ACCOUNTS),
  caption: fc.option(Text, { nil: null }),
  metadata: Metadata,
  // Few moments: many posts share one, and order must hold within it too.
  scheduledAt: fc.integer({ min: 0, max: 300 }).map((minute) => START + minute * 60_000),
  status: fc.oneof(
    { weight: 5, arbitrary: fc.constant("published" as const) },
    { weight: 1, arbitrary: fc.constantFrom(...POST_STATUSES) },
  ),
});

const some = <T>(values: readonly T[]): fc.Arbitrary<T[] | null> =>
  fc.option(fc.subarray([...values], { minLength: 1 }), { nil: null });

const AnyQuery = fc.record({
  words: fc.oneof(fc.array(Word, { maxLength: 3 }), fc.array(Word, { minLength: 1, maxLength: 1 })),
  cut: fc.integer({ min: 1, max: 20 }),
  ownerId: fc.constantFrom("default", "default", "other"),
  accountIds: some(["acc_1", "acc_2", "acc_3", "acc_4", "acc_9", "acc_missing"]),
  providers: some(["feed", "webhook", "bluesky", "youtube"]),
  statuses: some(POST_STATUSES),
  window: fc.option(fc.tuple(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 300 })), {
    nil: null,
  }),
  limit: fc.constantFrom(1, 2, 7, 50, 500),
});
type AnyQuery = typeof AnyQuery extends fc.Arbitrary<infer T> ? T : never;

/** The rules of search said once more, as plainly as possible. */
function isFound(post: TestPost, search: string): boolean {
  const plain = (text: string): string =>
    text.normalize("NFD").replace(/\p{M}/gu, "").toUpperCase().toLowerCase().replace(/ς/g, "σ");
  const text = [post.caption, post.metadata?.["title"], post.metadata?.["description"]].filter(
    (part) => typeof part === "string",
  );
  const haystack = ` ${plain(text.join(" \n "))}`;
  const isLetter = (character: string): boolean =>
    /[\p{L}\p{N}]/u.test(character) && !/[東京タワー]/u.test(character);
  return plain(search)
    .split(/\s+/u)
    .every((word) =>
      [...haystack].some((_, at, characters) => {
        const isHere = characters.slice(at, at + [...word].length).join("") === word;
        return isHere && (!isLetter([...word][0] ?? "") || !isLetter(characters[at - 1] ?? " "));
      }),
    );
}

function toFilter(query: AnyQuery, search: string): PostFilter {
  const [from, to] = query.window ?? [null, null];
  return {
    ownerId: query.ownerId,
    accountIds: query.accountIds,
    providers: query.providers,
    statuses: query.statuses,
    terms: parseSearch(search),
    from: from === null ? null : START + from * 60_000,
    to: to === null ? null : START + to * 60_000,
  };
}

/** Pages until the last one, or until some hundred posts. */
async function readAll(
  store: Store,
  filter: PostFilter,
  limit: number,
): Promise<{ ids: string[]; isComplete: boolean }> {
  const ids: string[] = [];
  let before: bigint | null = null;
  do {
    const page = await store.search.page(filter, { before, limit, now: () => performance.now() });
    expect(page.rows.length).toBeLessThanOrEqual(limit);
    ids.push(...page.rows.map((row) => row.id));
    before = page.next;
  } while (before !== null && ids.length < 200);
  return { ids, isComplete: before === null };
}

describe("a page", () => {
  const posts: (TestPost & {
    ownerId: string;
    accountId: string;
    provider: string;
    scheduledAt: number;
    status: PostStatus;
  })[] = [];
  let store: Store;

  beforeAll(async () => {
    store = await openStore({ file: ":memory:" });
    for (const account of ACCOUNTS) await addAccount(store, account);
    fc.sample(AnyPost, { numRuns: 1_500, seed: 20_261_121 }).forEach(({ account, ...post }, at) => {
      posts.push({
        ...post,
        id: `post_${at}`,
        ownerId: account.ownerId,
        accountId: account.id,
        provider: account.provider,
      });
    });
    for (let at = 0; at < posts.length; at += 50) await addPosts(store, posts.slice(at, at + 50));
  });
  afterAll(() => store[Symbol.asyncDispose]());

  function expected(query: AnyQuery, search: string): string[] {
    const { from, to } = toFilter(query, search);
    return posts
      .map((post, at) => ({ ...post, at }))
      .filter((post) => post.ownerId === query.ownerId)
      .filter((post) => query.accountIds?.includes(post.accountId) ?? true)
      .filter((post) => query.providers?.includes(post.provider) ?? true)
      .filter((post) => query.statuses?.includes(post.status) ?? true)
      .filter(
        (post) => (from === null || post.scheduledAt >= from) && (to === null || post.scheduledAt <= to),
      )
      .filter((post) => search.trim() === "" || isFound(post, search))
      .sort((a, b) => b.scheduledAt - a.scheduledAt || b.at - a.at)
      .map((post) => post.id);
  }

  it("has words of every kind of prefix in its index", () => {
    const depths = rawOf(store).prepare("SELECT DISTINCT depth FROM search_terms").all([]);
    expect(depths.length).toBeGreaterThan(3);
  });

  it(
    "finds what a plain scan finds, in order and page by page, for any filters and words",
    { timeout: 120_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(AnyQuery, async (query) => {
          const search = query.words.map((word) => [...word].slice(0, query.cut).join("")).join(" ");
          const { ids, isComplete } = await readAll(store, toFilter(query, search), query.limit);
          const wanted = expected(query, search);
          expect(ids).toEqual(isComplete ? wanted : wanted.slice(0, ids.length));
        }),
        { numRuns: 2_000 },
      );
    },
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
});
