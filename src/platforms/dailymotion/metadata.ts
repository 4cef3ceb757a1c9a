import * as z from "zod";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import type { CheckResult, Choice, PlatformPost } from "../../ports/platform.ts";
import type { JsonObject } from "../../ports/platform-io.ts";

export const MAX_DESCRIPTION = 3_000;
const MAX_TITLE = 255;

/** https://developers.dailymotion.com/v0/reference/video-categories */
const CATEGORIES = {
  animals: "Animals",
  auto: "Cars",
  creation: "Art",
  fun: "Comedy & Entertainment",
  kids: "Kids",
  lifestyle: "Lifestyle & How-to",
  music: "Music",
  news: "News",
  people: "Friends & family",
  school: "Education",
  shortfilms: "Short films",
  sport: "Sport",
  tech: "Tech",
  travel: "Travel",
  tv: "TV shows",
  videogames: "Video games",
  webcam: "Webcam",
} as const;

const USUAL_CATEGORY = "people";

export async function categories(search: string): Promise<Choice[]> {
  const all = Object.entries(CATEGORIES).map(([value, label]) => ({ value, label }));
  return all.filter(({ value, label }) => `${value} ${label}`.toLowerCase().includes(search.toLowerCase()));
}

const { title, tags, language, sensitive } = commonMetadata;

/** https://developers.dailymotion.com/reference/create-profile-video */
export const DailymotionMetadata = z.strictObject({
  title: title
    .unwrap()
    .max(MAX_TITLE)
    .refine((text) => text.trim() !== "", "must not be empty")
    .describe("Title, max. 255 characters."),
  tags,
  category: z
    .enum(Object.keys(CATEGORIES))
    .optional()
    .describe(`Category, from list_choices. Default ${USUAL_CATEGORY}.`),
  madeForKids: z
    .boolean()
    .optional()
    .describe("Whether it is made for children. The law asks for it. Default false."),
  visibility: z
    .enum(["public", "private"])
    .optional()
    .describe("Who can see it from its time on. Default public. private: all who have its address."),
  language: language
    .unwrap()
    .refine((tag) => /^[a-z]{2}(-|$)/i.test(tag), "must begin with a language of two letters")
    .optional()
    .describe("Language of the video."),
  sensitive: sensitive.describe("True: only for adults. It cannot be undone."),
  containsSyntheticMedia: z.boolean().optional().describe("Whether it was altered or made by a machine."),
});
export type DailymotionPost = PlatformPost<z.infer<typeof DailymotionMetadata>>;

/** Dailymotion reads descriptions as HTML: what would be taken for a tag or a character's name is escaped. */
export function toHtml(text: string): string {
  return text.replace(/&(?=#?\w+;)/g, "&amp;").replace(/<(?=[a-z/!?])/gi, "&lt;");
}

/** A video as Dailymotion has it at first, and what of it an edit sends, by our names. */
export function partsOf({ caption, metadata }: Pick<DailymotionPost, "caption" | "metadata">) {
  const { category = USUAL_CATEGORY, madeForKids = false, sensitive: isExplicit, ...rest } = metadata;
  const description = caption === null || caption.trim() === "" ? {} : { description: toHtml(caption) };
  return {
    caption: description,
    title: { title: rest.title },
    tags: { tags: rest.tags ?? [] },
    category: { category },
    madeForKids: { is_for_kids: madeForKids },
    visibility: { visibility: rest.visibility ?? "public" },
    language: rest.language === undefined ? {} : { language: rest.language.slice(0, 2).toLowerCase() },
    sensitive: isExplicit === true ? { is_explicit: true } : {},
    containsSyntheticMedia:
      rest.containsSyntheticMedia === undefined ? {} : { is_ai_altered: rest.containsSyntheticMedia },
  } satisfies Record<string, JsonObject>;
}

/** Parts of a video as one. */
export function joined(parts: readonly JsonObject[]): JsonObject {
  const whole: JsonObject = {};
  for (const part of parts) Object.assign(whole, part);
  return whole;
}

export const EDITABLE = [
  "caption",
  "title",
  "tags",
  "category",
  "madeForKids",
  "visibility",
  "language",
  "containsSyntheticMedia",
];

/** What data cannot say of a post, and what a person should know before its time. */
export function checkPost({ caption, metadata }: DailymotionPost): CheckResult {
  const length = [...toHtml(caption ?? "")].length;
  return {
    errors:
      length > MAX_DESCRIPTION
        ? [
            `caption: has ${length} characters as Dailymotion counts them (< and & count as several), and may have ${MAX_DESCRIPTION}. Shorten it.`,
          ]
        : [],
    warnings:
      metadata.madeForKids === undefined
        ? [
            "metadata.madeForKids: is not given, so the video is declared not to be made for children. The law asks for one or the other.",
          ]
        : [],
  };
}
