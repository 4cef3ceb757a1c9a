import { DAY, MINUTE } from "../../domain/time.ts";
import type { Connected, ConnectInput, ConnectIo, SecretsWay } from "../../ports/connect.ts";
import { definePlatform } from "../../ports/platform.ts";
import { oneChannel, secretField } from "../shared/connect.ts";
import { naming } from "../shared/faults.ts";
import { callWith, User } from "./api.ts";
import { edit, EDITABLE_FIELDS, insights, inspect, remove, setThumbnail } from "./live.ts";
import { check, DevtoMetadata } from "./metadata.ts";
import { shownThere } from "../shared/shown.ts";
import { IMAGE_LIMITS, publish } from "./publish.ts";

const KEY_PLACE = "On https://dev.to/settings/extensions, under DEV Community API Keys, generate an API key.";

const KEY: SecretsWay = {
  kind: "secrets",
  name: "key",
  label: "API key",
  instructions: `${KEY_PLACE} DEV stores no pictures. It shows an article's pictures from their own addresses, which must be public and stay: under POSTHORN_PUBLIC_URL, or in a bucket. New accounts may publish one article in five minutes. Articles cannot be deleted through the API. They become drafts again.`,
  fields: [secretField("apiKey", "API key", KEY_PLACE)],
  renewal: null,
  connect,
};

async function connect(input: ConnectInput, io: ConnectIo): Promise<Connected> {
  const apiKey = input.secrets["apiKey"] ?? "";
  const user = await naming("apiKey", () =>
    callWith(io, { secrets: { apiKey } }, { path: "/users/me" }, User),
  );
  return oneChannel({
    platformAccountId: String(user.id),
    name: input.name ?? (user.name || user.username),
    handle: user.username,
    profileUrl: `https://dev.to/${encodeURIComponent(user.username)}`,
    avatarUrl: user.profile_image ?? null,
    secrets: { apiKey },
  });
}

const MAX_PICTURES = 21;

/** DEV, and other communities that run Forem. */
export default definePlatform({
  name: "devto",
  title: "DEV",
  aliases: ["dev.to", "forem"],
  docs: "https://developers.forem.com/api/v1",
  baseUrl: "https://dev.to/api",
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
    showsOriginals: true,
  },
  metadata: DevtoMetadata,
  connect: [KEY],
  check,
  preview: ({ caption, metadata: { format } }) => shownThere(caption, format),
  inspect,
  publish,
  edit,
  setThumbnail,
  insights,
  remove,
});
