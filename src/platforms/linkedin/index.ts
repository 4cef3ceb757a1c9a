import type { PlatformCapabilities } from "../../domain/accounts/capabilities.ts";
import { definePlatform } from "../../ports/platform.ts";
import { LINKEDIN_API, VERSION_MONTHS_AGO } from "./api.ts";
import { WAYS } from "./connect.ts";
import { inspect } from "./inspect.ts";
import { edit, remove } from "./live.ts";
import { IMAGE_LIMITS } from "./media.ts";
import { checkPost, hasMedia, isPage, LinkedInMetadata, MAX_IMAGES, MAX_TEXT } from "./metadata.ts";
import { analytics, insights, PAGE_METRICS, postMetricsOf } from "./numbers.ts";
import { publish } from "./publish.ts";

/** LinkedIn works on a picture for some seconds, and on a film for a minute or more. */
const LEAD_MINUTES = 3;

const CAPABILITIES: PlatformCapabilities = {
  media: {
    required: false,
    maxItems: MAX_IMAGES,
    accepts: [
      { kind: "image", ...IMAGE_LIMITS, maxItems: MAX_IMAGES },
      {
        kind: "video",
        mimeTypes: ["video/mp4"],
        maxBytes: 500_000_000,
        minSeconds: 3,
        maxSeconds: 1_800,
        maxItems: 1,
      },
    ],
  },
  caption: { maxLength: MAX_TEXT, unit: "characters" },
  // Media go ahead, which nobody sees before a post names them.
  scheduling: "prepare",
  leadMinutes: { min: 0, default: 0, max: 60 },
  thumbnail: { set: true, replaceAfterPublish: false },
  editPublished: { fields: ["caption"] },
  analytics: {
    account: [...PAGE_METRICS],
    post: ["impressions", "reach", "clicks", "likes", "comments", "shares"],
  },
  reconciles: "list",
  fetchesMedia: [],
  quotas: [{ name: "posts a day", max: 150, perMinutes: 1_440, from: "UTC", scope: "account" }],
};

export default definePlatform({
  name: "linkedin",
  title: "LinkedIn",
  docs: "https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/posts-api",
  capabilities: CAPABILITIES,
  capabilitiesOf: (account, post) => ({
    ...CAPABILITIES,
    leadMinutes: { ...CAPABILITIES.leadMinutes, default: post !== null && hasMedia(post) ? LEAD_MINUTES : 0 },
    analytics: {
      account: isPage(account) ? CAPABILITIES.analytics.account : [],
      post: [...postMetricsOf(account)],
    },
  }),
  metadata: LinkedInMetadata,
  settings: [
    {
      name: "BASE_URL",
      meaning: "Where LinkedIn's API is asked",
      kind: "address",
      default: LINKEDIN_API,
      isRequired: false,
    },
    {
      name: "API_VERSION",
      meaning: `Version of the API, as YYYYMM. Default: the one from ${VERSION_MONTHS_AGO[0]} months ago`,
      kind: "text",
      default: null,
      isRequired: false,
    },
  ],
  connect: WAYS,
  check: checkPost,
  inspect,
  publish,
  edit,
  insights,
  analytics,
  remove,
});
