import * as z from "zod";
import type { StatedCapabilities } from "../../domain/accounts/capabilities.ts";
import type { MediaFigures } from "../../domain/files/media-limits.ts";
import { commonMetadata, fits, pollWithin } from "../../domain/posts/common-metadata.ts";
import { MINUTE } from "../../domain/time.ts";
import type { PlatformAccount } from "../../ports/platform-io.ts";
import type { CheckResult, CheckedAt, GatedOption, PlatformPost } from "../../ports/platform.ts";
import { checkFirst } from "../shared/media.ts";
import { checkSubtitles } from "../shared/subtitles.ts";
import { type Part, partsOf as threadOf } from "../shared/thread.ts";
import { measure } from "../shared/twitter-text.ts";

const MAX_ITEMS = 4;
export const MAX_ALT_TEXT = 1_000;

const { altText, moreMedia, thread, thumbnailUrl, subtitles } = commonMetadata;

const AltText = altText.unwrap().max(MAX_ALT_TEXT).optional();

/** A post's number, or its address. */
const QUOTED =
  /^(?:https:\/\/(?:www\.|mobile\.)?(?:x|twitter)\.com\/\w{1,20}\/status\/)?(\d{1,19})(?:[/?#]\S{0,300})?$/;

const ENTERPRISE = "apps of X's Enterprise plan";
const WITH_SUBSCRIBERS = "accounts that offer subscriptions";

/** What X does not sell or give to everybody: https://docs.x.com/changelog, 16 April 2026. */
export const GATED: readonly GatedOption<keyof XMetadata>[] = [
  {
    field: "quote",
    who: ENTERPRISE,
    instead:
      "Leave it out, and put the post's address into the caption ($0.20 in August 2026): X shows the post below the text. Where the app is on that plan, set POSTHORN_X_PLAN to enterprise.",
    mayUse: ({ setting }) => setting("PLAN") === "enterprise",
  },
  {
    field: "replySettings",
    values: ["subscribers"],
    who: WITH_SUBSCRIBERS,
    instead: "Choose others who may reply.",
    mayUse: () => null,
  },
];

/** What a post on X takes beside caption and media. */
export const XMetadata = z.strictObject({
  altText: AltText.describe("What the first picture shows, for people who cannot see it."),
  moreMedia: moreMedia
    .unwrap()
    .max(MAX_ITEMS - 1, fits(MAX_ITEMS))
    .optional()
    .describe("Up to 3 more pictures."),
  thumbnailUrl: thumbnailUrl.describe("Picture shown before the video plays."),
  subtitles: subtitles.describe(
    "SRT or WebVTT files for the video, one a language. X knows languages of two letters.",
  ),
  thread: thread.describe("Posts that follow, each a reply to the one before."),
  replySettings: z
    .enum(["following", "mentionedUsers", "subscribers", "verified"])
    .optional()
    .describe(
      `Who may reply: accounts that the channel follows, those it mentions, its subscribers (only for ${WITH_SUBSCRIBERS}), or verified ones. Default: everybody.`,
    )
    .meta({ title: "Who may reply" }),
  communityId: z
    .string()
    .regex(/^\d{1,19}$/, "must be the number in the community's address")
    .optional()
    .describe("Posts into this community: the number in its address.")
    .meta({ title: "Community number" }),
  poll: pollWithin({
    maxOptions: 4,
    maxOptionLength: 25,
    minHours: 5 / 60,
    maxHours: 168,
    takesMultiple: false,
  }).describe("A poll in place of media and quote. The caption asks. Up to 4 answers of 25 characters."),
  quote: z
    .string()
    .regex(QUOTED, "must be the address or the number of a post on X")
    .optional()
    .describe(
      `A post to show below the text: its address, or its number. Not with media or poll. Only for ${ENTERPRISE}.`,
    ),
  madeWithAi: z
    .boolean()
    .optional()
    .describe("Says that the media were made with AI.")
    .meta({ title: "Made with AI" }),
  paidPartnership: z.boolean().optional().describe("Says that it is paid advertising."),
});
export type XMetadata = z.infer<typeof XMetadata>;
export type XPost = PlatformPost<XMetadata>;

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

export const CAPABILITIES: StatedCapabilities = {
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
        maxFramesPerSecond: 60,
        maxItems: 1,
      },
    ],
  },
  caption: { maxLength: TEXT_LIMIT, unit: "weighted" },
  scheduling: "prepare",
  leadMinutes: { min: 0, default: 0, max: 22 * 60 },
  thumbnail: { set: true, replaceAfterPublish: false },
  analytics: {
    account: ["followers", "following"],
    post: ["impressions", "likes", "comments", "shares", "saves", "clicks", "views"],
  },
  reconciles: "list",
  quotas: [
    { name: "posts", max: 100, perMinutes: 15, from: "rolling", scope: "account" },
    { name: "postsOfApp", max: 10_000, perMinutes: 24 * 60, from: "rolling", scope: "app" },
  ],
};

