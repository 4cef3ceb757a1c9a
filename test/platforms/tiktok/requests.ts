import { Ajv, type ValidateFunction } from "ajv";

/*
 * What TikTok's reference allows in each request (developers.tiktok.com: content-posting-api-reference-direct-post,
 * -upload-video, -photo-post, -get-video-status, -query-creator-info, tiktok-api-v2-video-query, -video-list,
 * -get-user-info, oauth-user-access-token-management). There is no machine-readable description.
 */

const PRIVACY = ["PUBLIC_TO_EVERYONE", "MUTUAL_FOLLOW_FRIENDS", "FOLLOWER_OF_CREATOR", "SELF_ONLY"];
const text = (maxLength: number) => ({ type: "string", maxLength });
const flag = { type: "boolean" };
const count = { type: "integer", minimum: 1 };

const object = (properties: object, required: readonly string[]) => ({
  type: "object",
  additionalProperties: false,
  properties,
  required,
});

const FILE = object(
  {
    source: { const: "FILE_UPLOAD" },
    video_size: count,
    chunk_size: count,
    total_chunk_count: { type: "integer", minimum: 1, maximum: 1_000 },
  },
  ["source", "video_size", "chunk_size", "total_chunk_count"],
);

const VIDEO_INFO = object(
  {
    title: text(2_200),
    privacy_level: { enum: PRIVACY },
    disable_duet: flag,
    disable_comment: flag,
    disable_stitch: flag,
    video_cover_timestamp_ms: { type: "integer", minimum: 0 },
    brand_content_toggle: flag,
    brand_organic_toggle: flag,
    is_aigc: flag,
  },
  ["privacy_level"],
);

const PHOTO_INFO = object(
  {
    title: text(90),
    description: text(4_000),
    privacy_level: { enum: PRIVACY },
    disable_comment: flag,
    auto_add_music: flag,
    brand_content_toggle: flag,
    brand_organic_toggle: flag,
  },
  [],
);

const PHOTOS = object(
  {
    source: { const: "PULL_FROM_URL" },
    photo_cover_index: { type: "integer", minimum: 0 },
    photo_images: {
      type: "array",
      minItems: 1,
      maxItems: 35,
      items: { type: "string", pattern: "^https://[!-~]+$" },
    },
  },
  ["source", "photo_cover_index", "photo_images"],
);

/** The fields of users and videos, and the permission that each wants. */
export const USER_FIELDS: Readonly<Record<string, string>> = {
  open_id: "user.info.basic",
  union_id: "user.info.basic",
  avatar_url: "user.info.basic",
  display_name: "user.info.basic",
  username: "user.info.profile",
  profile_deep_link: "user.info.profile",
  follower_count: "user.info.stats",
  following_count: "user.info.stats",
  likes_count: "user.info.stats",
  video_count: "user.info.stats",
};

export const VIDEO_FIELDS: readonly string[] = [
  "id",
  "title",
  "video_description",
  "create_time",
  "share_url",
  "duration",
  "view_count",
  "like_count",
  "comment_count",
  "share_count",
];

export interface Endpoint {
  readonly method: "GET" | "POST";
  /** Any of them will do. */
  readonly scopes: readonly string[];
  /** Null: there is no body. */
  readonly body: ValidateFunction | null;
  readonly perMinute: number;
}

const ajv = new Ajv({ allErrors: true });
const post = (scopes: readonly string[], perMinute: number, schema: object | null): Endpoint => ({
  method: "POST",
  scopes,
  perMinute,
  body: schema === null ? null : ajv.compile(schema),
});

const PUBLISH = ["video.publish"];
const EITHER = ["video.publish", "video.upload"];

export const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  "/v2/post/publish/creator_info/query/": post(PUBLISH, 20, null),
  "/v2/post/publish/video/init/": post(
    PUBLISH,
    6,
    object({ post_info: VIDEO_INFO, source_info: FILE }, ["post_info", "source_info"]),
  ),
  "/v2/post/publish/inbox/video/init/": post(
    ["video.upload"],
    6,
    object({ source_info: FILE }, ["source_info"]),
  ),
  "/v2/post/publish/content/init/": post(
    EITHER,
    6,
    object(
      {
        media_type: { const: "PHOTO" },
        post_mode: { enum: ["DIRECT_POST", "MEDIA_UPLOAD"] },
        post_info: PHOTO_INFO,
        source_info: PHOTOS,
      },
      ["media_type", "post_mode", "post_info", "source_info"],
    ),
  ),
  "/v2/post/publish/status/fetch/": post(EITHER, 30, object({ publish_id: text(64) }, ["publish_id"])),
  "/v2/video/query/": post(
    ["video.list"],
    600,
    object(
      {
        filters: object(
          { video_ids: { type: "array", maxItems: 20, items: { type: "string", pattern: "^\\d+$" } } },
          ["video_ids"],
        ),
      },
      ["filters"],
    ),
  ),
  "/v2/video/list/": post(
    ["video.list"],
    600,
    object({ max_count: { type: "integer", minimum: 1, maximum: 20 }, cursor: { type: "integer" } }, []),
  ),
  "/v2/user/info/": { method: "GET", scopes: ["user.info.basic"], perMinute: 600, body: null },
};
