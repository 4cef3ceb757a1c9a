import * as z from "zod";
import type { AcceptedMedia, PlatformCapabilities } from "../../domain/accounts/capabilities.ts";
import { HOUR } from "../../domain/time.ts";
import type { JsonObject, PlatformAccount } from "../../ports/platform-io.ts";
import { ACCEPTED } from "../shared/accepted.ts";
import { isAtLeast, type Software } from "../shared/fediverse.ts";

const MIB = 1024 * 1024;

/** What a server says it takes, as `inspect` keeps it; null where it does not say. */
const ServerLimits = z.object({
  software: z.string().nullable().catch(null),
  version: z.string().catch(""),
  maxCharacters: z.int().positive().nullable().catch(null),
  urlLength: z.int().positive().nullable().catch(null),
  maxMedia: z.int().positive().nullable().catch(null),
  altLength: z.int().positive().nullable().catch(null),
  mimeTypes: z.array(z.string()).nullable().catch(null),
  imageBytes: z.int().positive().nullable().catch(null),
  imagePixels: z.int().positive().nullable().catch(null),
  videoBytes: z.int().positive().nullable().catch(null),
});
export type ServerLimits = z.infer<typeof ServerLimits>;

export function limitsOf({ limits }: Pick<PlatformAccount, "limits">): ServerLimits {
  return ServerLimits.parse(limits);
}

/** How a server's software differs from the others. */
export interface Family {
  /** How long it knows a repeated request by its key; null: it does not, or nobody knows. */
  readonly keyMs: number | null;
  /** Pixelfed uses a key up before it looks at the request. */
  readonly sendsKey: boolean;
  /** Takes `content_type`: without it, the account's own default may make markup of the text. */
  readonly takesContentType: boolean;
  /** A listing of the account's posts has those too that not everybody sees. */
  readonly listsAll: boolean;
  /** Attachments keep the ids that the uploads gave. */
  readonly keepsMediaIds: boolean;
  readonly unit: PlatformCapabilities["caption"]["unit"];
  readonly needsMedia: boolean;
  /** An edit may bring a new picture in front of a video. */
  readonly replacesThumbnail: boolean;
  readonly canEdit: (version: string) => boolean;
  /** An edit may bring another alt text; the others drop it without a word. */
  readonly canDescribe: (version: string) => boolean;
}

const OTHER: Family = {
  keyMs: null,
  sendsKey: true,
  takesContentType: false,
  listsAll: false,
  keepsMediaIds: false,
  unit: "weighted",
  needsMedia: false,
  replacesThumbnail: false,
  canEdit: () => true,
  canDescribe: () => false,
};

const MASTODON: Family = {
  ...OTHER,
  keyMs: HOUR,
  listsAll: true,
  keepsMediaIds: true,
  replacesThumbnail: true,
  canEdit: (version) => isAtLeast(version, 3, 5),
  canDescribe: (version) => isAtLeast(version, 4, 1),
};

const PLEROMA: Family = {
  ...OTHER,
  keyMs: 6 * HOUR,
  takesContentType: true,
  listsAll: true,
  keepsMediaIds: true,
  unit: "graphemes",
};

const FAMILIES: Readonly<Record<string, Family>> = {
  mastodon: MASTODON,
  hometown: MASTODON,
  pleroma: PLEROMA,
  akkoma: PLEROMA,
  gotosocial: {
    ...OTHER,
    takesContentType: true,
    listsAll: true,
    keepsMediaIds: true,
    unit: "characters",
    canEdit: (version) => isAtLeast(version, 0, 18),
    canDescribe: (version) => isAtLeast(version, 0, 18),
  },
  // Its administrators may allow edits, and it does not say whether they do.
  pixelfed: { ...OTHER, sendsKey: false, keepsMediaIds: true, needsMedia: true, canEdit: () => false },
};

export function familyOf(account: Pick<PlatformAccount, "limits">): Family {
  return FAMILIES[limitsOf(account).software ?? ""] ?? OTHER;
}

