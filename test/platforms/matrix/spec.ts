import { describedBy } from "../../support/described.ts";
import spec from "./spec.json" with { type: "json" };

const FileInfo = {
  type: "object",
  properties: {
    mimetype: { type: "string" },
    size: { type: "integer" },
    w: { type: "integer" },
    h: { type: "integer" },
    duration: { type: "integer" },
    thumbnail_url: { type: "string", pattern: "^mxc://" },
    thumbnail_info: {
      type: "object",
      properties: { mimetype: {}, size: { type: "integer" }, w: { type: "integer" }, h: { type: "integer" } },
      additionalProperties: false,
    },
  },
  required: ["mimetype", "size"],
  additionalProperties: false,
};

/** data/event-schemas/schema/m.room.message$*.yaml and components/m.relates_to, with our own key. */
const CONTENT = {
  msgtype: { enum: ["m.text", "m.image", "m.video", "m.audio", "m.file"] },
  body: { type: "string", minLength: 1 },
  format: { const: "org.matrix.custom.html" },
  formatted_body: { type: "string" },
  // definitions/m.mentions.yaml
  "m.mentions": {
    type: "object",
    properties: {
      user_ids: {
        type: "array",
        items: { type: "string", pattern: "^@[^:]+:" },
        minItems: 1,
        uniqueItems: true,
      },
    },
    additionalProperties: false,
  },
  url: { type: "string", pattern: "^mxc://" },
  filename: { type: "string" },
  info: FileInfo,
  "posthorn.key": { type: "string" },
};
const Message = {
  type: "object",
  properties: CONTENT,
  required: ["msgtype", "body", "m.mentions"],
  dependentRequired: { formatted_body: ["format"], url: ["info", "filename"] },
  anyOf: [
    { properties: { msgtype: { const: "m.text" } }, not: { required: ["url"] } },
    { properties: { msgtype: { not: { const: "m.text" } } }, required: ["url"] },
  ],
};
const SENT = {
  ...Message,
  properties: {
    ...CONTENT,
    "m.new_content": { ...Message, additionalProperties: false },
    "m.relates_to": {
      type: "object",
      properties: { rel_type: { const: "m.replace" }, event_id: { type: "string", pattern: "^\\$" } },
      required: ["rel_type", "event_id"],
      additionalProperties: false,
    },
  },
  dependentRequired: { "m.new_content": ["m.relates_to"], "m.relates_to": ["m.new_content"] },
  additionalProperties: false,
};

/** Matrix's own description of what is called; the file names its source. */
export const read = describedBy({
  ...spec,
  operations: {
    ...spec.operations,
    "PUT /_matrix/client/v3/rooms/{roomId}/send/{eventType}/{txnId}": { body: SENT },
  },
});

/** What may stand in HTML: content/client-server-api/modules/instant_messaging.md */
const TAGS: Readonly<Record<string, RegExp>> = {
  a: /^( href="(https?|mailto):[^"]*")$/,
  span: /^ data-mx-spoiler$/,
  ol: /^( start="\d+")?$/,
};
const BARE = /^(del|h[1-6]|blockquote|p|ul|li|b|i|u|strong|em|s|code|hr|br|pre)$/;

/** What is wrong with it. */
export function wrongTags(html: unknown): string[] {
  if (typeof html !== "string") return [];
  const tags = [...html.matchAll(/<(\/?)([a-z0-9]+)([^<>]*)>/g)];
  const open: string[] = [];
  const wrong = tags.flatMap(([tag, slash, name = "", attributes = ""]) => {
    if (slash === "/") return open.pop() === name ? [] : [`${tag} closes nothing`];
    if (!["br", "hr"].includes(name)) open.push(name);
    const isAllowed = TAGS[name]?.test(attributes) ?? (BARE.test(name) && attributes === "");
    return isAllowed ? [] : [`${tag} is not allowed`];
  });
  return [...wrong, ...open.map((name) => `<${name}> is left open`)];
}
