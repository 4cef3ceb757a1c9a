import type { PlatformSetting } from "../../domain/accounts/platform-settings.ts";
import { definePlatform } from "../../ports/platform.ts";
import { ACCOUNT_METRICS, analytics } from "./app-view.ts";
import { connect, INSTRUCTIONS, SECRET_FIELDS } from "./connect.ts";
import { edit, insights, remove } from "./live.ts";
import { IMAGE_LIMITS } from "./media.ts";
import { BlueskyMetadata, MAX_IMAGES, MAX_TEXT_GRAPHEMES } from "./metadata.ts";
import { checkPost } from "./parts.ts";
import { publish } from "./publish.ts";
import { refresh } from "./session.ts";

const MB = 1_000_000;

const address = { kind: "address", isRequired: false } as const;

const SETTINGS: readonly PlatformSetting[] = [
  {
    ...address,
    name: "BASE_URL",
    meaning: "A gateway that stands for every server of the network",
    default: "the server of the account",
  },
  {
    ...address,
    name: "APPVIEW_URL",
    meaning: "Where numbers of posts are asked for",
    default: "https://public.api.bsky.app",
  },
  { ...address, name: "VIDEO_URL", meaning: "Where videos are sent", default: "https://video.bsky.app" },
  { ...address, name: "WEB_URL", meaning: "Where people look at posts", default: "https://bsky.app" },
];

export default definePlatform({
  name: "bluesky",
  title: "Bluesky",
  docs: "https://docs.bsky.app/docs/advanced-guides/posts",
  capabilities: {
    media: {
      required: false,
      maxItems: MAX_IMAGES,
      accepts: [
        // Its apps show the first frame alone.
        { kind: "image", ...IMAGE_LIMITS, maxItems: MAX_IMAGES, animated: false },
        // https://github.com/bluesky-social/atproto/blob/main/lexicons/app/bsky/embed/video.json
        { kind: "video", mimeTypes: ["video/mp4"], maxBytes: 300 * MB, maxSeconds: 600, maxItems: 1 },
      ],
    },
    caption: { maxLength: MAX_TEXT_GRAPHEMES, unit: "graphemes" },
    // Media go ahead, as blobs that no record names.
    scheduling: "prepare",
    // Only media can be sent ahead, and servers keep what no record names for some minutes only.
    leadMinutes: { min: 0, default: 0, max: 15 },
    thumbnail: { set: true, replaceAfterPublish: false },
    editPublished: {
      fields: [
        "caption",
        "altText",
        "tags",
        "language",
        "langs",
        "sensitive",
        "contentLabel",
        "replyRules",
        "allowQuotes",
        "allowEdit",
      ],
    },
    analytics: { account: [...ACCOUNT_METRICS], post: ["likes", "comments", "shares", "saves"] },
    reconciles: "client_key",
    fetchesMedia: [],
    quotas: [],
  },
  metadata: BlueskyMetadata,
  settings: SETTINGS,
  connect: [
    {
      kind: "secrets",
      name: "appPassword",
      label: "App password",
      fields: SECRET_FIELDS,
      instructions: INSTRUCTIONS,
      // A refresh token that is used up costs nothing: the app password begins another session.
      renewal: { beforeMs: 0, isSingleUse: false, renew: refresh },
      connect,
    },
  ],
  check: checkPost,
  publish,
  edit,
  insights,
  analytics,
  remove,
});
