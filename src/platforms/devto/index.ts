import { DAY, MINUTE } from "../../domain/time.ts";
import { definePlatform } from "../../ports/platform.ts";
import { KEY } from "./connect.ts";
import { edit, EDITABLE_FIELDS, insights, inspect, remove, setThumbnail } from "./live.ts";
import { check, DevtoMetadata } from "./metadata.ts";
import { IMAGE_LIMITS, publish } from "./publish.ts";

const MAX_PICTURES = 21;

/** DEV, and other communities that run Forem. */
export default definePlatform({
  name: "devto",
  title: "DEV",
  docs: "https://developers.forem.com/api/v1",
  capabilities: {
    media: {
      required: false,
      maxItems: MAX_PICTURES,
      accepts: [{ kind: "image", ...IMAGE_LIMITS, maxItems: MAX_PICTURES }],
    },
    caption: { maxLength: 100_000, unit: "characters" },
    scheduling: "ours",
    leadMinutes: { min: 0, default: 0, max: (365 * DAY) / MINUTE },
    thumbnail: { set: true, replaceAfterPublish: true },
    editPublished: { fields: EDITABLE_FIELDS },
    analytics: { account: [], post: ["views", "likes", "comments"] },
    reconciles: "list",
    fetchesMedia: ["image"],
    quotas: [],
  },
  metadata: DevtoMetadata,
  settings: [
    {
      name: "BASE_URL",
      meaning: "Where the API of DEV, or of another Forem, is",
      kind: "address",
      default: "https://dev.to/api",
      isRequired: false,
    },
  ],
  connect: [KEY],
  check,
  inspect,
  publish,
  edit,
  setThumbnail,
  insights,
  remove,
});
