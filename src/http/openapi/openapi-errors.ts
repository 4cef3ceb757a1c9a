import * as z from "zod";
import type { oas31, ZodOpenApiResponsesObject } from "zod-openapi";

const ErrorBody = z
  .strictObject({ error: z.string().describe("The field, the reason and the next step, in plain words.") })
  .meta({ id: "Error" });

const ERRORS = {
  "400": [
    "Invalid",
    "The request is invalid. The error says which field and why.",
    "limit: must be at most 500.",
  ],
  "401": [
    "Unauthenticated",
    "There is no valid API key.",
    "The API key is not valid: unknown, expired or revoked.",
  ],
  "403": [
    "Forbidden",
    "The key lacks the permission, or the request comes from a foreign web page.",
    'This key may not call schedule_post: it lacks the permission "publish".',
  ],
  "404": [
    "NotFound",
    "Not found, or belongs to someone else.",
    'There is no post "post_1". Take post ids from list_posts.',
  ],
  "409": [
    "Conflict",
    "The state does not allow it now.",
    "The post is published, but this needs a post that is scheduled.",
  ],
  "413": ["TooLarge", "The body is over its limit.", "The body is larger than 1 MiB."],
  "429": [
    "RateLimited",
    "More requests than the key may make in a minute.",
    "This key made more than 6000 requests in a minute.",
  ],
  "500": [
    "Failed",
    "A fault of the server. Its log has the details under the request's id.",
    "Something went wrong on our side.",
  ],
  "503": [
    "Unavailable",
    "The platform cannot be connected yet, or is out of reach.",
    "YouTube cannot be connected yet.",
  ],
  "507": [
    "DiskFull",
    "The disk of the server has no space for the file.",
    "The file could not be stored. The disk is full, or nearly so. Free some space and try again.",
  ],
} as const;

type ErrorStatus = keyof typeof ERRORS;

const RATE_HEADERS: oas31.HeadersObject = {
  "Retry-After": {
    description: "Seconds until the next request will be taken.",
    schema: { type: "integer" },
  },
};

/** The answers to a failed request, each once. */
export const ERROR_RESPONSES = Object.fromEntries(
  Object.entries(ERRORS).map(([status, [name, description, error]]) => [
    name,
    {
      description,
      ...(status === "429" ? { headers: RATE_HEADERS } : {}),
      content: { "application/json": { schema: ErrorBody, example: { error } } },
    },
  ]),
);

/** References to the failures an operation can answer with. */
export function failures(...statuses: ErrorStatus[]): ZodOpenApiResponsesObject {
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${ERRORS[status][0]}` }]),
  );
}

/** References to every failure there is. */
export const FAILURES = failures(...(Object.keys(ERRORS) as ErrorStatus[]));
