import type { AcceptedMedia, StatedCapabilities } from "../../domain/accounts/capabilities.ts";
import { DAY, MINUTE } from "../../domain/time.ts";
import { definePlatform } from "../../ports/platform.ts";
import { TIKTOK_API } from "./api.ts";
import { checkPost, CONSENT, inspect, limitsOf, listPrivacyLevels, preview } from "./connect.ts";
import {
  MAX_PHOTO_CAPTION,
  MAX_PHOTOS,
  MAX_VIDEO_CAPTION,
  permissionsOf,
  TikTokMetadata,
} from "./metadata.ts";
import { ACCOUNT_METRICS, analytics, insights } from "./live.ts";
import { PHOTO_LIMITS, publish } from "./publish.ts";

/** What the API takes at most; how much of it an account may post, TikTok tells of each. */
const MAX_SECONDS = 600;

const VIDEO: AcceptedMedia = {
  kind: "video",
  mimeTypes: ["video/mp4", "video/webm", "video/quicktime"],
  maxBytes: 4_000_000_000,
  minSeconds: 3,
  minWidth: 360,
  minHeight: 360,
  maxWidth: 4_096,
  maxHeight: 4_096,
  minFramesPerSecond: 23,
  maxFramesPerSecond: 60,
  videoCodecs: ["avc", "hevc", "vp8", "vp9"],
  maxSeconds: MAX_SECONDS,
  maxItems: 1,
};

const CAPABILITIES = {
  media: {
    required: true,
    maxItems: MAX_PHOTOS,
    accepts: [{ kind: "image", ...PHOTO_LIMITS, maxItems: MAX_PHOTOS, animated: false }, VIDEO],
  },
  caption: { maxLength: MAX_VIDEO_CAPTION, unit: "utf16" },
  analytics: { account: [...ACCOUNT_METRICS], post: ["views", "likes", "comments", "shares"] },
  reconciles: "session",
  fetchesMedia: ["image"],
  fetchesFrom: "ours",
  quotas: [
    { name: "posts a day", max: 15, perMinutes: DAY / MINUTE, from: "rolling", scope: "account" },
    { name: "posts a minute", max: 6, perMinutes: 1, from: "rolling", scope: "account" },
  ],
} satisfies StatedCapabilities;

export default definePlatform({
  name: "tiktok",
  title: "TikTok",
  aliases: ["tik tok"],
  docs: "https://developers.tiktok.com/doc/content-posting-api-get-started",
  baseUrl: TIKTOK_API,
  capabilities: CAPABILITIES,
  capabilitiesOf(account, post) {
    const { media, caption } = CAPABILITIES;
    const maxSeconds = limitsOf(account).maxSeconds ?? MAX_SECONDS;
    const may = permissionsOf(account);
    const { analytics: numbers } = CAPABILITIES;
    const isAlbum = (post?.metadata.moreMedia ?? []).length > 0;
    const accepts = media.accepts.map((one) => (one.kind === "video" ? { ...VIDEO, maxSeconds } : one));
    return {
      ...CAPABILITIES,
      media: { ...media, accepts },
      analytics: {
        account: may("user.info.stats") ? numbers.account : [],
        post: may("video.list") ? numbers.post : [],
      },
      // Photos have more room for text than a video.
      caption: isAlbum ? { ...caption, maxLength: MAX_PHOTO_CAPTION } : caption,
    };
  },
  metadata: TikTokMetadata,
  connect: [CONSENT],
  choices: { privacyLevel: listPrivacyLevels },
  check: checkPost,
  preview,
  inspect,
  publish,
  insights,
  analytics,
});
