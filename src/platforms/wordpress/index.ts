import type { PlatformCapabilities } from "../../domain/accounts/capabilities.ts";
import { definePlatform } from "../../ports/platform.ts";
import { TITLE } from "./api.ts";
import { AUTHORIZE, inspect, PASSWORD } from "./connect.ts";
import { edit, EDITABLE, insights, remove, setThumbnail } from "./live.ts";
import { MEDIA, publish } from "./publish.ts";
import { checkPost, CHOICES, WordpressMetadata } from "./metadata.ts";

const CAPABILITIES: PlatformCapabilities = {
  media: { required: false, ...MEDIA },
  caption: { maxLength: null, unit: "characters" },
  scheduling: "platform",
  leadMinutes: { min: 0, default: 30, max: 365 * 24 * 60 },
  thumbnail: { set: true, replaceAfterPublish: true },
  editPublished: { fields: EDITABLE },
  analytics: { account: [], post: ["comments"] },
  reconciles: "client_key",
  fetchesMedia: [],
  quotas: [],
};

/** Sites of one's own, from WordPress 5.6 on. */
export default definePlatform({
  name: "wordpress",
  title: TITLE,
  docs: "https://developer.wordpress.org/rest-api/reference/posts/",
  capabilities: CAPABILITIES,
  metadata: WordpressMetadata,
  connect: [PASSWORD, AUTHORIZE],
  choices: CHOICES,
  check: checkPost,
  inspect,
  publish,
  edit,
  setThumbnail,
  insights,
  remove,
});
