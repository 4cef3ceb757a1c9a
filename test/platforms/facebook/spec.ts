import { describedBy, type Operation } from "../../support/described.ts";

/** Ids beyond 2^53, as Meta gives them. */
export const APP = { id: "4711000000000001", secret: "app-secret-canary" };
export const PAGE_ID = "1000000000000000123";

/**
 * What of the Graph API the adapter uses, after Meta's own description of it (facebook-business-sdk-codegen,
 * api_specs: Page.json, PagePost.json, Photo.json, AdVideo.json, April 2026): the parameters of each edge with
 * their types, and the fields of each node. `!`: required.
 */
const PARAMS: Readonly<Record<string, string>> = {
  "POST page/feed":
    "message:string link:string attached_media:list<Object> published:bool scheduled_publish_time:datetime " +
    "unpublished_content_type:unpublished place:string text_format_preset_id:string",
  "POST page/photos":
    "alt_text_custom:string caption:string message:string published:bool scheduled_publish_time:unsigned " +
    "temporary:bool unpublished_content_type:unpublished url:string source:file",
  "POST page/videos":
    "title:string description:string published:bool scheduled_publish_time:unsigned file_url:string " +
    "fbuploader_video_file_chunk:string unpublished_content_type:unpublished thumb:file",
  "POST page/video_reels":
    "upload_phase:phase! video_id:string video_state:state description:string title:string " +
    "scheduled_publish_time:datetime place:string",
  "POST page/photo_stories": "photo_id:string!",
  "POST page/video_stories":
    "upload_phase:phase! video_id:string video_state:state description:string title:string " +
    "scheduled_publish_time:datetime place:string",
  "GET page/stories": "since:datetime until:datetime",
  "GET page/published_posts": "include_hidden:bool limit:unsigned show_expired:bool",
  "GET page/scheduled_posts": "",
  "GET page/videos": "type:videos",
  "GET page/video_reels": "since:datetime until:datetime",
  "GET page/insights": "metric:string period:period since:datetime until:datetime",
  "GET page": "",
  "GET post": "",
  "POST post": "message:string is_published:bool scheduled_publish_time:unsigned is_hidden:bool",
  "DELETE post": "",
  "GET post/insights": "metric:string period:period since:datetime until:datetime",
  "POST post/comments": "message:string attachment_url:string",
  "GET post/comments": "filter:filter order:order since:datetime",
  "GET film": "",
  "POST film":
    "name:string description:string published:bool scheduled_publish_time:unsigned preferred_thumbnail_id:string",
  "DELETE film": "",
  "POST film/comments": "message:string attachment_url:string",
  "GET film/comments": "filter:filter order:order since:datetime",
  "POST film/collaborators": "target_id:string!",
  "GET film/video_insights": "metric:string period:period since:datetime until:datetime",
  "POST film/thumbnails": "source:file! is_preferred:bool",
  "GET story/insights": "metric:string period:period since:datetime until:datetime",
  "GET photo": "",
  "DELETE photo": "",
  "GET me/accounts": "",
  "GET me/businesses": "",
  "GET business/owned_pages": "",
  "GET business/client_pages": "",
  "GET me/page": "",
  "GET me/permissions": "",
  "DELETE me/permissions": "",
};

const ENUMS: Readonly<Record<string, readonly string[]>> = {
  unpublished: [
    "ADS_POST",
    "DRAFT",
    "INLINE_CREATED",
    "PUBLISHED",
    "REVIEWABLE_BRANDED_CONTENT",
    "SCHEDULED",
  ],
  phase: ["START", "FINISH"],
  state: ["DRAFT", "PUBLISHED", "SCHEDULED"],
  videos: ["TAGGED", "UPLOADED"],
  period: ["DAY", "WEEK", "DAYS_28", "MONTH", "LIFETIME", "TOTAL_OVER_RANGE"],
  filter: ["STREAM", "TOPLEVEL"],
  order: ["CHRONOLOGICAL", "REVERSE_CHRONOLOGICAL"],
  file_type: ["APPLICATION/PDF", "IMAGE/JPEG", "IMAGE/JPG", "IMAGE/PNG", "VIDEO/MP4"],
};

