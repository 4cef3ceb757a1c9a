import { ROAD_FAULTS } from "./network.ts";
import { ACT_NAMES } from "./acts.ts";
import { type Ended, type Shorter, type Stage, tell } from "./story.ts";
import { UNREST_NAMES } from "./unrest.ts";

const NAMES = [
  ...UNREST_NAMES,
  ...Object.keys(ROAD_FAULTS),
  "slowDisk",
  "fullDisk",
  "brokenDisk",
  "commit",
  ...ACT_NAMES,
];
const MAX_LINES = 38;

/** The simplest history of this seed in which something is amiss still. */
export async function shrink(
  stage: Stage,
  seed: number,
): Promise<{ readonly ended: Ended; readonly by: Shorter }> {
  let by: Shorter & { without: readonly string[] } = { without: [] };
  let ended = await tell(stage, seed, by);
  const tryOut = async (next: typeof by): Promise<void> => {
    const other = await tell(stage, seed, next);
    if (other.violations.length > 0) [by, ended] = [next, other];
  };
  for (const minutes of [1, 2, 4, 8]) if (by.minutes === undefined) await tryOut({ ...by, minutes });
  for (const name of NAMES) await tryOut({ ...by, without: [...by.without, name] });
  return { ended, by };
}

/** What a person reads: what is amiss, what led to it, and how to see it again. */
export function story({ seed, violations, trace }: Ended, { without = [], minutes }: Shorter): string {
  const names = violations.flatMap((what) => /post \d+/.exec(what)?.[0] ?? []);
  const ids = trace.flatMap((line) => {
    const isOf = names.some((name) => line.includes(`"${name} v`));
    return isOf ? (/"id":"(\w+)"/.exec(line)?.[1] ?? []) : [];
  });
  const isOf = (line: string): boolean =>
    names.some((name) => line.includes(`${name} v`)) || ids.some((id) => line.includes(id));
  const isOfAll = (line: string): boolean =>
    /started|crashes|stopped|stands still|put back|nothing ran|clock|reach the database/.test(line);
  const told = trace.filter((line) => isOf(line) || isOfAll(line));
  const lines = told.length <= MAX_LINES ? told : [...told.slice(0, 6), "…", ...told.slice(7 - MAX_LINES)];
  const options = [
    `--seed ${seed}`,
    ...(minutes === undefined ? [] : [`--fault-minutes ${minutes}`]),
    ...(without.length === 0 ? [] : [`--without ${without.join(",")}`]),
  ];
  return [...violations, ...lines, `npm run simulate -- ${options.join(" ")} --trace`].join("\n");
}
