import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { Metrics } from "../../domain/posts/post.ts";
import { mentionToken } from "../../domain/posts/mentions.ts";
import type { Choice, Inspection, PostInsights } from "../../ports/platform.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { MORE } from "../shared/consent.ts";
import type { FaultRule } from "../shared/faults.ts";
import { textSeen } from "../shared/markdown.ts";
import { collect, pages } from "../shared/pages.ts";
import { AnyAnswer, call, callOrGone, channelOf, messageIn, nameOf, Paging } from "./api.ts";
import { findShare, Message, MESSAGE, replyStep, SentMessage } from "./publish.ts";
import { blocksFor, escapeText, hasMarkup, partsOf, plainBlocks, type SlackPost } from "./metadata.ts";

/** Throws `conflict` for an id that is none of Slack's. */
function requireMessage({ platformPostId }: SlackPost): { channel: string; ts: string } {
  const message = messageIn(platformPostId);
  if (message !== null) return message;
  throw new AppError(
    "conflict",
    "platformPostId: is not the id of a Slack message, so the post cannot be found there.",
  );
}

/** Changing a message has no switch for markup: a text that has some is shown by blocks. */
export async function edit(post: SlackPost, _changed: readonly string[], io: PlatformIo): Promise<object> {
  const text = post.caption ?? "";
  const { format } = post.metadata;
  const blocks = blocksFor(text, format) ?? (hasMarkup(text) ? plainBlocks(text) : []);
  const json = { ...requireMessage(post), text: escapeText(textSeen(text, format)), parse: "none", blocks };
  await call(io, { method: "chat.update", json, isIdempotent: true }, AnyAnswer);
  return {};
}

const UNREADABLE: FaultRule = { code: ["missing_scope", "not_in_channel"], kind: "ok" };

const History = AnyAnswer.extend({ messages: z.array(Message).optional() });

/** Reactions and replies, where the bot may read the channel; else only whether the message is there. */
export async function insights(post: SlackPost, io: PlatformIo): Promise<PostInsights> {
  const { channel, ts } = requireMessage(post);
  const query = { channel, oldest: ts, latest: ts, inclusive: true, limit: 1 };
  const history = { method: "conversations.history", query, rules: [UNREADABLE] };
  const { messages } = await call(io, history, History);
  if (messages === undefined) {
    const link = { method: "chat.getPermalink", query: { channel, message_ts: ts } };
    return stateOf((await callOrGone(io, link, AnyAnswer)) !== null, {});
  }
  // A message that had replies leaves a tombstone.
  const message = messages.find((one) => one.ts === ts && one.subtype !== "tombstone");
  if (message === undefined) return stateOf(false, {});
  const likes = (message.reactions ?? []).reduce((sum, { count }) => sum + count, 0);
  return stateOf(true, { likes, comments: message.reply_count ?? 0 });
}

function stateOf(isThere: boolean, metrics: Partial<Metrics>): PostInsights {
  return isThere
    ? { state: "live", visibility: "public", metrics }
    : { state: "removed", visibility: null, metrics: {} };
}

/** Its replies, last one first, then the message, then their files. What is gone already is no error. */
export async function remove(post: SlackPost, io: PlatformIo): Promise<void> {
  const first = requireMessage(post);
  const files: string[] = [];
  for (let at = partsOf(post).length - 1; at >= 1; at -= 1) {
    const sent = SentMessage.safeParse(io.resultOf(replyStep(at))).data;
    if (sent === undefined) continue;
    const ts = sent.ts ?? (await findReply(sent, first, io));
    if (ts !== null) await deleteMessage({ ...first, ts }, io);
    files.push(...sent.files);
  }
  await deleteMessage(first, io);
  files.push(...(SentMessage.safeParse(io.resultOf(MESSAGE)).data?.files ?? []));
  for (const file of files) await deleteFile(file, io);
}

async function findReply(
  { files }: SentMessage,
  { channel, ts: threadTs }: { readonly channel: string; readonly ts: string },
  io: PlatformIo,
): Promise<string | null> {
  const [fileId = ""] = files;
  const since = Number(threadTs) * 1_000;
  try {
    return await findShare(io, { channel, fileId, since, threadTs });
  } catch (error) {
    // Deleting its file empties it.
    if (error instanceof PlatformFault && error.kind === "rejected") return null;
    throw error;
  }
}

