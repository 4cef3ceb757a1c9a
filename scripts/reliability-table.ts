/** One row of the table in docs/reliability.md: a fault, what was done, and what was seen. */
export interface Result {
  readonly fault: string;
  readonly how: string;
  readonly runs: string;
  readonly seen: string;
  readonly seed: number | null;
  /** Day and Node. */
  readonly at: string;
  /** 1: as long as the plan asks for. */
  readonly scale: number;
}

/** A table of the page that runs write. */
interface Table {
  readonly name: string;
  readonly head: readonly string[];
}
const RESULTS: Table = {
  name: "results",
  head: ["fault", "what is done", "runs", "what was seen", "seed", "run on"],
};
/** Of `npm run simulate -- --report`. */
export const SIMULATION: Table = { name: "simulation", head: ["what", "how many", "run on"] };

/** The rows of the page, those that were run anew replaced, in the order of the plan. */
export function mergeResults(page: string, results: readonly Result[]): string[][] {
  // A test may tell more than once how far it has come; the last word counts.
  const fresh = [...new Map(results.map(cellsOf).map((row) => [nameOf(row), row])).values()];
  const isFresh = (row: readonly string[]): boolean => fresh.some((other) => nameOf(other) === nameOf(row));
  return [...readRows(page).filter((row) => !isFresh(row)), ...fresh].sort(inOrder);
}

export function renderTable(page: string, table: Table, rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const text = [line(table.head), line(table.head.map(() => "---")), ...rows.map(line)].join("\n");
  const { begin, end } = marksOf(table);
  return `${page.slice(0, page.indexOf(begin) + begin.length)}\n\n${text}\n\n${page.slice(page.indexOf(end))}`;
}

export function renderReliability(page: string, rows: readonly (readonly string[])[]): string {
  return renderTable(page, RESULTS, rows);
}

/** The table's cells, without its head. */
export function readRows(page: string, table = RESULTS): string[][] {
  const { begin, end } = marksOf(table);
  const lines = page.slice(page.indexOf(begin), page.indexOf(end)).split("\n");
  const rows = lines.filter((line) => line.startsWith("|")).slice(2);
  return rows.map((row) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function marksOf({ name }: Table): { begin: string; end: string } {
  return { begin: `<!-- begin ${name} -->`, end: `<!-- end ${name} -->` };
}

function cellsOf({ fault, how, runs, seen, seed, at, scale }: Result): string[] {
  const shorter = scale < 1 ? ` (${scale} of the plan)` : "";
  return [fault, how, `${runs}${shorter}`, seen, seed === null ? "–" : String(seed), at].map((cell) =>
    cell.replaceAll("|", "\\|"),
  );
}

/** A fault may be tried in several ways, each a row. */
function nameOf(row: readonly string[]): string {
  return `${row[0]} ${row[1]}`;
}

function inOrder(a: readonly string[], b: readonly string[]): number {
  return place(a) - place(b) || nameOf(a).localeCompare(nameOf(b));
}

/** What has no number of the plan comes last. */
function place([fault = ""]: readonly string[]): number {
  return fault.startsWith("F") ? Number(fault.slice(1)) : 100;
}
