import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { applyMutant, type Mutant, MUTANTS } from "./mutants.ts";
import { writeRows } from "./report.ts";

/*
 * Whether the simulation finds faults that are known to be there: each is planted in a copy of the checkout, and worlds
 * are run on that until the first in which a promise is broken.
 */

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    /** For each fault. */
    minutes: { type: "string", default: "10" },
    /** Write what was found into docs/reliability.md. */
    report: { type: "boolean", default: false },
  },
});

const CHECKOUT = fileURLToPath(new URL("../..", import.meta.url));
const MEMORY = "/dev/shm";
const LAST_SEED = 1_000_000;
const TOGETHER = 2;
/** Beyond its minutes, for the last history. One that does not end by then hangs. */
const LAST_HISTORY_MS = 120_000;
/** So many may be missed. */
const MISSED = 2 / 40;

interface Ran {
  /** The first seed that does not hold. Null: all that were run did. */
  readonly seed: number | null;
  /** How many were run. */
  readonly upTo: number;
  readonly sentence: string;
}

/** Runs worlds on the code in the folder. */
function simulate(folder: string, seeds: { from: number; to: number; minutes: number }): Promise<Ran> {
  const world = mkdtempSync(join(root, "world-"));
  const args = ["--seeds", `${seeds.from}..${seeds.to}`, "--minutes", String(seeds.minutes)];
  const command = ["--import", "tsx", "test/simulation/main.ts", ...args, "--no-story"];
  const child = spawn(process.execPath, [...command, "--folder", world], { cwd: folder });
  const patience = setTimeout(() => child.kill("SIGKILL"), seeds.minutes * 60_000 + LAST_HISTORY_MS);
  let output = "";
  let errors = "";
  child.stdout.on("data", (bytes: Buffer) => (output += bytes.toString()));
  child.stderr.on("data", (bytes: Buffer) => (errors += bytes.toString()));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(patience);
      resolve(readRun(seeds.from, { output, errors, code, signal }));
    });
  });
}

function readRun(
  from: number,
  ran: { output: string; errors: string; code: number | null; signal: string | null },
): Ran {
  const lines = [...ran.output.matchAll(/^seed (\d+): .*? minutes, (?:holds|VIOLATED\n(.*))$/gm)];
  const broken = lines.find(([, , what]) => what !== undefined);
  const upTo = Number(lines.at(-1)?.[1] ?? from - 1);
  if (broken !== undefined) return { seed: Number(broken[1]), upTo, sentence: broken[2] ?? "" };
  if (ran.code === 0) return { seed: null, upTo, sentence: "" };
  const thrown = ran.errors.match(/^\w*Error: .*$/m)?.[0] ?? ran.errors.trim().split("\n").at(-1) ?? "";
  const why = ran.signal === null ? `It broke off (${String(ran.code)}): ${thrown}` : "It does not end.";
  return { seed: upTo + 1, upTo, sentence: why };
}

/** What the worlds are made of, with the fault in it. */
function plant(mutant: Mutant, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  for (const part of ["src", "tools", "test", "scripts", "package.json", "tsconfig.json"])
    cpSync(join(CHECKOUT, part), join(folder, part), { recursive: true });
  symlinkSync(join(CHECKOUT, "node_modules"), join(folder, "node_modules"));
  const file = join(folder, mutant.file);
  writeFileSync(file, applyMutant(mutant, readFileSync(file, "utf8")));
}

/** Says how the fault was found, if it was. A seed that does not hold without the fault either proves nothing. */
async function hunt(mutant: Mutant, folder: string): Promise<boolean> {
  plant(mutant, folder);
  const startedAt = performance.now();
  const passed = (): number => (performance.now() - startedAt) / 1_000;
  for (let from = 1; ;) {
    const minutes = Number(values.minutes) - passed() / 60;
    const { seed, upTo, sentence } = await simulate(folder, { from, to: LAST_SEED, minutes });
    if (seed === null || minutes <= 0) {
      process.stdout.write(`${mutant.name}: NOT FOUND (${upTo} seeds in ${passed().toFixed(0)} s)\n`);
      return false;
    }
    const after = passed().toFixed(0);
    const without = await simulate(CHECKOUT, { from: seed, to: seed, minutes: LAST_HISTORY_MS / 60_000 });
    if (without.seed === null) {
      process.stdout.write(`${mutant.name}: seed ${seed} after ${after} s: ${sentence}\n`);
      return true;
    }
    process.stderr.write(`seed ${seed} does not hold without a fault: ${without.sentence}\n`);
    from = seed + 1;
  }
}

const chosen = MUTANTS.filter(({ name }) => values.only?.includes(name) ?? true);
if (chosen.length === 0) throw new Error(`There is no such fault: ${values.only?.join(", ")}.`);
// One that does not apply any more is told before the hunt.
for (const one of chosen) applyMutant(one, readFileSync(join(CHECKOUT, one.file), "utf8"));
const root = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), "posthorn-mutants-"));
// Also where it is broken off.
process.on("exit", () => rmSync(root, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));
const waiting = [...chosen];
let missed = 0;
const work = async (folder: string): Promise<void> => {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
    if (!(await hunt(next, folder))) missed += 1;
};
await Promise.all(Array.from({ length: TOGETHER }, (_, at) => work(join(root, String(at)))));
process.stdout.write(`${chosen.length} faults, ${missed} not found\n`);
if (values.report)
  await writeRows([
    ["faults planted in the source, and found", `${chosen.length - missed} of ${chosen.length}`],
  ]);
process.exit(missed / chosen.length > MISSED ? 1 : 0);
