import type { PlatformCapabilities } from "../../domain/accounts/capabilities.ts";
import { MINUTE } from "../../domain/time.ts";
import type { PlatformAccount } from "../../ports/platform-io.ts";
import { MAX_ITEMS } from "./metadata.ts";

const MB = 1024 * 1024;

const TEXT_LIMIT = 280;
const PREMIUM_TEXT_LIMIT = 25_000;

/** X says 24 hours; what waits for its time must outlive a thread that is sent after it. */
export const MEDIA_LIFE_MS = 24 * 60 * MINUTE;
export const MEDIA_MARGIN_MS = 90 * MINUTE;

/** Longer ones are told to X as such; only Premium accounts may post them. */
export const USUAL_VIDEO_SECONDS = 140;

export const IMAGE_LIMITS = {
  mimeTypes: ["image/jpeg", "image/png", "image/webp"],
  maxBytes: 5 * MB,
  maxWidth: 8_192,
  maxHeight: 8_192,
} as const;

export const GIF_LIMITS = {
  mimeTypes: ["image/gif"],
  maxBytes: 15 * MB,
  maxWidth: 1_280,
  maxHeight: 1_080,
} as const;

export const CAPABILITIES: PlatformCapabilities = {
  media: {
    required: false,
    maxItems: MAX_ITEMS,
    accepts: [
      { kind: "image", ...IMAGE_LIMITS, maxItems: MAX_ITEMS, animated: false },
      // Of those that move a post takes one: `checkPost`.
      { kind: "image", ...GIF_LIMITS, maxItems: MAX_ITEMS },
      {
        kind: "video",
        mimeTypes: ["video/mp4", "video/quicktime"],
        maxBytes: 512 * MB,
        minSeconds: 0.5,
        maxSeconds: USUAL_VIDEO_SECONDS,
        minAspectRatio: 1 / 3,
        maxAspectRatio: 3,
        minWidth: 32,
        minHeight: 32,
        videoCodecs: ["avc"],
        audioCodecs: ["aac"],
        maxItems: 1,
      },
    ],
  },
  caption: { maxLength: TEXT_LIMIT, unit: "weighted" },
  scheduling: "prepare",
  leadMinutes: { min: 0, default: 0, max: 22 * 60 },
  thumbnail: { set: true, replaceAfterPublish: false },
  editPublished: { fields: [] },
  analytics: {
    account: ["followers", "following"],
    post: ["impressions", "likes", "comments", "shares", "saves", "clicks", "views"],
  },
  reconciles: "list",
  fetchesMedia: [],
  quotas: [
    { name: "posts", max: 100, perMinutes: 15, from: "rolling", scope: "account" },
    { name: "postsOfApp", max: 10_000, perMinutes: 24 * 60, from: "rolling", scope: "app" },
  ],
};

const PREMIUM: PlatformCapabilities = {
  ...CAPABILITIES,
  caption: { ...CAPABILITIES.caption, maxLength: PREMIUM_TEXT_LIMIT },
  media: {
    ...CAPABILITIES.media,
    // X sets no figure down for them.
    accepts: CAPABILITIES.media.accepts.map((entry) =>
      entry.kind === "video" ? { ...entry, maxSeconds: null } : entry,
    ),
  },
};

/** As `inspect` found the account to be. */
function isPremium({ limits }: PlatformAccount): boolean {
  return limits["isPremium"] === true;
}

export function capabilitiesOf(account: PlatformAccount): PlatformCapabilities {
  return isPremium(account) ? PREMIUM : CAPABILITIES;
}

/** How much text one post of the account takes, as X counts. */
export function textLimit(account: PlatformAccount): number {
  return isPremium(account) ? PREMIUM_TEXT_LIMIT : TEXT_LIMIT;
}
