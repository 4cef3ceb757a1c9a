import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Machine } from "./host.ts";
import { follow, moduleOf, type Trace } from "./model/traces.ts";
import type { Network } from "./network.ts";
import { Tally } from "./report.ts";
import { shrink, story } from "./shrink.ts";
import { openStage, tell } from "./story.ts";

/* `npm run simulate`: histories of the whole service, each decided by its seed. docs/simulation.md says how to read them. */

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    /** As 1..500. */
    seeds: { type: "string" },
    /** No other history is begun after so long. With it alone the seeds are fresh. */
    minutes: { type: "string" },
    /** Say only that something is amiss, and not by what story. */
    "no-story": { type: "boolean", default: false },
    /** Where the files of the worlds are. */
    folder: { type: "string" },
    trace: { type: "boolean", default: false },
    /** A file for what became of posts, as tests of the model. */
    model: { type: "string" },
    /** Write what was seen into docs/reliability.md. */
    report: { type: "boolean", default: false },
    without: { type: "string", default: "" },
    "fault-minutes": { type: "string" },
  },
});

/** Files in memory are quicker, and nothing here looks at the disk itself. */
const MEMORY = "/dev/shm";
const folder = mkdtempSync(
  join(values.folder ?? (existsSync(MEMORY) ? MEMORY : tmpdir()), "posthorn-world-"),
);
// The process's own clock and dice, from before any world.
const { now } = Date;
const until = now() + Number(values.minutes ?? Infinity) * 60_000;
const fresh = 1 + Math.floor(Math.random() * 2 ** 30);

function* seeds(): Generator<number> {
  const given = values.seeds ?? values.seed;
  const [from = 1, to = from] =
    given === undefined && values.minutes !== undefined
      ? [fresh, Infinity]
      : (given ?? "1").split("..").map(Number);
  for (let seed = from; seed <= to && now() < until; seed += 1) yield seed;
}

const without = values.without === "" ? [] : values.without.split(",");
const minutes = values["fault-minutes"] === undefined ? {} : { minutes: Number(values["fault-minutes"]) };
const options = { without, ...minutes };
const followed: Record<string, readonly string[]> = {};
let histories = 0;
let violations = 0;
const tally = new Tally();
const stage = await openStage(folder);
try {
  for (const seed of seeds()) {
    const traces = new Map<string, Trace>();
    const watch = (machine: Machine, network: Network): void => follow(traces, machine, network);
    const ended = await tell(stage, seed, values.model === undefined ? options : { ...options, watch });
    for (const { steps } of traces.values())
      followed[`seed${seed}post${Object.keys(followed).length + 1}`] = steps;
    histories += 1;
    violations += ended.violations.length;
    tally.add(ended);
    const isHeld = ended.violations.length === 0;
    const lasted = Math.round(ended.lasted / 60_000);
    if (values.trace) process.stdout.write(`${ended.trace.join("\n")}\n`);
    process.stdout.write(
      `seed ${seed}: ${ended.posts} posts in ${lasted} minutes, ${isHeld ? "holds" : "VIOLATED"}\n`,
    );
    if (isHeld) continue;
    if (values["no-story"]) process.stdout.write(`${ended.violations.join("\n")}\n`);
    if (values["no-story"]) break;
    const isGiven = values.trace || without.length > 0;
    const { ended: shortest, by } = isGiven ? { ended, by: options } : await shrink(stage, seed);
    process.stdout.write(`${story(shortest, by)}\n`);
    break;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (values.model !== undefined) writeFileSync(values.model, moduleOf(followed));
if (values.report) await tally.write();
process.stdout.write(`${histories} histories, ${violations} violations\n`);
process.exit(violations === 0 ? 0 : 1);
