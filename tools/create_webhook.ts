import { z } from "zod";
import { EVENT_KINDS, Webhook } from "../src/domain/webhooks/webhook.ts";
import { createWebhook } from "../src/services/webhooks/create-webhook.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

const output = z.strictObject({
  webhook: Webhook,
  secret: z.string().nullable().describe("To verify by; shown once."),
});

export default defineTool({
  name: "create_webhook",
  title: "Create a webhook",
  permission: "admin",
  description:
    "Have events sent to an address as signed JSON (Standard Webhooks): when posts change state, when a channel must be reconnected. " +
    'Then call test_webhook. Example: {"url":"https://example.com/hook","events":["post.failed"]}',
  hints: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
  input: z.strictObject({
    url: z.string().max(4_096).describe("Where to POST."),
    events: z.array(z.enum(EVENT_KINDS)).min(1).optional().describe("Default: all."),
    accountId: z.array(z.string()).min(1).max(500).optional().describe("Only events of these accounts."),
    secret: z.string().max(200).optional().describe("whsec_… of the receiver's; default: one is made."),
  }),
  output,
  handle: (args, call) => createWebhook(call, args),
});
