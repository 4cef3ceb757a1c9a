import type { PlatformCapabilities } from "../../domain/accounts/capabilities.ts";
import { DAY, MINUTE } from "../../domain/time.ts";
import { definePlatform } from "../../ports/platform.ts";
import { THREADS_HOST } from "./api.ts";
import { threadsLogin } from "./connect.ts";
import { ACCOUNT_METRICS, analytics, insights, inspect, remove } from "./live.ts";
import { checkPost, MAX_ITEMS, ThreadsMetadata } from "./metadata.ts";
import { IMAGE, publish } from "./publish.ts";
import { MAX_TEXT, measure } from "./text.ts";

const CAPABILITIES: PlatformCapabilities = {
  media: {
    required: false,
    maxItems: MAX_ITEMS,
    accepts: [
      IMAGE,
      {
        kind: "video",
        mimeTypes: ["video/mp4", "video/quicktime"],
        videoCodecs: ["avc", "hevc"],
        audioCodecs: ["aac"],
        maxBytes: 1_000_000_000,
        maxSeconds: 5 * 60,
        maxItems: MAX_ITEMS,
      },
    ],
  },
  caption: { maxLength: MAX_TEXT, unit: "weighted" },
  scheduling: "prepare",
  // A container is forgotten after 24 hours.
  leadMinutes: { min: 0, default: 10, max: 23 * 60 },
  thumbnail: { set: false, replaceAfterPublish: false },
  editPublished: { fields: [] },
  analytics: { account: ACCOUNT_METRICS, post: ["views", "likes", "comments", "shares"] },
  reconciles: "container",
  fetchesMedia: ["image", "video"],
  quotas: [{ name: "posts", max: 250, perMinutes: DAY / MINUTE, from: "rolling", scope: "account" }],
};

export default definePlatform({
  name: "threads",
  title: "Threads",
  docs: "https://developers.facebook.com/docs/threads/posts",
  capabilities: CAPABILITIES,
  capabilitiesOf({ limits }) {
    const perDay = limits["postsPerDay"];
    if (typeof perDay !== "number") return CAPABILITIES;
    return { ...CAPABILITIES, quotas: CAPABILITIES.quotas.map((quota) => ({ ...quota, max: perDay })) };
  },
  metadata: ThreadsMetadata,
  settings: [
    {
      name: "BASE_URL",
      meaning: "Where requests are sent, without the version",
      kind: "address",
      default: THREADS_HOST,
      isRequired: false,
    },
  ],
  connect: [threadsLogin],
  measure,
  check: checkPost,
  inspect,
  publish,
  insights,
  analytics,
  remove,
});
