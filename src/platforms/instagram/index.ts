import type { StatedCapabilities } from "../../domain/accounts/capabilities.ts";
import type { PlatformSetting } from "../../domain/accounts/platform-settings.ts";
import { DAY, MINUTE } from "../../domain/time.ts";
import { definePlatform } from "../../ports/platform.ts";
import type { PlatformAccount } from "../../ports/platform-io.ts";
import { INSTAGRAM_HOST, isOfPage } from "./api.ts";
import { facebookLogin, facebookLoginWithMore, instagramLogin } from "./connect.ts";
import { ACCOUNT_METRICS, analytics, insights, inspect, remove } from "./live.ts";
import { IMAGE, publish, REEL, STORY_FILM, STORY_IMAGE } from "./publish.ts";
import {
  checkPost,
  GATED,
  InstagramMetadata,
  MAX_CAPTION,
  MAX_ITEMS,
  type InstagramPost,
} from "./metadata.ts";
import { VERSION_SETTING } from "../shared/meta/graph.ts";

const SETTINGS: readonly PlatformSetting[] = [VERSION_SETTING];

const CAPABILITIES = {
  media: { required: true, maxItems: MAX_ITEMS, accepts: [IMAGE, REEL] },
  caption: { maxLength: MAX_CAPTION, unit: "characters" },
  scheduling: "prepare",
  // A container is forgotten after 24 hours.
  leadMinutes: { min: 0, default: 15, max: 23 * 60 },
  thumbnail: { set: true, replaceAfterPublish: false },
  analytics: {
    account: ACCOUNT_METRICS,
    post: ["views", "reach", "likes", "comments", "shares", "saves"],
  },
  reconciles: "container",
  fetchesMedia: ["image", "video"],
  quotas: [{ name: "posts", max: 100, perMinutes: DAY / MINUTE, from: "rolling", scope: "account" }],
} satisfies StatedCapabilities;

/** Through a Page films are sent where they cannot be fetched, and live posts are deleted. */
const OF_PAGE = { ...CAPABILITIES, fetchesMedia: ["image"] } satisfies StatedCapabilities;
const OF_ITSELF = { ...CAPABILITIES, removes: false } satisfies StatedCapabilities;

function capabilitiesOf(account: PlatformAccount, post: InstagramPost | null): StatedCapabilities {
  const all = isOfPage({ account }) ? OF_PAGE : OF_ITSELF;
  const perDay = account.limits["postsPerDay"];
  const quotas = all.quotas.map((quota) => (typeof perDay === "number" ? { ...quota, max: perDay } : quota));
  if (post?.metadata.story !== true) return { ...all, quotas };
  const media = { required: true, maxItems: 1, accepts: [STORY_IMAGE, STORY_FILM] };
  return { ...all, media, quotas };
}

const STORY = "A story: Instagram shows it without a text, for a day.";

export default definePlatform({
  name: "instagram",
  title: "Instagram",
  aliases: ["insta", "ig", "meta"],
  docs: "https://developers.facebook.com/docs/instagram-platform/content-publishing",
  baseUrl: INSTAGRAM_HOST,
  capabilities: CAPABILITIES,
  capabilitiesOf,
  metadata: InstagramMetadata,
  settings: SETTINGS,
  gated: GATED,
  connect: [instagramLogin, facebookLogin, facebookLoginWithMore],
  check: checkPost,
  preview: ({ metadata }) => (metadata.story === true ? { body: null, note: STORY } : {}),
  inspect,
  publish,
  insights,
  analytics,
  remove,
});
