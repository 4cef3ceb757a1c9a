import { sql, type RawBuilder } from "kysely";
import {
  fold,
  hasTerms,
  MAX_WORD_CHARS,
  searchableText,
  splitPieces,
  type Piece,
  type SearchableText,
  type SearchTerm,
} from "../../domain/text/compare-words.ts";
import type { Metadata } from "../../domain/posts/post.ts";
import type { WantedToken } from "../engine/engine.ts";
import { indexOf, queryOf, rowsFrom } from "../engine/statements.ts";
import { SHOWN_COLUMNS, type ShownRow } from "../schema/tables.ts";
import type { Page, PageOfRows, Position, PostFilter, Search } from "../engine/search.ts";
import type { Reader } from "../engine/store.ts";
import { wordsBeside } from "./plans.ts";

/*
 * A page reads posts, newest first, along an index in that order. A search first looks whether its words are rare.
 * Then it reads only the posts that the text index finds. The domain compares every post that is read.
 */

interface Bounds {
  /** Where more posts than this may have the words, the newest of all posts are read instead. */
  readonly candidates: number;
  /** After so long a page ends, full or not, and the next page goes on from there. */
  readonly ms: number;
  /** How many posts are read at once at most. Each step of a search reads four times as many as the one before. */
  readonly step: number;
  /** How many ordered lists a page is made of at most. The engine plans each by itself. */
  readonly lists: number;
}

export const BOUNDS: Bounds = { candidates: 4_000, ms: 40, step: 1_000, lists: 100 };

export function createSearch(reader: Reader, bounds = BOUNDS): Search {
  return {
    page: async (filter, page) => {
      const scope = await readScope(reader, filter, page.before);
      if (scope === null) return { rows: [], next: null };
      const { terms } = filter;
      const found = await lookUp(reader, terms, bounds.candidates);
      return readPage(reader, { ...page, ...scope, found, bounds });
    },
    first: async (filter, limit) => {
      const scope = await readScope(reader, { ...filter, terms: [] }, null);
      const part = { order: "ASC", limit } as const;
      return scope === null ? [] : await readRows(reader, walk(scope, part, bounds), part);
    },
  };
}

/** A filter whose accounts are the owner's and of the platforms that are asked for. */
interface Scope extends PostFilter {
  /** Excludes itself. */
  readonly before: Position;
}

/** Null where no post can fit. */
async function readScope(reader: Reader, filter: PostFilter, before: Position | null): Promise<Scope | null> {
  const { ownerId, accountIds, providers, to } = filter;
  const end = { at: to === null ? Number.MAX_SAFE_INTEGER : to + 1, id: "" };
  const scope = { ...filter, before: before !== null && before.at < end.at ? before : end };
  if (accountIds === null && providers === null) return scope;
  if (accountIds?.length === 0) return null;
  const rows = await queryOf(reader)
    .selectFrom("accounts")
    .select("id")
    .where("owner_id", "=", ownerId)
    .$if(accountIds !== null, (query) => query.where("id", "in", accountIds ?? []))
    .$if(providers !== null, (query) => query.where("provider", "in", providers ?? []))
    .execute();
  return rows.length === 0 ? null : { ...scope, accountIds: rows.map(({ id }) => id) };
}

interface Walk extends Scope, Omit<Page, "before"> {
  /** The posts that the text index has found. Null: it is of no use here. */
  readonly found: Posts | null;
  readonly bounds: Bounds;
}

