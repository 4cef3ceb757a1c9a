import * as z from "zod";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import type { JsonObject } from "../../ports/platform-io.ts";
import type { CheckResult, PlatformPost } from "../../ports/platform.ts";

/** Who sees a video, by PeerTube's number of it. */
export const PRIVACIES = { public: 1, unlisted: 2, private: 3, internal: 4 } as const;

export const MAX_DESCRIPTION = 10_000;
/** Of a description or a support text. */
const MIN_TEXT = 3;

const { title, tags, language, sensitive, thumbnailUrl } = commonMetadata;

const numbered = z.string().regex(/^\d{1,5}$/, "must be a number that the platform tells");
const COMMENTS = { enabled: 1, disabled: 2, approval: 3 } as const;

/** What a video takes beside its file and its description, which is the caption. */
export const PeertubeMetadata = z.strictObject({
  title: title.unwrap().trim().min(MIN_TEXT).max(120).describe("Title, 3 to 120 characters."),
  tags: z
    .array(z.string().min(2).max(30))
    .max(5)
    .optional()
    .describe(`${tags.description ?? ""} At most 5, of 2 to 30 characters.`),
  categoryId: numbered.optional().describe("Number of the category, from list_choices."),
  licenseId: numbered.optional().describe("Number of the license, from list_choices."),
  language: language.describe("Language of the video."),
  visibility: z
    .enum(["public", "unlisted", "private", "internal"])
    .optional()
    .describe("Who can see it from its time on. internal: people with an account there. Default public."),
  sensitive: sensitive.describe("Whether it is not safe for work. Default false."),
  thumbnailUrl: thumbnailUrl.describe("Thumbnail: a JPEG, or a picture to convert to it. Best 1280 × 720."),
  comments: z.enum(["enabled", "disabled", "approval"]).optional().describe("Whether people may comment."),
  downloadEnabled: z.boolean().optional().describe("Whether people may download it."),
  support: z.string().min(MIN_TEXT).max(1_000).optional().describe("How to support its author."),
  waitTranscoding: z
    .boolean()
    .optional()
    .describe("False: shown before it is transcoded, as it was uploaded. Default true.")
    .meta({ title: "Wait until converted" }),
});
export type PeertubeMetadata = z.infer<typeof PeertubeMetadata>;
export type PeertubePost = PlatformPost<PeertubeMetadata>;

export function visibilityOf({ metadata }: Pick<PeertubePost, "metadata">): keyof typeof PRIVACIES {
  return metadata.visibility ?? "public";
}

/** What data cannot say of a post. */
export function checkPost({ caption }: Pick<PeertubePost, "caption">): CheckResult {
  const isShort = caption !== null && caption !== "" && caption.trim().length < MIN_TEXT;
  const why = `caption: PeerTube takes descriptions of at least ${MIN_TEXT} characters. Write more, or nothing.`;
  return { errors: isShort ? [why] : [], warnings: [] };
}

/** PeerTube's names of what is said of a video; undefined for what is not. */
export function fieldsOf({ caption, metadata }: Pick<PeertubePost, "caption" | "metadata">): {
  readonly [name: string]: string | number | boolean | string[] | undefined;
} {
  const { categoryId, licenseId, comments } = metadata;
  return {
    name: metadata.title,
    description: caption === null || caption === "" ? undefined : caption,
    tags: metadata.tags,
    category: categoryId === undefined ? undefined : Number(categoryId),
    licence: licenseId === undefined ? undefined : Number(licenseId),
    language: metadata.language === undefined ? undefined : languageOf(metadata.language),
    nsfw: metadata.sensitive ?? false,
    commentsPolicy: comments === undefined ? undefined : COMMENTS[comments],
    downloadEnabled: metadata.downloadEnabled,
    support: metadata.support,
  };
}

/** It knows languages without their countries, and the scripts of Chinese. */
function languageOf(tag: string): string {
  return /^zh-han[st]$/i.test(tag) ? tag : (tag.split("-")[0] ?? tag).toLowerCase();
}

/** Without what is undefined. */
export function given(fields: ReturnType<typeof fieldsOf>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Fields of a live video that can be changed, and PeerTube's names of them. */
export const EDITABLE = {
  caption: "description",
  title: "name",
  tags: "tags",
  categoryId: "category",
  licenseId: "licence",
  language: "language",
  sensitive: "nsfw",
  comments: "commentsPolicy",
  downloadEnabled: "downloadEnabled",
  support: "support",
} as const satisfies Readonly<Record<string, string>>;
