import * as z from "zod";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import type { CheckResult, PlatformPost } from "../../ports/platform.ts";
import { checkFirst } from "../shared/media.ts";
import { checkAltTexts } from "../shared/thread.ts";

const { title, altText, moreMedia, link, sensitive, thumbnailUrl, format } = commonMetadata;

/** "!news@lemmy.ml", "news@lemmy.ml", "news", or the address of its page. */
const COMMUNITY = /^(?:!?|(?:https?:\/\/[\w.:-]+)?\/c\/)([\w-]{1,100})(?:@([\w.:-]{1,200}))?\/?$/;

export const LemmyMetadata = z.strictObject({
  community: z
    .string()
    .max(400)
    .regex(COMMUNITY, "must be a community such as news@lemmy.ml")
    .describe("Where it is posted: a community such as news@lemmy.ml."),
  title: title
    .unwrap()
    .trim()
    .min(3)
    .max(200)
    .regex(/^.*$/, "must be one line")
    .describe("Title, required: one line of 3 to 200 characters."),
  link: link.describe("Web address that the post leads to, in place of a picture."),
  altText,
  moreMedia: moreMedia.describe("Further pictures, shown below the text."),
  thumbnailUrl: thumbnailUrl.describe("Picture shown beside the link."),
  sensitive: sensitive.describe("Marks the post as not safe for work."),
  format: format.describe("How the caption is read: plain (default), or markdown, as Lemmy has it."),
});
export type LemmyPost = PlatformPost<z.infer<typeof LemmyMetadata>>;

/** As servers look it up: with its server's name where one is given. */
export function communityOf({ metadata: { community } }: LemmyPost): string {
  const [, name = community, at] = COMMUNITY.exec(community) ?? [];
  const host = at ?? (/^https?:/.test(community) ? new URL(community).host : undefined);
  return host === undefined ? name : `${name}@${host}`;
}

const MAX_ALT = 1_500;

/** What excludes what. */
export function check({ mediaUrl, metadata }: LemmyPost): CheckResult {
  const errors = [...checkAltTexts(metadata, MAX_ALT), ...checkFirst({ mediaUrl, metadata }, "picture")];
  if (mediaUrl !== "" && metadata.link !== undefined)
    errors.push("metadata.link: a post has either a link or a picture. Leave one of them out.");
  const isBare = metadata.thumbnailUrl !== undefined && metadata.link === undefined;
  return {
    errors,
    warnings: isBare ? ["metadata.thumbnailUrl: Lemmy shows one only beside a link."] : [],
  };
}

/** An address, to where its sentence goes on; in the second half, what Markdown and Lemmy's additions read. */
const MARKUP =
  /(https?:\/\/[^\s<>"`\\^[\]{}|]*[^\s<>"`\\^[\]{}|.,;:!?)'*_~])|[\\`*_[\]<>~^|]|&(?=#?\w+;)|^[#=+:-]|(?<=^\d{1,9})[.)]/gu;

/** The text so that readers see it as it was written: Lemmy takes Markdown for every body. */
export function plainMarkdown(text: string): string {
  const lines = text.split(/\r\n?|\n/).map((line) => line.trim().replace(MARKUP, escapeSign));
  return lines.reduce((before, line, at) => {
    const isApart = line === "" || lines[at - 1] === "";
    return `${before}${isApart ? "" : "  "}\n${line}`;
  });
}

/** The caption as Lemmy is given it. */
export function bodyOf({ caption, metadata: { format } }: LemmyPost): string {
  const text = caption ?? "";
  return format === "markdown" ? text : plainMarkdown(text);
}

function escapeSign(sign: string, address?: string): string {
  if (address === undefined) return `\\${sign}`;
  return /[*_~]/.test(address) ? `<${address}>` : address;
}

/** In code points, with what keeps markup from being one. */
export function measure(text: string): number {
  return [...plainMarkdown(text)].length;
}
