import { MAX_WORD_CHARS, type Piece } from "../../domain/compare-words.ts";

/* What an index of words holds of a text, on either engine. */

/** Begins a token that no text can contain: there it is a symbol, which is written in hex. */
const SYMBOL = "\ue001";

/** The tokens that a text with this piece has for certain; single characters add nothing to pairs. */
export function neededTokens(piece: Piece): string[] {
  const tokens = exactTokens(piece);
  const characters = Array.from(piece.text).length;
  return piece.kind === "dense" && characters > 1 ? tokens.slice(characters) : tokens;
}

/** A word as a whole, a symbol, or every character and every two neighbours of a dense run. */
export function exactTokens({ kind, text }: Piece): string[] {
  if (kind === "word") return [indexedWord(text)];
  const characters = Array.from(text);
  if (kind === "symbol")
    return characters.map((character) => SYMBOL + (character.codePointAt(0) ?? 0).toString(16));
  const pairs = characters.slice(1).map((character, before) => `${characters[before] ?? ""}${character}`);
  return [...characters, ...pairs];
}

export function indexedWord(word: string): string {
  return word.length <= MAX_WORD_CHARS ? word : Array.from(word).slice(0, MAX_WORD_CHARS).join("");
}
