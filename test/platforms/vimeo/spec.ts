import { describedBy } from "../../support/described.ts";
import { json, type Answer } from "../youtube/answers.ts";

const text = { type: "string" };

/** What a video is made and changed with. */
const VIDEO = {
  name: { ...text, minLength: 1, maxLength: 128 },
  description: { ...text, maxLength: 5_000 },
  license: { enum: ["by", "by-nc", "by-nc-nd", "by-nc-sa", "by-nd", "by-sa", "cc0", null] },
  locale: { type: ["string", "null"] },
  password: text,
  content_rating: { type: "array", items: text },
  privacy: {
    type: "object",
    additionalProperties: false,
    properties: {
      add: { type: "boolean" },
      comments: { enum: ["anybody", "contacts", "nobody"] },
      download: { type: "boolean" },
      embed: { enum: ["private", "public", "whitelist"] },
      view: { enum: ["anybody", "contacts", "disable", "nobody", "password", "unlisted", "users"] },
    },
  },
};

const UPLOAD = {
  type: "object",
  additionalProperties: false,
  required: ["approach", "size"],
  properties: { approach: { enum: ["tus"] }, size: { ...text, pattern: "^[1-9]\\d*$" } },
};

const of = (properties: object, required: readonly string[] = []) => ({
  ...{ type: "object", additionalProperties: false },
  ...{ properties, required },
});
const fields = text;
const list = {
  sort: { enum: ["date"] },
  direction: { enum: ["asc", "desc"] },
  per_page: { type: "integer", minimum: 1, maximum: 100 },
};
const tags = { type: "array", minItems: 1, maxItems: 20, items: of({ name: text }, ["name"]) };

/** What is called. An id may have a hash behind a colon. */
export const read = describedBy({
  source: "Vimeo's OpenAPI description of version 3.4",
  ids: { id: "[\\d:a-f]+" },
  operations: {
    "GET /me": { query: { fields } },
    "GET /oauth/verify": {},
    "DELETE /tokens": {},
    "GET /me/videos": { query: { ...list, fields } },
    "POST /me/videos": { query: { fields }, body: of({ ...VIDEO, upload: UPLOAD }, ["upload"]) },
    "GET /videos/{id}": { query: { fields } },
    "PATCH /videos/{id}": { query: { fields }, body: of(VIDEO) },
    "DELETE /videos/{id}": {},
    "PUT /videos/{id}/tags": { body: tags },
    "POST /videos/{id}/pictures": { body: of({ active: { type: "boolean" }, time: { type: "number" } }) },
    "PATCH /videos/{id}/pictures/{id}": { body: of({ active: { type: "boolean" } }) },
  },
});

/** An error as Vimeo writes it. */
export function refusal(status: number, code: number, fields: readonly string[] = []): Answer {
  const invalid = fields.map((field) => ({
    field,
    error_code: code,
    error: "Invalid.",
    developer_message: "No.",
  }));
  const words = {
    error: "Something strange occurred.",
    developer_message: "No.",
    link: null,
    error_code: code,
  };
  return json({ ...words, ...(fields.length === 0 ? {} : { invalid_parameters: invalid }) }, status);
}

export const UNAUTHORIZED = json(
  {
    error: "You must provide a valid authenticated access token.",
    link: null,
    developer_message: "The access token provided is invalid.",
    error_code: 8003,
  },
  401,
);
