import type { PlatformCapabilities } from "../../domain/accounts/capabilities.ts";
import { DAY, HOUR, MINUTE } from "../../domain/time.ts";
import { definePlatform } from "../../ports/platform.ts";
import { oauth, SETTINGS } from "./connect.ts";
import { setThumbnail } from "./follow-ups.ts";
import { edit, insights, remove } from "./live.ts";
import { checkPost, FacebookMetadata, MAX_PHOTOS, MAX_TEXT, type FacebookPost } from "./metadata.ts";
import { analytics, inspect, PAGE_METRICS } from "./page.ts";
import { IMAGES } from "./photos.ts";
import { publish } from "./publish.ts";
import { FILMS } from "./upload.ts";

const CAPABILITIES: PlatformCapabilities = {
  media: { required: false, maxItems: MAX_PHOTOS, accepts: [IMAGES, FILMS] },
  caption: { maxLength: MAX_TEXT, unit: "characters" },
  scheduling: "platform",
  // Its own schedule ends at 30 days, and at 29 for reels. Below ten minutes nothing is made public ahead.
  leadMinutes: { min: 0, default: 0, max: (28 * DAY) / MINUTE },
  thumbnail: { set: true, replaceAfterPublish: true },
  editPublished: { fields: ["caption", "title"] },
  analytics: {
    account: [...PAGE_METRICS],
    post: ["views", "reach", "likes", "comments", "shares", "clicks"],
  },
  reconciles: "list",
  fetchesMedia: [],
  quotas: [{ name: "reels", max: 30, perMinutes: (24 * HOUR) / MINUTE, from: "rolling", scope: "account" }],
};

/** As far as a post tells without its media being looked at. */
function mayBeReel({ mediaUrl, metadata }: FacebookPost): boolean {
  if (metadata.kind !== undefined) return metadata.kind === "reel";
  return /\.(mp4|mov)([?#]|$)/i.test(mediaUrl);
}

export default definePlatform({
  name: "facebook",
  title: "Facebook",
  aliases: ["fb", "meta"],
  docs: "https://developers.facebook.com/documentation/pages-api/posts",
  capabilities: CAPABILITIES,
  capabilitiesOf: (_account, post) =>
    post === null || mayBeReel(post) ? CAPABILITIES : { ...CAPABILITIES, quotas: [] },
  metadata: FacebookMetadata,
  settings: SETTINGS,
  connect: [oauth],
  check: checkPost,
  inspect,
  publish,
  edit,
  setThumbnail,
  insights,
  analytics,
  remove,
});
