import * as z from "zod";
import { commonMetadata, fits, pollWithin } from "../../domain/posts/common-metadata.ts";
import { MENTION, plainMentions, writeMentions } from "../../domain/posts/mentions.ts";
import type { JsonObject, PlatformAccount } from "../../ports/platform-io.ts";
import type { CheckResult, CheckedAt, PlatformPost } from "../../ports/platform.ts";
import { checkPoll } from "../shared/checks.ts";
import { checkFirst, itemsOf } from "../shared/media.ts";
import { markdownEscaper } from "../../domain/text/markdown-escaper.ts";

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

const { altText, format, moreMedia, sensitive, title } = commonMetadata;
const Snowflake = z.string().regex(/^\d{1,20}$/, "must be an id: only digits");

/** What a post on Discord takes beside caption and media. */
export const DiscordMetadata = z.strictObject({
  title: title.unwrap().max(100).optional().describe("Title of the post, only in a forum or media channel."),
  altText: altText.unwrap().max(1_024).optional().describe("What the first file shows."),
  moreMedia: moreMedia
    .unwrap()
    .max(MAX_FILES - 1, fits(MAX_FILES))
    .optional()
    .describe("Up to 9 more files, 25 MB with the first, and more in a boosted server."),
  sensitive: sensitive.describe("Hides media until they are clicked."),
  linkPreview: z.boolean().optional().describe("False: no previews of addresses in the text."),
  silent: z.boolean().optional().describe("Notifies without a sound.").meta({ title: "Send silently" }),
  threadId: Snowflake.optional()
    .describe("Id of a thread of the channel to post into.")
    .meta({ title: "Thread number" }),
  tagIds: z
    .array(Snowflake)
    .max(5)
    .optional()
    .describe("Ids of the forum's tags (list_choices).")
    .meta({ title: "Forum tags" }),
  crosspost: z
    .boolean()
    .optional()
    .describe("Also to all who follow the announcement channel.")
    .meta({ title: "Send to followers" }),
  channel: Snowflake.optional().describe(
    "Id of another channel of the server to post into (list_choices). Only with a bot.",
  ),
  format: format.describe("markdown: as Discord reads it. Default: plain, character by character."),
  // https://docs.discord.com/developers/resources/poll
  poll: pollWithin({ maxOptions: 10, maxOptionLength: 55, minHours: 1, maxHours: 768, takesMultiple: true }),
});
export type DiscordPost = PlatformPost<z.infer<typeof DiscordMetadata>>;

/** Types of channels (https://docs.discord.com/developers/resources/channel#channel-object-channel-types). */
const ANNOUNCEMENT = 5;
const FORUMS: readonly unknown[] = [15, 16];
/** Text, announcements, threads of both, forum, media. */
const POSTABLE: readonly unknown[] = [0, 5, 10, 11, 12, 15, 16];

export function isPostable(kind: unknown): boolean {
  return POSTABLE.includes(kind);
}

export function isWebhook({ settings }: PlatformAccount): boolean {
  return settings["way"] === "webhook";
}

/** The channel that the account was connected with. */
export function channelOf({ platformAccountId }: PlatformAccount): string {
  return platformAccountId ?? "";
}

/** Where a post goes. `kind`: of channel, undefined where it is not known (a webhook's, another one than the account's). */
export interface Place {
  readonly channel: string;
  readonly kind: unknown;
}

/** As far as it can be told without asking. */
export function placeOf({ metadata }: Pick<DiscordPost, "metadata">, account: PlatformAccount): Place {
  const own = channelOf(account);
  const { channel = own } = metadata;
  return { channel, kind: channel === own ? account.settings["kind"] : undefined };
}

/** Whether the post becomes a thread of its own there. */
export function isNewThread({ metadata }: Pick<DiscordPost, "metadata">, { kind }: Place): boolean {
  return FORUMS.includes(kind) && metadata.threadId === undefined;
}

