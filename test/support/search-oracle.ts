import fc from "fast-check";
import { expect } from "vitest";
import { parseSearch } from "../../src/domain/text/compare-words.ts";
import { POST_STATUSES } from "../../src/domain/posts/post-states.ts";
import type { PostFilter, Position, Search } from "../../src/store/engine/search.ts";
import type { Reader, Store } from "../../src/store/engine/store.ts";
import { transition } from "../../src/store/queries/posts.ts";
import { addAccount, addPosts, type TestPost } from "./post-rows.ts";

/* Made-up posts, any searches among them, and what these find by the rules said once more: for every engine. */

export const START = Date.UTC(2026, 0, 1);
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
  search: Search,
  filter: PostFilter,
  limit: number,
): Promise<{ ids: string[]; isComplete: boolean }> {
  const ids: string[] = [];
  let before: Position | null = null;
  do {
    const page = await search.page(filter, { before, limit, now: () => performance.now() });
    expect(page.rows.length).toBeLessThanOrEqual(limit);
    ids.push(...page.rows.map((row) => row.id));
    before = page.next;
  } while (before !== null && ids.length < 200);
  return { ids, isComplete: before === null };
}

type OraclePost = Required<Omit<TestPost, "scheduledAt">> & {
  readonly scheduledAt: number;
};

/** Writes the accounts and 1,500 posts; answers the posts. */
export async function fillStore(store: Reader & Pick<Store, "write">): Promise<OraclePost[]> {
  for (const account of ACCOUNTS) await addAccount(store, account);
  const posts = fc
    .sample(AnyPost, { numRuns: 1_500, seed: 20_261_121 })
    .map(({ account, ...post }, place): OraclePost => {
      const { id: accountId, ownerId, provider } = account;
      return { ...post, id: `post_${place}`, accountId, ownerId, provider };
    });
  for (let at = 0; at < posts.length; at += 50) await addPosts(store, posts.slice(at, at + 50));
  return posts;
}

/** Rewords and moves some of the scheduled posts as people do; answers all as they are then. */
export async function editSome(
  store: Pick<Store, "write">,
  posts: readonly OraclePost[],
): Promise<OraclePost[]> {
  const edits = fc.sample(AnyPost, { numRuns: posts.length, seed: 7 });
  const edited: OraclePost[] = [];
  for (const [at, post] of posts.entries()) {
    const { caption, metadata, scheduledAt } = edits[at]!;
    if (post.status !== "scheduled") {
      edited.push(post);
      continue;
    }
    // A third is moved alone, a third reworded alone.
    const set = {
      ...(at % 3 === 0 ? {} : { caption, metadata: metadata === null ? null : JSON.stringify(metadata) }),
      ...(at % 3 === 1 ? {} : { scheduled_at: scheduledAt, due_at: scheduledAt }),
      updated_at: 1,
    };
    await store.write((tx) => transition(tx, post, "edit", set));
    edited.push({
      ...post,
      ...(at % 3 === 0 ? {} : { caption, metadata }),
      ...(at % 3 === 1 ? {} : { scheduledAt }),
    });
  }
  return edited;
}

function expected(posts: readonly OraclePost[], query: AnyQuery, search: string): string[] {
  const { from, to } = toFilter(query, search);
  return posts
    .filter((post) => post.ownerId === query.ownerId)
    .filter((post) => query.accountIds?.includes(post.accountId) ?? true)
    .filter((post) => query.providers?.includes(post.provider) ?? true)
    .filter((post) => query.statuses?.includes(post.status) ?? true)
    .filter((post) => (from === null || post.scheduledAt >= from) && (to === null || post.scheduledAt <= to))
    .filter((post) => search.trim() === "" || isFound(post, search))
    .sort((a, b) => b.scheduledAt - a.scheduledAt || (a.id < b.id ? 1 : -1))
    .map((post) => post.id);
}

/** Compares so many pages, of any filters and words, with what they should show. */
export async function checkPages(
  search: Search,
  posts: readonly OraclePost[],
  options: { readonly numRuns: number },
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(AnyQuery, async (query) => {
      const text = query.words.map((word) => [...word].slice(0, query.cut).join("")).join(" ");
      const { ids, isComplete } = await readAll(search, toFilter(query, text), query.limit);
      const wanted = expected(posts, query, text);
      expect(ids).toEqual(isComplete ? wanted : wanted.slice(0, ids.length));
    }),
    options,
  );
}