/** Mastodon's own, for servers that do not say (https://docs.joinmastodon.org/user/posting). */
export const USUAL = { maxCharacters: 500, urlLength: 23, maxMedia: 4, altLength: 1_500 } as const;
const USUAL_TYPES: Readonly<Record<AcceptedMedia["kind"], readonly string[]>> = {
  image: ["image/jpeg", "image/png", "image/webp", "image/gif", "image/avif"],
  video: ["video/mp4", "video/webm", "video/quicktime"],
  audio: ACCEPTED.audio,
};
const USUAL_IMAGE = { bytes: 16 * MIB, pixels: 33_177_600 };
const USUAL_VIDEO_BYTES = 99 * MIB;

const EDITABLE = ["caption", "altText", "sensitive", "spoilerText", "language"] as const;

export const CAPABILITIES: PlatformCapabilities = {
  media: { required: false, maxItems: USUAL.maxMedia, accepts: acceptsOf(ServerLimits.parse({})) },
  caption: { maxLength: USUAL.maxCharacters, unit: "weighted", urlLength: USUAL.urlLength },
  // Media go ahead, as attachments that no status names.
  scheduling: "prepare",
  // Attachments without a status are kept for about a day.
  leadMinutes: { min: 0, default: 0, max: 720 },
  thumbnail: { set: true, replaceAfterPublish: true },
  editPublished: { fields: EDITABLE },
  analytics: {
    account: ["followers", "posts", "likes", "comments", "shares"],
    post: ["likes", "comments", "shares"],
  },
  reconciles: "list",
  fetchesMedia: [],
  quotas: [{ name: "posts", max: 300, perMinutes: 180, from: "rolling", scope: "account" }],
};

/** Those of the account's own server. */
export function capabilitiesOf(account: PlatformAccount): PlatformCapabilities {
  const limits = limitsOf(account);
  const family = familyOf(account);
  const { maxCharacters, software } = limits;
  const urlLength = family.unit === "weighted" ? (limits.urlLength ?? USUAL.urlLength) : null;
  return {
    ...CAPABILITIES,
    media: {
      required: family.needsMedia,
      maxItems: limits.maxMedia ?? USUAL.maxMedia,
      accepts: acceptsOf(limits),
    },
    caption: {
      maxLength: maxCharacters ?? USUAL.maxCharacters,
      unit: family.unit,
      ...(urlLength === null ? {} : { urlLength }),
    },
    thumbnail: { set: true, replaceAfterPublish: family.replacesThumbnail },
    editPublished: { fields: editableOf(family, limits.version) },
    // The others count otherwise, or not at all.
    quotas: software === null || family === MASTODON ? CAPABILITIES.quotas : [],
  };
}

function editableOf({ canEdit, canDescribe }: Family, version: string): readonly string[] {
  if (!canEdit(version)) return [];
  return canDescribe(version) ? EDITABLE : EDITABLE.filter((field) => field !== "altText");
}

function acceptsOf({
  mimeTypes,
  maxMedia,
  imageBytes,
  imagePixels,
  videoBytes,
}: ServerLimits): AcceptedMedia[] {
  const typesOf = (kind: AcceptedMedia["kind"]): readonly string[] => {
    const known: readonly string[] = ACCEPTED[kind];
    const taken = (mimeTypes ?? []).filter((type) => known.includes(type));
    return mimeTypes === null || mimeTypes.length === 0 ? USUAL_TYPES[kind] : taken;
  };
  // Of two sides nobody knows the longer one before.
  const side = Math.floor(Math.sqrt(imagePixels ?? USUAL_IMAGE.pixels));
  const maxBytes = videoBytes ?? USUAL_VIDEO_BYTES;
  const all: AcceptedMedia[] = [
    {
      kind: "image",
      mimeTypes: typesOf("image"),
      maxBytes: imageBytes ?? USUAL_IMAGE.bytes,
      maxWidth: side,
      maxHeight: side,
      maxItems: maxMedia ?? USUAL.maxMedia,
    },
    { kind: "video", mimeTypes: typesOf("video"), maxBytes, maxItems: 1 },
    { kind: "audio", mimeTypes: typesOf("audio"), maxBytes, maxItems: 1 },
  ];
  return all.filter(({ mimeTypes: types }) => types.length > 0);
}

/** What `inspect` keeps of two answers: the instance's, and which software it runs. */
export function toLimits(found: Omit<ServerLimits, "software" | "version">, software: Software): JsonObject {
  return { ...found, software: software.name, version: software.version };
}
