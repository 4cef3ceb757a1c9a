import type { StatedCapabilities } from "../../domain/accounts/capabilities.ts";
import { definePlatform } from "../../ports/platform.ts";
import { analytics, CHOICES, inspect, PASSWORD } from "./connect.ts";
import { edit, insights, remove, setThumbnail } from "./live.ts";
import { checkPost, EDITABLE, MAX_DESCRIPTION, PeertubeMetadata, visibilityOf } from "./metadata.ts";
import { EXTENSIONS, publish } from "./publish.ts";
import { KIND } from "./api.ts";
import { ACCEPTED } from "../shared/media.ts";

const FILM = { kind: "video", mimeTypes: ACCEPTED.video, maxItems: 1 } as const;

const CAPABILITIES: StatedCapabilities = {
  media: { required: true, maxItems: 1, accepts: [FILM] },
  caption: { maxLength: MAX_DESCRIPTION, unit: "characters" },
  scheduling: "platform",
  // Transcoding takes as long as the server has to do.
  leadMinutes: { min: 0, default: 60, max: 7 * 24 * 60 },
  thumbnail: { set: true, replaceAfterPublish: true },
  editPublished: { fields: [...Object.keys(EDITABLE), "visibility"] },
  analytics: { account: ["followers", "views"], post: ["views", "likes", "comments"] },
  reconciles: "session",
};

export default definePlatform({
  name: "peertube",
  title: KIND.title,
  docs: "https://docs.joinpeertube.org/api-rest-reference.html",
  capabilities: CAPABILITIES,
  capabilitiesOf({ limits }, post) {
    const { extensions, maxBytes } = limits;
    const taken = Array.isArray(extensions) ? extensions : [];
    const types = FILM.mimeTypes.filter((type) => taken.includes(EXTENSIONS[type] ?? ""));
    const film = {
      ...FILM,
      ...(types.length === 0 ? {} : { mimeTypes: types }),
      ...(typeof maxBytes === "number" && maxBytes > 0 ? { maxBytes } : {}),
    };
    const isFlipped = post === null || visibilityOf(post) !== "private";
    const media = { ...CAPABILITIES.media, accepts: [film] };
    return { ...CAPABILITIES, media, scheduling: isFlipped ? "platform" : "ours" };
  },
  metadata: PeertubeMetadata,
  connect: [PASSWORD],
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
