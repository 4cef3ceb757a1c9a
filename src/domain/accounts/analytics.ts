import * as z from "zod";
import { Said } from "../sentences.ts";

const GRANULARITIES = ["day", "total"] as const;

/** Which channel's numbers, over which days. */
export const AnalyticsArgs = z.strictObject({
  accountId: z.string().describe("The channel."),
  from: z.string().describe("First day, for example 2026-11-01."),
  to: z.string().optional().describe("Last day. Default: today. At most 366 days."),
  granularity: z.enum(GRANULARITIES).default("day").describe("total: no series by day."),
});
export type AnalyticsArgs = z.infer<typeof AnalyticsArgs>;

/** A channel's numbers over a range of days. */
export const AccountAnalytics = z.strictObject({
  accountId: z.string().describe("The account."),
  provider: z.string().describe("Its platform."),
  from: z.iso.date().describe("First day."),
  to: z.iso.date().describe("Last day."),
  granularity: z.string().describe("As asked for."),
  fetchedAt: z.iso.datetime().describe("When it was read."),
  totals: z.record(z.string(), z.number().nullable()).describe("Ours, and the platform's."),
  series: z
    .array(z.object({ date: z.iso.date() }).catchall(z.union([z.number(), z.string()]).nullable()))
    .describe("The same by day, oldest first."),
  unavailable: z
    .array(z.strictObject({ metric: z.string(), reason: Said }))
    .describe("What is missing, and why."),
});
export type AccountAnalytics = z.infer<typeof AccountAnalytics>;
/** Before a face words it. */
export type SaidAnalytics = z.input<typeof AccountAnalytics>;
