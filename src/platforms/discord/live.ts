import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { mentionToken } from "../../domain/posts/mentions.ts";
import type { Choice, PlatformAnalytics, PostInsights } from "../../ports/platform.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import { Id } from "../../ports/platform-values.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { onlyFollowers } from "../shared/live.ts";
import {
  ask,
  askOrGone,
  CHANGE,
  GONE,
  guildPath,
  pathFor,
  send,
  sendOrGone,
  SEND_STEP,
  SentMessage,
} from "./api.ts";
import {
  channelOf,
  contentOf,
  type DiscordPost,
  isPostable,
  isWebhook,
  mayPing,
  placeOf,
} from "./metadata.ts";

/** The message and its channel, which is a thread where it was posted into one. */
function messageOf(post: DiscordPost, io: PlatformIo): { id: string; channelId: string } {
  const { data } = SentMessage.safeParse(io.resultOf(SEND_STEP));
  const [, channel] = /\/channels\/\d+\/(\d+)\/\d+$/.exec(post.platformUrl ?? "") ?? [];
  const id = post.platformPostId ?? data?.id;
  if (id === undefined)
    throw new AppError("conflict", "Discord gave no id for this message. Change it in the app.");
  return {
    id,
    channelId: data?.channelId ?? channel ?? post.metadata.threadId ?? placeOf(post, io.account).channel,
  };
}

function pathOf(post: DiscordPost, io: PlatformIo): string {
  const { id, channelId } = messageOf(post, io);
  const thread = channelId === channelOf(io.account) ? "" : `?thread_id=${channelId}`;
  return pathFor(io, `/channels/${channelId}/messages/${id}`, `/messages/${id}${thread}`);
}

/** Files that are not named stay. */
export async function edit(post: DiscordPost, _changed: readonly string[], io: PublishIo): Promise<object> {
  const caption = post.caption ?? "";
  const json = { content: contentOf(caption, post), ...mayPing(caption) };
  await send(io, { method: "PATCH", path: pathOf(post, io), json, isIdempotent: true, rules: CHANGE });
  return {};
}

/** A post in a forum goes with its thread, where it is the bot's. */
export async function remove(post: DiscordPost, io: PlatformIo): Promise<void> {
  const { id, channelId } = messageOf(post, io);
  // The message that begins a thread has its id.
  const isThread = !isWebhook(io.account) && id === channelId;
  const path = isThread ? pathFor(io, `/channels/${id}`) : pathOf(post, io);
  await sendOrGone(io, { method: "DELETE", path, isIdempotent: true, rules: CHANGE, gone: GONE });
}

const Message = z.looseObject({
  reactions: z.array(z.looseObject({ count: z.int().min(0).catch(0) })).optional(),
  thread: z.looseObject({ message_count: z.int().min(0).optional() }).optional(),
});

/** Reactions, and the messages of its thread: Discord counts nothing else. */
export async function insights(post: DiscordPost, io: PlatformIo): Promise<PostInsights> {
  const found = await askOrGone(io, { path: pathOf(post, io), rules: CHANGE }, Message);
  if (found === null) return { state: "removed", visibility: null, metrics: {} };
  const { reactions = [], thread } = found;
  const likes = reactions.reduce((sum, { count }) => sum + count, 0);
  const comments = thread?.message_count;
  const metrics = { likes, ...(comments === undefined ? {} : { comments }) };
  return { state: "live", visibility: null, metrics };
}

export const ACCOUNT_METRICS = ["followers"] as const;

const Guild = z.looseObject({ approximate_member_count: z.int().min(0).optional() });

/** Members of the server, as they are now. */
export async function analytics(_range: object, io: PlatformIo): Promise<PlatformAnalytics> {
  if (isWebhook(io.account)) return onlyFollowers("Discord", undefined);
  const guild = await ask(io, { path: guildPath(io), query: { with_counts: true } }, Guild);
  return onlyFollowers("Discord", guild.approximate_member_count);
}

/** A number of 64 bits, told as a text. */
const Bits = z
  .string()
  .regex(/^\d{1,30}$/)
  .transform(BigInt)
  .catch(0n);

