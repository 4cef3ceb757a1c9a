import { definePlatform } from "../../ports/platform.ts";
import { ACCOUNT_METRICS, analytics } from "./analytics.ts";
import { SETTINGS } from "./api.ts";
import { inspect, WAYS } from "./connect.ts";
import { edit, insights, remove } from "./live.ts";
import { BusinessMetadata, checkPost, EDITABLE, MAX_SUMMARY } from "./metadata.ts";
import { IMAGE, publish } from "./publish.ts";

export default definePlatform({
  name: "google_business",
  title: "Google Business Profile",
  aliases: ["google my business", "gmb"],
  docs: "https://developers.google.com/my-business/content/posts-data",
  capabilities: {
    media: { required: false, maxItems: 1, accepts: [IMAGE] },
    caption: { maxLength: MAX_SUMMARY, unit: "characters" },
    scheduling: "platform",
    // Google looks at posts when it gets them, and a refusal is told while there is time.
    leadMinutes: { min: 0, default: 60, max: 7 * 24 * 60 },
    thumbnail: { set: false, replaceAfterPublish: false },
    editPublished: { fields: EDITABLE },
    analytics: { account: ACCOUNT_METRICS, post: [] },
    reconciles: "list",
    fetchesMedia: ["image"],
    quotas: [{ name: "changes", max: 10, perMinutes: 1, from: "rolling", scope: "account" }],
  },
  metadata: BusinessMetadata,
  settings: SETTINGS,
  connect: WAYS,
  check: checkPost,
  inspect,
  publish,
  edit,
  insights,
  analytics,
  remove,
});
