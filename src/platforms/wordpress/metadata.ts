import * as z from "zod";
import { WEB_ADDRESS } from "../../domain/posts/caption.ts";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { CheckResult, Choice, PlatformPost } from "../../ports/platform.ts";
import { checkFirst, inOrder } from "../shared/media.ts";
import { type Block, htmlOf, inlineHtml, readMarkdown } from "../shared/markdown.ts";
import { textOfHtml } from "../../domain/text/html-text.ts";
import { ask } from "./api.ts";

const { title, tags, altText, moreMedia, thumbnailUrl, format } = commonMetadata;

/** What an article takes beside its text, which is the caption, and its media, which stand above it. */
export const WordpressMetadata = z.strictObject({
  title: title
    .unwrap()
    .refine((text) => text.trim() !== "", "must not be empty")
    .describe("Headline."),
  html: z
    .boolean()
    .optional()
    .describe("The caption is HTML or blocks, not plain text. Default false.")
    .meta({ title: "The text is HTML" }),
  format: format.describe("How the caption is read: plain (default), or markdown, which becomes blocks."),
  excerpt: z.string().max(5_000).optional().describe("Summary for lists and feeds. Default: the beginning."),
  slug: z
    .string()
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "takes lowercase letters, digits and hyphens")
    .max(150)
    .optional()
    .describe("Last part of the address. Default: from the title, with a mark of the post.")
    .meta({ title: "End of the address" }),
  categories: z
    .array(z.string().regex(/^[1-9]\d{0,9}$/, "must be numbers of categories"))
    .max(50)
    .optional()
    .describe("Numbers of categories, from list_choices. Default: the site's own."),
  tags: tags.describe("Tags by name. New ones are made."),
  comments: z.boolean().optional().describe("Whether readers may comment. Default: the site's setting."),
  altText,
  moreMedia,
  thumbnailUrl: thumbnailUrl.describe("Featured image: a picture."),
});
export type WordpressMetadata = z.infer<typeof WordpressMetadata>;
export type WordpressPost = PlatformPost<WordpressMetadata>;

/** The look-up key of the post on the site: no other post has its last 8 characters. */
export function keyOf({ id, metadata }: Pick<WordpressPost, "id" | "metadata">): string {
  const words = metadata.title
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
  const start = (words.length === 0 ? "post" : words.join("-")).slice(0, 60).replace(/-$/, "");
  return `${start}-${id.slice(-8).toLowerCase()}`;
}

export function checkPost(post: WordpressPost): CheckResult {
  return { errors: checkFirst(post, "of the media"), warnings: [] };
}

/** A file in the media library. */
export const LibraryFile = z.object({
  id: z.number(),
  url: z.string(),
  kind: z.enum(["image", "video", "audio"]),
});
export type LibraryFile = z.infer<typeof LibraryFile>;

/**
 * What WordPress would take for markup, for a short code, for a smiley, or would make typographic signs of:
 * quotes, dashes, dots, (tm), 9x9.
 */