const FIELDS: Readonly<Record<string, string>> = {
  page:
    "id name username followers_count fan_count link is_published picture access_token category " +
    "instagram_business_account permission status",
  business: "id name",
  post:
    "id message created_time scheduled_publish_time is_published application attachments permalink_url shares " +
    "reactions comments status_type from",
  film:
    "id title description created_time published scheduled_publish_time status permalink_url post_id views likes " +
    "comments length",
  photo: "id alt_text_custom created_time page_story_id",
  // https://developers.facebook.com/docs/page-stories-api
  story: "post_id status creation_time media_type media_id url",
};

const text = { type: "string" };
/** The app demands it of every request. */
const PROOF = { appsecret_proof: text };
const COMMON = { ...PROOF, fields: text, limit: { type: "integer" }, after: text, before: text };

const TYPES: Readonly<Record<string, object>> = {
  string: text,
  bool: { type: "boolean" },
  unsigned: { type: "integer", minimum: 0 },
  datetime: {
    type: ["integer", "string"],
    pattern: "^(\\d{10}$|\\d{4}-\\d\\d-\\d\\dT)",
    minimum: 1_000_000_000,
  },
  file: { type: "object" },
  "list<Object>": { type: "array" },
};

/** In capitals, or not. */
const typeOf = (name: string): object =>
  TYPES[name] ?? { enum: (ENUMS[name] ?? []).flatMap((one) => [one, one.toLowerCase()]) };

function operationOf(name: string, params: string): Operation {
  const named = params.split(" ").flatMap((one) => (one === "" ? [] : [one.replace("!", "").split(":")]));
  const properties = Object.fromEntries(named.map(([one = "", type = ""]) => [one, typeOf(type)]));
  const required = params.split(" ").flatMap((one) => (one.endsWith("!") ? [one.split(":")[0] ?? ""] : []));
  if (name.startsWith("GET")) return { query: { ...COMMON, ...properties }, required };
  if (named.length === 0) return { query: PROOF };
  const whole = { type: "object", properties, required, additionalProperties: false };
  return { query: PROOF, body: whole, fields: whole, form: whole };
}

const FILE = { file_name: text, file_length: { type: "integer" }, file_type: typeOf("file_type") };

/** What is asked of a node or an edge, by what kind it is of. */
export const read = describedBy({
  source: "https://github.com/facebook/facebook-business-sdk-codegen, api_specs of April 2026",
  operations: {
    ...Object.fromEntries(Object.entries(PARAMS).map(([name, params]) => [name, operationOf(name, params)])),
    "POST app/uploads": { query: { ...PROOF, ...FILE }, required: Object.keys(FILE) },
  },
});

const NODE_OF: Readonly<Record<string, string>> = {
  published_posts: "post",
  scheduled_posts: "post",
  videos: "film",
  video_reels: "film",
  stories: "story",
  accounts: "page",
  businesses: "business",
  owned_pages: "page",
  client_pages: "page",
  page: "page",
  permissions: "page",
};

/** What it would say of the fields that are asked for; null: nothing. */
export function wrongFields(edge: string, fields: string): string | null {
  const [, path = ""] = edge.split(" ");
  const [node = "", name = ""] = path.split("/");
  if (fields === "" || name === "comments" || name.endsWith("insights")) return null;
  const known = (FIELDS[NODE_OF[name] ?? node] ?? "").split(" ");
  // Tasks are no field of a Page, but of this list of Pages.
  const isKnown = (field: string): boolean =>
    known.includes(field) || (name === "accounts" && field === "tasks");
  const unknown = topLevel(fields).find((field) => !isKnown(field));
  return unknown === undefined ? null : `Tried accessing nonexisting field (${unknown})`;
}

/** "a,b{c,d},e.limit(0)" names a, b and e. */
function topLevel(fields: string): string[] {
  let flat = fields;
  while (/\{[^{}]*\}/.test(flat)) flat = flat.replace(/\{[^{}]*\}/g, "");
  return flat.split(",").map((field) => field.replace(/\..*$/, ""));
}
