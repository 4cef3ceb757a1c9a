/**
 * Control characters, and those that turn the direction of what follows: a quoted text must not reach beyond
 * its quotes.
 */
const UNSAFE = /[\p{Cc}\p{Cf}]+/gu;

/**
 * A caption or name, shown to a person inside a sentence of ours: on one line, without tricks, cut short.
 * Emoji stay whole.
 */
export function plainText(text: string, maxChars: number): string {
  const line = text.replaceAll(/\s+/g, " ").replaceAll(UNSAFE, keepJoiner).trim();
  const characters = [...line];
  return characters.length <= maxChars ? line : `${characters.slice(0, maxChars - 1).join("")}…`;
}

/** The joiner inside of emoji is harmless, and without it a family falls apart. */
function keepJoiner(characters: string): string {
  return characters === "\u200d" ? characters : "";
}
