/**
 * What Misskey reads as markup (https://misskey-hub.net/en/docs/for-users/features/mfm), in the second half:
 * tags, bold, italics, struck, code, functions, formulas, links, quotations, custom emoji, searches. Addresses,
 * mentions and hashtags, in the first half, are to be what they are.
 */
const MARKUP =
  /(https?:\/\/[\w.,/:%#@$&?!~=+-]+|(?<![a-z0-9])@[\w.-]*\w(?:@[\w.-]*\w)?|#[^\s.,!?'"#:/[\]()「」（）<>*_~`]+)|<(?=[a-z/])|\*{2,}|(?<![a-z0-9])[*_](?=[a-z0-9 \t\u3000]+[*_])|__|~~|`+|\$(?=\[)|\\(?=[([])|\[|(?<=^[ \t]*)>|:(?=[a-z0-9_+-]+:)|(?<=[ \u3000])\[?(?:search|検索)\]?$/gimu;

/** The text so that readers see it as it was written. */
export function plainMfm(text: string): string {
  return text.replace(MARKUP, (sign: string, kept?: string) => kept ?? `<plain>${sign}</plain>`);
}

/** In code points, with what keeps markup from being one. */
export function measure(text: string): number {
  return [...plainMfm(text)].length;
}
