import * as z from "zod";
import type { AcceptedMedia, StatedCapabilities } from "../../../domain/accounts/capabilities.ts";
import { HOUR } from "../../../domain/time.ts";
import type { PlatformAccount } from "../../../ports/platform-io.ts";
import { ACCEPTED } from "../media.ts";
import { isAtLeast } from "../servers.ts";

const MIB = 1024 * 1024;

/** What a server says it takes, as `inspect` keeps it; null where it does not say. */
const Limit = z.int().positive().nullable().catch(null);
const ServerLimits = z.object({
  software: z.string().nullable().catch(null),
  version: z.string().catch(""),
  maxCharacters: Limit,
  urlLength: Limit,
  maxMedia: Limit,
  altLength: Limit,
  mimeTypes: z.array(z.string()).nullable().catch(null),
  imageBytes: Limit,
  imagePixels: Limit,
  videoBytes: Limit,
  videoPixels: Limit,
  videoFrames: Limit,
  pollOptions: Limit,
  pollOptionLength: Limit,
  pollMinSeconds: Limit,
  pollMaxSeconds: Limit,
});
type ServerLimits = z.infer<typeof ServerLimits>;

function limitsOf({ limits }: Pick<PlatformAccount, "limits">): ServerLimits {
  return ServerLimits.parse(limits);
}

/** How a server's software differs from the others. */
interface Family {
  /** How long it knows a repeated request by its key; null: it does not, or that is unknown. */
  readonly keyMs: number | null;
  /** Pixelfed uses a key up before it looks at the request. */
  readonly sendsKey: boolean;
  /** Takes `content_type`: without it, the account's own default may make markup of the text. */
  readonly takesContentType: boolean;
  /** A listing of the account's posts has those too that not everybody sees. */
  readonly listsAll: boolean;
  /** Attachments keep the ids that the uploads gave. */
  readonly keepsMediaIds: boolean;
  readonly unit: StatedCapabilities["caption"]["unit"];
  readonly needsMedia: boolean;
  /** What its servers take where they do not say. */
  readonly usual: Usual;
  /** The text so that readers see it as it was written. */
  readonly write: (text: string) => string;
  /** An edit may bring a new picture in front of a video. */
  readonly replacesThumbnail: boolean;
  readonly canEdit: (version: string) => boolean;
  /** An edit may bring another alt text; the others drop it without a word. */
  readonly canDescribe: (version: string) => boolean;
}

interface Usual {
  readonly maxCharacters: number;
  readonly urlLength: number;
  readonly maxMedia: number;
  readonly altLength: number;
  readonly imageBytes: number;
  /** Of both sides together. */
  readonly imagePixels: number;
  readonly videoBytes: number;
  readonly mimeTypes: readonly string[];
}

/** Mastodon's own (https://docs.joinmastodon.org/user/posting). */
const USUAL: Usual = {
  maxCharacters: 500,
  urlLength: 23,
  maxMedia: 4,
  altLength: 1_500,
  imageBytes: 16 * MIB,
  imagePixels: 33_177_600,
  videoBytes: 99 * MIB,
  mimeTypes: [
    "image/jpeg",
    "image/png",
    "image/webp",
    "image/gif",
    "image/avif",
    "video/mp4",
    "video/webm",
    "video/quicktime",
    ...ACCEPTED.audio,
  ],
};

