import * as z from "zod";
import type { ZodOpenApiResponsesObject } from "zod-openapi";

const ErrorBody = z
  .strictObject({ error: z.string().describe("The field, the reason and the next step, in plain words.") })
  .meta({ id: "Error", examples: [{ error: "limit: must be at most 500." }] });

const ERRORS = {
  "400": ["Invalid", "The request is invalid. The error says which field and why."],
  "401": ["Unauthenticated", "There is no valid API key."],
  "403": ["Forbidden", "The key lacks the permission, or the request comes from a foreign web page."],
  "404": ["NotFound", "Not found, or belongs to someone else."],
  "409": ["Conflict", "The state does not allow it now."],
  "413": ["TooLarge", "The body is over its limit."],
  "429": [
    "RateLimited",
    "More requests than the key may make in a minute. `Retry-After` says when to go on.",
  ],
  "500": ["Failed", "A fault of the server. Its log has the details under the request's id."],
  "503": ["Unavailable", "The platform cannot be connected yet, or is out of reach."],
  "507": ["DiskFull", "The disk of the server has no space for the file."],
} as const;

type ErrorStatus = keyof typeof ERRORS;

/** The answers to a failed request, each once. */
export const ERROR_RESPONSES = Object.fromEntries(
  Object.values(ERRORS).map(([name, description]) => [
    name,
    { description, content: { "application/json": { schema: ErrorBody } } },
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
