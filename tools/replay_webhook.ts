import { z } from "zod";
import { Webhook } from "../src/domain/webhooks/webhook.ts";
import { replayWebhook } from "../src/services/webhooks/webhooks.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

const output = z.strictObject({
  webhook: Webhook,
  replayed: z.int().describe("Events queued."),
});

export default defineTool({
  name: "replay_webhook",
  title: "Send events again",
  permission: "admin",
  description:
    "Send one event again (deliveryId), or all since a time, in their order and under their ids. They are kept for 30 days. " +
    'Example: {"id":"whk_…","since":"2026-11-21T09:00:00Z"}',
  hints: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
  input: z.strictObject({
    id: z.string().describe("From list_webhooks."),
    deliveryId: z.string().optional().describe("From list_webhooks with id."),
    since: z.string().optional().describe("ISO 8601 time or date."),
  }),
  output,
  handle: (args, call) => replayWebhook(call, args),
});
