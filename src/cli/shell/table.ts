import { visibleText } from "../../domain/plain-text.ts";
import { cutText, padText, textWidth } from "./text-width.ts";

export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => string | null;
  /** Cut where the line has too few places; others, such as ids, stay whole. */
  readonly isCut?: boolean;
}

const GAP = "  ";
/** Less of a text tells nothing. */
const LEAST_WIDTH = 8;

/** Lines of text: a head and a line a row, no wider than the terminal unless what must stay whole is. */
export function toTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): string {
  const cells = rows.map((row) => columns.map(({ of }) => oneLine(of(row) ?? "")));
  const lines = [columns.map(({ title }) => title), ...cells];
  const widths = fit(columns, lines, width);
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

function toLine(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, at) => padText(cutText(cell, widths[at] ?? 0), widths[at] ?? 0))
    .join(GAP)
    .trimEnd();
}
