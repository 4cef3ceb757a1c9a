import * as z from "zod";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import type { CheckResult, PlatformPost } from "../../ports/platform.ts";
import { checkFirst } from "../shared/media.ts";

const { title, description, altText, moreMedia, thumbnailUrl } = commonMetadata;

/** What an article on DEV takes beside its text. */
export const DevtoMetadata = z.strictObject({
  title: title
    .unwrap()
    .max(128)
    .refine((text) => text.trim() !== "", "must not be empty")
    .describe("Title, max. 128 characters."),
  description: description.describe("What the article is about, in search results."),
  tags: z
    .array(z.string().regex(/^[\p{L}\p{N}]{1,30}$/u, "must have only letters and digits, 30 at most"))
    .max(4)
    .optional()
    .describe("Tags, without #: at most 4, of letters and digits."),
  altText,
  moreMedia: moreMedia.describe("Further pictures."),
  thumbnailUrl: thumbnailUrl.describe("Cover image."),
  format: z
    .enum(["plain", "markdown", "text"])
    .optional()
    .describe("What the caption is written in. Default: plain (or text), shown as it is."),
  series: z.string().min(1).max(200).optional().describe("Name of the series that it belongs to."),
  canonicalUrl: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional()
    .describe("Where the article first appeared."),
  organizationId: z
    .int()
    .positive()
    .optional()
    .describe("Number of the organization of yours that publishes it.")
    .meta({ title: "Organization number" }),
});
export type DevtoPost = PlatformPost<z.infer<typeof DevtoMetadata>>;

/** Front matter would go before everything else that is said of the article, that it is a draft among it. */
const FRONT_MATTER = /^\s*---/;

export function check({ caption, mediaUrl, metadata }: DevtoPost): CheckResult {
  const errors = checkFirst({ mediaUrl, metadata }, "picture");
  if (metadata.format === "markdown" && FRONT_MATTER.test(caption ?? ""))
    errors.push(
      "caption: begins with front matter (---). Put that into metadata, and leave it out of the caption.",
    );
  return { errors, warnings: [] };
}

/**
 * In this order: addresses with the signs that follow them, which stay as they are (an escape would become part of the
 * link); what Forem takes for its own tags (https://dev.to/p/editor_guide,
 * Liquid); blanks that would make a line code; and markup.
 */
const MARKUP = /(\bhttps?:\/\/[^\s<>{`]+)|(\{[{%])|(^[ \t](?=[ \t]))|([&<>])|[\\`*_[\]()#+\-.!|~^=:$]/gim;

/** The text so that readers see it character by character. */
export function escapeMarkdown(text: string): string {
  return text.replace(
    MARKUP,
    (found: string, address?: string, liquid?: string, blank?: string, sign?: string) =>
      address ??
      (liquid !== undefined
        ? `{% raw %}${liquid}{% endraw %}`
        : blank === undefined && sign === undefined
          ? `\\${found}`
          : `&#${found.charCodeAt(0)};`),
  );
}
