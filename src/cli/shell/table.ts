import { visibleText } from "../../domain/text/plain-text.ts";

export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => string | null;
  /** Cut where the line has too few places; others, such as ids, stay whole. */
  readonly isCut?: boolean;
  /** Names: those that would be cut to the same are cut at their beginning, so that they still differ. */
  readonly isName?: boolean;
}

const GAP = "  ";
const LEAST_WIDTH = 8;

/** Lines of text: a head and a line a row, no wider than the terminal unless what must stay whole is. */
export function toTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): string {
  const cells = rows.map((row) => columns.map(({ of }) => oneLine(of(row) ?? "")));
  const lines = [columns.map(({ title }) => title), ...cells];
  const widths = fit(columns, lines, width);
  for (const [at, { isName }] of columns.entries())
    if (isName === true) keepApart(cells, at, widths[at] ?? 0);
  return lines.map((line) => `${toLine(line, widths)}\n`).join("");
}

/** What a terminal would obey is shown as an escape, here already: it takes more places. */
export function oneLine(text: string): string {
  return visibleText(text.replaceAll(/\s+/g, " ").trim());
}

/** The widest of those that may be cut gives way, until the line is short enough. */
function fit(columns: readonly Column<never>[], lines: readonly string[][], width: number): number[] {
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => textWidth(line[at] ?? ""))));
  const gaps = GAP.length * (columns.length - 1);
  for (let over = widths.reduce((sum, one) => sum + one, gaps) - width; over > 0; over -= 1) {
    const cuttable = widths.map((one, at) => (columns[at]?.isCut === true && one > LEAST_WIDTH ? one : 0));
    const widest = Math.max(...cuttable);
    if (widest === 0) break;
    widths[cuttable.indexOf(widest)] = widest - 1;
  }
  return widths;
}

/** Of names that would be cut to the same, only what they begin with alike is left out. */
function keepApart(cells: readonly string[][], at: number, width: number): void {
  const names = [...new Set(cells.map((cell) => cell[at] ?? ""))];
  const shown = new Map(names.map((name) => [name, name]));
  const cutOf = (name: string): string => cutText(shown.get(name) ?? name, width);
  for (let isChanged = true; isChanged;) {
    isChanged = false;
    for (const cut of new Set(names.map(cutOf))) {
      const alike = names.filter((name) => cutOf(name) === cut);
      const start = alike.length === 1 ? 0 : startOfDifference(alike, width);
      for (const name of alike) {
        const rest = `…${name.slice(start)}`;
        if (start === 0 || shown.get(name) === rest) continue;
        shown.set(name, rest);
        isChanged = true;
      }
    }
  }
  for (const cell of cells) cell[at] = shown.get(cell[at] ?? "") ?? "";
}

/** Where the word begins in which they differ; of one that is too long for the width, where it differs. */
function startOfDifference([first = "", ...others]: readonly string[], width: number): number {
  const isShared = (end: number): boolean => others.every((one) => one.startsWith(first.slice(0, end)));
  const words = [...first.matchAll(/\b\w/g)].map(({ index }) => index);
  const start = words.findLast(isShared) ?? 0;
  let common = start;
  while (common < first.length && isShared(common + 1)) common += 1;
  return common - start < width - 2 ? start : common;
}

function toLine(cells: readonly string[], widths: readonly number[]): string {
  const padded = cells.map((cell, at) => {
    const text = cutText(cell, widths[at] ?? 0);
    return text + " ".repeat(Math.max(0, (widths[at] ?? 0) - textWidth(text)));
  });
  return padded.join(GAP).trimEnd();
}

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

function widthOf(segment: string): number {
  if (UNSEEN.test(segment)) return 0;
  return WIDE.test(segment) && !NARROW.test(segment) ? 2 : 1;
}