async function deleteMessage(json: { channel: string; ts: string }, io: PlatformIo): Promise<void> {
  await callOrGone(io, { method: "chat.delete", json, isIdempotent: true }, AnyAnswer);
}

async function deleteFile(file: string, io: PlatformIo): Promise<void> {
  const gone = [{ code: ["file_not_found", "file_deleted"] }];
  await callOrGone(io, { method: "files.delete", json: { file }, isIdempotent: true, gone }, AnyAnswer);
}

const Info = AnyAnswer.extend({
  channel: z
    .looseObject({
      name: z.string().optional(),
      is_archived: z.boolean().optional(),
      is_member: z.boolean().optional(),
    })
    .optional(),
});

/** Names change; channels are archived, and bots thrown out of them. */
export async function inspect(io: PlatformIo): Promise<Inspection> {
  const { channelId, teamName } = channelOf(io.account);
  const rules: FaultRule[] = [{ code: "missing_scope", kind: "ok" }];
  const query = { channel: channelId };
  const { channel } = await call(io, { method: "conversations.info", query, rules }, Info);
  if (channel === undefined) return { problem: null };
  const { name, is_archived: isArchived, is_member: isMember } = channel;
  return {
    ...(name === undefined ? {} : { name: nameOf(name, teamName), handle: `#${name}` }),
    ...(isMember === undefined ? {} : { limits: { isMember } }),
    problem:
      isArchived === true
        ? "This channel is archived, so nothing can be posted. Unarchive it in Slack, or connect another one."
        : null,
  };
}

const PAGE = 200;
const MAX_PAGES = 10;

const Channels = AnyAnswer.extend({
  channels: z.array(
    z.looseObject({ id: z.string(), name: z.string().optional(), is_member: z.boolean().optional() }),
  ),
  response_metadata: Paging,
});

/** The channels that the bot is in. */
export async function channelChoices(search: string, io: PlatformIo): Promise<readonly Choice[]> {
  const listed = pages(MAX_PAGES, async (cursor) => {
    const query = { types: "public_channel,private_channel", exclude_archived: true, limit: PAGE, cursor };
    const found = await call(io, { method: "conversations.list", query }, Channels);
    return { items: found.channels, next: found.response_metadata?.next_cursor };
  });
  return (await collect(listed))
    .filter(({ is_member: isMember = true }) => isMember)
    .map(({ id, name }) => ({ value: id, label: `#${name ?? id}` }))
    .filter(({ label }) => label.toLowerCase().includes(search.toLowerCase()));
}

const Name = z.string().nullish();

const Members = AnyAnswer.extend({
  members: z.array(
    z.looseObject({
      id: z.string(),
      name: Name,
      real_name: Name,
      profile: z.looseObject({ display_name: Name }).optional().catch(undefined),
      deleted: z.boolean().optional(),
      is_bot: z.boolean().optional(),
    }),
  ),
  response_metadata: Paging,
});

const MAY_NOT_SEARCH: FaultRule = {
  code: ["missing_scope", "no_permission", "not_allowed_token_type"],
  kind: "rejected",
  message: `the app lacks the scope users:read. Add it under OAuth & Permissions, install the app again, and reconnect the channel: with its token, or by the way "${MORE}" (with people to mention).`,
};

/** People of the workspace. Slack lists all, and has no search that a bot may use. */
export async function mentionChoices(search: string, io: PlatformIo): Promise<readonly Choice[]> {
  const wanted = search.replace(/^@/, "").toLowerCase();
  const listed = pages(MAX_PAGES, async (cursor) => {
    const one = { method: "users.list", query: { limit: PAGE, cursor }, rules: [MAY_NOT_SEARCH] };
    const found = await call(io, one, Members);
    return { items: found.members, next: found.response_metadata?.next_cursor };
  });
  return (await collect(listed))
    .filter(({ deleted = false, is_bot: isBot = false }) => !deleted && !isBot)
    .map(({ id, name, real_name: real, profile }) => ({
      id,
      names: [profile?.display_name, real, name, id].filter((one) => typeof one === "string" && one !== ""),
    }))
    .filter(({ names }) => names.some((one) => one?.toLowerCase().includes(wanted)))
    .map(({ id, names: [shown = id, ...others] }) => ({
      value: mentionToken(shown ?? id, id),
      label: others.length > 1 && others[0] !== shown ? `${shown} (${others[0]})` : `${shown}`,
    }));
}