/** What the schema cannot say: what belongs to which kind of channel. */
export function checkPost(
  post: DiscordPost,
  { account, media }: Pick<CheckedAt, "account" | "media">,
): CheckResult {
  const { threadId, channel, crosspost, poll } = post.metadata;
  const errors = [...checkFirst(post, "file"), ...checkPoll(post, "Discord")];
  if (channel !== undefined && isWebhook(account))
    errors.push(
      "metadata.channel: a webhook posts only into its own channel. Leave it out, or connect with a bot.",
    );
  else if (channel !== undefined && threadId !== undefined)
    errors.push("metadata.channel: threadId says already where it goes. Leave one of them out.");
  if (crosspost === true && isWebhook(account)) errors.push(ONLY_ANNOUNCED);
  if (poll !== undefined && !Number.isInteger(poll.hours))
    errors.push("metadata.poll.hours: Discord counts whole hours. Give a whole number.");
  errors.push(...checkPlace(post, placeOf(post, account)));
  const bytes = itemsOf(post).reduce((sum, { url }) => sum + (media.get(url)?.sizeBytes ?? 0), 0);
  return { errors: [...errors, ...tooMuch(bytes, account)], warnings: [] };
}

const ONLY_ANNOUNCED =
  "metadata.crosspost: only a bot in an announcement channel can publish to its followers. Leave it out.";

/** What the kind of channel takes. Nothing where it is not known. */
export function checkPlace({ metadata }: Pick<DiscordPost, "metadata">, place: Place): string[] {
  const { title: name, threadId, tagIds, crosspost } = metadata;
  const isNew = threadId === undefined;
  const isKnown = place.kind !== undefined;
  const errors: string[] = [];
  if (isNewThread({ metadata }, place) && name === undefined)
    errors.push("metadata.title: a post in a forum or media channel needs one. Give it, or threadId.");
  if (name !== undefined && (!isNew || (isKnown && !isNewThread({ metadata }, place))))
    errors.push("metadata.title: only a new post in a forum or media channel has one. Leave it out.");
  if (tagIds !== undefined && name === undefined)
    errors.push("metadata.tagIds: only a new post in a forum has tags. Give title too, or leave them out.");
  if (crosspost === true && ((isKnown && place.kind !== ANNOUNCEMENT) || !isNew)) errors.push(ONLY_ANNOUNCED);
  return errors;
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

type Texts = Pick<DiscordPost, "metadata">;

/** A text as it is sent. Discord reads its own Markdown, so one in Markdown goes as it is, but for mentions. */
export function contentOf(text: string, { metadata }: Texts): string {
  if (metadata.format === "markdown") return writeMentions(text, mentionOf);
  // Between the texts stand the name and the id of each mention.
  const pieces = text.split(MENTION);
  return pieces
    .map((piece, at) => {
      if (at % 3 === 0) return escapeMarkdown(piece);
      return at % 3 === 1 ? mentionOf(piece, pieces[at + 1] ?? "") : "";
    })
    .join("");
}

/** The question of a poll, which is plain and mentions people by their names. */
export function questionOf({ caption }: Pick<DiscordPost, "caption">): string {
  return plainMentions(caption ?? "");
}

/** A name where the id is none of Discord's. */
function mentionOf(name: string, id: string): string {
  return isSnowflake(id) ? `<@${id}>` : escapeMarkdown(`@${name}`);
}

function isSnowflake(id: string): boolean {
  return Snowflake.safeParse(id).success;
}

const MAX_MENTIONS = 100;

/** Only who is mentioned by us is pinged, whatever else the text says. */
export function mayPing(text: string): { allowed_mentions: JsonObject } {
  const ids = [...text.matchAll(MENTION)].flatMap(([, , id = ""]) => (isSnowflake(id) ? [id] : []));
  const users = [...new Set(ids)].slice(0, MAX_MENTIONS);
  return { allowed_mentions: { parse: [], ...(users.length === 0 ? {} : { users }) } };
}

/** Discord counts what it is sent, escapes among it. */
export function measure(text: string): number {
  return [...contentOf(text, { metadata: {} })].length;
}
