/**
 * Little text: what would be markup is escaped, or LinkedIn cuts the post where it does not understand it. A # in
 * front of a word stays, so that it is a hashtag.
 */
export function toLittleText(text: string): string {
  return text.replace(/[\\|{}@[\]()<>*_~]|#(?![\p{L}\p{N}])/gu, String.raw`\$&`);
}

/** The text alone, to compare by: LinkedIn gives hashtags back as templates, and may space otherwise. */
export function ofLittleText(commentary: string): string {
  return commentary
    .replace(/\{hashtag\|\\?#\|([^|}]*)\}/g, "#$1")
    .replace(/\\([\\|{}@[\]()<>#*_~])/g, "$1")
    .normalize("NFC")
    .replace(/\s+/g, " ")
    .trim();
}
