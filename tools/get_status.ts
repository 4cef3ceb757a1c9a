import * as z from "zod";
import { Status } from "../src/domain/health/status.ts";
import { getStatus } from "../src/reporting/health/status.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "get_status",
  title: "Get status",
  description:
    "Whether posts go out, what waits or failed, which channels are held up (connect_channel). Example: {}",
  permission: "read",
  hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
  input: z.strictObject({}),
  output: Status,
  handle: (_args, call) => getStatus(call),
});
