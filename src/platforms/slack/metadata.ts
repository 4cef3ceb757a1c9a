import * as z from "zod";
import { commonMetadata, fits } from "../../domain/posts/common-metadata.ts";
import { hasMention } from "../../domain/posts/mentions.ts";
import type { Json, JsonObject, PlatformAccount } from "../../ports/platform-io.ts";
import type { CheckResult, CheckedAt, PlatformPost } from "../../ports/platform.ts";
import { checkSeen } from "../shared/checks.ts";
import {
  type Block,
  type Inline,
  rangesOf,
  readText,
  type TextFormat,
  textSeen,
} from "../shared/markdown.ts";
import { checkFirst, type PostItem } from "../shared/media.ts";
import { partsOf as threadOf } from "../shared/thread.ts";
import { channelOf, INVITE } from "./api.ts";

/** Slack cuts texts at 40,000 and advises 4,000, beyond which it shows a message in parts and refuses edits. */
export const MAX_TEXT_CHARS = 4_000;
const MAX_ALT_CHARS = 1_000;
export const MAX_FILES = 10;

const { title, altText, moreMedia, thread, format } = commonMetadata;

/** What a message in Slack takes beside caption and media. */
export const SlackMetadata = z.strictObject({
  title: title.describe("Name shown above the first file."),
  altText: altText.unwrap().max(MAX_ALT_CHARS).optional().describe("What the first file shows."),
  moreMedia: moreMedia
    .unwrap()
    .max(MAX_FILES - 1, fits(MAX_FILES))
    .optional()
    .describe("Up to 9 more files in the same message."),
  thread: thread.describe("Replies in the message's thread, in order."),
  linkPreviews: z
    .boolean()
    .optional()
    .describe("False: shows no previews of the addresses in the text. Messages with files have none."),
  channel: z
    .string()
    .regex(/^[CG][A-Z0-9]{2,20}$/, "must be a channel's id, such as C0123456789")
    .optional()
    .describe("Id of another channel of the workspace to post into (list_choices)."),
  format,
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

/** The channel of a post: its own, or that of its account. */
export function channelFor({ metadata }: Pick<SlackPost, "metadata">, account: PlatformAccount): string {
  return metadata.channel ?? channelOf(account).channelId;
}

/** What the schema cannot say. */
export function check(post: SlackPost, { account }: Pick<CheckedAt, "account">): CheckResult {
  const parts = partsOf(post);
  const { moreMedia, title, format: read, channel } = post.metadata;
  const errors = parts.flatMap((part, at) =>
    at === 0
      ? checkSeen("caption", part.text, read)
      : checkReply(part, { field: `metadata.thread[${at - 1}]`, read }),
  );
  for (const [at, { altText }] of (moreMedia ?? []).entries())
    if (tooLong(altText)) errors.push(altError(`metadata.moreMedia[${at}].altText`));
  errors.push(...checkFirst(post, "file"));
  const warnings: string[] = [];
  if (title !== undefined && post.mediaUrl === "")
    warnings.push("metadata.title: is the name of a file, and there is none. It is not shown.");
  if (
    channel === undefined &&
    account.limits["isMember"] === false &&
    parts.some(({ files }) => files.length > 0)
  ) {
    warnings.push(
      `Slack takes files only from bots that are in the channel. At the last check, this one was not. ${INVITE}.`,
    );
  }
  if (read === "markdown" && parts.some(({ text }) => hasSpoiler(text)))
    warnings.push(
      "metadata.format: Slack hides no text. What stands between || and || is shown like the rest.",
    );
  return { errors, warnings };
}

function hasSpoiler(text: string): boolean {
  return rangesOf(readText(text, "markdown")).ranges.some(({ kind }) => kind === "spoiler");
}

function checkReply(
  { text, files }: Part,
  { field, read }: { readonly field: string; readonly read: TextFormat },
): string[] {
  const { length } = [...textSeen(text, read)];
  return [
    ...checkSeen(`${field}.caption`, text, read),
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

/** The blocks of a text that is more than what is written; null: it is no more. */
export function blocksFor(text: string, format: TextFormat): Json[] | null {
  return format === "markdown" || hasMention(text) ? richText(readText(text, format)) : null;
}

/** A plain text as blocks, which know no markup: where a method has no switch that turns it off. */
export function plainBlocks(text: string): Json[] {
  return richText(readText(text, "plain"));
}

/** https://docs.slack.dev/reference/block-kit/blocks/rich-text-block */
function richText(blocks: readonly Block[]): Json[] {
  return [{ type: "rich_text", elements: elementsOf(blocks) }];
}

/** Paragraphs that follow each other are one section. */
function elementsOf(blocks: readonly Block[]): JsonObject[] {
  const elements: JsonObject[] = [];
  let section: JsonObject[] = [];
  const close = (): void => {
    if (section.length > 0) elements.push({ type: "rich_text_section", elements: section });
    section = [];
  };
  for (const block of blocks) {
    switch (block.kind) {
      case "quote":
        close();
        elements.push({ type: "rich_text_quote", elements: linesOf(block.blocks) });
        break;
      case "list":
        close();
        elements.push(...listsOf(block, 0));
        break;
      case "code":
        close();
        elements.push({ type: "rich_text_preformatted", elements: [written(block.text)] });
        break;
      default:
        section.push(...(section.length === 0 ? [] : [written("\n\n")]), ...wordsOf(block));
    }
  }
  close();
  return elements;
}

type List = Extract<Block, { kind: "list" }>;

const MAX_INDENT = 8;

/** A list in a list is one of its own, further in; after it, the outer one goes on. */
function listsOf({ start, items }: List, depth: number): JsonObject[] {
  const lists: JsonObject[] = [];
  let sections: JsonObject[] = [];
  let begun = 0;
  const close = (next: number): void => {
    const offset = (start ?? 1) - 1 + begun;
    if (sections.length > 0)
      lists.push({
        type: "rich_text_list",
        style: start === null ? "bullet" : "ordered",
        elements: sections,
        ...(depth === 0 ? {} : { indent: Math.min(depth, MAX_INDENT) }),
        ...(start === null || offset === 0 ? {} : { offset }),
      });
    sections = [];
    begun = next;
  };
  for (const [at, item] of items.entries()) {
    const inner = item.filter((block) => block.kind === "list");
    sections.push({
      type: "rich_text_section",
      elements: linesOf(item.filter((block) => block.kind !== "list")),
    });
    if (inner.length === 0) continue;
    close(at + 1);
    lists.push(...inner.flatMap((list) => listsOf(list, depth + 1)));
  }
  close(items.length);
  return lists;
}

/** Blocks where only words may stand: in an item or a quotation. An element may not be empty. */
function linesOf(blocks: readonly Block[]): JsonObject[] {
  const lines = blocks.flatMap((block, at) => [...(at === 0 ? [] : [written("\n")]), ...wordsOf(block)]);
  return lines.length === 0 ? [written(" ")] : lines;
}

function wordsOf(block: Block): JsonObject[] {
  switch (block.kind) {
    case "paragraph":
      return inlinesOf(block.inlines, {});
    case "heading":
      return inlinesOf(block.inlines, { bold: true });
    case "rule":
      return [written("———")];
    case "code":
      return [written(block.text, { code: true })];
    case "quote":
      return linesOf(block.blocks);
    case "list":
      return block.items.flatMap((item, at) => [
        written(`${at === 0 ? "" : "\n"}${block.start === null ? "•" : `${block.start + at}.`} `),
        ...linesOf(item),
      ]);
  }
}

type Style = Readonly<Record<string, true>>;

function written(text: string, style: Style = {}): JsonObject {
  return { type: "text", text: text === "" ? " " : text, ...styled(style) };
}

function styled(style: Style): JsonObject {
  return Object.keys(style).length === 0 ? {} : { style: { ...style } };
}

function inlinesOf(inlines: readonly Inline[], style: Style): JsonObject[] {
  return inlines.flatMap((inline): JsonObject[] => {
    switch (inline.kind) {
      case "text":
        return textsOf(inline.text, style);
      case "code":
        return [written(inline.text, { ...style, code: true })];
      case "break":
        return [written("\n")];
      case "link": {
        const { text } = rangesOf([{ kind: "paragraph", inlines: inline.inlines }]);
        return [{ type: "link", url: inline.address, text, ...styled(style) }];
      }
      case "mention":
        return /^[UW][A-Z0-9]+$/.test(inline.id)
          ? [{ type: "user", user_id: inline.id, ...styled(style) }]
          : [written(`@${inline.name}`, style)];
      case "spoiler":
        return inlinesOf(inline.inlines, style);
      default:
        return inlinesOf(inline.inlines, { ...style, [inline.kind]: true });
    }
  });
}

/** Addresses are links of their own. */
function textsOf(text: string, style: Style): JsonObject[] {
  const elements: JsonObject[] = [];
  let at = 0;
  for (const match of text.matchAll(ADDRESS)) {
    if (match.index > at) elements.push(written(text.slice(at, match.index), style));
    elements.push({ type: "link", url: match[0], text: match[0], ...styled(style) });
    at = match.index + match[0].length;
  }
  if (at < text.length) elements.push(written(text.slice(at), style));
  return elements;
}
