import * as z from "zod";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import type { PlatformAccount } from "../../ports/platform-io.ts";
import type { Checked, CheckedAt, PlatformPost } from "../../ports/platform.ts";
import { checkFirst, itemsOf } from "../shared/media.ts";
import { markdownEscaper } from "../shared/text.ts";

export const MAX_FILES = 10;
const MIB = 1_024 * 1_024;

/** Of a whole request (https://docs.discord.com/developers/reference#uploading-files). */
const MAX_REQUEST_BYTES = 25 * MIB;
export const MAX_FILE_BYTES = 10 * MIB;

/** How large a file a server takes of a bot, by its boosts (`premium_tier`). Webhooks have no more by them. */
export function maxBytesAt(tier: number): number {
  if (tier >= 3) return 100 * MIB;
  return tier === 2 ? 50 * MIB : MAX_FILE_BYTES;
}

/** What `inspect` found; a channel that a bot posted to may have become a webhook's. */
export function maxBytesOf(account: PlatformAccount): number {
  const { maxBytes } = account.limits;
  return typeof maxBytes === "number" && !isWebhook(account) ? maxBytes : MAX_FILE_BYTES;
}

const { altText, moreMedia, sensitive, title } = commonMetadata;
const Snowflake = z.string().regex(/^\d{1,20}$/, "must be an id: only digits");

/** What a post on Discord takes beside caption and media. */
export const DiscordMetadata = z.strictObject({
  title: title.unwrap().max(100).optional().describe("Title of the post, only in a forum or media channel."),
  altText: altText.unwrap().max(1_024).optional().describe("What the first file shows."),
  moreMedia: moreMedia
    .unwrap()
    .max(MAX_FILES - 1)
    .optional()
    .describe("Up to 9 more files, 25 MB with the first, and more in a boosted server."),
  sensitive: sensitive.describe("Hides media until they are clicked."),
  linkPreview: z.boolean().optional().describe("False: no previews of addresses in the text."),
  silent: z.boolean().optional().describe("Notifies without a sound."),
  threadId: Snowflake.optional().describe("Id of a thread of the channel to post into."),
  tagIds: z.array(Snowflake).max(5).optional().describe("Ids of the forum's tags (list_choices)."),
  crosspost: z.boolean().optional().describe("Also to all who follow the announcement channel."),
});
export type DiscordPost = PlatformPost<z.infer<typeof DiscordMetadata>>;

/** Types of channels (https://docs.discord.com/developers/resources/channel#channel-object-channel-types). */
const ANNOUNCEMENT = 5;
const FORUMS: readonly unknown[] = [15, 16];

export function isWebhook({ settings }: PlatformAccount): boolean {
  return settings["way"] === "webhook";
}

/** A channel of posts with titles; false for a webhook, whose kind of channel is not known. */
export function isForum({ settings }: PlatformAccount): boolean {
  return FORUMS.includes(settings["kind"]);
}

/** What the schema cannot say: what belongs to which kind of channel. */
export function checkPost(
  post: DiscordPost,
  { account, media }: Pick<CheckedAt, "account" | "media">,
): Checked {
  const { title: name, threadId, tagIds, crosspost } = post.metadata;
  const errors = checkFirst(post, "file");
  const isNew = threadId === undefined;
  if (isForum(account) && isNew && name === undefined)
    errors.push("metadata.title: a post in a forum or media channel needs one. Give it, or threadId.");
  if (name !== undefined && (!isNew || (!isWebhook(account) && !isForum(account))))
    errors.push("metadata.title: only a new post in a forum or media channel has one. Leave it out.");
  if (tagIds !== undefined && name === undefined)
    errors.push("metadata.tagIds: only a new post in a forum has tags. Give title too, or leave them out.");
  if (crosspost === true && (account.settings["kind"] !== ANNOUNCEMENT || !isNew)) {
    errors.push(
      "metadata.crosspost: only a bot in an announcement channel can publish to its followers. Leave it out.",
    );
  }
  const bytes = itemsOf(post).reduce((sum, { url }) => sum + (media.get(url)?.sizeBytes ?? 0), 0);
  return { errors: [...errors, ...tooMuch(bytes, account)], warnings: [] };
}

/** A request takes what one file may have, if that is more. */
export function tooMuch(bytes: number, account: PlatformAccount): string[] {
  const most = Math.max(MAX_REQUEST_BYTES, maxBytesOf(account));
  return bytes <= most
    ? []
    : [
        `metadata.moreMedia: the files have ${bytes} bytes together, and Discord takes ${most} in one message in this server. Give fewer or smaller ones.`,
      ];
}

/**
 * The text so that readers see it character by character: Discord takes a backslash before anything that is
 * neither a letter, a digit nor a space (https://support.discord.com/hc/en-us/articles/210298617).
 */
export const escapeMarkdown = markdownEscaper({
  starts: "#>+-",
  // Emphasis, code, spoilers, links, mentions, emoji, times.
  signs: "\\\\*_~`|[\\]<",
});

/** Discord counts what it is sent, escapes among it. */
export function measure(text: string): number {
  return [...escapeMarkdown(text)].length;
}
