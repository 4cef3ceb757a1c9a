import * as z from "zod";
import { Webhook, WebhookArgs } from "../src/domain/webhooks/webhook.ts";
import { createWebhook } from "../src/reporting/webhooks/webhooks.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

const output = z.strictObject({
  webhook: Webhook,
  secret: z.string().nullable().describe("To verify with. Shown once."),
});

export default defineTool({
  name: "create_webhook",
  title: "Create an event webhook",
  permission: "admin",
  description:
    "Have events sent to an address, as signed JSON (Standard Webhooks) or as messages for people. " +
    'Then call test_webhook. Example: {"url":"https://ntfy.sh/my-topic","format":"ntfy"}',
  hints: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
  input: WebhookArgs,
  output,
  handle: (args, call) => createWebhook(call, args),
});
