import { known } from "./errors.ts";
import { complete, fileInfo, getUploadUrl, removeFile } from "./files.ts";
import { shownBlocks, shownText } from "./rendering.ts";
import {
  add,
  channelFor,
  find,
  TEAM,
  text,
  threadOf,
  visible,
  type Args,
  type FakeMessage,
  type FakeState,
  type Method,
} from "./state.ts";

/** Looks at the token and its scopes first. */
function guarded(name: string, method: Method): Method {
  return (state, args, token, needed) => {
    const scopes = state.tokens.get(token);
    if (scopes === undefined) return token === "" ? "not_authed" : "invalid_auth";
    if (needed.length > 0 && !needed.some((one) => scopes.includes(one)))
      return `missing_scope ${needed.join(",")}`;
    const said = method(state, args, token, needed);
    return typeof said === "string" ? known(name, said) : said;
  };
}

const postMessage: Method = (state, args, token) => {
  const channel = channelFor(state, args["channel"]);
  if (channel === null) return "channel_not_found";
  if (channel.is_archived) return "is_archived";
  const isPublic = state.tokens.get(token)?.includes("chat:write.public") === true;
  if (!channel.is_member && !isPublic) return "not_in_channel";
  const threadTs = threadOf(state, args);
  if (threadTs === undefined) return "cannot_reply_to_message";
  if (text(args["text"]) === "") return "no_text";
  if (text(args["text"]).length > 40_000) return "msg_blocks_too_long";
  const { metadata, blocks } = args;
  const plain = shownText(text(args["text"]), args["mrkdwn"] !== false);
  const shown = blocks === undefined ? plain : shownBlocks(blocks);
  if (shown === null) return "invalid_blocks";
  const isPreviewed = args["unfurl_links"] === true;
  const { ts } = add(state, { channel: channel.id, text: shown, metadata, threadTs, isPreviewed });
  return { channel: channel.id, ts, message: { type: "message", ts, text: args["text"] } };
};

const PAGE = 15;

function page(state: FakeState, args: Args, of: readonly FakeMessage[]): object {
  const { oldest, latest } = args;
  const within = of.filter(
    ({ ts }) =>
      (oldest === undefined || Number(ts) >= Number(oldest)) &&
      (latest === undefined || Number(ts) <= Number(latest)),
  );
  const from = Number(text(args["cursor"]) || "0");
  const limit = Math.min(Number(args["limit"] ?? 100), PAGE);
  const hasMore = within.length > from + limit;
  const replies = (ts: string) => visible(state).filter(({ threadTs }) => threadTs === ts).length;
  return {
    messages: within.slice(from, from + limit).map((one) => ({
      type: "message",
      ts: one.ts,
      text: one.text,
      ...(args["include_all_metadata"] === true && one.metadata !== null ? { metadata: one.metadata } : {}),
      ...(one.files.length === 0 ? {} : { files: one.files.map((id) => ({ id })) }),
      ...(one.reactions.length === 0 ? {} : { reactions: one.reactions }),
      ...(replies(one.ts) === 0 ? {} : { reply_count: replies(one.ts) }),
    })),
    has_more: hasMore,
    response_metadata: { next_cursor: hasMore ? String(from + limit) : "" },
  };
}

const history: Method = (state, args) => {
  const channel = channelFor(state, args["channel"]);
  if (channel === null) return "channel_not_found";
  if (!channel.is_member) return "not_in_channel";
  const all = visible(state).filter((one) => one.channel === channel.id && one.threadTs === null);
  return page(state, args, all.toReversed());
};

const replies: Method = (state, args) => {
  if (channelFor(state, args["channel"])?.is_member !== true) return "channel_not_found";
  if (find(state, args) === undefined) return "thread_not_found";
  return page(
    state,
    args,
    visible(state).filter(({ ts, threadTs }) => ts === args["ts"] || threadTs === args["ts"]),
  );
};

const list: Method = (state, args) => {
  const seen = [...state.channels.keys()].flatMap((id) => channelFor(state, id) ?? []);
  const wanted = seen.filter((one) => args["exclude_archived"] !== true || !one.is_archived);
  const from = Number(text(args["cursor"]) || "0");
  // Fewer than asked for, as Slack may give.
  return {
    channels: wanted.slice(from, from + 2),
    response_metadata: { next_cursor: from + 2 < wanted.length ? String(from + 2) : "" },
  };
};

