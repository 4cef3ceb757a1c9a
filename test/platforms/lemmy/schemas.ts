import { describedBy, type Operation } from "../../support/described.ts";

/*
 * What each operation takes, as far as it is used here: the request types of Lemmy 0.19.20
 * (crates/api_common/src) and of 1.0.0-beta.1 (crates/db_views). Lemmy lets fields pass that it does not know;
 * here they are refused. In addresses everything is text.
 */
interface Fields {
  readonly properties: Record<string, object>;
  readonly required?: readonly string[];
}

const text = { type: "string" };
const id = { type: "integer", minimum: 1 };
const flag = { type: "boolean" };
const told = { enum: ["true", "false"] };
const number = { type: "string", pattern: "^[0-9]+$" };

const content = {
  name: text,
  url: text,
  body: text,
  alt_text: text,
  nsfw: flag,
  custom_thumbnail: text,
};
const login: Fields = {
  properties: { username_or_email: text, password: text, totp_2fa_token: text },
  required: ["username_or_email", "password"],
};
const create: Fields = { properties: { ...content, community_id: id }, required: ["name", "community_id"] };
const change: Fields = { properties: { ...content, post_id: id }, required: ["post_id"] };
const remove: Fields = { properties: { post_id: id, deleted: flag }, required: ["post_id", "deleted"] };
const nothing: Fields = { properties: {} };
const upload: Fields = { properties: { "images[]": { type: "object" } }, required: ["images[]"] };
const one: Fields = { properties: { id: number }, required: ["id"] };
const named: Fields = { properties: { name: text }, required: ["name"] };
const shown = { show_nsfw: told, show_read: told, show_hidden: told };
const page = { limit: number, page_cursor: text };

const v3: Record<string, Fields> = {
  "GET /api/v3/site": nothing,
  "POST /api/v3/user/login": login,
  "GET /api/v3/community": named,
  "GET /api/v3/community/list": { properties: { type_: { enum: ["Subscribed", "All"] }, limit: number } },
  "GET /api/v3/search": {
    properties: { q: text, type_: { enum: ["Communities"] }, listing_type: { enum: ["All"] }, limit: number },
    required: ["q"],
  },
  "POST /api/v3/post": create,
  "PUT /api/v3/post": change,
  "GET /api/v3/post": one,
  "POST /api/v3/post/delete": remove,
  "GET /api/v3/post/list": {
    properties: {
      ...shown,
      ...page,
      type_: { enum: ["All"] },
      sort: { enum: ["New"] },
      community_id: number,
    },
  },
  "POST /pictrs/image": upload,
};

const v4: Record<string, Fields> = {
  "GET /api/v4/site": nothing,
  "GET /api/v4/account": nothing,
  "POST /api/v4/account/auth/login": login,
  "GET /api/v4/community": named,
  "GET /api/v4/community/list": {
    properties: { type_: { enum: ["subscribed", "all"] }, search_term: text, limit: number },
  },
  "POST /api/v4/post": create,
  "PUT /api/v4/post": change,
  "GET /api/v4/post": one,
  "DELETE /api/v4/post": remove,
  "GET /api/v4/post/list": {
    properties: {
      ...shown,
      ...page,
      type_: { enum: ["all"] },
      sort: { enum: ["new"] },
      community_id: number,
      hide_posts_with_media: told,
      mark_as_read: told,
      time_range_seconds: number,
    },
  },
  "POST /api/v4/image": upload,
};

function operationOf(name: string, { properties, required = [] }: Fields): Operation {
  if (name.startsWith("GET")) return { query: properties, required };
  const whole = { type: "object", properties, required, additionalProperties: false };
  return name.endsWith("/image") ? { form: whole } : { body: whole };
}

function read(all: Record<string, Fields>) {
  const operations = Object.entries(all).map(([name, fields]) => [name, operationOf(name, fields)]);
  return describedBy({
    source: "https://github.com/LemmyNet/lemmy",
    operations: Object.fromEntries(operations),
  });
}

export const READS = { v3: read(v3), v4: read(v4) };
