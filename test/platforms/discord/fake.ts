import type { OutboundRequest } from "../../../src/ports/outbound.ts";
import type { FakeClock } from "../../support/clock.ts";
import { describedBy, type Described } from "../../support/described.ts";
import { createFakeDoor, type Answer } from "../telegram/door.ts";

export const BOT_TOKEN = "MTIz.canary-bot-token.0123456789abcdef";
export const WEBHOOK_TOKEN = "canary-webhook-token_0123456789";
export const WEBHOOK_URL = `https://discord.com/api/webhooks/7700/${WEBHOOK_TOKEN}`;
export const BOT_ID = "9000";
export const GUILD_ID = "5000";
export const CHANNEL_ID = "60001";
/** Another channel of the server, and one that the bot may not post in. */
export const OTHER_ID = "60002";
export const CLOSED_ID = "60003";

/** Discord's own description of what is called; the file names its source. */
const read = describedBy(new URL("./spec.json", import.meta.url));
const API = "https://discord.com/api/v10";

/** What is sent: with files, it is a part of a form. */
interface Sent {
  readonly body: Record<string, any>;
  readonly files: Readonly<Record<string, File>>;
}

export interface FakeMessage {
  readonly id: string;
  readonly channelId: string;
  readonly authorId: string;
  content: string;
  readonly nonce: string | null;
  readonly at: number;
  readonly files: readonly string[];
  readonly body: Record<string, any>;
  isCrossposted: boolean;
}

export interface FakeThread {
  readonly id: string;
  readonly name: string;
  readonly parentId: string;
  readonly tags: readonly string[];
}

export function refuse(status: number, code: number, message: string, more: object = {}): Answer {
  return { status, json: { code, message, ...more } };
}

const MIB = 1_024 * 1_024;
const NONCE_MS = 3 * 60_000;

