import { describedBy, type Operation } from "../../support/described.ts";

/**
 * Reddit has no machine-readable description. This is what PRAW sends and its recordings of Reddit's answers
 * hold (https://github.com/praw-dev/praw, of 2026-08-17), as far as it is asked for.
 */
const text = { type: "string" };
const flag = { enum: ["true", "false"] };
const one = (value: string) => ({ const: value });
const of = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

const id = { type: "string", pattern: "^t3_\\w+$" };
const title = { type: "string", minLength: 1, maxLength: 300 };
const community = { type: "string", pattern: "^\\w[\\w-]{1,23}$" };
const body = { type: "string", maxLength: 40_000 };
const flair = {
  flair_id: { type: "string", pattern: "^[0-9a-f-]{36}$" },
  flair_text: { type: "string", maxLength: 64 },
};

const submit = of(
  {
    ...{ api_type: one("json"), sr: community, title, text: body, ...flair },
    kind: { enum: ["self", "link", "image", "video", "videogif", "crosspost"] },
    crosspost_fullname: id,
    ...{
      url: { type: "string", pattern: "^https?://" },
      video_poster_url: { type: "string", pattern: "^https?://" },
    },
    ...{ nsfw: flag, spoiler: flag, sendreplies: flag, resubmit: flag, validate_on_submit: flag },
  },
  ["api_type", "sr", "title", "kind"],
);

const boolean = { type: "boolean" };
const gallery = of(
  {
    ...{ api_type: one("json"), sr: community, title, text: body, ...flair },
    items: {
      type: "array",
      minItems: 2,
      maxItems: 20,
      items: of({ media_id: text, caption: { type: "string", maxLength: 180 }, outbound_url: text }),
    },
    ...{ nsfw: boolean, spoiler: boolean, sendreplies: boolean, resubmit: boolean },
    ...{ validate_on_submit: boolean, show_error_list: boolean },
  },
  ["api_type", "sr", "title", "items"],
);

const poll = of(
  {
    ...{ api_type: one("json"), sr: community, title, text: body, ...flair },
    options: { type: "array", minItems: 2, maxItems: 6, items: { type: "string", maxLength: 120 } },
    duration: { type: "integer", minimum: 1, maximum: 7 },
    ...{ nsfw: boolean, spoiler: boolean, sendreplies: boolean, resubmit: boolean },
    validate_on_submit: boolean,
  },
  ["api_type", "sr", "title", "text", "options", "duration"],
);

/** Of the consent, what each needs. */
const SCOPES: Readonly<Record<string, string>> = {
  "GET /api/v1/me": "identity",
  "GET /user/{a}/submitted": "history",
  "GET /api/info": "read",
  "GET /subreddits/search": "read",
  "GET /api/v1/{a}/post_requirements": "submit",
  "GET /r/{a}/api/link_flair_v2": "flair",
  "POST /api/submit": "submit",
  "POST /api/submit_gallery_post.json": "submit",
  "POST /api/submit_poll_post": "submit",
  "POST /api/media/asset.json": "submit",
  "POST /api/editusertext": "edit",
  "POST /r/{a}/api/selectflair": "flair",
  "POST /api/del": "edit",
};

/** Method and path; what may stand in the query beside raw_json, and in the body. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  "GET /api/v1/me": {},
  "GET /user/{a}/submitted": {
    query: { sort: one("new"), limit: { type: "string", pattern: "^\\d{1,2}$" }, after: text },
    required: ["sort"],
  },
  "GET /api/info": { query: { id } },
  "GET /subreddits/search": { query: { q: text, limit: text }, required: ["q"] },
  "GET /api/v1/{a}/post_requirements": {},
  "GET /r/{a}/api/link_flair_v2": {},
  "POST /api/submit": { fields: submit },
  "POST /api/submit_gallery_post.json": { body: gallery },
  "POST /api/submit_poll_post": { body: poll },
  "POST /api/media/asset.json": { fields: of({ filepath: text, mimetype: text, api_type: one("json") }) },
  "POST /api/editusertext": { fields: of({ api_type: one("json"), thing_id: id, text: body }) },
  "POST /r/{a}/api/selectflair": {
    fields: of({ api_type: one("json"), link: id, flair_template_id: text, text }),
  },
  "POST /api/del": { fields: of({ id }) },
};

/** Every request says raw_json=1. */
export const read = describedBy({
  source: "https://github.com/praw-dev/praw, of 2026-08-17",
  operations: Object.fromEntries(
    Object.entries(OPERATIONS).map(([name, operation]) => {
      const { query = {}, required = Object.keys(query), ...bodies } = operation;
      const all = { query: { ...query, raw_json: one("1") }, required: [...required, "raw_json"] };
      return [name, { ...bodies, ...all, scopes: [SCOPES[name] ?? ""] }];
    }),
  ),
});
