import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { format } from "prettier";
import { SIMULATION, renderTable, readRows } from "../../scripts/reliability-table.ts";
import type { Ended } from "./story.ts";

const PAGE = fileURLToPath(new URL("../../docs/reliability.md", import.meta.url));
const DAY_MS = 86_400_000;

/** What happened, as a line of a trace tells it. */
const KINDS: Readonly<Record<string, RegExp>> = {
  "calls of people and agents": /: asks /,
  "requests or answers lost, broken off or refused on their way":
    / → (?:refused|lost)$|\((?:lostAnswer|cutAnswer|html)\)$/,
  "gateways that failed, and limits": /\((?:badGateway\w+|slowDown)\)$/,
  "requests that were refused for certain": /\(rejected\)$/,
  "requests or answers that were late": /\(slow\)$/,
  "processes that died": / crashes$/,
  "processes that were asked to end": / has stopped$/,
  "processes that stood still": / stands still$/,
  "machines cut off from their database": / does not reach the database$/,
  "clocks that were set": /: the clock is set by/,
  "times without any process": /: nothing ran for/,
  "older copies of the database put back": / is put back$/,
};

/** What was seen in the histories of a run: a row each of the table in docs/reliability.md. */
export class Tally {
  readonly #counts = new Map<string, number>(
    ["histories", "simulated days", "posts", ...Object.keys(KINDS), "violations"].map((name) => [name, 0]),
  );

  add({ trace, lasted, posts, violations }: Ended): void {
    this.#count("histories", 1);
    this.#count("simulated days", lasted / DAY_MS);
    this.#count("posts", posts);
    for (const line of trace)
      for (const [name, pattern] of Object.entries(KINDS)) if (pattern.test(line)) this.#count(name, 1);
    this.#count("violations", violations.length);
  }

  write(): Promise<void> {
    return writeRows([...this.#counts].map(([name, count]) => [name, String(Math.round(count))]));
  }

  #count(name: string, by: number): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + by);
  }
}

/** In the place of rows of the same name; others stay. */
export async function writeRows(fresh: readonly (readonly [name: string, count: string])[]): Promise<void> {
  const page = readFileSync(PAGE, "utf8");
  const at = `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}`;
  const rows = new Map(readRows(page, SIMULATION).map((row) => [row[0], row]));
  for (const [name, count] of fresh) rows.set(name, [name, count, at]);
  const text = renderTable(page, SIMULATION, [...rows.values()]);
  writeFileSync(PAGE, await format(text, { parser: "markdown", printWidth: 140 }));
}
