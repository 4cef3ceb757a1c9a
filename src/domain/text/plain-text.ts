/** Control characters, marks of direction, half characters: a quoted text must not reach beyond its quotes. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}]+/gu;

/** So much of a text is read for each character that is shown: a family of emoji has some 25. */
const READ_FOR_EACH = 32;

/** What a terminal obeys: control characters but tab and newline, other line ends, marks of direction. */
// oxlint-disable-next-line no-control-regex
const OBEYED = /[\0-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The text with those as JSON escapes (`\u001b`). JSON stays JSON: they stand raw only in its texts. */
export function visibleText(text: string): string {
  return text.replaceAll(
    OBEYED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A caption or name for a sentence of ours: on one line, without tricks, cut short. Emoji stay whole. */
export function plainText(text: string, maxChars: number): string {
  const read = text.slice(0, maxChars * READ_FOR_EACH);
  const line = oneLine(read);
  const characters = [...line];
  return characters.length <= maxChars && read.length === text.length
    ? line
    : `${characters.slice(0, maxChars - 1).join("")}…`;
}

/** The text on one line, without what a reader does not see. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll(UNSAFE, keepJoiner).trim();
}

/** The text without those characters, its lines and spaces as they are. */
export function visibleOnly(text: string): string {
  return text.replaceAll(UNSAFE, (characters) => characters.replaceAll(/[^\n\t\u200d]/g, ""));
}

/** The joiner inside of emoji is harmless, and without it a family falls apart. */
function keepJoiner(characters: string): string {
  return characters === "\u200d" ? characters : "";
}

/** A sentence that another one follows. */
export function withFullStop(text: string): string {
  return text === "" || /[.!?…]["”)]?$/.test(text) ? text : `${text}.`;
}

/** A count with its noun: `1 post`, `2 posts`. `several`: where it is no s that makes it several. */
export function plural(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}

/** A caller's own words, cut short and quoted, for a sentence. */
export function quote(text: string): string {
  const short = text.length > 60 ? `${text.slice(0, 57)}…` : text;
  return JSON.stringify(short);
}
