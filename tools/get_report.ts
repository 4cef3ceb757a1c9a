import { Report, ReportArgs } from "../src/domain/posts/results.ts";
import { getReport } from "../src/reporting/results/report.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "get_report",
  title: "Report what worked",
  description:
    "Tells what worked, out of stored figures of published posts (list_posts). Default: the last 30 days. " +
    'Example: {"by":"weekdayHour","accountId":["Blog"]}',
  permission: "read",
  hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
  input: ReportArgs,
  output: Report,
  handle: (args, call) => getReport(call, args),
});