/** Discord, strict: bodies are held to the official description, `wrong` says what did not fit. */
export function createFakeDiscord(clock: Pick<FakeClock, "now">) {
  const state = {
    wrong: [] as string[],
    messages: [] as FakeMessage[],
    threads: [] as FakeThread[],
    channel: { id: CHANNEL_ID, type: 0, name: "news", guild_id: GUILD_ID, available_tags: [] as object[] },
    others: [
      { id: OTHER_ID, type: 0, name: "other", guild_id: GUILD_ID, permission_overwrites: [] as object[] },
      {
        id: CLOSED_ID,
        type: 0,
        name: "closed",
        guild_id: GUILD_ID,
        permission_overwrites: [{ id: GUILD_ID, type: 0, allow: "0", deny: "2048" }],
      },
      { id: "60004", type: 2, name: "voice", guild_id: GUILD_ID, permission_overwrites: [] },
    ],
    guild: {
      id: GUILD_ID,
      name: "Horns",
      premium_tier: 0,
      // Everybody may see and send.
      roles: [{ id: GUILD_ID, name: "@everyone", permissions: "3072" }],
    },
    members: [
      { nick: null, user: { id: "8001", username: "ann", global_name: "Ann" } },
      { nick: "Annabel [x]", user: { id: "8002", username: "anna", global_name: null } },
    ],
    botToken: BOT_TOKEN,
    webhookToken: WEBHOOK_TOKEN,
    mayReadHistory: true,
    maySend: true,
    /** What stands in the way of a request; null: nothing. */
    meets: (_method: string, _path: string): Answer | null => null,
  };
  let serial = 0n;
  const newId = (): string => String((BigInt(clock.now() - 1_420_070_400_000) << 22n) + serial++);
  const channelOf = (id: string) => [state.channel, ...state.others].find((one) => one.id === id);
  const isForum = (id = state.channel.id): boolean => [15, 16].includes(channelOf(id)?.type ?? 0);

  const answer = (asked: Described | string, request: OutboundRequest): Answer => {
    if (typeof asked === "string") {
      state.wrong.push(asked);
      return refuse(400, 50035, "Invalid Form Body");
    }
    const path = new URL(request.url).pathname.replace(/^\/api\/v10/, "");
    const { payload_json: body = asked.body, ...files } = asked.body ?? {};
    const sent = { body, files: body === asked.body ? {} : files };
    check(request, path, sent);
    const isHook = path.startsWith("/webhooks/");
    const authorization = request.headers?.["authorization"];
    if (isHook === (authorization !== undefined)) state.wrong.push(`${path}: how it is signed`);
    if (!isHook && authorization !== `Bot ${state.botToken}`) return refuse(401, 0, "401: Unauthorized");
    const met = state.meets(request.method, path);
    if (met !== null) return met;
    return isHook ? byWebhook(asked, sent) : byBot(asked, sent);
  };

  const check = ({ method, headers }: OutboundRequest, path: string, { body, files }: Sent): void => {
    if (!/^DiscordBot \(\S+, \S+\)$/.test(headers?.["user-agent"] ?? ""))
      state.wrong.push(`${path}: no user agent`);
    if (body === null) return;
    const message = body["message"] ?? body;
    const pinged = [...String(message.content ?? "").matchAll(/(?<!\\)<@(\d+)>/g)].map(([, id]) => id);
    const users = [...new Set(pinged)];
    const allowed = { parse: [], ...(users.length === 0 ? {} : { users }) };
    if (JSON.stringify(message.allowed_mentions) !== JSON.stringify(allowed))
      state.wrong.push(`${path}: it may ping ${JSON.stringify(message.allowed_mentions)}`);
    const named = (message.attachments ?? []).map(({ id }: { id: string }) => `files[${id}]`);
    if (method === "POST" && named.join() !== Object.keys(files).join())
      state.wrong.push(`${path}: files ${Object.keys(files)} for ${named}`);
  };

  const byBot = ({ name, ids: [at = "", id = ""], query }: Described, sent: Sent): Answer => {
    if (name === "GET /users/@me") return { status: 200, json: { id: BOT_ID, username: "horn", bot: true } };
    if (name.includes("/guilds/")) return inGuild(name, at, query);
    const thread = state.threads.find((one) => one.id === at);
    const channel = channelOf(thread?.parentId ?? at);
    if (channel === undefined) return refuse(404, 10003, "Unknown Channel");
    if (!state.maySend && channel === state.channel) return refuse(403, 50013, "Missing Permissions");
    if (name === "GET /channels/{channel_id}") return { status: 200, json: channel };
    if (at === CLOSED_ID && name.startsWith("POST")) return refuse(403, 50013, "Missing Permissions");
    switch (name) {
      case "DELETE /channels/{channel_id}":
        return thread === undefined ? refuse(404, 10003, "Unknown Channel") : dropThread(thread);
      case "POST /channels/{channel_id}/threads":
        return startThread(sent, at);
      case "GET /channels/{channel_id}/messages":
        return list(at, query);
      case "POST /channels/{channel_id}/messages":
        return isForum(at) && thread === undefined
          ? refuse(400, 50008, "Cannot send messages in a non-text channel")
          : send(sent, { channelId: at, authorId: BOT_ID });
      case "POST /channels/{channel_id}/messages/{message_id}/crosspost":
        return crosspost(id);
      default:
        return one(name, id, { ...sent, channelId: at, authorId: BOT_ID });
    }
  };

  const inGuild = (name: string, id: string, query: URLSearchParams): Answer => {
    if (id !== GUILD_ID) return refuse(404, 10004, "Unknown Guild");
    switch (name.replace("GET /guilds/{guild_id}", "")) {
      case "":
        return { status: 200, json: { ...state.guild, approximate_member_count: 42 } };
      case "/threads/active":
        return { status: 200, json: { threads: state.threads.map(toThread), members: [] } };
      case "/channels":
        return { status: 200, json: [state.channel, ...state.others] };
      case "/members/search":
        return searchMembers(query);
      default:
        return { status: 200, json: { user: { id: BOT_ID }, roles: [] } };
    }
  };

  const searchMembers = (query: URLSearchParams): Answer => {
    const wanted = query.get("query") ?? "";
    const found = state.members.filter(({ nick, user }) =>
      [nick ?? "", user.username].some((name) => name.toLowerCase().startsWith(wanted.toLowerCase())),
    );
    return { status: 200, json: found.slice(0, Number(query.get("limit") ?? 1)) };
  };

  const byWebhook = ({ name: asked, ids, query }: Described, sent: Sent): Answer => {
    const [id = "", token = "", message = ""] = ids;
    if (id !== "7700") return refuse(404, 10015, "Unknown Webhook");
    if (token !== state.webhookToken) return refuse(401, 50027, "Invalid Webhook Token");
    const channelId = query.get("thread_id") ?? state.channel.id;
    if (message !== "") return one(asked, message, { ...sent, channelId, authorId: id });
    if (asked.startsWith("GET")) {
      const at = { channel_id: state.channel.id, guild_id: GUILD_ID };
      return { status: 200, json: { id, type: 1, name: "Horn hook", ...at, token } };
    }
    if (query.get("wait") !== "true") state.wrong.push("a webhook's answer was not waited for");
    const { thread_name: name, applied_tags: tags = [] } = sent.body;
    const isNew = channelId === state.channel.id;
    if (isForum() && isNew && name === undefined)
      return refuse(400, 220001, "Webhooks posted to forum channels must have a thread_name or thread_id");
    if (!isForum() && name !== undefined)
      return refuse(400, 220003, "Webhooks can only create threads in forum channels");
    if (name === undefined) return send(sent, { channelId, authorId: id });
    return openThread(sent, { name, tags, authorId: id, parentId: state.channel.id });
  };

  const startThread = ({ body, files }: Sent, parentId: string): Answer => {
    if (!isForum(parentId)) return refuse(400, 50024, "Cannot execute action on this channel type");
    const { name, applied_tags: tags = [], message } = body;
    const sent = openThread({ body: message, files }, { name, tags, authorId: BOT_ID, parentId });
    const thread = state.threads.at(-1);
    return sent.status === 200 && thread !== undefined
      ? { status: 201, json: { ...toThread(thread), message: sent.json } }
      : sent;
  };

  const openThread = (
    sending: Sent,
    { name, tags, authorId, parentId }: Omit<FakeThread, "id"> & { readonly authorId: string },
  ): Answer => {
    const id = newId();
    const sent = send(sending, { channelId: id, authorId, id });
    if (sent.status === 200) state.threads.push({ id, name, parentId, tags });
    return sent;
  };

  const toThread = ({ id, name, parentId }: FakeThread): object => ({
    id,
    name,
    type: 11,
    parent_id: parentId,
    owner_id: BOT_ID,
    guild_id: GUILD_ID,
  });

  const dropThread = (thread: FakeThread): Answer => {
    state.threads.splice(state.threads.indexOf(thread), 1);
    state.messages = state.messages.filter(({ channelId }) => channelId !== thread.id);
    return { status: 200, json: toThread(thread) };
  };

  const send = (
    { body, files }: Sent,
    { channelId, authorId, id = newId() }: { channelId: string; authorId: string; id?: string },
  ): Answer => {
    const nonce: string | null = body["nonce"] ?? null;
    const known = state.messages.find(
      (message) => message.nonce !== null && message.nonce === nonce && clock.now() - message.at <= NONCE_MS,
    );
    if (known !== undefined && body["enforce_nonce"] === true) return { status: 200, json: toMessage(known) };
    const content = String(body["content"] ?? "").trim();
    if ([...content].length > 2_000) return refuse(400, 50035, "Invalid Form Body");
    const limit = ([10, 10, 50, 100][authorId === BOT_ID ? state.guild.premium_tier : 0] ?? 10) * MIB;
    const sizes = Object.values(files).map(({ size }) => size);
    const whole = sizes.reduce((a, b) => a + b, 0);
    if (sizes.some((size) => size > limit) || whole > Math.max(25 * MIB, limit))
      return refuse(413, 40005, "Request entity too large");
    const isPoll = body["poll"] !== undefined && body["poll"] !== null;
    if (isPoll && isTooLong(body["poll"])) return refuse(400, 50035, "Invalid Form Body");
    if (content === "" && sizes.length === 0 && !isPoll)
      return refuse(400, 50006, "Cannot send an empty message");
    const names = Object.values(files).map(({ name }) => name);
    const message = {
      id,
      channelId,
      authorId,
      content,
      nonce,
      at: clock.now(),
      files: names,
      body,
      isCrossposted: false,
    };
    state.messages.push(message);
    return { status: 200, json: toMessage(message) };
  };

  const toMessage = (message: FakeMessage): object => ({
    id: message.id,
    channel_id: message.channelId,
    author: { id: message.authorId },
    content: message.content,
    timestamp: new Date(message.at).toISOString(),
    attachments: message.files.map((filename, at) => ({
      id: `${at}`,
      filename,
      size: 1,
      url: "https://cdn.example/",
    })),
    reactions: [{ count: 2 }, { count: 1 }],
    ...(message.body["poll"] === undefined ? {} : { poll: message.body["poll"] }),
  });

  const list = (channelId: string, query: URLSearchParams): Answer => {
    const limit = Number(query.get("limit") ?? 50);
    const after = query.get("after");
    const all = state.messages.filter((one) => one.channelId === channelId);
    const later =
      after === null ? all.slice(-limit) : all.filter(({ id }) => BigInt(id) > BigInt(after)).slice(0, limit);
    return { status: 200, json: state.mayReadHistory ? later.toReversed().map(toMessage) : [] };
  };

  const crosspost = (id: string): Answer => {
    const message = state.messages.find((one) => one.id === id);
    if (message === undefined) return refuse(404, 10008, "Unknown Message");
    if (channelOf(message.channelId)?.type !== 5)
      return refuse(400, 50024, "Cannot execute action on this channel type");
    if (message.isCrossposted) return refuse(400, 40033, "This message has already been crossposted");
    message.isCrossposted = true;
    return { status: 200, json: toMessage(message) };
  };

  const one = (
    name: string,
    id: string,
    { body, channelId, authorId }: Sent & { channelId: string; authorId: string },
  ): Answer => {
    const message = state.messages.find((other) => other.id === id && other.channelId === channelId);
    if (message === undefined) return refuse(404, 10008, "Unknown Message");
    if (name.startsWith("GET")) return { status: 200, json: toMessage(message) };
    if (message.authorId !== authorId)
      return refuse(403, 50005, "Cannot edit a message authored by another user");
    if (name.startsWith("DELETE")) {
      state.messages.splice(state.messages.indexOf(message), 1);
      return { status: 204 };
    }
    if (message.body["poll"] !== undefined) return refuse(400, 50035, "Invalid Form Body");
    message.content = String(body["content"]);
    return { status: 200, json: toMessage(message) };
  };

  return { ...createFakeDoor("https://discord.com", (request) => read(request, API), answer), state };
}

