import type { PlatformCapabilities } from "../../domain/accounts/capabilities.ts";
import { definePlatform } from "../../ports/platform.ts";
import { ACCEPTED } from "../shared/media/accepted.ts";
import { GOOGLE_CONSENT } from "../shared/google.ts";
import { ACCOUNT_METRICS, analytics } from "./analytics.ts";
import { CHOICES, inspect, targets } from "./channel.ts";
import { checkPost } from "./check.ts";
import { EDITABLE, edit, insights, remove, setThumbnail } from "./live.ts";
import { MAX_DESCRIPTION_BYTES, visibilityOf, YoutubeMetadata } from "./metadata.ts";
import { publish } from "./publish.ts";
import { GUIDE, QUOTAS, SCOPES, SETTINGS } from "./setup.ts";

/** https://support.google.com/youtube/answer/71673 */
const FILM = { kind: "video", mimeTypes: ACCEPTED.video, maxBytes: 256 * 1024 ** 3, maxItems: 1 } as const;
const MAX_SECONDS = 12 * 60 * 60;
const MAX_SECONDS_UNVERIFIED = 15 * 60;

const CAPABILITIES: PlatformCapabilities = {
  media: { required: true, maxItems: 1, accepts: [{ ...FILM, maxSeconds: MAX_SECONDS }] },
  caption: { maxLength: MAX_DESCRIPTION_BYTES, unit: "bytes" },
  scheduling: "platform",
  // Processing takes minutes, and hours for films in 4K.
  leadMinutes: { min: 0, default: 60, max: 7 * 24 * 60 },
  thumbnail: { set: true, replaceAfterPublish: true },
  editPublished: { fields: EDITABLE },
  analytics: { account: ACCOUNT_METRICS, post: ["views", "likes", "comments"] },
  reconciles: "session",
  fetchesMedia: [],
  quotas: QUOTAS,
};

export default definePlatform({
  name: "youtube",
  title: "YouTube",
  aliases: ["yt"],
  docs: "https://developers.google.com/youtube/v3/docs",
  capabilities: CAPABILITIES,
  capabilitiesOf({ limits }, post) {
    const isVerified = !["eligible", "disallowed"].includes(String(limits["longUploads"]));
    const maxSeconds = isVerified ? MAX_SECONDS : MAX_SECONDS_UNVERIFIED;
    const media = { ...CAPABILITIES.media, accepts: [{ ...FILM, maxSeconds }] };
    // YouTube makes videos public by itself, and nothing else.
    const isFlipped = post === null || visibilityOf(post) === "public";
    return { ...CAPABILITIES, media, scheduling: isFlipped ? "platform" : "ours" };
  },
  metadata: YoutubeMetadata,
  settings: SETTINGS,
  connect: [
    {
      ...GOOGLE_CONSENT,
      kind: "oauth",
      name: "oauth",
      label: "Sign in with Google",
      instructions:
        "Sign in to Google, choose the channel, and leave all permissions ticked. Each consent is for one channel.",
      setup: GUIDE,
      scopes: SCOPES,
      neededScopes: SCOPES.slice(0, 1),
      targets,
    },
  ],
  choices: CHOICES,
  check: checkPost,
  inspect,
  publish,
  edit,
  setThumbnail,
  insights,
  analytics,
  remove,
});
