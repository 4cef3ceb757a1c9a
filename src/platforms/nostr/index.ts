import type { PlatformCapabilities } from "../../domain/accounts/capabilities.ts";
import { definePlatform } from "../../ports/platform.ts";
import { ACCEPTED } from "../shared/media/accepted.ts";
import { inspect, NSEC } from "./connect.ts";
import { IMAGE_LIMITS } from "./files.ts";
import { edit, insights, remove } from "./live.ts";
import { check, formatOf, NostrMetadata } from "./metadata.ts";
import { publish } from "./publish.ts";

const MAX_ITEMS = 21;

const CAPABILITIES: PlatformCapabilities = {
  media: {
    required: false,
    maxItems: MAX_ITEMS,
    accepts: [
      { kind: "image", ...IMAGE_LIMITS, maxItems: MAX_ITEMS },
      // How much each file server takes, it tells when it is asked to.
      { kind: "video", mimeTypes: ACCEPTED.video, maxItems: MAX_ITEMS },
      { kind: "audio", mimeTypes: ACCEPTED.audio, maxItems: MAX_ITEMS },
    ],
  },
  caption: { maxLength: null, unit: "characters" },
  // Files go ahead; relays refuse what comes before its time, or show it.
  scheduling: "prepare",
  leadMinutes: { min: 0, default: 0, max: 60 },
  thumbnail: { set: true, replaceAfterPublish: false },
  // Of articles; nothing else can be changed.
  editPublished: {
    fields: ["caption", "title", "description", "tags", "language", "sensitive", "spoilerText"],
  },
  analytics: { account: [], post: ["likes", "comments", "shares"] },
  reconciles: "client_key",
  fetchesMedia: [],
  quotas: [],
};

const address = { kind: "address", isRequired: false } as const;

export default definePlatform({
  name: "nostr",
  title: "Nostr",
  docs: "https://github.com/nostr-protocol/nips",
  capabilities: CAPABILITIES,
  capabilitiesOf({ limits }, post) {
    const { caption, editPublished } = CAPABILITIES;
    const { maxLength } = limits;
    return {
      ...CAPABILITIES,
      caption: { ...caption, maxLength: typeof maxLength === "number" ? maxLength : null },
      editPublished: post === null || formatOf(post) === "article" ? editPublished : { fields: [] },
    };
  },
  metadata: NostrMetadata,
  settings: [
    {
      name: "RELAYS",
      meaning: "Relays for accounts that name none, separated by spaces",
      kind: "text",
      default: "wss://relay.damus.io wss://nos.lol wss://relay.primal.net",
      isRequired: false,
    },
    {
      ...address,
      name: "BLOSSOM_URL",
      meaning: "File server for media, where none of the account's own takes them",
      default: "https://blossom.primal.net",
    },
    { ...address, name: "WEB_URL", meaning: "Where people look at posts", default: "https://njump.me" },
  ],
  connect: [NSEC],
  check,
  inspect,
  publish,
  edit,
  insights,
  remove,
});
