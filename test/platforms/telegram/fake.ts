import type { FakeClock } from "../../support/clock.ts";
import type { Described } from "../../support/described.ts";
import { createFakeDoor, type Answer } from "./door.ts";
import { read, readParams, type Called, type Params } from "./methods.ts";

export const BOT_TOKEN = "123456789:AAF-canary_token-0123456789abcdefghij";
const BOT_ID = 123456789;
export const CHANNEL_ID = -1001234567890;

export interface FakeChat {
  id: number;
  type: "channel" | "group" | "supergroup" | "private";
  title: string;
  username?: string;
  /** The bot in it. */
  member: { status: string; can_post_messages?: boolean; can_send_messages?: boolean };
  movedTo?: number;
}

export interface FakeMessage {
  readonly id: number;
  readonly chatId: number;
  readonly at: number;
  readonly album: string | null;
  readonly kind: string;
  /** What readers see, without markup. */
  text: string;
  readonly params: Params;
  readonly fileId: string | null;
  cover: string | null;
}

/** Sentences as the Bot API server writes them (its Client.cpp, and errors of Telegram's own servers). */
export function refuse(code: number, description: string, parameters?: object): Answer {
  const body = {
    ok: false,
    error_code: code,
    description,
    ...(parameters === undefined ? {} : { parameters }),
  };
  return { status: code, json: body };
}

const API = "https://api.telegram.org";
const HOURS_48 = 48 * 60 * 60_000;

