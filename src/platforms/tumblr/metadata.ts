import * as z from "zod";
import { measureText, WEB_ADDRESS } from "../../domain/posts/caption.ts";
import { commonMetadata, fits } from "../../domain/posts/common-metadata.ts";
import type { Json, JsonObject } from "../../ports/platform-io.ts";
import type { CheckResult, CheckedAt, PlatformPost } from "../../ports/platform.ts";
import { type Block, type Range, rangesOf, readMarkdown } from "../shared/markdown.ts";

export const MAX_ITEMS = 30;

const { title, altText, link, moreMedia, format } = commonMetadata;

/** What a post on Tumblr takes beside its text (the caption) and its media. */
export const TumblrMetadata = z.strictObject({
  title: title.describe("Heading above everything else."),
  tags: z
    .array(
      z
        .string()
        .max(139)
        .refine((tag) => !tag.includes(",") && tag.trim() !== "", "must be a tag without a comma"),
    )
    .max(30)
    .optional()
    .describe("Tags, without #."),
  link: link.describe("Shown as a card below the text."),
  altText: altText.describe("What the first picture shows, for people who cannot see it."),
  moreMedia: z
    .array(moreMedia.unwrap().element)
    .max(MAX_ITEMS - 1, fits(MAX_ITEMS))
    .optional()
    .describe("Up to 29 more pictures and sounds, and one video in all."),
  format: format.describe(
    "How the caption is read: plain (default), or markdown, which becomes Tumblr's own blocks.",
  ),
  allowReblogs: z.boolean().optional().describe("False: it cannot be reblogged."),
});
export type TumblrMetadata = z.infer<typeof TumblrMetadata>;
export type TumblrPost = PlatformPost<TumblrMetadata>;

/** What is taken and not used is told. */
export function check({ mediaUrl, metadata }: TumblrPost, { media }: Pick<CheckedAt, "media">): CheckResult {
  const items = [{ url: mediaUrl, altText: metadata.altText }, ...(metadata.moreMedia ?? [])];
  const isMute = items.some(({ url, altText: alt }) => {
    const type = media.get(url)?.type;
    return (alt ?? "") !== "" && type !== undefined && type !== "image";
  });
  return { errors: [], warnings: isMute ? ["altText: Tumblr shows it only with pictures."] : [] };
}

/** https://github.com/tumblr/docs/blob/master/npf-spec.md#post-content-limits */
const MAX_BLOCK_CHARS = 4_096;
const MAX_PARAGRAPHS = 900;
const MAX_LINKS = 100;

/** Pictures stand beside each other, so many in a row. */
const PER_ROW = 3;

/** Everything of a post that can be changed later too; `media` are blocks, in their order. */
export function contentOf({ caption, metadata }: TumblrPost, media: readonly JsonObject[]): JsonObject {
  const { title, link, tags = [], allowReblogs = true, format } = metadata;
  const heading = title === undefined ? [] : [{ type: "text", subtype: "heading1", text: title }];
  const card = link === undefined ? [] : [{ type: "link", url: link }];
  const text =
    format === "markdown" ? readMarkdown(caption ?? "").flatMap(richBlocks) : textBlocks(caption ?? "");
  const content: JsonObject[] = [...heading, ...media, ...text, ...card];
  return {
    content,
    layout: layoutOf(content),
    tags: tags.join(","),
    interactability_reblog: allowReblogs ? "everyone" : "noone",
  };
}

/** A block is a paragraph; what is longer than one may be goes on in the next. */
function textBlocks(text: string): JsonObject[] {
  if (text === "") return [];
  const paragraphs = text.split("\n\n");
  const pieces = (paragraphs.length > MAX_PARAGRAPHS ? [text] : paragraphs).flatMap(piecesOf);
  let left = MAX_LINKS;
  return pieces.map((piece) => {
    const formatting = linksIn(piece).slice(0, left);
    left -= formatting.length;
    return { type: "text", text: piece, ...(formatting.length === 0 ? {} : { formatting }) };
  });
}

/** https://github.com/tumblr/docs/blob/master/npf-spec.md#text-block-subtypes; code is a plain paragraph there. */
function richBlocks(block: Block): JsonObject[] {
  switch (block.kind) {
    case "heading":
      return richText([block], block.level === 1 ? "heading1" : "heading2");
    case "quote":
      return block.blocks.flatMap((inner) => richText([inner], "indented"));
    case "list": {
      const subtype = block.start === null ? "unordered-list-item" : "ordered-list-item";
      return block.items.flatMap((item) => richText(item, subtype));
    }
    default:
      return richText([block], null);
  }
}

const FORMATTING: Readonly<Partial<Record<Range["kind"], string>>> = {
  bold: "bold",
  italic: "italic",
  strike: "strikethrough",
};

function richText(blocks: readonly Block[], subtype: string | null): JsonObject[] {
  const { text, ranges } = rangesOf(blocks);
  if (text === "") return [];
  const at = (index: number): number => measureText(text.slice(0, index), "characters");
  const formatting = ranges.flatMap((range): JsonObject[] => {
    const place = { start: at(range.start), end: at(range.end) };
    if (range.kind === "link") return [{ type: "link", ...place, url: range.address }];
    const type = FORMATTING[range.kind];
    return type === undefined ? [] : [{ type, ...place }];
  });
  const shape = { type: "text", ...(subtype === null ? {} : { subtype }) };
  // What is longer than a block may be loses its looks, and nothing of its words.
  if ([...text].length > MAX_BLOCK_CHARS) return piecesOf(text).map((piece) => ({ ...shape, text: piece }));
  return [{ ...shape, text, ...(formatting.length === 0 ? {} : { formatting }) }];
}

/** Cut between words, where there are any. */
function piecesOf(paragraph: string): string[] {
  const pieces: string[] = [];
  let rest = [...paragraph];
  while (rest.length > MAX_BLOCK_CHARS) {
    const space = rest.slice(0, MAX_BLOCK_CHARS).findLastIndex((sign) => /\s/.test(sign));
    const end = space <= 0 ? MAX_BLOCK_CHARS : space + 1;
    pieces.push(rest.slice(0, end).join(""));
    rest = rest.slice(end);
  }
  return [...pieces, rest.join("")];
}

/** Tumblr makes no links of its own accord; it counts code points. */
function linksIn(text: string): JsonObject[] {
  return [...text.matchAll(WEB_ADDRESS)].map(({ 0: url, index }) => {
    const start = measureText(text.slice(0, index), "characters");
    return { type: "link", start, end: start + measureText(url, "characters"), url };
  });
}

/** Empty where all blocks stand below each other. */
function layoutOf(content: readonly JsonObject[]): Json[] {
  const rows: number[][] = [];
  for (const [at, { type }] of content.entries()) {
    const row = rows.at(-1);
    const isBeside = type === "image" && content[at - 1]?.["type"] === "image";
    if (isBeside && row !== undefined && row.length < PER_ROW) row.push(at);
    else rows.push([at]);
  }
  if (rows.every(({ length }) => length === 1)) return [];
  return [{ type: "rows", display: rows.map((blocks) => ({ blocks })) }];
}

/** The end of the post's address: by `mark`, which nothing else has, it is found again. */
export function slugOf({ caption, metadata }: TumblrPost, mark: string): string {
  const words = (metadata.title ?? caption ?? "")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 32)
    .replace(/^-|-$/g, "");
  return words === "" ? mark : `${words}-${mark}`;
}
