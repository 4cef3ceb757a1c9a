/** How a server differs from the others. */
export interface Profile {
  readonly software: string;
  readonly version: string;
  readonly hasV2: boolean;
  readonly hasPkce: boolean;
  /** What becomes of a second request with a key: the first answer, another status, or a refusal. */
  readonly keys: "kept" | "ignored" | "refused";
  readonly maxCharacters: number;
  readonly urlLength: number | null;
  readonly maxMedia: number;
  /** Films are worked on for so long after their upload. */
  readonly processingMs: number;
  readonly knowsContentType: boolean;
  readonly keepsMediaIds: boolean;
  readonly mimeTypes: readonly string[];
  readonly refreshes: boolean;
  readonly hasDelete: boolean;
}

const MASTODON: Profile = {
  software: "mastodon",
  version: "4.5.1",
  hasV2: true,
  hasPkce: true,
  keys: "kept",
  maxCharacters: 500,
  urlLength: 23,
  maxMedia: 4,
  processingMs: 10_000,
  knowsContentType: false,
  keepsMediaIds: true,
  mimeTypes: ["image/jpeg", "image/png", "image/gif", "image/webp", "video/mp4", "video/webm", "audio/mpeg"],
  refreshes: false,
  hasDelete: true,
};

export const PROFILES = {
  mastodon: MASTODON,
  old: { ...MASTODON, version: "3.4.1", hasV2: false, hasPkce: false },
  gotosocial: {
    ...MASTODON,
    software: "gotosocial",
    version: "0.19.1",
    hasPkce: false,
    keys: "ignored",
    maxCharacters: 5_000,
    urlLength: 25,
    maxMedia: 6,
    processingMs: 0,
    knowsContentType: true,
  },
  akkoma: {
    ...MASTODON,
    software: "akkoma",
    version: "3.15.2",
    hasPkce: false,
    maxCharacters: 5_000,
    urlLength: null,
    knowsContentType: true,
    refreshes: true,
  },
  pixelfed: {
    ...MASTODON,
    software: "pixelfed",
    version: "0.12.3",
    hasPkce: false,
    keys: "refused",
    processingMs: 0,
    refreshes: true,
    mimeTypes: ["image/jpeg", "image/png", "image/gif"],
  },
  snac: {
    ...MASTODON,
    software: "snac",
    version: "2.75",
    hasV2: false,
    hasPkce: false,
    keys: "ignored",
    maxCharacters: 100_000,
    urlLength: 32,
    processingMs: 0,
    keepsMediaIds: false,
    hasDelete: false,
  },
} satisfies Record<string, Profile>;

function configuration(profile: Profile): object {
  const { maxCharacters, maxMedia, urlLength, mimeTypes } = profile;
  return {
    statuses: {
      max_characters: maxCharacters,
      max_media_attachments: maxMedia,
      ...(urlLength === null ? {} : { characters_reserved_per_url: urlLength }),
    },
    media_attachments: {
      supported_mime_types: mimeTypes,
      description_limit: 1_500,
      image_size_limit: 16_777_216,
      image_matrix_limit: 33_177_600,
      video_size_limit: 103_809_024,
      video_frame_rate_limit: 120,
      video_matrix_limit: 8_294_400,
    },
  };
}

export function instanceV2(profile: Profile): object {
  return {
    domain: "social.example",
    version: profile.version,
    configuration: configuration(profile),
    api_versions: { mastodon: 7 },
  };
}

export function instanceV1(profile: Profile): object {
  return { uri: "social.example", version: profile.version, configuration: configuration(profile) };
}
