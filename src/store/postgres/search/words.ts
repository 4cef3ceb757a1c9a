import { fold, splitPieces, type Piece, type SearchTerm } from "../../../domain/compare-words.ts";
import { exactTokens, indexedWord, neededTokens } from "../../search/tokens.ts";

/*
 * How a text stands in `post_search`. `words` are the tokens that SQLite's index holds too, as a tsvector that
 * is cast and not parsed: no dictionary of the server has a say. `marked` is the folded text with a mark before
 * each word: it contains a term, marked the same way, exactly where the term matches. So the index only narrows,
 * and `marked` decides.
 */

/** No text contains it: there, white space is one space. */
const WORD_MARK = "\n";

/**
 * The literal of a tsvector and the marked text. The longest texts that a post may have come to 800 kB of
 * tokens; a tsvector holds 1 MB.
 */
export function toStored(text: string): { readonly words: string; readonly marked: string } {
  const tokens = new Set<string>();
  const runs = fold(text)
    .split(/\s+/u)
    .map((run) => {
      const pieces = splitPieces(run);
      for (const piece of pieces) for (const token of exactTokens(piece)) tokens.add(token);
      return marked(pieces);
    });
  return { words: [...tokens].map(quoted).join(" "), marked: runs.join(" ") };
}

/** What the marked text contains where this term matches. */
export function markedTerm({ pieces }: SearchTerm): string {
  return marked(pieces);
}

/** PostgreSQL takes no NUL in a text. */
function marked(pieces: readonly Piece[]): string {
  const texts = pieces.map(({ kind, text }) => (kind === "word" ? WORD_MARK + text : text));
  return texts.join("").replaceAll("\0", "\ufffd");
}

/** A token that each text with a certain term has, or one that begins like it. */
export interface NeededToken {
  readonly text: string;
  readonly isPrefix: boolean;
}

/** What each text with this term has. */
export function tokensOf({ pieces }: SearchTerm): NeededToken[] {
  const last = pieces.at(-1);
  const isPrefix = last?.kind === "word";
  const exact = (isPrefix ? pieces.slice(0, -1) : pieces).flatMap(neededTokens);
  const tokens = exact.map((text) => ({ text, isPrefix: false }));
  return isPrefix ? [...tokens, { text: indexedWord(last.text), isPrefix }] : tokens;
}

/** As an operand of a tsquery. */
export function operand({ text, isPrefix }: NeededToken): string {
  return quoted(text) + (isPrefix ? ":*" : "");
}

function quoted(token: string): string {
  return `'${token.replaceAll(/['\\]/g, "$&$&")}'`;
}
