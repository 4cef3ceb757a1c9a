/**
 * What "a word begins with" means, in one place: the index is built from these rules, and rows that the index alone cannot
 * decide are checked with them.
 */

/** Scripts written without spaces between words (Korean joins particles to them): text in them is found anywhere. */
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
 * Marks that are accents: diacritics and vowel signs that any script borrows, Hebrew points, and the selectors that only say
 * how an emoji is drawn. Vowel signs of a script's own (Thai, Devanagari, …) are letters, and so are the kana's two marks.
 * As ranges: `\p{…}` takes five times as long, and each row that a search compares goes through here.
 */
const ACCENT_RANGES =
  "0300-036f 0485-0486 0591-05bd 05bf 05c1-05c2 05c4-05c5 05c7 064b-0655 0670 0951-0954 " +
  "1ab0-1ace 1dc0-1dff 20d0-20dc 20e1 20e5-20f0 302a-302d fe00-fe0f fe20-fe2d";
const ACCENTS = new RegExp(`[${ACCENT_RANGES.replaceAll(" ", "").replace(/[0-9a-f]{4}/g, "\\u$&")}]`, "g");

// Text of plain ASCII, the most common, needs none of the Unicode steps.
// oxlint-disable-next-line no-control-regex
const IS_ASCII = /^[\x00-\x7f]*$/;
const ASCII_PIECES = /(?<word>[a-z0-9]+)|(?<dense>(?!))|(?<symbol>\S)/g;

/** Latin, Greek and Cyrillic letters: each is folded for itself, neither its neighbours nor its place in a word matter to it. */
const LETTERS = "\\u0080-\\u02ff\\u0370-\\u0482\\u048a-\\u052f";
/** Punctuation, symbols, Chinese, kana, Korean and emoji, which folding leaves as they are. */
const UNFOLDED =
  "\\u2010-\\u20cf\\u232b-\\u24b5\\u24d0-\\u2adb\\u3000-\\u3029\\u3030-\\u3098\\u309b-\\u9fff\\uac00-\\ud7a3\\ud83c-\\ud83e\\udc00-\\udfff";
const LAST_LETTER = 0x52f;
const EACH_LETTER = new RegExp(`[${LETTERS}]`, "g");
const ALL_UNFOLDED = new RegExp(`^[${UNFOLDED}]+$`);
const NOT_SIMPLE = new RegExp(`[^\\0-\\x7f${LETTERS}${UNFOLDED}]`);

/** What JSON does not write as it is. */
const ESCAPED = /["\\\p{Cc}\p{Cs}]/u;

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
  /** Its longest piece, which a post must have somewhere; "" where JSON would write all of them in another way. */
  readonly needle: string;
  /** How the needle may be spelled in a simple text before it is folded; null where that is not known. */
  readonly spellings: RegExp | null;
}

/** Without case and accents, in NFC. */
export function fold(text: string): string {
  if (IS_ASCII.test(text)) return text.toLowerCase();
  return NOT_SIMPLE.test(text) ? foldAny(text) : text.replace(EACH_LETTER, foldLetter).toLowerCase();
}

const foldedLetters = new Map<string, string>();

function foldLetter(letter: string): string {
  let folded = foldedLetters.get(letter);
  if (folded === undefined) foldedLetters.set(letter, (folded = foldAny(letter)));
  return folded;
}

/** By way of upper case, which opens ß to ss and ﬁ to fi, after lower case, which makes ß of ẞ. */
function foldAny(text: string): string {
  return text
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
      const needle = needleOf(pieces);
      return { text, pieces, needle, spellings: spellingsOf(needle) };
    });
}

function needleOf(pieces: readonly Piece[]): string {
  const plain = pieces.map(({ text }) => text).filter((text) => !ESCAPED.test(text));
  return plain.reduce((longest, text) => (text.length > longest.length ? text : longest), "");
}

/** Kept, because V8 makes machine code of each only when it has been used a while, and searches come again. */
const knownSpellings = new Map<string, RegExp | null>();
const MAX_KNOWN_SPELLINGS = 1_000;

function spellingsOf(needle: string): RegExp | null {
  const known = knownSpellings.get(needle);
  if (known !== undefined) return known;
  const made = makeSpellings(needle);
  if (knownSpellings.size >= MAX_KNOWN_SPELLINGS) knownSpellings.clear();
  knownSpellings.set(needle, made);
  return made;
}

/** Finds every spelling, and some that are none: ß is two letters, so any run of one letter is taken for any number of it. */
function makeSpellings(needle: string): RegExp | null {
  if (ALL_UNFOLDED.test(needle)) return new RegExp(needle);
  if (!/^[a-z0-9]+$/.test(needle)) return null;
  const oneOf = (letter: string): string => `[${letter}${letter.toUpperCase()}${accented(letter)}]`;
  return new RegExp(
    needle.replace(/(.)\1*/g, (run, letter: string) => `${oneOf(letter)}${run === letter ? "" : "+"}`),
  );
}

let accentedLetters: Map<string, string> | null = null;

/** The letters that fold to this one, or to several with this one among them. */
function accented(letter: string): string {
  if (accentedLetters === null) {
    accentedLetters = new Map();
    for (const one of String.fromCharCode(...Array(LAST_LETTER + 1).keys()).match(EACH_LETTER) ?? []) {
      for (const plain of foldLetter(one))
        accentedLetters.set(plain, (accentedLetters.get(plain) ?? "") + one);
    }
  }
  return accentedLetters.get(letter) ?? "";
}

/**
 * True when a post as it is stored, JSON and all, cannot have the word; JSON writes letters as they are. It saves folding and
 * unpacking most of the posts that do not have it.
 */
export function isRuledOut(stored: string, { needle, spellings }: SearchTerm): boolean {
  if (spellings?.test(stored) === true) return false;
  return (spellings !== null && !NOT_SIMPLE.test(stored)) || !fold(stored).includes(needle);
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

/** The terms that begin no word of the text and, where they begin with another kind of character, stand nowhere in it. */
export function missingFrom(folded: string, terms: readonly SearchTerm[]): SearchTerm[] {
  return terms.filter((term) => !matches(folded, term));
}

function matches(folded: string, { text, pieces }: SearchTerm): boolean {
  const mustBeginWord = pieces[0]?.kind === "word";
  for (let at = folded.indexOf(text); at !== -1; at = folded.indexOf(text, at + 1)) {
    if (!mustBeginWord || at === 0 || !ENDS_IN_WORD.test(folded.slice(Math.max(0, at - 2), at))) return true;
  }
  return false;
}
