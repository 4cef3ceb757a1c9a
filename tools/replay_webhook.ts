import * as z from "zod";
import { ReplayArgs, Webhook } from "../src/domain/webhooks/webhook.ts";
import { replayWebhook } from "../src/reporting/webhooks/webhooks.ts";
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
    "Send one event again, or all since a time (list_webhooks). They are kept for 30 days. " +
    'Example: {"id":"whk_…","since":"2026-11-21T09:00:00Z"}',
  hints: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
  input: ReplayArgs,
  output,
  handle: (args, call) => replayWebhook(call, args),
});
