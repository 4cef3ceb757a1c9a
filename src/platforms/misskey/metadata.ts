import * as z from "zod";
import type { AcceptedMedia, StatedCapabilities } from "../../domain/accounts/capabilities.ts";
import { commonMetadata, pollWithin } from "../../domain/posts/common-metadata.ts";
import { mentionsByAddress } from "../../domain/posts/mentions.ts";
import type { PlatformAccount, PlatformIo } from "../../ports/platform-io.ts";
import type { CheckResult, CheckedAt, Inspection, PlatformPost } from "../../ports/platform.ts";
import { bareAddress, type Block, type Inline, rangesOf, readMarkdown } from "../shared/markdown.ts";
import { captionAs } from "../shared/shown.ts";
import { ACCEPTED } from "../shared/media.ts";
import { handleAt, serverOf } from "../shared/servers.ts";
import { checkAltTexts, partsOf, tooLong } from "../shared/thread.ts";
import { own, User } from "./api.ts";

const { altText, moreMedia, visibility, sensitive, spoilerText, thread, format } = commonMetadata;

/** What a note takes beside caption and media. */
export const MisskeyMetadata = z.strictObject({
  altText,
  moreMedia: moreMedia.describe("Further pictures, videos or sounds, up to 16 in all."),
  visibility: visibility.describe(
    "Who sees it: public (default), unlisted (home timelines only), or private (followers).",
  ),
  sensitive: sensitive.describe("Shows the media only after a click."),
  spoilerText: spoilerText.describe("Content warning: shown in place of the text until a click."),
  thread: thread.describe("Notes that follow, each a reply to the one before."),
  poll: pollWithin({
    maxOptions: 10,
    maxOptionLength: 50,
    minHours: 0.01,
    maxHours: 8_760,
    takesMultiple: true,
  }),
  format: format.describe(
    "How the texts are read: plain (default), or markdown, which becomes Misskey's own markup.",
  ),
});
export type MisskeyPost = PlatformPost<z.infer<typeof MisskeyMetadata>>;

/** What the schema cannot say: lengths on this server. */
export function check(post: MisskeyPost, { account }: CheckedAt): CheckResult {
  const { maxText, maxWarning, maxAlt } = limitsOf(account);
  const { metadata, caption } = post;
  const write = writerOf(metadata);
  const later = partsOf(post, write).slice(1);
  return {
    errors: [
      ...tooLong("metadata.spoilerText", measure(metadata.spoilerText ?? ""), maxWarning),
      ...tooLong("caption", [...write(caption ?? "")].length, maxText),
      ...later.flatMap(({ text }, at) =>
        tooLong(`metadata.thread[${at}].caption`, [...text].length, maxText),
      ),
      ...checkAltTexts(metadata, maxAlt),
    ],
    warnings: [],
  };
}

/**
 * What Misskey reads as markup (https://misskey-hub.net/en/docs/for-users/features/mfm), in the second half:
 * tags, bold, italics, struck, code, functions, formulas, links, quotations, custom emoji, searches. Addresses,
 * mentions and hashtags, in the first half, are to be what they are.
 */