const GuildChannel = z.looseObject({
  id: Id,
  type: z.int().optional(),
  name: z.string().nullish(),
  available_tags: z.array(z.looseObject({ id: Id, name: z.string() })).optional(),
  permission_overwrites: z
    .array(z.looseObject({ id: Id, allow: Bits, deny: Bits }))
    .optional()
    .catch(undefined),
});
type GuildChannel = z.infer<typeof GuildChannel>;

const Roles = z.looseObject({
  roles: z
    .array(z.looseObject({ id: Id, permissions: Bits }))
    .optional()
    .catch(undefined),
});
const Member = z.looseObject({ roles: z.array(Id).optional() });

/** The channels of the server that the bot may post in. */
export async function channelChoices(search: string, io: PlatformIo): Promise<readonly Choice[]> {
  if (isWebhook(io.account)) throw new AppError("invalid", `field: ${ONLY_BOTS}`);
  const path = guildPath(io);
  const channels = await ask(io, { path: `${path}/channels` }, z.array(GuildChannel));
  const { roles = [] } = await ask(io, { path }, Roles);
  const bot = String(io.account.settings["botId"]);
  const { roles: own = [] } = await ask(io, { path: `${path}/members/${bot}` }, Member);
  const ids = [String(io.account.settings["guildId"]), ...own];
  const base = roles.filter(({ id }) => ids.includes(id)).reduce((all, one) => all | one.permissions, 0n);
  return channels
    .filter((one) => isPostable(one.type) && (roles.length === 0 || mayPost(one, { base, ids, bot })))
    .map(({ id, name }) => ({ value: id, label: `#${name ?? id}` }))
    .filter(({ label }) => label.toLowerCase().includes(search.toLowerCase()));
}

const ONLY_BOTS = "a webhook is not told what is on its server. Connect the channel with a bot.";

/** https://docs.discord.com/developers/topics/permissions */
const ADMINISTRATOR = 1n << 3n;
const VIEW_AND_SEND = (1n << 10n) | (1n << 11n);

interface Rights {
  /** What its roles may on the whole server. */
  readonly base: bigint;
  /** The role of everybody, then its own. */
  readonly ids: readonly string[];
  readonly bot: string;
}

/** What the channel says of everybody, then of the bot's roles, then of the bot. */
function mayPost({ permission_overwrites: all = [] }: GuildChannel, { base, ids, bot }: Rights): boolean {
  if ((base & ADMINISTRATOR) !== 0n) return true;
  const [everyone = "", ...own] = ids;
  const after = [[everyone], own, [bot]].reduce((bits, whose) => {
    const these = all.filter(({ id }) => whose.includes(id));
    const denied = these.reduce((sum, { deny }) => sum | deny, 0n);
    return (bits & ~denied) | these.reduce((sum, { allow }) => sum | allow, 0n);
  }, base);
  return (after & VIEW_AND_SEND) === VIEW_AND_SEND;
}

/** The tags of the account's forum. */
export async function tagChoices(search: string, io: PlatformIo): Promise<readonly Choice[]> {
  if (isWebhook(io.account)) return [];
  const { available_tags: tags = [] } = await ask(
    io,
    { path: `/channels/${channelOf(io.account)}` },
    GuildChannel,
  );
  return tags
    .map(({ id, name }) => ({ value: id, label: name }))
    .filter(({ label }) => label.toLowerCase().includes(search.toLowerCase()));
}

const MAX_MEMBERS = 25;

const Members = z.array(
  z.looseObject({
    nick: z.string().nullish(),
    user: z.looseObject({ id: Id, username: z.string().optional(), global_name: z.string().nullish() }),
  }),
);

/** Members of the server whose name begins so. */
export async function mentionChoices(search: string, io: PlatformIo): Promise<readonly Choice[]> {
  if (isWebhook(io.account)) throw new AppError("invalid", `field: ${ONLY_BOTS}`);
  const wanted = search.replace(/^@/, "").slice(0, 100);
  if (wanted === "") return [];
  const query = { query: wanted, limit: MAX_MEMBERS };
  const found = await ask(io, { path: `${guildPath(io)}/members/search`, query }, Members);
  return found.map(({ nick, user: { id, username = id, global_name: shown } }) => {
    const name = nick ?? shown ?? username;
    return { value: mentionToken(name, id), label: `${name} (@${username})` };
  });
}
