import { definePlatform } from "../../ports/platform.ts";
import { API, TOKEN_URL } from "./api.ts";
import { inspect, KEY } from "./connect.ts";
import { edit, insights, remove } from "./live.ts";
import { categories, checkPost, DailymotionMetadata, EDITABLE, MAX_DESCRIPTION, toHtml } from "./metadata.ts";
import { publish } from "./publish.ts";
import { ACCEPTED } from "../shared/media.ts";
import { addressSetting } from "../../ports/platform-setup.ts";

export default definePlatform({
  name: "dailymotion",
  title: "Dailymotion",
  docs: "https://developers.dailymotion.com/v2/docs/upload-videos",
  capabilities: {
    media: {
      required: true,
      maxItems: 1,
      // Of most plans; which one a channel has is not told: https://developers.dailymotion.com/v2/reference/rate-limiting
      accepts: [
        { kind: "video", mimeTypes: ACCEPTED.video, maxBytes: 4_000_000_000, maxSeconds: 7_200, maxItems: 1 },
      ],
    },
    caption: { maxLength: MAX_DESCRIPTION, unit: "characters" },
    scheduling: "ours",
    leadMinutes: { min: 0, default: 60, max: 7 * 24 * 60 },
    editPublished: { fields: EDITABLE },
    reconciles: "list",
    quotas: [{ name: "videos", max: 15, perMinutes: 24 * 60, from: "rolling", scope: "account" }],
  },
  metadata: DailymotionMetadata,
  baseUrl: API,
  settings: [addressSetting("TOKEN_URL", "Where tokens are got", TOKEN_URL)],
  connect: [KEY],
  choices: { category: categories },
  check: checkPost,
  preview: () => ({ counted: (text) => [toHtml(text)] }),
  inspect,
  publish,
  edit,
  insights,
  remove,
});
