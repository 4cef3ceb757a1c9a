const SEGMENTER = new Intl.Segmenter();

/** What takes no place by itself. */
const UNSEEN = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
/** Half-width forms are in the same scripts as what takes two places. */
const NARROW = /^[\uff61-\uffdc\uffe8-\uffee]/u;
/** Emoji, and the scripts of East Asia with their punctuation (Unicode's UAX #11 calls them wide). */
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Bopomofo}\p{sc=Yi}\p{sc=Tangut}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6])|^\p{Emoji}.*[\ufe0f\u20e3]/u;

/** How many places of a terminal's line a text takes, without characters that a terminal obeys. */
export function textWidth(text: string): number {
  let width = 0;
  for (const { segment } of SEGMENTER.segment(text)) width += widthOf(segment);
  return width;
}

/** The text, cut with an ellipsis where it takes more places than that; what belongs together stays whole. */
export function cutText(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let cut = "";
  let left = width - 1;
  for (const { segment } of SEGMENTER.segment(text)) {
    left -= widthOf(segment);
    if (left < 0) break;
    cut += segment;
  }
  return `${cut.trimEnd()}…`;
}

export function padText(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - textWidth(text)));
}

function widthOf(segment: string): number {
  if (UNSEEN.test(segment)) return 0;
  return WIDE.test(segment) && !NARROW.test(segment) ? 2 : 1;
}