const SPECIAL =
  /[&<>"'[\]`]|-(?=-)|(?<=-)-|\.(?=\.)|(?<=\.)\.|\((?=tm\))|(?<=\d)x(?=\d)|(?<!\S)[:;](?=\S)|(?<!\S)8(?=-?[)O])/gi;

function escape(text: string): string {
  return text.replace(SPECIAL, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** For titles and summaries, whose typography is the site's own. */
export function escapeLine(text: string): string {
  return text.replace(/[&<>[\]]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** As blocks (https://developer.wordpress.org/block-editor/reference-guides/core-blocks/): media, then text. */
export function contentOf({ caption, metadata }: WordpressPost, files: readonly LibraryFile[]): string {
  const text = caption ?? "";
  const { altText, moreMedia = [] } = metadata;
  const alts = [altText, ...moreMedia.map((item) => item.altText)];
  const shown = files.map((file, at) => ({ file, html: toBlock(file, alts[at] ?? "") }));
  const pictures = shown.filter(({ file }) => file.kind === "image").map(({ html }) => html);
  const others = shown.filter(({ file }) => file.kind !== "image").map(({ html }) => html);
  const album = pictures.length < 2 ? pictures : [gallery(pictures)];
  return [...others, ...album, textOf(text, metadata)].join("\n\n").trim();
}

function textOf(text: string, { html, format }: WordpressMetadata): string {
  if (html === true) return text;
  return format === "markdown" ? readMarkdown(text).map(blockOf).join("\n\n") : paragraphs(text);
}

const WAYS = { text: escape };

/** As the block editor writes them, so that it opens them without a question. */
function blockOf(one: Block): string {
  switch (one.kind) {
    case "paragraph":
      return block("paragraph", htmlOf([one], WAYS));
    case "heading": {
      const tag = `h${one.level}`;
      const html = `<${tag} class="wp-block-heading">${inlineHtml(one.inlines, WAYS)}</${tag}>`;
      return block("heading", html, one.level === 2 ? {} : { level: one.level });
    }
    case "quote": {
      const inner = one.blocks.map(blockOf).join("\n");
      return block("quote", `<blockquote class="wp-block-quote">${inner}</blockquote>`);
    }
    case "list": {
      const isNumbered = one.start !== null;
      const tag = isNumbered ? "ol" : "ul";
      const items = one.items.map((item) => block("list-item", `<li>${item.map(itemOf).join("\n")}</li>`));
      return block(
        "list",
        `<${tag} class="wp-block-list">${items.join("\n")}</${tag}>`,
        isNumbered ? { ordered: true } : {},
      );
    }
    case "code":
      return block("code", `<pre class="wp-block-code"><code>${escape(one.text)}</code></pre>`);
    case "rule":
      return block("separator", `<hr class="wp-block-separator has-alpha-channel-opacity"/>`);
  }
}

/** A list's item holds words, and lists of its own. */
function itemOf(one: Block): string {
  return one.kind === "list"
    ? blockOf(one)
    : "inlines" in one
      ? inlineHtml(one.inlines, WAYS)
      : htmlOf([one], WAYS);
}

function paragraphs(text: string): string {
  const parts = text.replaceAll("\r\n", "\n").split(/\n{2,}/);
  const filled = parts.filter((part) => part.trim() !== "");
  return filled.map((part) => block("paragraph", `<p>${linked(part)}</p>`)).join("\n\n");
}

/** Addresses become links. WordPress would embed the page of one that has a line of its own. */
function linked(text: string): string {
  let html = "";
  let end = 0;
  for (const { 0: url, index } of text.matchAll(WEB_ADDRESS)) {
    html += `${escape(text.slice(end, index))}<a href="${escape(url)}">${escape(url)}</a>`;
    end = index + url.length;
  }
  return (html + escape(text.slice(end))).trim().replaceAll("\n", "<br>");
}

function toBlock({ id, url, kind }: LibraryFile, alt: string): string {
  const src = escape(url);
  if (kind === "image") {
    const picture = `<img src="${src}" alt="${escape(alt)}" class="wp-image-${id}"/>`;
    const figure = `<figure class="wp-block-image size-full">${picture}</figure>`;
    return block("image", figure, { id, sizeSlug: "full" });
  }
  const player = `<${kind} controls src="${src}"></${kind}>`;
  return block(kind, `<figure class="wp-block-${kind}">${player}</figure>`, { id });
}

function gallery(pictures: readonly string[]): string {
  const classes = "wp-block-gallery has-nested-images columns-default is-cropped";
  return block("gallery", `<figure class="${classes}">${pictures.join("\n")}</figure>`, { linkTo: "none" });
}

function block(name: string, html: string, attributes: object = {}): string {
  const said = Object.keys(attributes).length === 0 ? "" : ` ${JSON.stringify(attributes)}`;
  return `<!-- wp:${name}${said} -->\n${html}\n<!-- /wp:${name} -->`;
}

const Term = z.looseObject({ id: z.int(), name: z.string() });
const Terms = z.array(Term);

/** What is there already is told as an error that has its number. */
const Tag = z.union([
  z.looseObject({ id: z.int() }).transform(({ id }) => id),
  z.looseObject({ data: z.looseObject({ term_id: z.int() }) }).transform(({ data }) => data.term_id),
]);

/** Numbers of the categories and tags that a post is under; tags that are new are made. */
export type Filing = { readonly categories?: number[]; readonly tags?: number[] };

export async function fileUnder({ metadata }: WordpressPost, io: PlatformIo): Promise<Filing> {
  const { categories, tags } = metadata;
  return {
    ...(categories === undefined ? {} : { categories: await checkCategories(categories.map(Number), io) }),
    ...(tags === undefined ? {} : { tags: [...new Set(await inOrder(tags, (name) => makeTag(name, io)))] }),
  };
}

/** WordPress drops the numbers that it does not know without a word. */
async function checkCategories(ids: readonly number[], io: PlatformIo): Promise<number[]> {
  if (ids.length === 0) return [];
  const query = { include: ids.join(","), per_page: 100, _fields: "id,name" };
  const known = await ask(io, { path: "/wp/v2/categories", query }, Terms);
  const missing = ids.filter((id) => !known.some((term) => term.id === id));
  if (missing.length === 0) return [...new Set(ids)];
  throw new PlatformFault(
    "rejected",
    `the site has no category ${missing.join(", ")}. Choose among those that it has, then send the post again.`,
    { field: "metadata.categories" },
  );
}

function makeTag(name: string, io: PlatformIo): Promise<number> {
  const call = { path: "/wp/v2/tags", query: { _fields: "id" }, json: { name }, isIdempotent: true };
  return ask(io, { method: "POST", ...call }, Tag);
}

async function search(what: "categories" | "tags", text: string, io: PlatformIo): Promise<Choice[]> {
  const query = { per_page: 100, orderby: "count", order: "desc", _fields: "id,name", search: text || null };
  const found = await ask(io, { path: `/wp/v2/${what}`, query }, Terms);
  return found.map(({ id, name }) => {
    const label = textOfHtml(name);
    return { value: what === "tags" ? label : String(id), label };
  });
}

export const CHOICES = {
  categories: (text: string, io: PlatformIo) => search("categories", text, io),
  tags: (text: string, io: PlatformIo) => search("tags", text, io),
};
