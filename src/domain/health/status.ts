import * as z from "zod";
import { Said } from "../sentences.ts";
import { ACCOUNT_STATUSES } from "../accounts/account.ts";

/** How publishing is doing. */
export const Status = z.strictObject({
  now: z.iso.datetime().describe("Server time."),
  timezone: z.string().describe("Of times without an offset."),
  publisher: z
    .strictObject({
      running: z.boolean().describe("False: nothing goes out until one is started (posthorn serve)."),
      heartbeatAt: z.iso.datetime().nullable(),
      workers: z.int().describe("Publishing processes alive."),
    })
    .describe("Whether posts go out."),
  counts: z
    .strictObject({
      scheduled: z.int(),
      overdue: z.int().describe("Not live a minute after their time."),
      publishing: z.int(),
      uploaded: z.int(),
      failed: z.int().describe("Of the last 7 days."),
      unknownOutcome: z.int().describe("Failed that may be live. Settle each with resolve_post."),
      draftsWaiting: z.int(),
    })
    .describe("Posts by state."),
  lateness: z
    .strictObject({
      p50Ms: z.int().nullable(),
      p95Ms: z.int().nullable(),
      maxMs: z.int().nullable(),
      sampleSize: z.int(),
      days: z.int(),
    })
    .describe("How late posts were."),
  lastFailures: z
    .array(
      z.strictObject({
        id: z.string(),
        accountId: z.string(),
        provider: z.string(),
        scheduledAt: z.iso.datetime(),
        error: Said.nullable(),
      }),
    )
    .describe("Of the last 7 days."),
  nextDueAt: z.iso.datetime().nullable().describe("When the next post goes out."),
  accountsToReconnect: z
    .array(
      z.strictObject({
        id: z.string(),
        name: z.string(),
        provider: z.string(),
        status: z.enum(ACCOUNT_STATUSES),
        reason: z.string().nullable(),
        queuedCount: z.int(),
      }),
    )
    .describe("Expiring, or without access."),
  accountsPaused: z
    .array(z.strictObject({ id: z.string(), name: z.string(), provider: z.string(), queuedCount: z.int() }))
    .describe("Held back."),
  setupProblems: z
    .array(z.strictObject({ provider: z.string(), reason: z.string(), at: z.iso.datetime() }))
    .describe("For the operator."),
  warnings: z.array(Said).optional().describe("Which posts."),
});
export type Status = z.infer<typeof Status>;
/** Before a face words it. */
export type SaidStatus = z.input<typeof Status>;