/** The Bot API, strict: every request is held to its official description, `wrong` says what did not fit. */
export function createFakeTelegram(clock: Pick<FakeClock, "now">) {
  const state = {
    wrong: [] as string[],
    messages: [] as FakeMessage[],
    chats: new Map<number, FakeChat>(),
    token: BOT_TOKEN,
    /** Sends later by itself and tells no id. */
    tellsNoIds: false,
    members: 42,
    /** What stands in the way of a method; null: nothing. */
    meets: (_method: string): Answer | null => null,
  };
  state.chats.set(CHANNEL_ID, {
    id: CHANNEL_ID,
    type: "channel",
    title: "Horn news",
    username: "hornnews",
    member: { status: "administrator", can_post_messages: true },
  });
  let nextId = 100;

  const answer = (asked: Described | string): Answer => {
    const called = typeof asked === "string" ? null : readParams(asked);
    if (typeof asked === "string" || called === null || called.wrong.length > 0) {
      state.wrong.push(typeof asked === "string" ? asked : `${asked.name}: ${called?.wrong.join()}`);
      return refuse(400, "Bad Request: wrong parameters");
    }
    if (!/^\d+:[\w-]+$/.test(asked.id)) return refuse(404, "Not Found");
    if (asked.id !== state.token) return refuse(401, "Unauthorized");
    const method = asked.name.split("/")[2] ?? "";
    const { params, files } = called;
    const met = state.meets(method);
    if (met !== null) return met;
    if (method === "getMe")
      return done({ id: BOT_ID, is_bot: true, first_name: "Horn", username: "horn_bot" });
    const chat = [...state.chats.values()].find(
      ({ id, username }) => id === params["chat_id"] || `@${username}` === params["chat_id"],
    );
    if (chat === undefined) return refuse(400, "Bad Request: chat not found");
    return inChat({ chat, method, params, files });
  };

  const inChat = (call: Call): Answer => {
    const { chat, method, params } = call;
    const { member: _member, movedTo, ...shown } = chat;
    if (chat.member.status === "kicked")
      return refuse(403, `Forbidden: bot was kicked from the ${chat.type} chat`);
    if (movedTo !== undefined) {
      return refuse(400, "Bad Request: group chat was upgraded to a supergroup chat", {
        migrate_to_chat_id: movedTo,
      });
    }
    if (method === "getChat") return done(shown);
    if (method === "getChatMemberCount") return done(state.members);
    if (method === "getChatMember")
      return params["user_id"] === BOT_ID ? done(chat.member) : refuse(400, "Bad Request: user not found");
    if (method.startsWith("send")) return send(call);
    if (method === "deleteMessage") return remove(call);
    return edit(call);
  };

  const send = (call: Call): Answer => {
    const { chat, params, files } = call;
    const { can_post_messages: canPost, can_send_messages: canSend } = chat.member;
    if (canPost === false || canSend === false)
      return refuse(400, "Bad Request: need administrator rights in the channel chat");
    if (params["message_thread_id"] === 404) return refuse(400, "Bad Request: message thread not found");
    const items: Params[] = params["media"] ?? [params];
    const kinds = items.map((item) => String(item["type"] ?? call.method.slice("send".length).toLowerCase()));
    const problem = items.map((item, at) => problemOf(item, kinds[at] ?? "", files)).find(Boolean);
    if (problem !== undefined) return problem!;
    if ("media" in params) noteAlbum(kinds);
    const album = "media" in params ? `album ${nextId}` : null;
    const sent = items.map((item, at) => show(call, { item, kind: kinds[at] ?? "", album }));
    return done(album === null ? sent[0] : sent);
  };

  const noteAlbum = (kinds: readonly string[]): void => {
    if (kinds.length < 2 || kinds.length > 10) state.wrong.push(`an album of ${kinds.length}`);
    const alone = ["audio", "document"].filter((kind) => kinds.includes(kind) && new Set(kinds).size > 1);
    if (alone.length > 0 || kinds.includes("animation")) state.wrong.push(`an album of ${kinds.join(", ")}`);
  };

  const show = (
    { chat, params }: Call,
    { item, kind, album }: { item: Params; kind: string; album: string | null },
  ): object => {
    const message: FakeMessage = {
      id: nextId++,
      chatId: chat.id,
      at: clock.now(),
      album,
      kind,
      text: String(item["text"] ?? item["caption"] ?? item["question"] ?? "").trim(),
      params: { ...params, ...item },
      fileId: kind === "message" ? null : `file ${nextId}`,
      cover: item["cover"] ?? null,
    };
    state.messages.push(message);
    return toMessage(message, chat);
  };

  const toMessage = (message: FakeMessage, chat: FakeChat): object => {
    const file = { file_id: message.fileId };
    const { member: _member, movedTo: _movedTo, ...shown } = chat;
    return {
      message_id: state.tellsNoIds ? 0 : message.id,
      date: Math.floor(message.at / 1_000),
      chat: shown,
      ...(message.kind === "message" ? { text: message.text } : { caption: message.text }),
      ...(message.kind === "photo" ? { photo: [file] } : { [message.kind]: file }),
    };
  };

  const find = ({ chat, params }: Call): FakeMessage | undefined =>
    state.messages.find(({ id, chatId }) => id === params["message_id"] && chatId === chat.id);

  const edit = (call: Call): Answer => {
    const { method, params, chat } = call;
    const message = find(call);
    if (message === undefined) return refuse(400, "Bad Request: message to edit not found");
    if ((method === "editMessageText") !== (message.kind === "message"))
      return refuse(400, "Bad Request: there is no text in the message to edit");
    const media: Params = params["media"] ?? params;
    const text = String(media["text"] ?? media["caption"] ?? "");
    const problem = problemOf({ ...media, type: undefined }, message.kind, call.files);
    if (problem !== null) return problem;
    if (method === "editMessageMedia") {
      if (media["media"] !== message.fileId)
        return refuse(400, "Bad Request: wrong file identifier specified");
      message.cover = media["cover"] ?? null;
    } else if (text === message.text && JSON.stringify(params) === JSON.stringify(message.params)) {
      return refuse(
        400,
        "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message",
      );
    }
    message.text = text;
    Object.assign(message.params, { ...params });
    for (const key of Object.keys(message.params)) if (!(key in params)) delete message.params[key];
    return done(toMessage(message, chat));
  };

  const remove = (call: Call): Answer => {
    const message = find(call);
    if (message === undefined) return refuse(400, "Bad Request: message to delete not found");
    if (clock.now() - message.at > HOURS_48)
      return refuse(400, "Bad Request: message can't be deleted for everyone");
    state.messages.splice(state.messages.indexOf(message), 1);
    return done(true);
  };

  return { ...createFakeDoor(API, (request) => read(request, API), answer), state };
}

interface Call {
  readonly chat: FakeChat;
  readonly method: string;
  readonly params: Params;
  readonly files: Called["files"];
}

function done(result: unknown): Answer {
  return { status: 200, json: { ok: true, result } };
}

const MIME_TYPES: Readonly<Record<string, RegExp>> = {
  photo: /^image\/(jpeg|png|webp)$/,
  video: /^video\/mp4$/,
  animation: /^image\/gif$/,
  audio: /^audio\/(mpeg|mp4)$/,
};

