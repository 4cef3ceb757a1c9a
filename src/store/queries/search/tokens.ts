import {
  fold,
  MAX_WORD_CHARS,
  searchableText,
  splitPieces,
  type Piece,
  type SearchableText,
  type SearchTerm,
} from "../../../domain/compare-words.ts";

/*
 * What a text index holds of a post, the same on both engines. A token is a word, a sign beyond ASCII, or one
 * or two characters of a script without spaces. So each token stands alone for the engine's own
 * tokenizer, whatever Unicode it knows.
 */

/** Words that begin with one letter are nearly all there are. */
const MIN_PREFIX_CHARS = 2;

export interface WantedToken {
  readonly text: string;
  /** Also what begins like it. */
  readonly isPrefix: boolean;
}

export function tokensOf(post: SearchableText): string[] {
  const tokens = splitPieces(fold(searchableText(post))).flatMap((piece) =>
    piece.kind === "dense" ? [...piece.text, ...pairsOf(piece.text)] : wholeOf(piece),
  );
  return [...new Set(tokens)];
}

/** What each post with these terms has; nothing where the terms tell nothing. */
export function wantedTokens(terms: readonly SearchTerm[]): WantedToken[] {
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
