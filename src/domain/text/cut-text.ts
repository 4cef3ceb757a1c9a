/** In UTF-16 units and bytes of UTF-8. */
export interface TextLimits {
  readonly maxChars: number;
  readonly maxBytes?: number;
}

/** The text, or its beginning and a sign that there was more. Characters stay whole. */
export function cutText(text: string, { maxChars, maxBytes = Infinity }: TextLimits): string {
  if (text.length <= maxChars && Buffer.byteLength(text) <= maxBytes) return text;
  let chars = 1;
  let bytes = Buffer.byteLength("…");
  let kept = "";
  for (const character of text) {
    chars += character.length;
    bytes += Buffer.byteLength(character);
    if (chars > maxChars || bytes > maxBytes) break;
    kept += character;
  }
  return maxChars < 1 ? "" : `${kept}…`;
}
