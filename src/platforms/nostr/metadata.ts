import * as z from "zod";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import type { CheckResult, CheckedAt, PlatformPost } from "../../ports/platform.ts";
import { checkFirst, itemsOf } from "../shared/media.ts";

const {
  title,
  description,
  tags,
  altText,
  moreMedia,
  language,
  sensitive,
  spoilerText,
  thumbnailUrl,
  thread,
} = commonMetadata;

const FORMATS = ["note", "picture", "video", "article"] as const;
/** The names that texts have on all platforms: only articles are read as Markdown. */
const TEXTS = { plain: "note", markdown: "article" } as const;
type Format = (typeof FORMATS)[number];

/** What a post on Nostr takes beside caption and media. */
export const NostrMetadata = z.strictObject({
  format: z
    .enum([...FORMATS, "plain", "markdown"])
    .optional()
    .describe(
      "note (default): shown in every app. picture, video: for apps that show these. article: long text in Markdown, which can be edited. plain is a note, markdown an article.",
    ),
  title: title.describe("Title of a picture, video or article."),
  description: description.describe("Summary of an article."),
  tags: tags.describe("Topics (without #). #tags in the caption count too."),
  altText,
  moreMedia,
  thumbnailUrl: thumbnailUrl.describe("Picture shown before a video plays, or above an article."),
  language: language.describe("Language of the text."),
  sensitive,
  spoilerText: spoilerText.describe("Why the post is hidden until it is clicked."),
  thread: thread.describe("Notes that follow, each a reply to the one before."),
});
export type NostrPost = PlatformPost<z.infer<typeof NostrMetadata>>;

export function formatOf({ metadata }: Pick<NostrPost, "metadata">): Format {
  const { format = "note" } = metadata;
  return format === "plain" || format === "markdown" ? TEXTS[format] : format;
}

type Only = readonly [field: keyof NostrPost["metadata"], formats: readonly Format[]];

/** What some formats have and others have not. */
const ONLY_IN: readonly Only[] = [
  ["title", ["picture", "video", "article"]],
  ["description", ["article"]],
  ["thread", ["note"]],
];

/** What the schema cannot say. */
export function check(post: NostrPost, { media }: Pick<CheckedAt, "media">): CheckResult {
  const { metadata } = post;
  const format = formatOf(post);
  const errors = ONLY_IN.flatMap(([field, formats]) =>
    metadata[field] === undefined || formats.includes(format)
      ? []
      : [`metadata.${field}: is shown only with format ${formats.join(" or ")}. Set it, or leave this out.`],
  );
  const isBare = (post.caption ?? "").trim() === "";
  const types = itemsOf(post).map(({ url }) => media.get(url)?.type ?? null);
  errors.push(...checkFirst(post, "picture or video"));
  if (format === "article") {
    if (isBare) errors.push("caption: is empty. Give the article's text, in Markdown.");
    if (types.length > 0)
      errors.push(
        "mediaUrl: an article has its pictures in its text. Give the one above the text as thumbnailUrl.",
      );
  } else if (isBare && types.length === 0)
    errors.push("caption: is empty, and there is no media. Give one of them.");
  if ((format === "article" || format === "video") && metadata.title === undefined)
    errors.push(`metadata.title: is missing. Every ${format} needs one. Give it.`);
  errors.push(...mediaErrors(format, types));
  const hasFilm = types.some((type) => type === "video" || type === null);
  if (metadata.thumbnailUrl !== undefined && format !== "article" && !hasFilm)
    errors.push("metadata.thumbnailUrl: is shown before a video and above an article. Leave it out.");
  return { errors, warnings: [] };
}

/** Null: it is not known yet what it is. */
export function mediaErrors(format: Format, types: readonly (string | null)[]): string[] {
  const wanted = format === "picture" ? "image" : format;
  if (format !== "picture" && format !== "video") return [];
  const isFit = types.length > 0 && types.every((type) => type === null || type === wanted);
  if (isFit && (format === "picture" || types.length === 1)) return [];
  const what = format === "picture" ? "one picture or more, and nothing else" : "exactly one video";
  return [`mediaUrl: a post of format ${format} has ${what}. Give that, or leave format out.`];
}
