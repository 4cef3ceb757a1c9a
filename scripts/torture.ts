import { spawn } from "node:child_process";
import { once } from "node:events";
import { randomInt } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { format } from "prettier";
import { mergeResults, renderReliability, type Result } from "./reliability-table.ts";

/** Runs the fault plan in its long form and writes what was seen into docs/reliability.md. */
const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [] },
    seed: { type: "string" },
    scale: { type: "string", default: "1" },
    postgres: { type: "boolean", default: false },
  },
});

const ROOT = join(import.meta.dirname, "..");
const FAULTS = join(ROOT, "test", "faults");
const TABLE = join(ROOT, "docs", "reliability.md");

const seed = values.seed ?? String(randomInt(2 ** 31));
const folder = mkdtempSync(join(tmpdir(), "posthorn-torture-"));
const results = join(folder, "results.jsonl");

/**
 * The files with a long form in which one of the faults is named at the head of a test's name; more words of it
 * choose among them.
 */
function filesOf(names: readonly string[]): string[] {
  const faults = names.map((name) => name.split(" ")[0] ?? name);
  return readdirSync(FAULTS, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join("test", "faults", name))
    .filter((name) => {
      const text = readFileSync(join(ROOT, name), "utf8");
      const isChosen = faults.length === 0 || faults.some((fault) => text.includes(`"${fault} `));
      return isChosen && text.includes(" report({");
    });
}

function readResults(): Result[] {
  const lines = readFileSync(results, "utf8").split("\n").filter(Boolean);
  const at = `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}`;
  return lines.map((line) => ({
    ...(JSON.parse(line) as Omit<Result, "at" | "scale">),
    at,
    scale: Number(values.scale),
  }));
}

const only = values.only.length === 0 ? [] : ["-t", `^(${values.only.join("|")}) `];
/** On PostgreSQL: its own files, whole, and those that run on both engines. */
const ON_POSTGRES = [
  "--config=vitest.postgres.config.ts",
  "test/postgres/faults/",
  "test/faults/both-engines/",
];
const ON_SQLITE = ["--config", "vitest.slow.config.ts", "--project=slow", ...only, ...filesOf(values.only)];
const args = ["run", "--reporter=verbose", ...(values.postgres ? ON_POSTGRES : ON_SQLITE)];
process.stdout.write(`Seed ${seed}, scale ${values.scale}.\n`);
writeFileSync(results, "");
const child = spawn(process.execPath, [join(ROOT, "node_modules", "vitest", "vitest.mjs"), ...args], {
  cwd: ROOT,
  stdio: "inherit",
  env: { ...process.env, TORTURE_SCALE: values.scale, TORTURE_SEED: seed, TORTURE_RESULTS: results },
});
// When it is ended early, the rows of what was done until then are kept.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => child.kill(signal));
const [code] = (await once(child, "exit")) as [number | null];
const page = readFileSync(TABLE, "utf8");
const text = renderReliability(page, mergeResults(page, readResults()));
writeFileSync(TABLE, await format(text, { parser: "markdown", printWidth: 140 }));
rmSync(folder, { recursive: true, force: true });
process.stdout.write(`docs/reliability.md has the rows of what held. Repeat with --seed ${seed}.\n`);
process.exitCode = code ?? 1;