const update: Method = (state, args) => {
  const message = find(state, args);
  if (message === undefined) return "message_not_found";
  if (text(args["text"]).length > 20_000) return "msg_too_long";
  const blocks = args["blocks"] as unknown[] | undefined;
  const shown =
    blocks === undefined || blocks.length === 0
      ? shownText(text(args["text"]), true)
      : shownBlocks(args["blocks"]);
  if (shown === null) return "invalid_blocks";
  message.text = shown;
  return { channel: message.channel, ts: message.ts, text: args["text"], message: { text: args["text"] } };
};

const remove: Method = (state, args) => {
  const message = find(state, args);
  if (message === undefined) return "message_not_found";
  message.isDeleted = true;
  return { channel: message.channel, ts: message.ts };
};

const permalink: Method = (state, args) => {
  const message = find(state, args, args["message_ts"]);
  if (message === undefined) return "message_not_found";
  const path = `archives/${message.channel}/p${message.ts.replace(".", "")}`;
  return { channel: message.channel, permalink: `${TEAM.url}${path}?told=1` };
};

const info: Method = (state, args) => {
  const channel = channelFor(state, args["channel"]);
  return channel === null ? "channel_not_found" : { channel };
};

const users: Method = (_state, args) => {
  const all = [
    { id: "USLACKBOT", name: "slackbot", is_bot: true },
    { id: "U0ANN", name: "ann.b", real_name: "Ann Brass", profile: { display_name: "Ann" } },
    { id: "U0GONE", name: "anne", deleted: true, profile: { display_name: "Anne" } },
    { id: "U0BOB", name: "bob", real_name: "Bob", profile: { display_name: "" } },
  ];
  const from = Number(text(args["cursor"]) || "0");
  const next = from + 2 < all.length ? String(from + 2) : "";
  return { members: all.slice(from, from + 2), response_metadata: { next_cursor: next } };
};

const CLIENT = { id: "client-1", secret: "secret-canary/+%:=" };

const access: Method = (state, args) => {
  if (args["client_id"] !== CLIENT.id) return "invalid_client_id";
  if (args["client_secret"] !== CLIENT.secret) return "bad_client_secret";
  const isRefresh = args["grant_type"] === "refresh_token";
  const from = isRefresh ? state.refreshTokens : state.codes;
  const key = text(args[isRefresh ? "refresh_token" : "code"]);
  const scopes = from.get(key);
  if (scopes === undefined) return isRefresh ? "invalid_refresh_token" : "invalid_code";
  from.delete(key);
  state.nextTs += 1;
  const token = `xoxb-made-${state.nextTs}`;
  state.tokens.set(token, scopes);
  const refresh = `xoxe-1-${state.nextTs}`;
  if (state.rotates) state.refreshTokens.set(refresh, scopes);
  return {
    access_token: token,
    token_type: "bot",
    scope: scopes.join(","),
    bot_user_id: "U0BOT",
    team: { id: TEAM.team_id, name: TEAM.team },
    authed_user: { id: "U0PERSON" },
    ...(state.rotates ? { refresh_token: refresh, expires_in: 43_200 } : {}),
  };
};

const revoke: Method = (state, _args, token) => {
  state.tokens.delete(token);
  return { revoked: true };
};

const OPEN: Readonly<Record<string, Method>> = { "POST oauth.v2.access": access };
const GUARDED: Readonly<Record<string, Method>> = {
  "GET auth.revoke": revoke,
  "POST auth.test": () => ({ ...TEAM, user_id: "U0BOT", bot_id: "B0BOT" }),
  "POST chat.delete": remove,
  "GET chat.getPermalink": permalink,
  "POST chat.postMessage": postMessage,
  "POST chat.update": update,
  "GET conversations.history": history,
  "GET conversations.info": info,
  "GET conversations.list": list,
  "GET conversations.replies": replies,
  "POST files.completeUploadExternal": complete,
  "POST files.delete": removeFile,
  "POST files.getUploadURLExternal": getUploadUrl,
  "GET files.info": fileInfo,
  "GET users.list": users,
};

export const METHODS: Readonly<Record<string, Method>> = {
  ...OPEN,
  ...Object.fromEntries(Object.entries(GUARDED).map(([name, method]) => [name, guarded(name, method)])),
};
