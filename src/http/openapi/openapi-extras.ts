import * as z from "zod";
import type { Post } from "../../domain/posts/post.ts";
import { failures } from "./openapi-errors.ts";
import type { Operations } from "./openapi-operations.ts";

export const POST_EXAMPLE: Post = {
  id: "post_01kd0j5x8h3v9q2m7w4c6r1t0y",
  accountId: "acc_01kd0j4n2b8f5k9s3g7p1d6x0z",
  provider: "bluesky",
  mediaUrl: "https://example.com/alps.jpg",
  scheduledAt: "2027-01-31T08:00:00.000Z",
  status: "scheduled",
  caption: "Good morning from the Alps",
  metadata: { altText: "Snowy peaks at sunrise", language: "en" },
  leadMinutes: null,
  platformPostId: null,
  platformUrl: null,
  error: null,
  attempts: 0,
  publishedAt: null,
  createdAt: "2027-01-15T10:12:00.000Z",
  updatedAt: "2027-01-15T10:12:00.000Z",
};

const Listing = z.strictObject({
  name: z.string(),
  title: z.string(),
  description: z.string(),
  permission: z.string(),
  inputSchema: z.record(z.string(), z.unknown()).describe("JSON Schema 2020-12."),
  outputSchema: z.record(z.string(), z.unknown()).describe("JSON Schema 2020-12."),
  annotations: z.strictObject({
    title: z.string(),
    readOnlyHint: z.boolean(),
    destructiveHint: z.boolean(),
    idempotentHint: z.boolean(),
    openWorldHint: z.boolean(),
  }),
});

/** Routes that are no tools. */
export const SERVICE_PATHS: Operations = [
  {
    path: "/api/v1/tools",
    method: "get",
    operation: {
      operationId: "getTools",
      summary: "The tools this key may call, with their schemas",
      tags: ["Tools"],
      responses: {
        "200": {
          description: "Done.",
          content: { "application/json": { schema: z.strictObject({ tools: z.array(Listing) }) } },
        },
        ...failures("400", "401", "403", "429", "500"),
      },
    },
  },
  {
    path: "/api/v1/openapi.json",
    method: "get",
    operation: {
      operationId: "getOpenApi",
      summary: "This description",
      tags: ["Service"],
      security: [],
      responses: {
        "200": {
          description: "OpenAPI 3.1.",
          content: { "application/json": { schema: z.record(z.string(), z.unknown()) } },
        },
      },
    },
  },
  {
    path: "/healthz",
    method: "get",
    operation: {
      operationId: "getHealth",
      summary: "Whether the process answers",
      tags: ["Service"],
      security: [],
      responses: {
        "200": {
          description: "It does.",
          content: { "application/json": { schema: z.strictObject({ status: z.literal("ok") }) } },
        },
      },
    },
  },
  {
    path: "/readyz",
    method: "get",
    operation: {
      operationId: "getReadiness",
      summary: "Whether database and publisher of this process work",
      tags: ["Service"],
      security: [],
      responses: {
        "200": {
          description: "They do.",
          content: { "application/json": { schema: z.strictObject({ status: z.literal("ready") }) } },
        },
        ...failures("503"),
      },
    },
  },
];
