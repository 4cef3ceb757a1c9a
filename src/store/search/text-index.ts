import { sql } from "kysely";
import { rawOf, type Query } from "../engine/handle.ts";
import type { IndexedPost, PostIndex, Tx } from "../engine/store.ts";
import type { SqliteDatabase } from "../engine/driver.ts";
import {
  fold,
  MAX_WORD_CHARS,
  searchableText,
  splitPieces,
  type SearchTerm,
} from "../../domain/compare-words.ts";
import { exactTokens, indexedWord, neededTokens } from "./tokens.ts";

/*
 * `search_index` is a contentless FTS5 table whose rowid is the post's sort key, so that hits come out newest
 * first without sorting. Its tokens are made here, its tokenizer only splits them at spaces. It holds words
 * alone: owner, account and status of a hit are looked up in the index posts_sort, which takes a twentieth of
 * the time that FTS5 needs to meet a second list.
 *
 * Every word of a search is a prefix, and a short prefix begins thousands of words: FTS5 would merge all
 * their lists before the first hit. So `search_terms` remembers each word when it is first seen. While few
 * words share a prefix, a query lists them one by one. A word that comes later, when the prefix is crowded,
 * carries the prefix itself as a token (an edge) in each of its posts. Common words come early, so mostly the
 * posts with rarer words pay for edges, and no prefix needs many lists. A word's `depth`, the length of its
 * longest edge, never changes: posts indexed with it stay findable untouched.
 */

/**
 * Words listed one by one for a prefix of one, two, and more characters; it never falls, which `depth` rests
 * on. The list of a common word costs a query some 100 µs, that of a rare one a tenth, and short prefixes
 * begin the common ones. More for short prefixes make queries slow and hardly save an edge, fewer for long
 * ones double the edges (bench/list-posts.ts).
 */
const MAX_LISTED = [4, 12, 32] as const;
/** Longest prefix that becomes an edge. */
const MAX_EDGE_CHARS = 12;
/** New words weighed at once against those known before: bounds how far one long post overfills a prefix. */
const NEW_WORDS_AT_ONCE = 16;
/** A beginning this short narrows nothing beside a whole word, and costs as many lists as any other. */
const SHORT_TAIL_CHARS = 2;
/** Terms looked up in the index; more only narrow a result that is compared word by word anyway. */
const MAX_INDEXED_TERMS = 8;
const LAST_CHARACTER = String.fromCodePoint(0x10_ff_ff);

/** Begins a token that no text can contain: there it is a symbol, which is written in hex. */
const EDGE = "\ue000";

/** FTS5 as the index of posts. */
export const textIndex: PostIndex = { put: indexPost, remove: unindexPost };

async function indexPost(tx: Tx, post: IndexedPost): Promise<void> {
  const raw = rawOf(tx);
  const tokens = new Set<string>();
  const words = new Set<string>();
  for (const piece of splitPieces(fold(searchableText(post)))) {
    if (piece.kind === "word") words.add(indexedWord(piece.text));
    else for (const token of exactTokens(piece)) tokens.add(token);
  }
  for (const [word, depth] of learnWords(raw, [...words])) {
    tokens.add(word);
    const characters = Array.from(word);
    for (let length = 1; length <= depth; length += 1)
      tokens.add(EDGE + characters.slice(0, length).join(""));
  }
  // Of several posts at once: FTS5 writes down what it holds in memory before each statement that may be
  // taken back by itself.
  raw
    .prepare("INSERT INTO search_index (rowid, tokens) VALUES (?, ?)")
    .run([post.sortKey, [...tokens].join(" ")]);
}

async function unindexPost(tx: Tx, sortKey: bigint): Promise<void> {
  rawOf(tx).prepare("DELETE FROM search_index WHERE rowid = ?").run([sortKey]);
}

/** The depth of each word; those never seen get theirs now. */
function learnWords(raw: SqliteDatabase, words: readonly string[]): Map<string, number> {
  const depths = readDepths(raw, words);
  const fresh = words.filter((word) => !depths.has(word));
  for (let at = 0; at < fresh.length; at += NEW_WORDS_AT_ONCE) {
    for (const { term, depth } of insertWords(raw, fresh.slice(at, at + NEW_WORDS_AT_ONCE)))
      depths.set(term, depth);
  }
  return depths;
}

/** One JSON object instead of a row for each word: half the time of indexing a post went into making rows. */
const READ_DEPTHS = `
  SELECT json_group_object(term, depth) AS depths
  FROM json_each(?) AS word CROSS JOIN search_terms ON term = word.value`;

function readDepths(raw: SqliteDatabase, words: readonly string[]): Map<string, number> {
  const { depths } = raw.prepare(READ_DEPTHS).get([JSON.stringify(words)]) as { depths: string };
  return new Map(Object.entries(JSON.parse(depths) as Record<string, number>));
}

interface TermRow {
  readonly term: string;
  readonly depth: number;
}

/**
 * Counts a word's crowded prefixes, shortest first; a longer one is never more crowded than a shorter one.
 */
