import * as z from "zod";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import type { Json } from "../../ports/platform-io.ts";
import type { Checked, CheckedAt, PlatformPost } from "../../ports/platform.ts";
import { checkFirst, type PostItem } from "../shared/media.ts";
import { partsOf as threadOf } from "../shared/thread.ts";
import { INVITE } from "./api.ts";

/** Slack cuts texts at 40,000 and advises 4,000, beyond which it shows a message in parts and refuses edits. */
export const MAX_TEXT_CHARS = 4_000;
const MAX_ALT_CHARS = 1_000;
export const MAX_FILES = 10;

const { title, altText, moreMedia, thread } = commonMetadata;

/** What a message in Slack takes beside caption and media. */
export const SlackMetadata = z.strictObject({
  title: title.describe("Name shown above the first file."),
  altText: altText.unwrap().max(MAX_ALT_CHARS).optional().describe("What the first file shows."),
  moreMedia: moreMedia
    .unwrap()
    .max(MAX_FILES - 1)
    .optional()
    .describe("Up to 9 more files in the same message."),
  thread: thread.describe("Replies in the message's thread, in order."),
  linkPreviews: z
    .boolean()
    .optional()
    .describe("False: shows no previews of the addresses in the text. Messages with files have none."),
});
export type SlackMetadata = z.infer<typeof SlackMetadata>;
export type SlackPost = PlatformPost<SlackMetadata>;

/** The message itself, or a reply to it. Its first file may have a title. */
export interface Part {
  readonly text: string;
  readonly files: readonly (PostItem & { readonly title: string | null })[];
}

/** The message and the replies to it. */
export function partsOf(post: SlackPost): [Part, ...Part[]] {
  const [first, ...replies] = threadOf(post).map(({ text, media }, part) => ({
    text,
    files: media.map((item, at) => {
      const isTitled = part === 0 && at === 0 && post.mediaUrl !== "";
      return { ...item, title: isTitled ? (post.metadata.title ?? null) : null };
    }),
  }));
  return [first ?? { text: "", files: [] }, ...replies];
}

/** What the schema cannot say. */
export function check(post: SlackPost, { account }: CheckedAt): Checked {
  const parts = partsOf(post);
  const { moreMedia, title } = post.metadata;
  const errors = parts.flatMap((part, at) =>
    at === 0 ? [] : checkReply(part, `metadata.thread[${at - 1}]`),
  );
  for (const [at, { altText }] of (moreMedia ?? []).entries())
    if (tooLong(altText)) errors.push(altError(`metadata.moreMedia[${at}].altText`));
  errors.push(...checkFirst(post, "file"));
  const warnings: string[] = [];
  if (title !== undefined && post.mediaUrl === "")
    warnings.push("metadata.title: is the name of a file, and there is none. It is not shown.");
  if (account.limits["isMember"] === false && parts.some(({ files }) => files.length > 0)) {
    warnings.push(
      `Slack takes files only from bots that are in the channel. At the last check, this one was not. ${INVITE}.`,
    );
  }
  return { errors, warnings };
}

function checkReply({ text, files }: Part, field: string): string[] {
  const length = [...text].length;
  return [
    ...(length > MAX_TEXT_CHARS
      ? [
          `${field}.caption: has ${length} characters, and Slack takes ${MAX_TEXT_CHARS}. Divide it into two replies.`,
        ]
      : []),
    ...(files.some(({ altText }) => tooLong(altText)) ? [altError(`${field}.altText`)] : []),
  ];
}

function tooLong(altText: string | null | undefined): boolean {
  return [...(altText ?? "")].length > MAX_ALT_CHARS;
}

function altError(field: string): string {
  return `${field}: must be at most ${MAX_ALT_CHARS} characters long for Slack. Shorten it.`;
}

/** What readers see as it is written: Slack takes these three for markup in every text. */
export function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Anything that mrkdwn may read as bold, italics, struck, code, an emoji or a quotation. */
const MARKUP = /[*_~`:]|^[ \t]*>/m;

const ADDRESS = /https?:\/\/[^\s<>]+/g;

/** Whether mrkdwn would show the text otherwise than it is written. It does not change addresses. */
export function hasMarkup(text: string): boolean {
  return MARKUP.test(text.replace(ADDRESS, ""));
}

/**
 * The text as blocks, which know no markup: where a method has no switch that turns it off. Addresses are
 * links of their own.
 */
export function richText(text: string): Json {
  const elements: Json[] = [];
  let at = 0;
  for (const match of text.matchAll(ADDRESS)) {
    if (match.index > at) elements.push({ type: "text", text: text.slice(at, match.index) });
    elements.push({ type: "link", url: match[0], text: match[0] });
    at = match.index + match[0].length;
  }
  if (at < text.length) elements.push({ type: "text", text: text.slice(at) });
  return [{ type: "rich_text", elements: [{ type: "rich_text_section", elements }] }];
}
