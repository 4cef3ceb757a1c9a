/**
 * Little text: what would be markup is escaped, or LinkedIn cuts the post where it does not understand it. A # in
 * front of a word stays, so that it is a hashtag.
 */
export function toLittleText(text: string): string {
  return text.replace(/[\\|{}@[\]()<>*_~]|#(?![\p{L}\p{N}])/gu, String.raw`\$&`);
}
