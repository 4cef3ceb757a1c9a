/**
 * What "a word begins with" means, in one place: the index is built from these rules, and rows that the index alone cannot
 * decide are checked with them.
 */

/** Scripts written without spaces between words (Korean joins particles to them): text in them is found anywhere. */
const DENSE_SCRIPTS = ["Han", "Hiragana", "Katakana", "Hangul", "Bopomofo", "Thai", "Lao", "Khmer", "Myanmar"];
const DENSE = `(?=[\\p{L}\\p{N}\\p{M}])[${DENSE_SCRIPTS.map((script) => `\\p{scx=${script}}`).join("")}]`;
const WORD = `(?!${DENSE})[\\p{L}\\p{N}\\p{M}]`;

const PIECES = new RegExp(`(?<word>(?:${WORD})+)|(?<dense>(?:${DENSE})+)|(?<symbol>\\S)`, "gu");
const ENDS_IN_WORD = new RegExp(`${WORD}$`, "u");

/**
 * Marks that are accents: diacritics and vowel signs that any script borrows, Hebrew points, and the selectors that only say
 * how an emoji is drawn. Vowel signs of a script's own (Thai, Devanagari, …) are letters, and so are the kana's two marks.
 */
const ACCENTS = /(?=\p{Mn})(?:\p{Script=Hebrew}|(?!\u{3099}|\u{309a})\p{Script=Inherited})/gu;

// Text of plain ASCII, the most common, needs none of the Unicode steps.
// oxlint-disable-next-line no-control-regex
const IS_ASCII = /^[\x00-\x7f]*$/;
const ASCII_PIECES = /(?<word>[a-z0-9]+)|(?<dense>(?!))|(?<symbol>\S)/g;

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
  /** Its longest plain word, which a post must have somewhere; "" where it has none. */
  readonly needle: string;
}

/** Without case and accents, in NFC. Upper case first: it opens ß to ss and ﬁ to fi. */
export function fold(text: string): string {
  if (IS_ASCII.test(text)) return text.toLowerCase();
  return text.normalize("NFD").replace(ACCENTS, "").toUpperCase().toLowerCase().replaceAll("ς", "σ").normalize("NFC");
}

export function splitPieces(folded: string): Piece[] {
  const pieces: Piece[] = [];
  for (const { groups } of folded.matchAll(IS_ASCII.test(folded) ? ASCII_PIECES : PIECES)) {
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
    .map((text) => {
      const pieces = splitPieces(text);
      return { text, pieces, needle: needleOf(pieces) };
    });
}

function needleOf(pieces: readonly Piece[]): string {
  const plain = pieces.filter(({ kind, text }) => kind === "word" && IS_ASCII.test(text)).map(({ text }) => text);
  return plain.reduce((longest, text) => (text.length > longest.length ? text : longest), "");
}

/**
 * True when a post as it is stored, JSON and all, cannot have the words: it saves unpacking most of those that do not.
 * Decides nothing for text beyond ASCII, where letters have more than one form.
 */
export function isRuledOut(stored: string, terms: readonly SearchTerm[]): boolean {
  if (!IS_ASCII.test(stored)) return false;
  const lower = stored.toLowerCase();
  return terms.some(({ needle }) => !lower.includes(needle));
}

export interface SearchableText {
  readonly caption: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
}

/** Caption, title and description; other metadata, and the names of its keys, are not searched. */
export function searchableText({ caption, metadata }: SearchableText): string {
  const texts = [metadata?.["title"], caption, metadata?.["description"]];
  return texts.filter((text) => typeof text === "string").join("\n");
}

/** True when each term begins a word of the text, or, where it begins with another kind of character, stands anywhere. */
export function matchesAll(folded: string, terms: readonly SearchTerm[]): boolean {
  return terms.every((term) => matches(folded, term));
}

function matches(folded: string, { text, pieces }: SearchTerm): boolean {
  const mustBeginWord = pieces[0]?.kind === "word";
  for (let at = folded.indexOf(text); at !== -1; at = folded.indexOf(text, at + 1)) {
    if (!mustBeginWord || at === 0 || !ENDS_IN_WORD.test(folded.slice(Math.max(0, at - 2), at))) return true;
  }
  return false;
}
