import * as z from "zod";
import type { ZodOpenApiObject } from "zod-openapi";
import { Account } from "../../domain/accounts/account.ts";
import { Post } from "../../domain/posts/post.ts";
import { EVENT_KINDS, TEST_EVENT, type EventKind } from "../../domain/webhooks/webhook.ts";

const SIGNED_HEADERS = z.object({
  "webhook-id": z.string().describe("The event's id: the same each time it is sent."),
  "webhook-timestamp": z.string().describe("When it is sent, in seconds since 1970."),
  "webhook-signature": z
    .string()
    .describe("Standard Webhooks, v1: HMAC-SHA-256 of id, timestamp and body with the webhook's secret."),
});

const SUMMARIES: Record<EventKind, string> = {
  "post.scheduled": "A post waits for its time: newly, at another time, or again after a try",
  "post.publishing": "A post is being sent",
  "post.uploaded": "A post is on its platform, private until its time",
  "post.published": "A post is live",
  "post.failed": "A post failed. Its error says why",
  "post.cancelled": "A post was cancelled",
  "account.reconnect_required": "A channel cannot be used until it is reconnected",
};

const PublishedPost = Post.extend({
  warnings: z.array(z.string()).optional().describe("Which parts of it were refused after it went live."),
}).meta({ id: "PublishedPost" });

function dataOf(kind: EventKind): z.ZodType {
  if (kind === "post.published") return PublishedPost;
  return kind.startsWith("post.") ? Post : Account;
}

/** What is sent to webhooks. `data` is as it was when the event happened. */
export const EVENTS: NonNullable<ZodOpenApiObject["webhooks"]> = Object.fromEntries([
  ...EVENT_KINDS.map((kind) => [kind, event(kind, SUMMARIES[kind], dataOf(kind))] as const),
  [TEST_EVENT, event(TEST_EVENT, "Sent by test_webhook", z.strictObject({ webhookId: z.string() }))] as const,
]);

function event(
  kind: string,
  summary: string,
  data: z.ZodType,
): NonNullable<ZodOpenApiObject["webhooks"]>[string] {
  const body = z.strictObject({
    type: z.literal(kind),
    timestamp: z.iso.datetime().describe("When it happened."),
    data,
  });
  return {
    post: {
      operationId: kind,
      summary,
      tags: ["Event webhooks"],
      security: [],
      requestParams: { header: SIGNED_HEADERS },
      requestBody: { required: true, content: { "application/json": { schema: body } } },
      responses: {
        "2XX": { description: "Taken." },
        "410": { description: "The event webhook is turned off." },
        default: { description: "Sent again, for a little over three days." },
      },
    },
  };
}