async function readPage(reader: Reader, page: Walk): Promise<PageOfRows> {
  const { terms, limit, now, found, bounds } = page;
  const begun = now();
  const hits: ShownRow[] = [];
  let { before } = page;
  for (let step = limit + 1; ; step = Math.max(limit + 1, Math.min(step * 4, bounds.step))) {
    const scope = { ...page, before };
    const part = { order: "DESC", limit: step } as const;
    const posts =
      found === null ? walk(scope, part, bounds) : pick(COLUMNS, found, scope, conditionsOf(scope));
    const rows = await readRows(reader, posts, part);
    hits.push(...(terms.length === 0 ? rows : await withTerms(reader, rows, terms)));
    if (hits.length > limit) return { rows: hits.slice(0, limit), next: positionOf(hits[limit - 1]) };
    if (rows.length < step) return { rows: hits, next: null };
    before = positionOf(rows.at(-1)) ?? before;
    if (now() - begun >= bounds.ms) return { rows: hits, next: before };
  }
}

type Posts = RawBuilder<unknown>;

interface Part {
  readonly order: "ASC" | "DESC";
  readonly limit: number;
}

function firstOf(posts: Posts, { order, limit }: Part): Posts {
  const by = sql.raw(order);
  return sql`${posts} ORDER BY scheduled_at ${by}, id ${by} LIMIT ${limit}`;
}

async function readRows(reader: Reader, posts: Posts, part: Part): Promise<ShownRow[]> {
  return (await sql<ShownRow>`${firstOf(posts, part)}`.execute(queryOf(reader))).rows;
}

/**
 * The posts of all owners that may have all terms. Null where they are more than `limit`, or where no term can be
 * looked up. CROSS JOIN: SQLite begins with what stands first.
 */
async function lookUp(reader: Reader, terms: readonly SearchTerm[], limit: number): Promise<Posts | null> {
  const tokens = wantedTokens(terms);
  if (tokens.length === 0) return null;
  const ids = await indexOf(reader).find(reader, tokens, limit + 1);
  if (ids.length > limit) return null;
  return sql`(SELECT posts.* FROM ${rowsFrom(reader, ids)} CROSS JOIN posts WHERE posts.id = one.value) AS p`;
}

/** As one text: building it for each query takes a tenth of the time of a short page. */
const COLUMNS = sql.raw<unknown>(SHOWN_COLUMNS.map((column) => `p.${column}`).join(", "));
const POSITION = sql.raw<unknown>("p.scheduled_at, p.id");
const ALL = sql.raw<unknown>("posts AS p");

/**
 * Reads lists that an index of posts holds in the order of a page: one for each account and status, as far as
 * these are few. What a list leaves open is asked of each post, in a form that no index fits. Of several lists
 * the index gives the first of each, and of all these the first are read.
 */
function walk(scope: Scope, part: Part, { lists: most }: Bounds): Posts {
  const { ownerId } = scope;
  const statuses = scope.statuses ?? [null];
  const isByAccount = (scope.accountIds?.length ?? Infinity) * statuses.length <= most;
  const accountIds = isByAccount ? (scope.accountIds ?? []) : [null];
  const lists = accountIds.flatMap((accountId) =>
    statuses.map((status) => [
      accountId === null ? sql`p.owner_id = ${ownerId}` : sql`p.account_id = ${accountId}`,
      ...(status === null ? [] : [sql`p.status = ${status}`]),
      ...(isByAccount || scope.accountIds === null
        ? []
        : [sql`p.account_id || '' IN (${sql.join(scope.accountIds)})`]),
    ]),
  );
  const [only = conditionsOf(scope), ...others] = lists;
  if (others.length === 0) return pick(COLUMNS, ALL, scope, only);
  const heads = lists.map(
    (list) => sql`SELECT * FROM (${firstOf(pick(POSITION, ALL, scope, list), part)}) AS list`,
  );
  const first = firstOf(sql.join(heads, sql` UNION ALL `), part);
  return sql`SELECT ${COLUMNS} FROM ${ALL} WHERE p.id IN (SELECT id FROM (${first}) AS lists)`;
}

