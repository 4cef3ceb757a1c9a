import { readFileSync } from "node:fs";
import { Ajv2020, type AnySchema } from "ajv/dist/2020.js";
import type { Received } from "../telegram/door.ts";

interface Operation {
  readonly query: Readonly<Record<string, AnySchema>>;
  readonly requiredQuery: readonly string[];
  readonly path: Readonly<Record<string, AnySchema>>;
  readonly isSigned: boolean;
  readonly body?: { readonly type: string; readonly schema?: { readonly properties?: object } };
}

const read = (): Record<string, Operation> =>
  JSON.parse(readFileSync(new URL("./spec.json", import.meta.url), "utf8")).operations;

const SIGNED = { query: {}, requiredQuery: [], path: {}, isSigned: true };
const ROOM = { roomId: { type: "string", pattern: "^!" } };

/** With what stands in files that are not among those: authed-content-repo.yaml and space_hierarchy.yaml. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  ...read(),
  "GET /_matrix/client/v1/media/config": SIGNED,
  "GET /_matrix/client/v1/rooms/{roomId}/hierarchy": {
    ...SIGNED,
    path: ROOM,
    query: { limit: { type: "integer" }, max_depth: { type: "integer" }, from: { type: "string" } },
  },
};

const ajv = new Ajv2020({ strict: false, coerceTypes: true, validateFormats: false });
const strict = new Ajv2020({ strict: false, validateFormats: false });

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
const validateMessage = strict.compile({
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
});

/** What may stand in HTML: content/client-server-api/modules/instant_messaging.md */
const TAGS: Readonly<Record<string, RegExp>> = {
  a: /^( href="(https?|mailto):[^"]*")$/,
  span: /^ data-mx-spoiler$/,
  ol: /^( start="\d+")?$/,
};
const BARE = /^(del|h[1-6]|blockquote|p|ul|li|b|i|u|strong|em|s|code|hr|br|pre)$/;

function wrongTags(html: unknown): string[] {
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

export interface Asked {
  readonly operation: string;
  readonly path: Readonly<Record<string, string>>;
}

/** Which operation it is; null for none. The key of a state event may be left out where it is empty. */
export function operationOf({ method, url }: Received): Asked | null {
  for (const operation of Object.keys(OPERATIONS)) {
    const [verb = "", template = ""] = operation.split(" ");
    const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
    const pattern = template.replace("/{stateKey}", "(?:/([^/]*))?").replace(/\{\w+\}/g, "([^/]+)");
    const match = new RegExp(`^${pattern}$`).exec(url.pathname);
    if (verb !== method || match === null) continue;
    const values = names.map((name, at) => [name, decodeURIComponent(match[at + 1] ?? "")]);
    return { operation, path: Object.fromEntries(values) };
  }
  return null;
}

/** What the description does not know of a request. */
export function wrongOf(request: Received, { operation, path }: Asked): string[] {
  const spec = OPERATIONS[operation]!;
  const wrong: string[] = [];
  const check = (schema: AnySchema, value: unknown, what: string): void => {
    if (!ajv.validate(schema, value)) wrong.push(`${what}: ${ajv.errorsText()}`);
  };
  for (const [name, value] of Object.entries(path)) check(spec.path[name] ?? {}, value, name);
  const query = Object.fromEntries(request.url.searchParams);
  check({ type: "object", properties: spec.query, additionalProperties: false }, query, "query");
  for (const name of spec.requiredQuery) if (!(name in query)) wrong.push(`query: ${name} is missing`);
  if (spec.isSigned !== "authorization" in request.headers && !operation.endsWith("/versions"))
    wrong.push("how it is signed");
  const type = request.headers["content-type"] ?? "";
  const isJson = spec.body?.type === "application/json";
  if (isJson !== (type === "application/json")) wrong.push(`a body of ${type}`);
  const schema = spec.body?.schema;
  if (isJson && schema?.properties !== undefined)
    check({ ...schema, additionalProperties: false }, structuredClone(request.json), "body");
  if (operation.includes("/send/") && !validateMessage(request.json))
    wrong.push(`content: ${strict.errorsText(validateMessage.errors)}`);
  if (operation.includes("/send/")) {
    const content = request.json as Record<string, any>;
    wrong.push(...[content, content["m.new_content"]].flatMap((one) => wrongTags(one?.formatted_body)));
  }
  return wrong.map((what) => `${operation}: ${what}`);
}