const INSERT_WORDS = `
  INSERT INTO search_terms (term, depth)
  SELECT word.value, (
    WITH RECURSIVE crowded (n) AS (
      SELECT 0
      UNION ALL
      SELECT n + 1 FROM crowded
      WHERE n < MIN(${MAX_EDGE_CHARS}, LENGTH(word.value))
        AND CASE n WHEN 0 THEN ${MAX_LISTED[0]} WHEN 1 THEN ${MAX_LISTED[1]} ELSE ${MAX_LISTED[2]} END <= (
          SELECT COUNT(*) FROM (
            SELECT 1 FROM search_terms
            WHERE term >= SUBSTR(word.value, 1, n + 1) AND term < SUBSTR(word.value, 1, n + 1) || ?
            LIMIT ${MAX_LISTED[2]})))
    SELECT MAX(n) FROM crowded)
  FROM json_each(?) AS word
  RETURNING term, depth`;

function insertWords(raw: SqliteDatabase, words: readonly string[]): TermRow[] {
  return raw.prepare(INSERT_WORDS).all([LAST_CHARACTER, JSON.stringify(words)]) as TermRow[];
}

/** A search as FTS5 understands it. */
export interface CompiledSearch {
  readonly match: string;
  /** The index finds more than what was asked for: each post must be compared with the terms. */
  readonly needsCheck: boolean;
}

/** Null where no word ever began as one of the terms does. */
export async function compileSearch(
  query: Query,
  terms: readonly SearchTerm[],
): Promise<CompiledSearch | null> {
  const indexed = terms.toSorted((a, b) => b.text.length - a.text.length).slice(0, MAX_INDEXED_TERMS);
  const clauses = new Set<string>();
  let needsCheck = indexed.length < terms.length;
  for (const term of indexed) {
    const compiled = await compileTerm(query, term);
    if (compiled === null) return null;
    for (const tokens of compiled.clauses) clauses.add(anyOf(tokens));
    needsCheck ||= compiled.needsCheck;
  }
  return { match: [...clauses].join(" AND "), needsCheck };
}

/** Lists of tokens, each of which a post has one of. */
interface CompiledTerm {
  readonly clauses: readonly (readonly string[])[];
  readonly needsCheck: boolean;
}

interface CompiledPrefix {
  readonly tokens: readonly string[];
  readonly needsCheck: boolean;
}

async function compileTerm(query: Query, { pieces }: SearchTerm): Promise<CompiledTerm | null> {
  const last = pieces.at(-1);
  const before = last?.kind === "word" ? pieces.slice(0, -1) : pieces;
  const exact = [...new Set(before.flatMap((piece) => neededTokens(piece)))].map((token) => [token]);
  const isShort =
    last !== undefined &&
    last.text.length <= SHORT_TAIL_CHARS &&
    before.some(({ kind }) => kind !== "symbol");
  if (last?.kind === "word" && isShort) return { clauses: exact, needsCheck: true };
  const tail = last?.kind === "word" ? await compilePrefix(query, last.text) : null;
  if (last?.kind === "word" && tail === null) return null;
  // One word, one symbol, or one or two dense characters are exactly what the index knows; the order of
  // several it does not.
  const isPlain = pieces.length === 1 && (last?.kind !== "dense" || Array.from(last.text).length <= 2);
  return {
    clauses: tail === null ? exact : [...exact, tail.tokens],
    needsCheck: !isPlain || tail?.needsCheck === true,
  };
}

async function compilePrefix(query: Query, prefix: string): Promise<CompiledPrefix | null> {
  const characters = Array.from(prefix);
  if (characters.length > MAX_WORD_CHARS) return { tokens: [indexedWord(prefix)], needsCheck: true };
  const edgeLength = Math.min(characters.length, MAX_EDGE_CHARS);
  const listed = await readListed(query, prefix, edgeLength);
  const edge = EDGE + characters.slice(0, edgeLength).join("");
  if (edge === EDGE + prefix) return { tokens: [...listed, edge], needsCheck: false };
  const deep = await readDeepWords(query, prefix);
  if (listed.length + deep.length === 0) return null;
  if (deep.length <= MAX_LISTED[2]) return { tokens: [...listed, ...deep], needsCheck: false };
  return { tokens: [...listed, edge], needsCheck: true };
}

/**
 * Words with this prefix that carry no edge of this length. One range for each depth: the rest, far more, is
 * never read.
 */
async function readListed(query: Query, prefix: string, edgeLength: number): Promise<string[]> {
  const { rows } = await sql<{ term: string }>`
    WITH RECURSIVE depths (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM depths WHERE n < ${edgeLength - 1})
    SELECT term FROM depths CROSS JOIN search_terms INDEXED BY search_terms_depth
    WHERE depth = n AND term >= ${prefix} AND term < ${prefix + LAST_CHARACTER}`.execute(query);
  return rows.map(({ term }) => term);
}

/** Words longer than any edge; one more than can be listed when there are too many. */
async function readDeepWords(query: Query, prefix: string): Promise<string[]> {
  const { rows } = await sql<{ term: string }>`
    SELECT term FROM search_terms INDEXED BY search_terms_depth
    WHERE depth = ${MAX_EDGE_CHARS} AND term >= ${prefix} AND term < ${prefix + LAST_CHARACTER}
    LIMIT ${MAX_LISTED[2] + 1}`.execute(query);
  return rows.map(({ term }) => term);
}

function anyOf(tokens: readonly string[]): string {
  return `(${tokens.map((token) => `"${token}"`).join(" OR ")})`;
}
