import { HOUR, SECOND } from "../domain/time.ts";
import type { AppContext } from "../context.ts";
import { inspectDue } from "../connecting/inspect.ts";
import { renewDueGrants } from "../connecting/renewal.ts";

/** What is looked after whether or not anything is posted. */
export interface MaintenanceJob {
  /** For the log. */
  readonly name: string;
  readonly everyMs: number;
  run(ctx: AppContext, signal: AbortSignal): Promise<void>;
}

const JOBS: readonly MaintenanceJob[] = [
  { name: "tokens", everyMs: HOUR, run: renewDueGrants },
  { name: "accounts", everyMs: HOUR, run: inspectDue },
];

/** Processes that start together, after an update say, do not ask the platforms together. */
const FIRST_AFTER_MS = 15 * SECOND;
const FIRST_WITHIN_MS = 45 * SECOND;

export interface Maintenance {
  /** Begins nothing more. Refreshes in flight go on by themselves. */
  close(): void;
}

/** Runs each job soon after the start and then in its turn, in processes that publish. */
export function startMaintenance(
  ctx: AppContext,
  { jobs = JOBS, random = Math.random }: { jobs?: readonly MaintenanceJob[]; random?: () => number } = {},
): Maintenance {
  const stop = new AbortController();
  const keep = async (job: MaintenanceJob): Promise<void> => {
    await ctx.clock.sleep(FIRST_AFTER_MS + random() * FIRST_WITHIN_MS, stop.signal);
    for (;;) {
      await runOnce(ctx, job, stop.signal);
      await ctx.clock.sleep(job.everyMs, stop.signal);
    }
  };
  for (const job of jobs) keep(job).catch(() => {});
  return { close: () => stop.abort(new Error("The process is stopping.")) };
}

async function runOnce(ctx: AppContext, job: MaintenanceJob, signal: AbortSignal): Promise<void> {
  try {
    await job.run(ctx, signal);
  } catch (err) {
    // The process ends with a sentence for a database that is gone.
    if (!ctx.store.isPresent() || signal.aborted) return;
    ctx.log.error({ err, job: job.name }, "a maintenance job failed, and the next pass tries again");
  }
}
