import type { PlatformCapabilities } from "../../domain/accounts/capabilities.ts";
import { definePlatform } from "../../ports/platform.ts";
import { ACCEPTED } from "../shared/media/accepted.ts";
import { analytics, inspect, OAUTH, TOKEN } from "./connect.ts";
import { edit, insights, publish, remove, setThumbnail } from "./live.ts";
import { EDITABLE, MAX_DESCRIPTION, VimeoMetadata } from "./metadata.ts";

const CAPABILITIES: PlatformCapabilities = {
  media: {
    required: true,
    maxItems: 1,
    // https://help.vimeo.com/hc/en-us/articles/12426043233169
    accepts: [{ kind: "video", mimeTypes: ACCEPTED.video, maxBytes: 250 * 1024 ** 3, maxItems: 1 }],
  },
  caption: { maxLength: MAX_DESCRIPTION, unit: "characters" },
  scheduling: "ours",
  // Transcoding takes minutes, and longer for large films.
  leadMinutes: { min: 0, default: 60, max: 7 * 24 * 60 },
  thumbnail: { set: true, replaceAfterPublish: true },
  editPublished: { fields: EDITABLE },
  analytics: { account: ["followers"], post: ["views", "likes", "comments"] },
  reconciles: "session",
  fetchesMedia: [],
  quotas: [],
};

export default definePlatform({
  name: "vimeo",
  title: "Vimeo",
  docs: "https://developer.vimeo.com/api/reference",
  capabilities: CAPABILITIES,
  metadata: VimeoMetadata,
  settings: [
    {
      name: "BASE_URL",
      meaning: "Where the API is asked",
      kind: "address",
      default: "https://api.vimeo.com",
      isRequired: false,
    },
  ],
  connect: [OAUTH, TOKEN],
  inspect,
  publish,
  edit,
  setThumbnail,
  insights,
  analytics,
  remove,
});
