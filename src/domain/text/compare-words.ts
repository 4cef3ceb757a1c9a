/** What "a word begins with" means: for the index, and for rows that the index cannot decide. */

/** Scripts without spaces between words (Korean joins particles to them): text in them is found anywhere. */
const DENSE_SCRIPTS = [
  "Han",
  "Hiragana",
  "Katakana",
  "Hangul",
  "Bopomofo",
  "Thai",
  "Lao",
  "Khmer",
  "Myanmar",
];
const DENSE = `(?=[\\p{L}\\p{N}\\p{M}])[${DENSE_SCRIPTS.map((script) => `\\p{scx=${script}}`).join("")}]`;
const WORD = `(?!${DENSE})[\\p{L}\\p{N}\\p{M}]`;

const PIECES = new RegExp(`(?<word>(?:${WORD})+)|(?<dense>(?:${DENSE})+)|(?<symbol>\\S)`, "gu");
const ENDS_IN_WORD = new RegExp(`${WORD}$`, "u");

/**
 * Marks that are accents: diacritics and vowel signs that any script borrows, Hebrew points, and the
 * selectors that only say how an emoji is drawn. Vowel signs of a script's own (Thai, Devanagari, …) are
 * letters, and so are the kana's two marks.
 */
const ACCENT_RANGES =
  "0300-036f 0485-0486 0591-05bd 05bf 05c1-05c2 05c4-05c5 05c7 064b-0655 0670 0951-0954 " +
  "1ab0-1ace 1dc0-1dff 20d0-20dc 20e1 20e5-20f0 302a-302d fe00-fe0f fe20-fe2d";
const ACCENTS = new RegExp(`[${ACCENT_RANGES.replaceAll(" ", "").replace(/[0-9a-f]{4}/g, "\\u$&")}]`, "g");

const NOT_ASCII = /[^\0-\x7f]+/g;

/** Longest word that is indexed whole; what is longer is found by its beginning and then compared. */
export const MAX_WORD_CHARS = 40;

export interface Piece {
  readonly kind: "word" | "dense" | "symbol";
  readonly text: string;
}

/** One word of a search: what stood between white space. */
export interface SearchTerm {
  /** Folded. */
  readonly text: string;
  readonly pieces: readonly Piece[];
}

/** Without case and accents, in NFC. ASCII, most of any text, needs none of the Unicode steps. */
export function fold(text: string): string {
  return text.replace(NOT_ASCII, foldRun).toLowerCase();
}

/** By way of upper case, which opens ß to ss and ﬁ to fi, after lower case, which makes ß of ẞ. */
function foldRun(run: string): string {
  return run
    .normalize("NFD")
    .replace(ACCENTS, "")
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll("ς", "σ")
    .normalize("NFC");
}

export function splitPieces(folded: string): Piece[] {
  const pieces: Piece[] = [];
  for (const { groups } of folded.matchAll(PIECES)) {
    if (groups?.["word"] !== undefined) pieces.push({ kind: "word", text: groups["word"] });
    else if (groups?.["dense"] !== undefined) pieces.push({ kind: "dense", text: groups["dense"] });
    else if (groups?.["symbol"] !== undefined) pieces.push({ kind: "symbol", text: groups["symbol"] });
  }
  return pieces;
}

/** The search's words, folded, each once; a word that another begins with says nothing more. */
export function parseSearch(search: string): SearchTerm[] {
  const words = [...new Set(fold(search).split(/\s+/u))].filter((word) => word !== "");
  return words
    .filter((word) => !words.some((other) => other !== word && other.startsWith(word)))
    .sort()
    .map((text) => ({ text, pieces: splitPieces(text) }));
}

export interface SearchableText {
  readonly caption: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  /** What a plan says of it: labels, a note. Default: nothing. */
  readonly beside?: readonly string[];
}

/** Caption, title, description and what is said beside them. Other metadata, and names of keys, are not searched. */
export function searchableText({ caption, metadata, beside = [] }: SearchableText): string {
  const texts = [metadata?.["title"], caption, metadata?.["description"], ...beside];
  return texts.filter((text) => typeof text === "string").join("\n");
}

/** Whether each term begins a word. One that begins with a sign or a dense script stands anywhere. */
export function hasTerms(text: string, terms: readonly SearchTerm[]): boolean {
  const folded = fold(text);
  return terms.every((term) => matches(folded, term));
}

function matches(folded: string, { text, pieces }: SearchTerm): boolean {
  const mustBeginWord = pieces[0]?.kind === "word";
  for (let at = folded.indexOf(text); at !== -1; at = folded.indexOf(text, at + 1)) {
    if (!mustBeginWord || at === 0 || !ENDS_IN_WORD.test(folded.slice(Math.max(0, at - 2), at))) return true;
  }
  return false;
}
