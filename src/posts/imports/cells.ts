/*
 * A spreadsheet runs what begins with one of these signs (OWASP, "CSV Injection":
 * https://owasp.org/www-community/attacks/CSV_Injection), and takes an apostrophe before it for "this is text".
 * So does an import: `guardCell` puts it there, `readCell` takes it away, and what is read is what was written. A
 * text that is there and empty is written as an apostrophe alone, since an empty cell means that nothing is given.
 */
const GUARDED = /^'*(?:[=+\-@\t\r\n＝＋－＠]|$)/;
const MARKED = /^'+(?:[=+\-@\t\r\n＝＋－＠]|$)/;

/** A value of a post as a spreadsheet may open it. */
export function guardCell(text: string): string {
  return GUARDED.test(text) ? `'${text}` : text;
}

/** The same in countries where a spreadsheet begins a cell after each semicolon or tab; no import reads it back. */
export function guardCells(text: string): string {
  const parts = text.split(/(?<=[;\t])/);
  return parts.map((part) => (part === "" ? "" : guardCell(part))).join("");
}

/** What a cell says. */
export function readCell(cell: string): string {
  return MARKED.test(cell) ? cell.slice(1) : cell;
}
