import * as z from "zod";
import type { PlatformIo } from "../../ports/platform-io.ts";
import { channelOf, type Sent } from "./api.ts";
import { Id } from "../../ports/platform-values.ts";
import { guildPath, read } from "./connect.ts";
import { itemsOf, type DiscordPost } from "./metadata.ts";
import { escapeMarkdown } from "./text.ts";

/** Ids begin with the milliseconds since then (https://docs.discord.com/developers/reference#snowflakes). */
const EPOCH = 1_420_070_400_000;
const PAGE = 100;
const MAX_PAGES = 20;

function snowflakeAt(ms: number): bigint {
  return BigInt(Math.max(0, Math.floor(ms) - EPOCH)) << 22n;
}

const Message = z.looseObject({
  id: Id,
  channel_id: Id,
  content: z.string().catch(""),
  nonce: Id.nullish().catch(null),
  author: z.looseObject({ id: Id }),
  attachments: z.array(z.unknown()).catch([]),
});
const Messages = z.array(Message);

function messagesPath({ metadata }: DiscordPost, { account }: Pick<PlatformIo, "account">): string {
  return `/channels/${metadata.threadId ?? channelOf(account)}/messages`;
}

/** To a bot that may not read it, every history is empty. */
export async function mayReadHistory(post: DiscordPost, io: PlatformIo): Promise<boolean> {
  return (await read(io, `${messagesPath(post, io)}?limit=1`, Messages)).length > 0;
}

/** The bot's own message of this nonce, or with this text and as many files. */
export async function findMessage(
  post: DiscordPost,
  io: PlatformIo,
  { since, nonce }: { readonly since: number; readonly nonce: string },
): Promise<Sent | null> {
  const content = escapeMarkdown(post.caption ?? "").trim();
  const files = itemsOf(post).length;
  let after = snowflakeAt(since);
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = `?after=${after}&limit=${PAGE}`;
    const messages = await read(io, `${messagesPath(post, io)}${query}`, Messages);
    const own = messages.filter(({ author }) => author.id === io.account.settings["botId"]);
    const found =
      own.find((one) => one.nonce === nonce) ??
      own.find((one) => one.content.trim() === content && one.attachments.length === files);
    if (found !== undefined) return sentOf(io, found.id, found.channel_id);
    if (messages.length < PAGE) return null;
    after = messages.map(({ id }) => BigInt(id)).reduce((a, b) => (a > b ? a : b), after);
  }
  return null;
}

const Threads = z.looseObject({
  threads: z.array(
    z.looseObject({ id: Id, parent_id: Id.nullish(), owner_id: Id.nullish(), name: z.string().nullish() }),
  ),
});

/** The bot's own post of this title in the forum. */
export async function findThread(post: DiscordPost, io: PlatformIo, since: number): Promise<Sent | null> {
  const { threads } = await read(io, `${guildPath(io)}/threads/active`, Threads);
  const found = threads.find(
    ({ id, parent_id: parent, owner_id: owner, name }) =>
      parent === channelOf(io.account) &&
      owner === io.account.settings["botId"] &&
      name === post.metadata.title &&
      BigInt(id) >= snowflakeAt(since),
  );
  return found === undefined ? null : sentOf(io, found.id, found.id);
}

function sentOf({ account }: Pick<PlatformIo, "account">, id: string, channelId: string): Sent {
  return { id, channelId, guildId: String(account.settings["guildId"]) };
}
