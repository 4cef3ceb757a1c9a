import type { PlatformCapabilities } from "../../domain/accounts/capabilities.ts";
import { definePlatform } from "../../ports/platform.ts";
import { connect, inspect, INSTRUCTIONS, SECRET_FIELDS, STEPS } from "./connect.ts";
import { ACCOUNT_METRICS, analytics, edit, remove, setThumbnail } from "./live.ts";
import { DOCUMENTS, publish, SHOWN } from "./publish.ts";
import { checkPost, MAX_ITEMS, TelegramMetadata } from "./metadata.ts";

const CAPABILITIES: PlatformCapabilities = {
  media: { required: false, maxItems: MAX_ITEMS, accepts: SHOWN },
  // "After entities parsing", which counts offsets in UTF-16 units; the limit's own unit is not told.
  caption: { maxLength: 4_096, withMedia: 1_024, unit: "utf16" },
  // Messages can be scheduled by people's accounts alone.
  scheduling: "none",
  leadMinutes: { min: 0, default: 0, max: 0 },
  thumbnail: { set: true, replaceAfterPublish: true },
  editPublished: { fields: ["caption", "link", "linkPreview", "captionAbove"] },
  analytics: { account: [...ACCOUNT_METRICS], post: [] },
  reconciles: "blind",
  fetchesMedia: [],
  quotas: [],
};

export default definePlatform({
  name: "telegram",
  title: "Telegram",
  docs: "https://core.telegram.org/bots/api",
  baseUrl: "https://api.telegram.org",
  capabilities: CAPABILITIES,
  capabilitiesOf: (_account, post) =>
    post?.metadata.asDocument === true
      ? { ...CAPABILITIES, media: { ...CAPABILITIES.media, accepts: DOCUMENTS } }
      : CAPABILITIES,
  metadata: TelegramMetadata,
  connect: [
    {
      kind: "secrets",
      name: "bot",
      label: "Bot token",
      fields: SECRET_FIELDS,
      instructions: INSTRUCTIONS,
      steps: STEPS,
      renewal: null,
      connect,
    },
  ],
  check: checkPost,
  inspect,
  publish,
  edit,
  setThumbnail,
  analytics,
  remove,
});
