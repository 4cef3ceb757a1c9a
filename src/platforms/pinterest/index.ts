import { definePlatform } from "../../ports/platform.ts";
import { boards, sections } from "./boards.ts";
import { ACCOUNT_METRICS, analytics, edit, insights, inspect, remove } from "./live.ts";
import { consent } from "./connect.ts";
import { check, MAX_DESCRIPTION_CHARS, MAX_PICTURES, PinterestMetadata } from "./metadata.ts";
import { IMAGE_LIMITS, publish } from "./publish.ts";

const GB = 1_000_000_000;

export default definePlatform({
  name: "pinterest",
  title: "Pinterest",
  docs: "https://developers.pinterest.com/docs/api/v5/pins-create",
  baseUrl: "https://api.pinterest.com",
  capabilities: {
    media: {
      required: true,
      maxItems: MAX_PICTURES,
      accepts: [
        { kind: "image", ...IMAGE_LIMITS, maxItems: MAX_PICTURES },
        {
          kind: "video",
          mimeTypes: ["video/mp4", "video/quicktime"],
          maxBytes: 2 * GB,
          maxSeconds: 900,
          minSeconds: 4,
          maxItems: 1,
        },
      ],
    },
    caption: { maxLength: MAX_DESCRIPTION_CHARS, unit: "characters" },
    // Films are sent and processed ahead.
    scheduling: "prepare",
    leadMinutes: { min: 0, default: 10, max: 120 },
    thumbnail: { set: true, replaceAfterPublish: false },
    editPublished: { fields: ["caption", "title", "link", "altText", "boardId", "board", "boardSection"] },
    analytics: {
      account: [...ACCOUNT_METRICS],
      post: ["impressions", "clicks", "saves", "likes", "comments"],
    },
    reconciles: "list",
    fetchesMedia: [],
    quotas: [],
  },
  metadata: PinterestMetadata,
  connect: [consent],
  choices: { boardId: boards, boardSection: sections },
  check,
  inspect,
  publish,
  edit,
  insights,
  // Apps of the trial tier have 1,000 requests a day.
  results: { perMinute: 5 },
  analytics,
  remove,
});
