import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openStage, tell } from "./story.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string" },
    /** No other history is begun after so long, nor, with this, after the first that does not hold. */
    minutes: { type: "string" },
    "until-violation": { type: "boolean", default: false },
    /** Where the files of the worlds are. */
    folder: { type: "string" },
    trace: { type: "boolean", default: false },
  },
});

const MEMORY = "/dev/shm";
const folder = mkdtempSync(
  join(values.folder ?? (existsSync(MEMORY) ? MEMORY : tmpdir()), "posthorn-world-"),
);
const [from = 1, to = from] = (values.seeds ?? values.seed ?? "1").split("..").map(Number);
let histories = 0;
let violations = 0;
const stage = await openStage(folder);
const startedAt = process.hrtime.bigint();
const secondsPassed = (): number => Number(process.hrtime.bigint() - startedAt) / 1e9;
const limit = Number(values.minutes ?? Infinity) * 60;
const isOver = (): boolean => secondsPassed() > limit || (values["until-violation"] && violations > 0);
try {
  for (let seed = from; seed <= to && !isOver(); seed += 1) {
    const ended = await tell(stage, seed);
    histories += 1;
    violations += ended.violations.length;
    if (values.trace) process.stdout.write(`${ended.trace.join("\n")}\n`);
    const what = ended.violations.length === 0 ? "holds" : ended.violations.join("\n  ");
    process.stdout.write(
      `seed ${seed}: ${ended.posts} posts in ${Math.round(ended.lasted / 60_000)} minutes: ${what}\n`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.stderr.write(`${secondsPassed().toFixed(1)} s\n`);
process.stdout.write(`${histories} histories, ${violations} violations\n`);
process.exit(violations === 0 ? 0 : 1);
