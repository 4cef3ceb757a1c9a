import type { Context } from "./compose.ts";
import type { MaintenanceJob } from "../context.ts";
import { HOUR, MINUTE } from "../domain/time.ts";
import { PARTLY_JOB } from "../posts/drafts/draft-events.ts";
import { SERIES_JOB } from "../posts/drafts/series.ts";
import { TAKEN_IN_JOB } from "../posts/drafts/taking-in.ts";
import type { Publisher } from "../publishing/loop.ts";
import { runPublisher, type ThisProcess } from "../publishing/running-publisher.ts";
import { RESULTS_JOB } from "../reporting/results/collect.ts";
import type { WorkerRole } from "../store/queries/workers.ts";
import { remindOfExpiry, describeOfTheDay } from "../reporting/webhooks/reminders.ts";
import { startWebhookLoop } from "../reporting/webhooks/webhook-deliveries.ts";

const JOBS: readonly MaintenanceJob[] = [
  { name: "expiry", everyMs: HOUR, run: remindOfExpiry },
  { name: "digest", everyMs: MINUTE, run: describeOfTheDay },
  SERIES_JOB,
  PARTLY_JOB,
  TAKEN_IN_JOB,
  RESULTS_JOB,
];

/** The publisher with everything that goes on beside it. `epoch`: as of `runPublisher`. */
export function startPublishing(
  ctx: Context,
  epoch: string,
  worker: ThisProcess & { readonly role: WorkerRole },
): Promise<Publisher> {
  return runPublisher(ctx, epoch, worker, { startEvents: startWebhookLoop, jobs: JOBS });
}
