import * as z from "zod";
import type { ZodOpenApiObject } from "zod-openapi";
import { File } from "../../domain/files/file.ts";
import { answer, body, describePath, failures, type Operation } from "./openapi-operations.ts";
import { PlatformAppArgs, PlatformAppState } from "../../domain/accounts/platform-app.ts";
import { Account } from "../../domain/accounts/account.ts";
import { Post } from "../../domain/posts/post.ts";
import { DigestEvent, DraftEvent } from "../../domain/webhooks/event-data.ts";
import { EVENT_KINDS, type EventKind, TEST_EVENT } from "../../domain/webhooks/webhook.ts";

const OneFile = z.strictObject({ file: File });

const Bytes = z
  .string()
  .meta({ description: "The file's bytes.", contentMediaType: "application/octet-stream" });

const Import = z.strictObject({
  url: z.string().describe("An http or https address that is fetched once."),
  name: z.string().optional().describe("Its name in lists (default: the last part of the address)."),
  altText: z.string().optional().describe("What a picture shows, for those who do not see it."),
});

const AppPath = z.object({ provider: z.string().describe("The platform, from list_platforms.") });

const AnyObject = z.record(z.string(), z.unknown());

const Listing = z.strictObject({
  name: z.string(),
  title: z.string(),
  description: z.string(),
  permission: z.string(),
  inputSchema: AnyObject.describe("JSON Schema 2020-12."),
  outputSchema: AnyObject.describe("JSON Schema 2020-12."),
  annotations: AnyObject.describe("The hints of MCP."),
});

const ASKED = failures("400", "401", "403", "429", "500");
const CHANGED = { ...ASKED, ...failures("409", "413", "503") };

/** Routes that are no tools: files that carry bytes, and the service itself. */
export const OTHER_PATHS: readonly Operation[] = [
  describePath("post", "/files", {
    summary: "Upload a file, or import one by its address",
    description:
      "Needs the permission `files`. Send the bytes with their `Content-Type` and the name in the address, or JSON with a `url`. " +
      "Large videos are better sent to `/api/v1/files/uploads`, which goes on after a broken connection.",
    requestParams: {
      query: z.object({
        name: z.string().optional().describe("The name of uploaded bytes, for example clip.mp4."),
        altText: z.string().optional().describe("What an uploaded picture shows."),
      }),
    },
    requestBody: body(
      Import,
      { url: "https://example.com/alps.jpg", altText: "Snowy peaks at sunrise" },
      { "*/*": { schema: Bytes } },
    ),
    responses: { "201": answer(OneFile, "Stored."), ...CHANGED, ...failures("507") },
  }),
  describePath("get", "/files/{id}", {
    summary: "One file",
    description: "Needs the permission `read`.",
    requestParams: { path: z.object({ id: z.string().describe("The file, from list_files.") }) },
    responses: { "200": answer(OneFile), ...ASKED, ...failures("404") },
  }),
  describePath("post", "/files/uploads", {
    summary: "Begin a resumable upload",
    description:
      "Needs the permission `files`. Speaks the tus 1.0 protocol (tus.io): use a tus client. " +
      "`Upload-Metadata` takes `filename` and `filetype`. When the last byte is there, the file is in `GET /api/v1/files`.",
    requestParams: {
      header: z.object({
        "Tus-Resumable": z.literal("1.0.0"),
        "Upload-Length": z.string().describe("Bytes of the whole file."),
        "Upload-Metadata": z.string().optional().describe("`filename` and `filetype`, each in Base64."),
      }),
    },
    responses: {
      "201": {
        description: "Begun. Send the bytes to Location by PATCH.",
        headers: { Location: { description: "The upload's address.", schema: { type: "string" } } },
      },
      ...CHANGED,
      ...failures("507"),
    },
  }),
  describePath("put", "/platforms/{provider}/app", {
    summary: "Enter the app that you registered at a platform",
    description:
      "Needs the permission `admin`, of the default owner. The platform is asked whether it takes the app, and one that it refuses is answered with 400. The app is kept encrypted, holds at once in every process, and is never answered. " +
      "What the environment names stands before it. `posthorn setup` does the same.",
    requestParams: { path: AppPath },
    requestBody: body(PlatformAppArgs, { clientId: "1234567890", clientSecret: "the-secret-of-the-app" }),
    responses: { "200": answer(PlatformAppState), ...CHANGED, ...failures("404") },
  }),
  describePath("delete", "/platforms/{provider}/app", {
    summary: "Forget the app that was entered",
    description:
      "Needs the permission `admin`, of the default owner. Channels that were connected with it can then not renew their access.",
    requestParams: { path: AppPath },
    responses: { "200": answer(PlatformAppState), ...CHANGED, ...failures("404") },
  }),
  describePath("get", "/tools", {
    summary: "The tools this key may call, with their schemas",
    responses: { "200": answer(z.strictObject({ tools: z.array(Listing) })), ...ASKED },
  }),
  open("/api/v1/openapi.json", ["getOpenApi", "This description", AnyObject]),
  open("/healthz", ["getHealth", "Whether the process answers", state("ok")]),
  open("/readyz", ["getReadiness", "Whether database and publisher of this process work", state("ready")]),
];

function state(status: string): z.ZodType {
  return z.strictObject({ status: z.literal(status) });
}

function open(path: string, [operationId, summary, schema]: readonly [string, string, z.ZodType]): Operation {
  const responses = { "200": answer(schema), ...failures("429", "503") };
  return {
    path,
    method: "get",
    operation: { operationId, summary, tags: ["Service"], security: [], responses },
  };
}

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
  "account.expiring": "A channel must be reconnected within a week",
  "draft.waiting": "A draft waits for a decision",
  "draft.decided": "A draft was approved, sent back, discarded or ended",
  "draft.partly": "Of a draft some posts went out and some failed",
  "digest.daily": "The day, at eight in the morning",
};

const PublishedPost = Post.extend({
  warnings: z.array(z.string()).optional().describe("Which parts of it were refused after it went live."),
}).meta({ id: "PublishedPost" });

const DATA: Partial<Record<EventKind, z.ZodType>> = {
  "post.published": PublishedPost,
  "digest.daily": DigestEvent,
};

const dataOf = (kind: EventKind): z.ZodType =>
  DATA[kind] ?? (kind.startsWith("post.") ? Post : kind.startsWith("draft.") ? DraftEvent : Account);

/** What is sent to webhooks. `data` is as it was when the event happened. */
export const EVENTS: Events = Object.fromEntries([
  ...EVENT_KINDS.map((kind) => [kind, event(kind, SUMMARIES[kind], dataOf(kind))] as const),
  [TEST_EVENT, event(TEST_EVENT, "Sent by test_webhook", z.strictObject({ webhookId: z.string() }))] as const,
]);

type Events = NonNullable<ZodOpenApiObject["webhooks"]>;

function event(kind: string, summary: string, data: z.ZodType): Events[string] {
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
