import { AccountAnalytics, AnalyticsArgs } from "../src/domain/accounts/analytics.ts";
import { getAccountAnalytics } from "../src/reporting/results/account-analytics.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "get_account_analytics",
  title: "Get account analytics",
  description:
    "A channel's numbers by day: posts out and failed, lateness, and what the platform offers. For posts use get_report, for one get_post with insights. " +
    'Example: {"accountId":"Blog","from":"2026-11-01"}',
  permission: "read",
  hints: { readOnly: true, destructive: false, idempotent: true, openWorld: true },
  input: AnalyticsArgs,
  output: AccountAnalytics,
  handle: (args, call) => getAccountAnalytics(call, args),
});
