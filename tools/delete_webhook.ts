import * as z from "zod";
import { Webhook } from "../src/domain/webhooks/webhook.ts";
import { deleteWebhook } from "../src/reporting/webhooks/webhooks.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "delete_webhook",
  title: "Delete an event webhook",
  permission: "admin",
  description:
    'Delete an event webhook (list_webhooks), its log and what waits for it. Example: {"id":"whk_…"}',
  hints: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
  input: z.strictObject({ id: z.string().describe("From list_webhooks.") }),
  output: z.strictObject({ webhook: Webhook }),
  handle: (args, call) => deleteWebhook(call, args),
});
