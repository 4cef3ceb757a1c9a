/** Ids beyond 2^53, as Meta gives them. */
export const APP = { id: "4711000000000001", secret: "app-secret-canary" };
export const PAGE_ID = "1000000000000000123";

/**
 * What of the Graph API the adapter uses, after Meta's own description of it (facebook-business-sdk-codegen,
 * api_specs: Page.json, PagePost.json, Photo.json, AdVideo.json, April 2026): the parameters of each edge with
 * their types, and the fields of each node. `!`: required.
 */
export const PARAMS: Readonly<Record<string, string>> = {
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
  "POST app/uploads": "file_name:string! file_length:unsigned! file_type:file_type!",
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

/** In every request to a node or an edge. */
const COMMON: readonly string[] = ["fields", "limit", "after", "before", "access_token", "appsecret_proof"];

export type Given = Readonly<Record<string, unknown>>;

/** What the API would say of these parameters; null: nothing. */
export function wrongParams(edge: string, given: Given): string | null {
  const spec = PARAMS[edge];
  if (spec === undefined) return `Unsupported request: ${edge}`;
  const types = new Map(
    spec.split(" ").flatMap((one): [string, string][] => {
      const [name = "", type = ""] = one.split(":");
      return name === "" ? [] : [[name, type]];
    }),
  );
  for (const [name, type] of types)
    if (type.endsWith("!") && given[name] === undefined) return `The parameter ${name} is required`;
  for (const [name, value] of Object.entries(given)) {
    const type = types.get(name)?.replace("!", "");
    if (
      type === undefined &&
      !(edge.startsWith("GET") && COMMON.includes(name)) &&
      name !== "appsecret_proof"
    )
      return `Unknown parameter ${name}`;
    if (type !== undefined && !fits(value, type)) return `Param ${name} must be ${type}`;
  }
  return wrongFields(edge, String(given["fields"] ?? ""));
}

function fits(value: unknown, type: string): boolean {
  const text = String(value);
  if (type === "string") return typeof value === "string";
  if (type === "bool") return typeof value === "boolean" || text === "true" || text === "false";
  if (type === "unsigned") return /^\d+$/.test(text);
  if (type === "datetime") return /^\d{10}$/.test(text) || !Number.isNaN(Date.parse(text));
  if (type === "file") return Buffer.isBuffer(value);
  if (type === "list<Object>") return Array.isArray(value);
  return ENUMS[type]?.includes(text.toUpperCase()) ?? false;
}

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

function wrongFields(edge: string, fields: string): string | null {
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
