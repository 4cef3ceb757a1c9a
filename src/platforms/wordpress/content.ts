import * as z from "zod";
import { WEB_ADDRESS } from "../../domain/posts/caption.ts";
import type { WordpressPost } from "./metadata.ts";

/** A file in the media library. */
export const Filed = z.object({
  id: z.number(),
  url: z.string(),
  kind: z.enum(["image", "video", "audio"]),
});
export type Filed = z.infer<typeof Filed>;

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
export function contentOf({ caption, metadata }: WordpressPost, files: readonly Filed[]): string {
  const text = caption ?? "";
  const { altText, moreMedia = [] } = metadata;
  const alts = [altText, ...moreMedia.map((item) => item.altText)];
  const shown = files.map((file, at) => ({ file, html: toBlock(file, alts[at] ?? "") }));
  const pictures = shown.filter(({ file }) => file.kind === "image").map(({ html }) => html);
  const others = shown.filter(({ file }) => file.kind !== "image").map(({ html }) => html);
  const album = pictures.length < 2 ? pictures : [gallery(pictures)];
  return [...others, ...album, metadata.html === true ? text : paragraphs(text)].join("\n\n").trim();
}

function paragraphs(text: string): string {
  const parts = text.replaceAll("\r\n", "\n").split(/\n{2,}/);
  const filled = parts.filter((part) => part.trim() !== "");
  return filled.map((part) => block("paragraph", `<p>${linked(part)}</p>`)).join("\n\n");
}

/** Addresses can be clicked; one alone in its line stays one, where WordPress would show what is there. */
function linked(text: string): string {
  let html = "";
  let end = 0;
  for (const { 0: url, index } of text.matchAll(WEB_ADDRESS)) {
    html += `${escape(text.slice(end, index))}<a href="${escape(url)}">${escape(url)}</a>`;
    end = index + url.length;
  }
  return (html + escape(text.slice(end))).trim().replaceAll("\n", "<br>");
}

function toBlock({ id, url, kind }: Filed, alt: string): string {
  const src = escape(url);
  if (kind === "image") {
    const picture = `<img src="${src}" alt="${escape(alt)}" class="wp-image-${id}"/>`;
    return block("image", `<figure class="wp-block-image size-full">${picture}</figure>`, {
      id,
      sizeSlug: "full",
    });
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
