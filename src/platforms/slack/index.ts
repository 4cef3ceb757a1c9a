import { definePlatform } from "../../ports/platform.ts";
import { ACCEPTED } from "../shared/media.ts";
import { connect, consent, FIELDS, INSTRUCTIONS, MANIFEST, STEPS } from "./connect.ts";
import { edit, insights, inspect, remove } from "./live.ts";
import { check, MAX_FILES, MAX_TEXT_CHARS, SlackMetadata } from "./metadata.ts";
import { IMAGE_LIMITS, publish } from "./publish.ts";

const GB = 1_000_000_000;

export default definePlatform({
  name: "slack",
  title: "Slack",
  docs: "https://docs.slack.dev/reference/methods/chat.postMessage",
  baseUrl: "https://slack.com/api",
  capabilities: {
    media: {
      required: false,
      maxItems: MAX_FILES,
      accepts: [
        { kind: "image", ...IMAGE_LIMITS, maxItems: MAX_FILES },
        { kind: "video", mimeTypes: ACCEPTED.video, maxBytes: GB, maxItems: MAX_FILES },
        { kind: "audio", mimeTypes: ACCEPTED.audio, maxBytes: GB, maxItems: MAX_FILES },
      ],
    },
    caption: { maxLength: MAX_TEXT_CHARS, unit: "characters" },
    // Slack's own schedule takes no files, and loses what a message is found again by.
    scheduling: "none",
    leadMinutes: { min: 0, default: 0, max: 0 },
    thumbnail: { set: false, replaceAfterPublish: false },
    editPublished: { fields: ["caption"] },
    analytics: { account: [], post: ["likes", "comments"] },
    reconciles: "list",
    fetchesMedia: [],
    quotas: [],
  },
  metadata: SlackMetadata,
  connect: [
    {
      kind: "secrets",
      name: "bot",
      label: "Bot token",
      fields: FIELDS,
      instructions: INSTRUCTIONS,
      steps: STEPS,
      toCopy: MANIFEST,
      renewal: null,
      connect,
    },
    consent,
  ],
  check,
  inspect,
  publish,
  edit,
  insights,
  remove,
});
