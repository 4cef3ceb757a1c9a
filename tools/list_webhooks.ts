import { z } from "zod";
import { Delivery, Webhook } from "../src/domain/webhooks/webhook.ts";
import { listWebhooks } from "../src/services/webhooks/webhooks.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

const output = z.strictObject({
  webhooks: z.array(Webhook).describe("Oldest first."),
  deliveries: z.array(Delivery).optional().describe("With id; newest first."),
  nextCursor: z.string().nullable().optional().describe("Null on the last page."),
});

export default defineTool({
  name: "list_webhooks",
  title: "List webhooks",
  permission: "admin",
  description:
    "List the webhooks and whether events get through; with id, also the log of that one's deliveries, newest first: tries, answers, " +
    'errors, the next try. Example: {"id":"whk_…"}',
  hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
  input: z.strictObject({
    id: z.string().optional().describe("Only this one, with its deliveries."),
    limit: z.int().min(1).max(500).default(50).describe("Deliveries per page."),
    cursor: z.string().optional().describe("nextCursor of the previous page."),
  }),
  output,
  handle: (args, call) => listWebhooks(call, args),
});