interface Entity {
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
  readonly language?: string;
}

const STYLES = ["bold", "italic", "strikethrough", "spoiler"];

/** What the documentation forbids of entities: https://core.telegram.org/bots/api#formatting-options */
function isWrong(all: readonly Entity[], text: string): boolean {
  const isIn = (inner: Entity, outer: Entity): boolean =>
    inner.offset >= outer.offset && inner.offset + inner.length <= outer.offset + outer.length;
  const mayHold = (outer: Entity, inner: Entity): boolean =>
    STYLES.includes(outer.type) || STYLES.includes(inner.type)
      ? ![outer.type, inner.type].some((type) => ["pre", "code"].includes(type))
      : outer.type === "blockquote" && inner.type !== "blockquote";
  return all.some(
    (one, at) =>
      ![...STYLES, "code", "pre", "text_link", "blockquote"].includes(one.type) ||
      one.length < 1 ||
      one.offset + one.length > text.length ||
      (one.type === "text_link") !== (one.url !== undefined && /^https?:/.test(one.url)) ||
      all.slice(at + 1).some((other) => {
        const isApart = other.offset >= one.offset + one.length || one.offset >= other.offset + other.length;
        return !isApart && !(isIn(other, one) && mayHold(one, other));
      }),
  );
}

/** The text with what its entities make of it, for tests to read. */
export function styled({ params }: Pick<FakeMessage, "params">): string {
  const text: string = params["text"] ?? params["caption"] ?? "";
  const entities: Entity[] = params["entities"] ?? params["caption_entities"] ?? [];
  const signs = new Map<number, string>();
  const put = (at: number, sign: string): void => void signs.set(at, (signs.get(at) ?? "") + sign);
  for (const { type, offset, url, language } of entities)
    put(
      offset,
      `<${type}${url === undefined ? "" : ` ${url}`}${language === undefined ? "" : ` ${language}`}>`,
    );
  for (const { type, offset, length } of entities.toReversed()) {
    const at = offset + length;
    signs.set(at, [signs.get(at) ?? ""].map((opened) => closing(type, opened)).join(""));
  }
  return [...Array(text.length + 1).keys()].map((at) => (signs.get(at) ?? "") + (text[at] ?? "")).join("");
}

/** What ends here ends before anything begins. */
function closing(type: string, there: string): string {
  const at = there.search(/<(?!\/)/);
  return at === -1 ? `${there}</${type}>` : `${there.slice(0, at)}</${type}>${there.slice(at)}`;
}

function pollProblem({ question, options, open_period: seconds }: Params): Answer | null {
  if (String(question).length > 300)
    return refuse(400, "Bad Request: poll question length must not exceed 300");
  if (options.length < 2 || options.length > 12)
    return refuse(400, "Bad Request: poll must have at least 2 option");
  if (options.some(({ text }: Params) => text.length < 1 || text.length > 100))
    return refuse(400, "Bad Request: poll options length must not exceed 100");
  if (seconds < 5 || seconds > 2_628_000) return refuse(400, "Bad Request: invalid poll open period");
  return null;
}

/** What is refused of one message's text and files. */
function problemOf(item: Params, kind: string, files: Called["files"]): Answer | null {
  if (kind === "poll" && "question" in item) return pollProblem(item);
  const entities = item["entities"] ?? item["caption_entities"] ?? [];
  if (isWrong(entities, item["text"] ?? item["caption"] ?? ""))
    return refuse(400, "Bad Request: can't parse entities");
  const text = item["text"] as string | undefined;
  if (text !== undefined && text.trim() === "") return refuse(400, "Bad Request: message text is empty");
  if ((text ?? "").length > 4_096) return refuse(400, "Bad Request: message is too long");
  if (String(item["caption"] ?? "").length > 1_024)
    return refuse(400, "Bad Request: message caption is too long");
  const name = String(item["media"] ?? item[kind] ?? "").replace("attach://", "");
  const file = files[name];
  if (file === undefined) return null;
  if (MIME_TYPES[kind]?.test(file.type) === false)
    return refuse(
      400,
      kind === "photo" ? "Bad Request: IMAGE_PROCESS_FAILED" : "Bad Request: wrong type of file",
    );
  const limit = kind === "photo" ? 10 : 50;
  return file.size > limit * 1_024 * 1_024 ? refuse(413, "Request Entity Too Large") : null;
}
