import { Ajv } from "ajv";

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

/** Method and path; what may stand in the query beside raw_json, and in the body. */
const OPERATIONS = {
  "GET /api/v1/me": {},
  "GET /user/{a}/submitted": {
    query: of({ sort: one("new"), limit: { type: "string", pattern: "^\\d{1,2}$" }, after: text }, ["sort"]),
  },
  "GET /api/info": { query: of({ id }) },
  "GET /subreddits/search": { query: of({ q: text, limit: text }, ["q"]) },
  "GET /api/v1/{a}/post_requirements": {},
  "GET /r/{a}/api/link_flair_v2": {},
  "POST /api/submit": { form: submit },
  "POST /api/submit_gallery_post.json": { json: gallery },
  "POST /api/submit_poll_post": { json: poll },
  "POST /api/media/asset.json": { form: of({ filepath: text, mimetype: text, api_type: one("json") }) },
  "POST /api/editusertext": { form: of({ api_type: one("json"), thing_id: id, text: body }) },
  "POST /r/{a}/api/selectflair": {
    form: of({ api_type: one("json"), link: id, flair_template_id: text, text }),
  },
  "POST /api/del": { form: of({ id }) },
} as const;
export type Operation = keyof typeof OPERATIONS;

/** Of the consent, what each needs. */
export const SCOPE_OF: Readonly<Record<Operation, string>> = {
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

const ajv = new Ajv({ strict: false });
const compiled = Object.entries(OPERATIONS).map(([name, operation]) => {
  const { query = of({}), form, json }: { query?: object; form?: object; json?: object } = operation;
  const [method = "", path = ""] = name.split(" ");
  return {
    name: name as Operation,
    method,
    pattern: new RegExp(`^${path.replace("{a}", "([\\w-]+)").replace(".", "\\.")}$`),
    query: ajv.compile(query),
    form: form === undefined ? null : ajv.compile(form),
    json: json === undefined ? null : ajv.compile(json),
  };
});

export interface RedditRequest {
  readonly name: Operation;
  /** What stands in the path. */
  readonly of: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: any;
}

interface Raw {
  readonly method: string;
  readonly url: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** The request as it is known, or what is wrong with it. */
export function readRequest({ method, url, type, bytes }: Raw): RedditRequest | string {
  const { pathname, searchParams } = new URL(url);
  const found = compiled.find((one) => one.method === method && one.pattern.test(pathname));
  if (found === undefined) return `There is no ${method} ${pathname}.`;
  const { raw_json: raw, ...query } = Object.fromEntries(searchParams);
  if (raw !== "1" || !found.query(query)) return `query: ${ajv.errorsText(found.query.errors)}`;
  const read = { name: found.name, of: found.pattern.exec(pathname)?.[1] ?? "", query };
  const words = bytes.toString("utf8");
  if (found.form === null && found.json === null)
    return words === "" ? { ...read, body: null } : "No body is taken.";
  const check = found.form ?? found.json;
  const wanted = found.form === null ? "application/json" : "application/x-www-form-urlencoded";
  if (type !== wanted) return `It must be ${wanted}.`;
  const given: unknown =
    found.form === null ? JSON.parse(words) : Object.fromEntries(new URLSearchParams(words));
  return check?.(given) === true ? { ...read, body: given } : `body: ${ajv.errorsText(check?.errors)}`;
}
