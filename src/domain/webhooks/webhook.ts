import * as z from "zod";
import { Said } from "../sentences.ts";

/** What a webhook can be told of: every state a post can reach, channels that stop working, drafts, the day. */
export const EVENT_KINDS = [
  "post.scheduled",
  "post.publishing",
  "post.uploaded",
  "post.published",
  "post.failed",
  "post.cancelled",
  "account.reconnect_required",
  "account.expiring",
  "draft.waiting",
  "draft.decided",
  "draft.partly",
  "digest.daily",
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** `standard`: signed JSON for programs (Standard Webhooks). All others: a message for people. */
export const WEBHOOK_FORMATS = ["standard", "ntfy", "slack", "discord", "telegram", "email", "push"] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

/** What a person must do something about. A group that went out in part has a failed post, which is told. */
const NEEDS_A_PERSON: readonly EventKind[] = [
  "post.failed",
  "account.reconnect_required",
  "account.expiring",
  "draft.waiting",
];

/** The events of a webhook that was made without a list of them. */
export function usualEvents(format: WebhookFormat): readonly EventKind[] {
  return format === "standard" ? EVENT_KINDS : NEEDS_A_PERSON;
}

/** Sent only on request, so that a receiver can be tried out. */
export const TEST_EVENT = "webhook.test";

/** `failing`: the last tries did not succeed. `disabled`: nothing is sent any more until a test succeeds. */
const WEBHOOK_STATUSES = ["active", "failing", "disabled"] as const;
export type WebhookStatus = (typeof WEBHOOK_STATUSES)[number];

const DELIVERY_STATUSES = ["pending", "delivered", "failed"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** An address that is told of events. Never holds its secret. */
export const Webhook = z
  .strictObject({
    id: z.string(),
    format: z.enum(WEBHOOK_FORMATS),
    url: z.string().describe("Without what may be a token."),
    events: z.array(z.enum(EVENT_KINDS)),
    accountIds: z.array(z.string()).nullable().describe("Null: all accounts."),
    status: z.enum(WEBHOOK_STATUSES).describe("disabled: test_webhook turns it on again."),
    statusReason: Said.nullable(),
    pending: z.int().min(0).describe("Deliveries that wait."),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: "Webhook" });
export type Webhook = z.infer<typeof Webhook>;

/** One event on its way to one webhook. */
export const Delivery = z
  .strictObject({
    id: z.string().describe("Sent along as webhook-id."),
    event: z.string(),
    at: z.iso.datetime().describe("When it happened."),
    status: z.enum(DELIVERY_STATUSES),
    tries: z.int().min(0),
    triedAt: z.iso.datetime().nullable(),
    nextTryAt: z.iso.datetime().nullable(),
    httpStatus: z.int().nullable().describe("Of the last try. Null: no answer came."),
    error: Said.nullable(),
  })
  .meta({ id: "Delivery" });
export type Delivery = z.infer<typeof Delivery>;

/** Where events are sent, and which. */
export const WebhookArgs = z.strictObject({
  url: z.string().max(4_096).describe("https://…, telegram://TOKEN@CHAT, mailto:…"),
  format: z.enum(WEBHOOK_FORMATS).default("standard").describe("Others are for people."),
  events: z.array(z.enum(EVENT_KINDS)).min(1).optional().describe("Default: all; to people what needs one."),
  accountId: z.array(z.string()).min(1).max(500).optional().describe("Only of these channels."),
  accountIds: z.array(z.string()).min(1).max(500).optional().describe("Same."),
  secret: z.string().max(200).optional().describe("whsec_… Default: one is made."),
});
export type WebhookArgs = z.input<typeof WebhookArgs>;

/** All webhooks, or one with a page of its deliveries. */
export const ListWebhooksArgs = z.strictObject({
  id: z.string().optional().describe("Only this one, with its deliveries."),
  limit: z.int().min(1).max(500).default(50).describe("Deliveries per page."),
  cursor: z.string().optional().describe("nextCursor of the previous page."),
});
export type ListWebhooksArgs = z.infer<typeof ListWebhooksArgs>;

/** Webhooks, and of one that is named its deliveries. */
export const WebhookList = z.strictObject({
  webhooks: z.array(Webhook).describe("Oldest first."),
  deliveries: z.array(Delivery).optional().describe("With id. Newest first."),
  nextCursor: z.string().nullable().optional().describe("Null on the last page."),
});
export type WebhookList = z.infer<typeof WebhookList>;

/** Which events are sent again. */
export const ReplayArgs = z.strictObject({
  id: z.string().describe("From list_webhooks."),
  deliveryId: z.string().optional().describe("From list_webhooks with id."),
  since: z.string().optional().describe("ISO 8601 time or date."),
});
export type ReplayArgs = z.infer<typeof ReplayArgs>;
