import { describedBy } from "../../support/described.ts";
import { json, type Answer } from "../youtube/answers.ts";

const id = { type: "integer", minimum: 1 };
const text = { type: "string", minLength: 3 };

/** `VideoUploadRequestResumable` and `putVideo` of PeerTube's OpenAPI 8.1, with the limits its server has. */
const COMMON = {
  name: { type: "string", minLength: 3, maxLength: 120 },
  channelId: id,
  privacy: { type: "integer", enum: [1, 2, 3, 4, 5] },
  category: { type: "integer", minimum: 1, maximum: 18 },
  licence: { type: "integer", minimum: 1, maximum: 8 },
  language: { enum: ["en", "de", "fr", "pt", "zh-Hans"] },
  description: { ...text, maxLength: 10_000 },
  support: { ...text, maxLength: 1_000 },
  tags: {
    type: "array",
    minItems: 1,
    maxItems: 5,
    uniqueItems: true,
    items: { type: "string", minLength: 2, maxLength: 30 },
  },
  commentsPolicy: { type: "integer", enum: [1, 2, 3] },
  downloadEnabled: { type: "boolean" },
  nsfw: { type: "boolean" },
  waitTranscoding: { type: "boolean" },
  scheduleUpdate: {
    type: "object",
    additionalProperties: false,
    required: ["updateAt"],
    properties: {
      updateAt: { type: "string", pattern: "^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$" },
      privacy: { enum: [1, 2, 4] },
    },
  },
} as const;

const of = (properties: object, required: readonly string[] = []) => ({
  ...{ type: "object", additionalProperties: false },
  ...{ properties, required },
});
const filename = { type: "string", pattern: "\\.\\w+$" };
/** In a form, "null" takes a field away. */
const clearable = Object.entries(COMMON).map(([name, one]) => [
  name,
  name === "tags"
    ? { type: "array", anyOf: [one, { const: ["null"] }] }
    : { anyOf: [one, { const: "null" }] },
]);
const count = { type: "integer", minimum: 1, maximum: 100 };
const flag = { type: "boolean" };
const login = {
  ...{ client_id: text, client_secret: text, username: text, password: text, refresh_token: text },
  grant_type: { enum: ["password", "refresh_token"] },
};

export const read = describedBy({
  source: "PeerTube's OpenAPI description 8.1",
  ids: { id: "[\\w-]{18,}", name: "\\w+" },
  operations: {
    "GET /oauth-clients/local": {},
    "POST /users/token": { fields: of(login, ["client_id", "client_secret", "grant_type"]) },
    "POST /users/revoke-token": {},
    "GET /config": {},
    "GET /users/me": {},
    "GET /users/me/videos": { query: { sort: { enum: ["-createdAt"] }, count }, required: ["sort"] },
    "GET /accounts/{name}/video-channels": { query: { withStats: flag, count } },
    "GET /videos/categories": {},
    "GET /videos/licences": {},
    "POST /videos/upload-resumable": {
      body: of({ ...COMMON, filename }, ["channelId", "name", "filename"]),
    },
    "GET /videos/{id}": {},
    "GET /videos/{id}/source": {},
    "PUT /videos/{id}": { form: of({ ...Object.fromEntries(clearable), thumbnailfile: { type: "object" } }) },
    "DELETE /videos/{id}": {},
  },
});

/** An error as the server writes it (RFC 7807). */
export function problem(status: number, code: string, detail = code, more: object = {}): Answer {
  const type = `https://docs.joinpeertube.org/api-rest-reference.html#section/Errors/${code}`;
  const answer = json({ type, code, detail, error: detail, status, title: "Error", ...more }, status);
  return { ...answer, headers: { "content-type": "application/problem+json; charset=utf-8" } };
}
