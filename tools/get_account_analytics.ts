import { z } from "zod";
import { getAccountAnalytics, GRANULARITIES } from "../src/services/accounts/analytics.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "get_account_analytics",
  title: "Get account analytics",
  description:
    "A channel's numbers over a range of days: posts published and failed and how late they went live (always there, by the day they were " +
    "scheduled for), and what the platform offers (followers, likes, …). What it does not offer stands under unavailable with the reason. " +
    "Account ids come from list_accounts; for one post use get_post with insights. " +
    'Example: {"accountId":"acc_…","from":"2026-11-01","to":"2026-11-30"}',
  permission: "read",
  hints: { readOnly: true, destructive: false, idempotent: true, openWorld: true },
  input: z.strictObject({
    accountId: z.string().describe("The account, from list_accounts."),
    from: z.string().describe("First day, for example 2026-11-01."),
    to: z.string().optional().describe("Last day; default today. At most 366 days."),
    granularity: z
      .enum(GRANULARITIES)
      .default("day")
      .describe("day: totals and a series by day; total: totals alone."),
  }),
  output: z.strictObject({
    accountId: z.string().describe("The account."),
    provider: z.string().describe("Its platform."),
    from: z.iso.date().describe("First day."),
    to: z.iso.date().describe("Last day, today at the latest."),
    granularity: z.enum(GRANULARITIES).describe("As asked for."),
    fetchedAt: z.iso.datetime().describe("When it was read."),
    totals: z
      .record(z.string(), z.number().nullable())
      .describe("postsPublished, postsFailed, latenessP50Ms, latenessMaxMs, the platform's metrics."),
    series: z
      .array(z.object({ date: z.iso.date() }).catchall(z.union([z.number(), z.string()]).nullable()))
      .describe("The same by day, oldest first."),
    unavailable: z
      .array(z.strictObject({ metric: z.string(), reason: z.string() }))
      .describe("What the platform did not give, and why."),
  }),
  handle: (args, call) => getAccountAnalytics(call, args),
});
