import { describedBy } from "../../support/described.ts";

/*
 * What each method takes: the paramDef of Misskey's endpoints, as far as they are used here (source of Misskey
 * 2025.12, packages/backend/src/server/api/endpoints; the same types are in misskey-js 2026.5.1). Misskey lets
 * fields pass that it does not know; here they are refused.
 */
const id = { type: "string", pattern: "^[a-zA-Z0-9]+$" };
const flag = { type: "boolean" };

const SCHEMAS: Readonly<Record<string, { properties: object; required?: string[]; anyOf?: object[] }>> = {
  meta: { properties: { detail: flag } },
  i: { properties: {} },
  "miauth/{session}/check": { properties: {} },
  "drive/files/create": {
    properties: {
      file: { type: "object" },
      name: { type: "string" },
      comment: { type: "string", maxLength: 512 },
      isSensitive: { enum: ["true", "false"] },
      force: { enum: ["true", "false"] },
    },
    required: ["file"],
  },
  "drive/files/update": {
    properties: { fileId: id, comment: { type: "string", maxLength: 512 }, isSensitive: flag },
    required: ["fileId"],
  },
  "notes/create": {
    properties: {
      visibility: { enum: ["public", "home", "followers", "specified"] },
      cw: { type: "string", minLength: 1, maxLength: 100 },
      text: { type: "string", minLength: 1, maxLength: 3_000 },
      fileIds: { type: "array", uniqueItems: true, minItems: 1, maxItems: 16, items: id },
      replyId: id,
      poll: {
        type: "object",
        properties: {
          choices: {
            type: "array",
            uniqueItems: true,
            minItems: 2,
            maxItems: 10,
            items: { type: "string", minLength: 1, maxLength: 50 },
          },
          multiple: flag,
          expiresAt: { type: "integer" },
          expiredAfter: { type: "integer", minimum: 1 },
        },
        required: ["choices"],
        additionalProperties: false,
      },
    },
    anyOf: [{ required: ["text"] }, { required: ["fileIds"] }, { required: ["poll"] }],
  },
  "users/search-by-username-and-host": {
    properties: {
      username: { type: "string" },
      host: { type: "string" },
      limit: { type: "integer", minimum: 1, maximum: 100 },
      detail: flag,
    },
    anyOf: [{ required: ["username"] }, { required: ["host"] }],
  },
  "notes/show": { properties: { noteId: id }, required: ["noteId"] },
  "notes/delete": { properties: { noteId: id }, required: ["noteId"] },
  "users/notes": {
    properties: {
      userId: id,
      limit: { type: "integer", minimum: 1, maximum: 100 },
      withReplies: flag,
      withRenotes: flag,
      withChannelNotes: flag,
      sinceId: id,
      sinceDate: { type: "integer" },
    },
    required: ["userId"],
  },
};

/** The permission that each method asks for; the others are open to all. */
export const NEEDED: Readonly<Record<string, string>> = {
  i: "read:account",
  "drive/files/create": "write:drive",
  "drive/files/update": "write:drive",
  "notes/create": "write:notes",
  "notes/delete": "write:notes",
};

export const read = describedBy({
  source: "https://github.com/misskey-dev/misskey, 2025.12",
  operations: Object.fromEntries(
    Object.entries(SCHEMAS).map(([method, schema]) => {
      const whole = { type: "object", additionalProperties: false, ...schema };
      const kind = method === "drive/files/create" ? { form: whole } : { body: whole };
      return [`POST ${method}`, { ...kind, scopes: method in NEEDED ? [NEEDED[method] ?? ""] : [] }];
    }),
  ),
});
