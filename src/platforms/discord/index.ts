import type { PlatformCapabilities } from "../../domain/accounts/capabilities.ts";
import { definePlatform } from "../../ports/platform.ts";
import {
  BOT_FIELDS,
  BOT_INSTRUCTIONS,
  BOT_STEPS,
  connectBot,
  connectWebhook,
  inspect,
  tagChoices,
  WEBHOOK_FIELDS,
  WEBHOOK_INSTRUCTIONS,
} from "./connect.ts";
import { ACCOUNT_METRICS, analytics, edit, insights, remove } from "./live.ts";
import { acceptedUpTo, publish } from "./publish.ts";
import {
  checkPost,
  DiscordMetadata,
  isWebhook,
  MAX_FILE_BYTES,
  MAX_FILES,
  maxBytesOf,
  measure,
} from "./metadata.ts";

const CAPABILITIES: PlatformCapabilities = {
  media: { required: false, maxItems: MAX_FILES, accepts: acceptedUpTo(MAX_FILE_BYTES) },
  // Of what is sent, with the escapes that keep the text as it was written.
  caption: { maxLength: 2_000, unit: "weighted" },
  scheduling: "none",
  leadMinutes: { min: 0, default: 0, max: 0 },
  thumbnail: { set: false, replaceAfterPublish: false },
  editPublished: { fields: ["caption"] },
  analytics: { account: [...ACCOUNT_METRICS], post: ["likes", "comments"] },
  // By its nonce for minutes, then in the channel's history.
  reconciles: "list",
  fetchesMedia: [],
  quotas: [],
};

export default definePlatform({
  name: "discord",
  title: "Discord",
  docs: "https://docs.discord.com/developers/resources/message",
  baseUrl: "https://discord.com/api/v10",
  capabilities: CAPABILITIES,
  capabilitiesOf: (account) => ({
    ...CAPABILITIES,
    media: { ...CAPABILITIES.media, accepts: acceptedUpTo(maxBytesOf(account)) },
    ...(isWebhook(account)
      ? { reconciles: "blind", analytics: { ...CAPABILITIES.analytics, account: [] } }
      : {}),
  }),
  metadata: DiscordMetadata,
  connect: [
    {
      kind: "secrets",
      name: "bot",
      label: "Bot",
      fields: BOT_FIELDS,
      instructions: BOT_INSTRUCTIONS,
      steps: BOT_STEPS,
      renewal: null,
      connect: connectBot,
    },
    {
      kind: "secrets",
      name: "webhook",
      label: "Webhook",
      fields: WEBHOOK_FIELDS,
      instructions: WEBHOOK_INSTRUCTIONS,
      renewal: null,
      connect: connectWebhook,
    },
  ],
  choices: { tagIds: tagChoices },
  check: checkPost,
  measure,
  inspect,
  publish,
  edit,
  insights,
  analytics,
  remove,
});