const OTHER: Family = {
  usual: USUAL,
  write: (text) => text,
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
  pixelfed: {
    ...OTHER,
    sendsKey: false,
    listsAll: true,
    keepsMediaIds: true,
    unit: "characters",
    needsMedia: true,
    // Its administrators may allow edits, and it does not say whether they do.
    canEdit: () => false,
    usual: {
      ...USUAL,
      altLength: 1_000,
      imageBytes: 15_000 * 1_024,
      imagePixels: 3_686_400,
      videoBytes: 15_000 * 1_024,
      mimeTypes: ["image/jpeg", "image/png", "image/gif"],
    },
    // It takes out what looks like a tag, and leaves what looks like a character reference to browsers.
    write: (text) => text.replace(/&(?=#?\w+;)/g, "&amp;").replace(/<(?=\S)/g, "&lt;"),
  },
};

type AccountFacts = Pick<PlatformAccount, "limits" | "settings">;

/** By what the server said; before that, by what it was connected as. */
export function familyOf(account: AccountFacts): Family {
  const software = limitsOf(account).software ?? account.settings["software"];
  return (typeof software === "string" ? FAMILIES[software] : undefined) ?? OTHER;
}

const EDITABLE = ["caption", "altText", "sensitive", "spoilerText", "language"] as const;

/** What the server takes of a poll; Mastodon's own limits where it does not say. */
export function pollLimitsOf(account: AccountFacts) {
  const limits = limitsOf(account);
  return {
    maxOptions: limits.pollOptions ?? 4,
    maxOptionLength: limits.pollOptionLength ?? 50,
    minSeconds: limits.pollMinSeconds ?? 300,
    maxSeconds: limits.pollMaxSeconds ?? 2_629_746,
  };
}

/** Whether a post of its may show another one. */
export function takesQuotes(account: AccountFacts): boolean {
  return familyOf(account) === MASTODON && isAtLeast(limitsOf(account).version, 4, 5);
}

export function altLengthOf(account: AccountFacts): number {
  return limitsOf(account).altLength ?? familyOf(account).usual.altLength;
}

/** Those of the account's own server. */
export function capabilitiesOf(account: AccountFacts): StatedCapabilities {
  const limits = limitsOf(account);
  const family = familyOf(account);
  const { maxCharacters, software } = limits;
  const { usual } = family;
  const urlLength = family.unit === "weighted" ? (limits.urlLength ?? usual.urlLength) : null;
  return {
    media: {
      required: family.needsMedia,
      maxItems: limits.maxMedia ?? usual.maxMedia,
      accepts: acceptsOf(limits, usual),
    },
    caption: {
      maxLength: maxCharacters ?? usual.maxCharacters,
      unit: family.unit,
      ...(urlLength === null ? {} : { urlLength }),
    },
    // Media go ahead, as attachments that no status names.
    scheduling: "prepare",
    // Attachments without a status are kept for about a day.
    leadMinutes: { min: 0, default: 0, max: 720 },
    thumbnail: { set: true, replaceAfterPublish: family.replacesThumbnail },
    editPublished: { fields: editableOf(family, limits.version) },
    analytics: {
      account: ["followers", "posts", "likes", "comments", "shares"],
      post: ["likes", "comments", "shares"],
    },
    reconciles: "list",
    ...(family.keyMs === null ? {} : { knowsRepeats: true }),
    // The others count otherwise, or not at all.
    quotas:
      software === null || family === MASTODON
        ? [{ name: "posts", max: 300, perMinutes: 180, from: "rolling", scope: "account" }]
        : [],
  };
}

/** Those of a server that did not say yet what it takes. */
export const CAPABILITIES = capabilitiesOf({ limits: { software: "mastodon" }, settings: {} });

function editableOf({ canEdit, canDescribe }: Family, version: string): readonly string[] {
  if (!canEdit(version)) return [];
  return canDescribe(version) ? EDITABLE : EDITABLE.filter((field) => field !== "altText");
}

function acceptsOf(limits: ServerLimits, usual: Usual): AcceptedMedia[] {
  const { mimeTypes, maxMedia, imageBytes, imagePixels, videoBytes } = limits;
  const told = mimeTypes === null || mimeTypes.length === 0 ? usual.mimeTypes : mimeTypes;
  const typesOf = (kind: AcceptedMedia["kind"]): readonly string[] => {
    const known: readonly string[] = ACCEPTED[kind];
    return told.filter((type) => known.includes(type));
  };
  // The longer side is not known beforehand.
  const side = Math.floor(Math.sqrt(imagePixels ?? usual.imagePixels));
  const maxBytes = videoBytes ?? usual.videoBytes;
  const all: AcceptedMedia[] = [
    {
      kind: "image",
      mimeTypes: typesOf("image"),
      maxBytes: imageBytes ?? usual.imageBytes,
      maxWidth: side,
      maxHeight: side,
      maxItems: maxMedia ?? usual.maxMedia,
    },
    {
      kind: "video",
      mimeTypes: typesOf("video"),
      maxBytes,
      ...(limits.videoPixels === null ? {} : { maxPixels: limits.videoPixels }),
      ...(limits.videoFrames === null ? {} : { maxFramesPerSecond: limits.videoFrames }),
      maxItems: 1,
    },
    { kind: "audio", mimeTypes: typesOf("audio"), maxBytes, maxItems: 1 },
  ];
  return all.filter(({ mimeTypes: types }) => types.length > 0);
}