const MARKUP =
  /(https?:\/\/[\w.,/:%#@$&?!~=+-]+|(?<![a-z0-9])@[\w.-]*\w(?:@[\w.-]*\w)?|#[^\s.,!?'"#:/[\]()「」（）<>*_~`]+)|<(?=[a-z/])|\*{2,}|(?<![a-z0-9])[*_](?=[a-z0-9 \t\u3000]+[*_])|__|~~|`+|\$(?=\[)|\\(?=[([])|\[|(?<=^[ \t]*)>|:(?=[a-z0-9_+-]+:)|(?<=[ \u3000])\[?(?:search|検索)\]?$/gimu;

/** The text so that readers see it as it was written. */
export function plainMfm(text: string): string {
  return text.replace(MARKUP, (sign: string, kept?: string) => kept ?? `<plain>${sign}</plain>`);
}

/** How a note's texts are written, with the people that they mention. */
export function writerOf({ format }: MisskeyPost["metadata"]): (text: string) => string {
  if (format === "markdown") return (text) => mfmOf(readMarkdown(text.trim()));
  return (text) => plainMfm(mentionsByAddress(text.trim()));
}

/** What readers see of a text. */
export function shownText(text: string, format: MisskeyPost["metadata"]["format"]): string {
  return format === "markdown"
    ? rangesOf(readMarkdown(text.trim()), (_name, id) => id).text
    : mentionsByAddress(text.trim());
}

/** Headings are bold lines, as MFM has none. */
function mfmOf(blocks: readonly Block[]): string {
  return blocks.map(blockMfm).join("\n\n");
}

function blockMfm(block: Block): string {
  switch (block.kind) {
    case "paragraph":
      return inlineMfm(block.inlines);
    case "heading":
      return `**${inlineMfm(block.inlines)}**`;
    case "quote":
      return mfmOf(block.blocks).replace(/^/gm, "> ");
    case "list":
      return block.items
        .map((item, at) => {
          const sign = block.start === null ? "•" : `${block.start + at}.`;
          return `${sign} ${item.map(blockMfm).join("\n")}`;
        })
        .join("\n");
    case "code":
      return `\`\`\`${block.language}\n${block.text}\n\`\`\``;
    case "rule":
      return "———";
  }
}

const SIGNS = {
  bold: ["**", "**"],
  italic: ["<i>", "</i>"],
  strike: ["~~", "~~"],
  spoiler: ["$[blur ", "]"],
} as const;

function inlineMfm(inlines: readonly Inline[]): string {
  return inlines
    .map((inline) => {
      switch (inline.kind) {
        case "text":
          return plainMfm(inline.text);
        case "break":
          return "\n";
        case "code":
          return `\`${inline.text}\``;
        case "mention":
          return inline.id;
        case "link":
          return bareAddress(inline) ?? `[${inlineMfm(inline.inlines)}](${inline.address})`;
        default: {
          const [open, close] = SIGNS[inline.kind];
          return `${open}${inlineMfm(inline.inlines)}${close}`;
        }
      }
    })
    .join("");
}

/** In code points, with what keeps markup from being one. */
export function measure(text: string): number {
  return [...plainMfm(text)].length;
}

const MIB = 1024 * 1024;
const USUAL_BYTES = 30 * MIB;
const MAX_ITEMS = 16;

/** What a server says it takes, as `inspect` keeps it, with Misskey's own where it does not say. */
const Limits = z.object({
  maxText: z.int().positive().catch(3_000),
  maxWarning: z.int().positive().catch(100),
  maxAlt: z.int().positive().catch(512),
  maxBytes: z.int().positive().catch(USUAL_BYTES),
  /** "image/*" and the like. */
  fileTypes: z.array(z.string()).catch(["image/*", "video/*", "audio/*"]),
});

function limitsOf({ limits }: Pick<PlatformAccount, "limits">): z.infer<typeof Limits> {
  return Limits.parse(limits);
}

/** What browsers show; the rest is taken, and offered for download. */
const SHOWN = {
  image: ["image/jpeg", "image/png", "image/webp", "image/gif", "image/avif"],
  video: ["video/mp4", "video/webm", "video/quicktime"],
  audio: ACCEPTED.audio,
} as const;

function acceptsOf({ maxBytes, fileTypes }: z.infer<typeof Limits>): AcceptedMedia[] {
  const isTaken = (type: string): boolean =>
    fileTypes.some((one) => one === type || one === "*/*" || one === `${type.split("/")[0]}/*`);
  return (["image", "video", "audio"] as const).flatMap((kind) => {
    const mimeTypes = SHOWN[kind].filter(isTaken);
    return mimeTypes.length === 0 ? [] : [{ kind, mimeTypes, maxBytes, maxItems: MAX_ITEMS }];
  });
}

export function capabilitiesOf(
  account: Pick<PlatformAccount, "limits">,
  post: MisskeyPost | null = null,
): StatedCapabilities {
  const limits = limitsOf(account);
  return {
    media: { required: false, maxItems: MAX_ITEMS, accepts: acceptsOf(limits) },
    // How long one in Markdown becomes, which is no shorter than what is seen of it, `check` says.
    caption: captionAs({ maxLength: limits.maxText, unit: "weighted" }, post?.metadata.format),
    // Files go ahead, into the account's drive. Misskey's own schedule is not used: most roles may hold only
    // one scheduled note, and only a notification tells what became of it.
    scheduling: "prepare",
    leadMinutes: { min: 0, default: 0, max: 1_440 },
    // What a note says cannot be changed; what its files are can.
    editPublished: { fields: ["altText", "sensitive"] },
    analytics: {
      account: ["followers", "posts", "likes", "comments", "shares"],
      post: ["likes", "comments", "shares"],
    },
    reconciles: "list",
    quotas: [{ name: "posts", max: 300, perMinutes: 60, from: "rolling", scope: "account" }],
  };
}

const Size = z.int().positive().optional().catch(undefined);

/** `meta`; the limits of warnings and alternative texts are told by Sharkey. */
const Meta = z.looseObject({
  maxNoteTextLength: Size,
  maxCwLength: Size,
  maxAltTextLength: Size,
  maxFileSize: Size,
});

/** Who the account is now, and what its server and its role take. */
export async function inspect(io: PlatformIo): Promise<Inspection> {
  const server = serverOf(io);
  const user = await own(io, { method: "i", json: {} }, User);
  const meta = await own(io, { method: "meta", json: { detail: false } }, Meta);
  const { maxFileSizeMb, uploadableFileTypes } = user.policies ?? {};
  const maxBytes = Math.min(Math.floor((maxFileSizeMb ?? Infinity) * MIB), meta.maxFileSize ?? Infinity);
  const limits = {
    maxText: meta.maxNoteTextLength,
    maxWarning: meta.maxCwLength,
    maxAlt: meta.maxAltTextLength,
    // Servers from before these were told take 250 MiB, unless they are told otherwise.
    maxBytes: maxBytes === Infinity ? 250 * MIB : maxBytes,
    fileTypes: uploadableFileTypes,
  };
  return {
    name: nameOf(user),
    handle: handleAt(server, user.username),
    avatarUrl: user.avatarUrl ?? null,
    limits: Limits.parse(limits),
    problem: null,
  };
}

export function nameOf({ name, username }: User): string {
  return name || username;
}