/** The posts in the scope. `conditions` select the accounts and statuses. */
function pick(columns: Posts, posts: Posts, scope: Scope, conditions: readonly Posts[]): Posts {
  const { ownerId, from, before, draftId = null, labels = null } = scope;
  const further = [
    sql`(p.scheduled_at, p.id) < (${before.at}, ${before.id})`,
    ...(from === null ? [] : [sql`p.scheduled_at >= ${from}`]),
    ...(draftId === null ? [] : [sql`p.id IN (SELECT post_id FROM post_plans WHERE draft_id = ${draftId})`]),
    ...(labels === null
      ? []
      : [
          sql`p.id IN (SELECT post_id FROM post_labels WHERE owner_id = ${ownerId} AND label IN (${sql.join(labels)}))`,
        ]),
  ];
  return sql`SELECT ${columns} FROM ${posts} WHERE ${sql.join([...conditions, ...further], sql` AND `)}`;
}

function conditionsOf({ ownerId, accountIds, statuses }: Scope): readonly Posts[] {
  return [
    sql`p.owner_id = ${ownerId}`,
    ...(accountIds === null ? [] : [sql`p.account_id IN (${sql.join(accountIds)})`]),
    ...(statuses === null ? [] : [sql`p.status IN (${sql.join(statuses)})`]),
  ];
}

function positionOf(row: ShownRow | undefined): Position | null {
  return row === undefined ? null : { at: row.scheduled_at, id: row.id };
}

/** Those whose own words, with what a plan says of them, have all terms. */
async function withTerms(
  reader: Reader,
  rows: readonly ShownRow[],
  terms: readonly SearchTerm[],
): Promise<readonly ShownRow[]> {
  const own = new Set(rows.filter((row) => hasTerms(textOf(row), terms)));
  const others = rows.filter((row) => !own.has(row)).map(({ id }) => id);
  const planned = await wordsBeside(reader, others);
  return rows.filter((row) => {
    const beside = planned.get(row.id);
    return own.has(row) || (beside !== undefined && hasTerms(textOf(row, beside), terms));
  });
}

function textOf({ caption, metadata }: ShownRow, beside: readonly string[] = []): string {
  const read = metadata === null ? null : (JSON.parse(metadata) as Metadata);
  return searchableText({ caption, metadata: read, beside });
}

/*
 * The tokens of a post in the text index, the same on both engines. A token is a word, a sign beyond ASCII, or one
 * or two characters of a script without spaces. So each engine's own tokenizer takes it for one word.
 */

/** A single letter begins nearly all words there are, so it is not looked up. */
const MIN_PREFIX_CHARS = 2;

export function tokensOf(post: SearchableText): string[] {
  const tokens = splitPieces(fold(searchableText(post))).flatMap((piece) =>
    piece.kind === "dense" ? [...piece.text, ...pairsOf(piece.text)] : wholeOf(piece),
  );
  return [...new Set(tokens)];
}

/** The tokens that each post with these terms has. Empty where the terms do not tell. */
function wantedTokens(terms: readonly SearchTerm[]): WantedToken[] {
  return terms.flatMap(tokensOfTerm);
}

function tokensOfTerm({ pieces }: SearchTerm): WantedToken[] {
  return pieces.flatMap((piece, at): WantedToken[] => {
    const isLast = at === pieces.length - 1;
    if (piece.kind === "word" && isLast) {
      return piece.text.length < MIN_PREFIX_CHARS ? [] : [{ text: cut(piece.text), isPrefix: true }];
    }
    const pairs = piece.kind === "dense" ? pairsOf(piece.text) : [];
    return (pairs.length === 0 ? wholeOf(piece) : pairs).map((text) => ({ text, isPrefix: false }));
  });
}

function wholeOf({ kind, text }: Piece): string[] {
  if (kind === "word") return [cut(text)];
  return text < "\x80" ? [] : [text];
}

function pairsOf(dense: string): string[] {
  const characters = Array.from(dense);
  return characters.slice(1).map((character, before) => `${characters[before] ?? ""}${character}`);
}

function cut(word: string): string {
  return word.length <= MAX_WORD_CHARS ? word : Array.from(word).slice(0, MAX_WORD_CHARS).join("");
}
