import { ListWebhooksArgs, WebhookList } from "../src/domain/webhooks/webhook.ts";
import { listWebhooks } from "../src/reporting/webhooks/webhooks.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "list_webhooks",
  title: "List event webhooks",
  permission: "admin",
  description:
    "List the event webhooks and whether events get through. With id, also the log of its deliveries, for replay_webhook. " +
    'Example: {"id":"whk_…"}',
  hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
  input: ListWebhooksArgs,
  output: WebhookList,
  handle: (args, call) => listWebhooks(call, args),
});