/** https://docs.discord.com/developers/resources/poll#poll-media-object */
function isTooLong({ question, answers }: Record<string, any>): boolean {
  const isLong = (text: string, max: number): boolean => [...text].length > max;
  return (
    isLong(question.text, 300) ||
    answers.some(({ poll_media: { text } }: Record<string, any>) => isLong(text, 55))
  );
}

/**
 * As its apps show it: escapes are dropped, addresses stay, people are named, what is marked up is shown without its
 * markup, and other markup is told.
 */
export function render(content: string): string {
  const tokens =
    /(https?:\/\/[^\s<]*[^\s<.,:;"'\])])|\\([^0-9A-Za-z\s])|<@(\d+)>|\[([^\]\\]+)\]\(https?:[^)]+\)|(\*\*|\|\||~~|\*|`)([^*|~`\\]+)\5|^(#{1,3} |> )|([*_~`|[\]<\\]|^[ \t]*(?:[#>+-]|\d+\.\s))/gm;
  return content.replace(
    tokens,
    (
      _all,
      address?: string,
      escaped?: string,
      id?: string,
      link?: string,
      _sign?: string,
      ...more: string[]
    ) => {
      const [inner, start, markup] = more as (string | undefined)[];
      if (id !== undefined) return `@${id}`;
      if (start !== undefined) return "";
      return address ?? escaped ?? link ?? inner ?? `⟦${markup}⟧`;
    },
  );
}