const PREMIUM: StatedCapabilities = {
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

export function capabilitiesOf(account: PlatformAccount): StatedCapabilities {
  return isPremium(account) ? PREMIUM : CAPABILITIES;
}

/** How much text one post of the account takes, as X counts. */
function textLimit(account: PlatformAccount): number {
  return isPremium(account) ? PREMIUM_TEXT_LIMIT : TEXT_LIMIT;
}

/** The number of the post that is shown below the text; null: none is. */
export function quotedOf({ quote }: XMetadata): string | null {
  return QUOTED.exec(quote ?? "")?.[1] ?? null;
}

/** The post and those that follow it. */
export function partsOf(post: PlatformPost<XMetadata>): [Part, ...Part[]] {
  return threadOf(post, toText);
}

/** As X stores it: line ends of one kind, nothing around it. */
export function toText(caption: string): string {
  return caption.replaceAll("\r\n", "\n").normalize("NFC").trim();
}

type MediaTraits = Pick<MediaFigures, "type" | "mimeType" | "isAnimated">;

/** A film or an animation: a post takes one, and nothing beside it. */
export function isAlone({ type, mimeType, isAnimated }: MediaTraits): boolean {
  return type === "video" || (mimeType === "image/gif" && isAnimated);
}

export const ALONE =
  "metadata.moreMedia: a post on X shows up to four pictures, or one animated GIF, or one video. Leave the rest out or use metadata.thread.";

export const SUBTITLES_LIMITS = { format: "srt" } as const;

/** X tells languages by two letters alone: pt-BR and pt-PT are one. */
export function languageOf(tag: string): string {
  return (tag.split("-")[0] ?? "").toUpperCase();
}

function checkLanguages({ metadata: { subtitles: all = [] } }: XPost): string[] {
  const languages = all.map(({ language }) => languageOf(language));
  const at = languages.findIndex((one, nth) => one.length !== 2 || languages.indexOf(one) < nth);
  return at === -1
    ? []
    : [
        `metadata.subtitles[${at}].language: X knows languages of two letters (en, pt), each once. Change it, or leave it out.`,
      ];
}

export const NO_VIDEO =
  "metadata.thumbnailUrl: X shows a thumbnail only in front of a video. Leave it out, or give a video in mediaUrl.";

/** What the schema cannot say. */
export function checkPost(post: XPost, at: CheckedAt): CheckResult {
  const parts = partsOf(post);
  const [first, ...rest] = parts;
  const known = first.media.flatMap(({ url }) => at.media.get(url) ?? []);
  const isVideo = known[0]?.type === "video";
  const errors = [
    ...(first.media.length > 1 && known.some(isAlone) ? [ALONE] : []),
    ...checkFirst(post, "picture"),
    ...(post.metadata.thumbnailUrl !== undefined && (post.mediaUrl === "" || (known.length > 0 && !isVideo))
      ? [NO_VIDEO]
      : []),
    ...checkSubtitles(post, at.media, SUBTITLES_LIMITS),
    ...checkLanguages(post),
    ...checkBeside(post),
    ...rest.flatMap((part, nth) => checkPart(part, parts.slice(0, nth + 1), { nth, account: at.account })),
  ];
  const warnings = parts.flatMap((part, nth) =>
    cashtagsIn(part.text) > 1
      ? [`${fieldOf(nth)}: has more than one cashtag ($ABC). X refuses that in posts from programs.`]
      : [],
  );
  warnings.push(
    ...parts.flatMap((part, nth) => (MENTION.test(part.text) ? [`${fieldOf(nth)}: ${MENTIONED}`] : [])),
  );
  if (isVideo && post.metadata.altText !== undefined)
    warnings.push("metadata.altText: X takes none for videos. The post goes out without it.");
  return { errors, warnings };
}

/** X: media, a poll and a quote are mutually exclusive. */
function checkBeside({ mediaUrl, metadata: { poll, quote } }: XPost): string[] {
  const named = [
    ...(mediaUrl === "" ? [] : ["mediaUrl"]),
    ...(poll === undefined ? [] : ["metadata.poll"]),
    ...(quote === undefined ? [] : ["metadata.quote"]),
  ];
  return named.length < 2
    ? []
    : [`${named.at(-1)}: a post on X shows media, a poll or another post. Leave all but one out.`];
}

function fieldOf(nth: number): string {
  return nth === 0 ? "caption" : `metadata.thread[${nth - 1}].caption`;
}

function checkPart(
  part: Part,
  before: readonly Part[],
  { nth, account }: { readonly nth: number; readonly account: PlatformAccount },
): string[] {
  const field = fieldOf(nth + 1);
  const length = measure(part.text);
  const limit = textLimit(account);
  if (length > limit)
    return [`${field}: has ${length} characters as X counts them, and X takes at most ${limit}. Shorten it.`];
  if (part.text === "") return [`${field}: is empty. Write some text.`];
  return before.some(({ text }) => text === part.text)
    ? [`${field}: says the same as a post before it, which X refuses as a duplicate. Change it.`]
    : [];
}

/** A user's name; what stands in an e-mail address or a web address is none. */
const MENTION = /(?<![\w@＠./])[@＠]\w{1,15}(?![\w@]|\.\w)/;

/** https://docs.x.com/changelog, 23 February 2026; what exactly is refused is not written there. */
const MENTIONED =
  "mentions a person. X limits mentions in posts from programs, and may refuse this one. To be sure, leave the @ out.";

function cashtagsIn(text: string): number {
  return [...text.matchAll(/(?<![\w$])\$[A-Za-z]{1,6}(?:[._][A-Za-z]{1,2})?(?!\w)/g)].length;
}
