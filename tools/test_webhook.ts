import * as z from "zod";
import { Delivery, Webhook } from "../src/domain/webhooks/webhook.ts";
import { testWebhook } from "../src/reporting/webhooks/webhooks.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "test_webhook",
  title: "Test an event webhook",
  permission: "admin",
  description:
    'Send a test now, after create_webhook. A success turns a disabled webhook on. Example: {"id":"whk_…"}',
  hints: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
  input: z.strictObject({ id: z.string().describe("From list_webhooks.") }),
  output: z.strictObject({ webhook: Webhook, delivery: Delivery.describe("What came back.") }),
  handle: (args, call) => testWebhook(call, args),
});
