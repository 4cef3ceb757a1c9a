import * as z from "zod";
import { WEB_ADDRESS } from "../../domain/posts/caption.ts";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import type { JsonObject } from "../../ports/platform-io.ts";
import type { CheckResult, PlatformPost } from "../../ports/platform.ts";
import { checkFirst } from "../shared/media.ts";

const { title, description, tags, altText, moreMedia, thumbnailUrl } = commonMetadata;

/** What an article on Ghost takes beside its text and media. */
export const GhostMetadata = z.strictObject({
  title: title
    .unwrap()
    .max(255)
    .refine((text) => text.trim() !== "", "must not be empty")
    .describe("Title, max. 255 characters."),
  description: description.unwrap().max(300).optional().describe("Excerpt, max. 300 characters."),
  tags: tags.describe("Tags. The first is the main one. Those that begin with # are internal."),
  altText,
  moreMedia: moreMedia.describe("Further media. Pictures in a row become a gallery."),
  thumbnailUrl: thumbnailUrl.describe("Feature image."),
  format: z
    .enum(["plain", "markdown", "html", "text"])
    .optional()
    .describe("What the caption is written in. Default: plain (or text), shown as it is."),
  slug: z
    .string()
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "must be lowercase letters, digits and hyphens")
    .max(185)
    .optional()
    .describe("End of the article's address. Default: made from the title.")
    .meta({ title: "End of the address" }),
  audience: z
    .enum(["public", "members", "paid"])
    .optional()
    .describe("Who may read it. Default: the site's setting.")
    .meta({ title: "Who may read it" }),
  featured: z.boolean().optional().describe("Marks it as featured."),
  authors: z
    .array(z.string().min(1).max(191))
    .min(1)
    .max(10)
    .optional()
    .describe("E-mail addresses of the site's staff (list_choices). Default: the site's owner."),
  canonicalUrl: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional()
    .describe("Where the article first appeared."),
  newsletter: z
    .string()
    .min(1)
    .max(191)
    .optional()
    .describe(
      "Slug of a newsletter (list_choices) that mails it to its subscribers. This cannot be undone. Default: no mail.",
    ),
});
export type GhostMetadata = z.infer<typeof GhostMetadata>;
export type GhostPost = PlatformPost<GhostMetadata>;

export function check(post: GhostPost): CheckResult {
  const warnings =
    post.metadata.newsletter === undefined
      ? []
      : ["metadata.newsletter: the post is mailed to the newsletter's subscribers when it goes out."];
  return { errors: checkFirst(post, "of the media"), warnings };
}

const Figure = z.number().nullable();

/** A file on the site that no post shows yet. */
export const UploadedFile = z.object({
  type: z.string(),
  url: z.string(),
  mimeType: z.string(),
  width: Figure,
  height: Figure,
  seconds: Figure,
});
export type UploadedFile = z.infer<typeof UploadedFile>;

/** An item of the post, as its author describes it. */
export interface ArticleMedia extends UploadedFile {
  readonly altText: string;
}

/** More do not fit into a gallery of Ghost's editor. */
const MAX_IN_GALLERY = 9;

/** The article as Ghost's editor keeps it (https://lexical.dev), JSON in a text: media first, then the text. */
export function lexicalOf(
  { caption, metadata: { format } }: GhostPost,
  media: readonly ArticleMedia[],
): string {
  const text = caption ?? "";
  const written =
    format === "markdown" || format === "html"
      ? [{ type: format, version: 1, [format]: text }]
      : paragraphsOf(text);
  const children = [...cardsOf(media), ...written];
  return JSON.stringify({ root: { ...BLOCK, type: "root", children } });
}

const BLOCK = { version: 1, direction: "ltr", format: "", indent: 0 } as const;

function paragraphsOf(text: string): JsonObject[] {
  const paragraphs = text.replaceAll("\r\n", "\n").split(/\n{2,}/);
  return paragraphs
    .filter((one) => one !== "")
    .map((one) => ({
      ...BLOCK,
      type: "paragraph",
      children: one
        .split("\n")
        .flatMap((line, at) => [...(at === 0 ? [] : [{ type: "linebreak", version: 1 }]), ...lineOf(line)]),
    }));
}

const ADDRESSES = new RegExp(`(${WEB_ADDRESS.source})`, "i");

/** Addresses become links. */
function lineOf(line: string): JsonObject[] {
  return line.split(ADDRESSES).flatMap((text, at): JsonObject[] => {
    if (text === "") return [];
    const plain = {
      type: "extended-text",
      version: 1,
      detail: 0,
      format: 0,
      mode: "normal",
      style: "",
      text,
    };
    return at % 2 === 0 ? [plain] : [{ ...BLOCK, type: "link", url: text, children: [plain] }];
  });
}

/** Pictures that follow each other are a gallery. */
function cardsOf(media: readonly ArticleMedia[]): JsonObject[] {
  const cards: JsonObject[] = [];
  let row: ArticleMedia[] = [];
  const endRow = (): void => {
    const [first] = row;
    if (first !== undefined)
      cards.push(row.length > 1 ? galleryOf(row) : { type: "image", version: 1, ...figureOf(first) });
    row = [];
  };
  for (const one of media) {
    if (one.type !== "image" || row.length === MAX_IN_GALLERY) endRow();
    if (one.type === "image") row.push(one);
    else cards.push(playedOf(one));
  }
  endRow();
  return cards;
}

function figureOf({ url, altText, width, height }: ArticleMedia): JsonObject {
  return { src: url, alt: altText, title: "", caption: "", width, height };
}

function galleryOf(row: readonly ArticleMedia[]): JsonObject {
  const images = row.map((one, at) => ({
    ...figureOf(one),
    fileName: one.url.split("/").at(-1) ?? "",
    row: Math.floor(at / 3),
  }));
  return { type: "gallery", version: 1, images, caption: "" };
}

function playedOf({ type, url, mimeType, altText, width, height, seconds }: ArticleMedia): JsonObject {
  const played = { version: 1, src: url, mimeType, duration: seconds };
  if (type === "audio") return { ...played, type: "audio", title: altText };
  const size = { width: width ?? 640, height: height ?? 360 };
  // The caption of a video is HTML, and nothing else of it is.
  const caption = altText.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  return { ...played, ...size, type: "video", caption, fileName: url.split("/").at(-1) ?? "" };
}
