import { DAY, MINUTE } from "../../domain/time.ts";
import { definePlatform } from "../../ports/platform.ts";
import { shownAs } from "../shared/shown.ts";
import { TUMBLR_API, TUMBLR_ZONE } from "./api.ts";
import { consent } from "./connect.ts";
import { analytics, edit, insights, inspect, remove } from "./live.ts";
import { ACCEPTS, publish } from "./publish.ts";
import { check, MAX_ITEMS, TumblrMetadata } from "./metadata.ts";

export default definePlatform({
  name: "tumblr",
  title: "Tumblr",
  docs: "https://www.tumblr.com/docs/en/api/v2",
  baseUrl: TUMBLR_API,
  capabilities: {
    media: { required: false, maxItems: MAX_ITEMS, accepts: ACCEPTS },
    // A thousand blocks of 4,096.
    caption: { maxLength: 100_000, unit: "characters" },
    scheduling: "platform",
    leadMinutes: { min: 0, default: 30, max: (7 * DAY) / MINUTE },
    editPublished: { fields: ["caption", "format", "title", "tags", "link", "altText", "allowReblogs"] },
    analytics: { account: ["followers"], post: ["likes", "shares"] },
    reconciles: "client_key",
    quotas: [{ name: "posts a day", max: 250, perMinutes: 1_440, from: TUMBLR_ZONE, scope: "account" }],
  },
  metadata: TumblrMetadata,
  connect: [consent],
  check,
  preview: ({ metadata: { format } }) => shownAs(format),
  inspect,
  publish,
  edit,
  insights,
  analytics,
  remove,
});
