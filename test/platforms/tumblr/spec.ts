import type { OutboundRequest } from "../../../src/ports/outbound.ts";
import { describedBy, type Described } from "../../support/described.ts";

/**
 * What Tumblr's documentation says of requests, as far as they are made: api.md and npf-spec.md of
 * https://github.com/tumblr/docs (of 2024-10-18). ajv counts code points, as Tumblr does.
 */
const size = { type: "integer", minimum: 1 };
const text = { type: "string" };
const of = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const one = (value: string) => ({ const: value });

/** A file of the form, or one that Tumblr has told before. */
const media = {
  oneOf: [
    of({ type: text, identifier: { type: "string", pattern: "^[\\w-]+$" }, width: size, height: size }, [
      "type",
      "identifier",
    ]),
    of({ type: text, media_key: text, url: text, width: size, height: size }, ["url"]),
  ],
};

const place = { start: { type: "integer", minimum: 0 }, end: size };
const formatting = {
  oneOf: [
    of({ type: one("link"), ...place, url: { type: "string", pattern: "^https?://" } }),
    of({ type: { enum: ["bold", "italic", "strikethrough", "small"] }, ...place }),
  ],
};

const block = {
  oneOf: [
    of(
      {
        type: one("text"),
        text: { type: "string", maxLength: 4_096 },
        subtype: {
          enum: [
            ...["heading1", "heading2", "quote", "indented", "chat"],
            ...["ordered-list-item", "unordered-list-item"],
          ],
        },
        formatting: { type: "array", items: formatting, minItems: 1 },
      },
      ["type", "text"],
    ),
    of(
      {
        type: one("image"),
        media: { type: "array", items: media, minItems: 1 },
        alt_text: { type: "string", maxLength: 4_096 },
        caption: { type: "string", maxLength: 4_096 },
      },
      ["type", "media"],
    ),
    of({ type: one("video"), media, provider: one("tumblr") }, ["type", "media"]),
    of({ type: one("audio"), provider: one("tumblr"), media, title: text }, ["type", "provider", "media"]),
    of({ type: one("link"), url: { type: "string", pattern: "^https?://" }, title: text }, ["type", "url"]),
  ],
};

const rows = of({
  type: one("rows"),
  display: {
    type: "array",
    minItems: 1,
    items: of({ blocks: { type: "array", items: { type: "integer", minimum: 0 }, minItems: 1 } }),
  },
});

const post = of(
  {
    content: { type: "array", items: block, minItems: 1, maxItems: 1_000 },
    layout: { type: "array", items: rows, maxItems: 1 },
    state: { enum: ["published", "queue", "draft", "private"] },
    publish_on: { type: "string", pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$" },
    tags: text,
    slug: { type: "string", pattern: "^[a-z0-9-]{1,55}$" },
    interactability_reblog: { enum: ["everyone", "noone"] },
  },
  ["content", "state"],
);

const number = { type: "string", pattern: "^\\d+$" };
const list = { limit: { enum: ["20"] }, offset: number };

/** Method and path below /v2; what may stand in the query, and in a form. */
const read = describedBy({
  source: "https://github.com/tumblr/docs, of 2024-10-18",
  ids: { blog: "[^/]+", id: "\\d+" },
  operations: {
    "GET /user/info": {},
    "POST /blog/{blog}/posts": { body: post },
    "GET /blog/{blog}/posts/queue": { query: list },
    "GET /blog/{blog}/posts/{id}": { query: { post_format: one("npf") } },
    "PUT /blog/{blog}/posts/{id}": { body: post },
    "GET /blog/{blog}/posts": {
      query: { ...list, npf: one("true"), api_key: text },
      required: ["api_key"],
    },
    "POST /blog/{blog}/post/delete": { fields: of({ id: number }) },
    "GET /blog/{blog}/notes": {
      query: { id: number, api_key: text, mode: { enum: ["all", "likes", "conversation"] } },
      required: ["id", "api_key"],
    },
  },
});

/** A file that came in a form. */
export interface Part {
  readonly name: string;
  readonly fileName: string | null;
  readonly type: string | null;
  readonly bytes: Buffer;
}

/** A request with the files of its form. */
export interface TumblrRequest extends Described {
  readonly blog: string;
  readonly files: readonly Part[];
}

/** The request as it is described, or what is wrong with it: its JSON may be the first part of a form. */
export async function readRequest(request: OutboundRequest, bytes: Buffer): Promise<TumblrRequest | string> {
  const [json, ...files] = partsOf(request.headers?.["content-type"] ?? "", bytes) ?? [];
  if (json !== undefined && (json.name !== "json" || json.fileName !== null))
    return "The first part must be the JSON.";
  const whole = json ?? { type: request.headers?.["content-type"] ?? "", bytes };
  const headers = { "content-type": whole.type ?? "" };
  const asked = await read({ ...request, headers, body: whole.bytes }, "https://api.tumblr.com/v2");
  if (typeof asked === "string") return asked;
  const { ids } = asked;
  return { ...asked, blog: ids[0] ?? "", id: ids[1] ?? "", files };
}

function partsOf(type: string, bytes: Buffer): Part[] | null {
  const boundary = /^multipart\/form-data; boundary=(\S+)$/.exec(type)?.[1];
  if (boundary === undefined) return null;
  const pieces = bytes.toString("latin1").split(`--${boundary}`).slice(1, -1);
  return pieces.map((piece) => {
    const cut = piece.indexOf("\r\n\r\n");
    const head = piece.slice(0, cut);
    return {
      name: /; name="([^"]*)"/.exec(head)?.[1] ?? "",
      fileName: /; filename="([^"]*)"/.exec(head)?.[1] ?? null,
      type: /\r\ncontent-type: (\S+)/i.exec(head)?.[1] ?? null,
      bytes: Buffer.from(piece.slice(cut + 4, -2), "latin1"),
    };
  });
}
