import { decodedPart } from "../text/read-text.ts";
import { ECDH } from "node:crypto";
import { AppError } from "../errors.ts";
import { explainNoAddress, parseUrl } from "../parse-url.ts";
import { quote } from "../text/plain-text.ts";
import type { WebhookFormat } from "./webhook.ts";

/** Where a webhook's messages go, read from the address that a person gave. Holds its secrets. */
export type Receiver =
  | { readonly format: "standard" | "slack" | "discord"; readonly url: URL }
  /** `authorization`: the header's value; null: the topic takes messages from everybody. */
  | { readonly format: "ntfy"; readonly url: URL; readonly authorization: string | null }
  /** `fields`: what the body has besides the text. */
  | { readonly format: "telegram"; readonly url: URL; readonly fields: Readonly<Record<string, string>> }
  | { readonly format: "email"; readonly to: string }
  /** `url`: the endpoint of a browser's push subscription; `keys`: what its messages are encrypted with. */
  | {
      readonly format: "push";
      readonly url: URL;
      readonly keys: { readonly p256dh: string; readonly auth: string };
      readonly name: string | null;
    };

/** Throws `invalid`, and quotes nothing of the text, which may hold a token. */
export function readReceiver(format: WebhookFormat, given: string): Receiver {
  const text = given.trim();
  if (format === "email") return { format, to: readMailbox(text) };
  if (format === "telegram") return readTelegram(text);
  if (format === "ntfy") return readNtfy(text);
  if (format === "push") return readPush(text);
  return { format, url: readAddress(text, HOW[format]) };
}

const HOW = {
  standard: "Give one that begins with https://, or say in which format people are told there.",
  slack: "Give the address of an incoming webhook, which begins with https://hooks.slack.com/services/.",
  discord:
    "Give the address of a webhook of the channel, which begins with https://discord.com/api/webhooks/.",
  ntfy: "Give the address of a topic, for example https://ntfy.sh/my-topic.",
  telegram:
    "Give telegram://TOKEN@CHAT with the bot's token and the chat's number or @name, or https://api.telegram.org/botTOKEN/sendMessage?chat_id=CHAT.",
  push: "Turn notices on in the browser that is to show them, under Settings of the page.",
  email: "Give one address, for example mailto:someone@example.com.",
} as const;

function readAddress(text: string, how: string): URL {
  const url = parseUrl(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw refused(
      url === null && /^https?:/i.test(text)
        ? `${quote(text)} ${explainNoAddress(text)}`
        : `this is not an http(s) address. ${how}`,
    );
  url.hash = "";
  return url;
}

/** https://docs.ntfy.sh/publish/#authentication: an access token, or a user and a password. */
function readNtfy(text: string): Receiver {
  const url = readAddress(text, HOW.ntfy);
  const authorization = readAuthorization(url);
  if (authorization !== null && !/^[\x20-\x7e]+$/.test(authorization))
    throw refused("its token or password has characters that no header can hold. Give it as ntfy shows it.");
  if (!/\/[\w-]+\/?$/.test(url.pathname)) throw refused(`it names no topic. ${HOW.ntfy}`);
  url.username = url.password = url.search = "";
  return { format: "ntfy", url, authorization };
}

function readAuthorization(url: URL): string | null {
  const [user, password] = [url.username, url.password].map(decodedPart);
  const token = url.searchParams.get("token") ?? (user === "" || password === "" ? `${user}${password}` : "");
  if (token !== "") return `Bearer ${token}`;
  if (user !== "") return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  const auth = url.searchParams.get("auth") ?? "";
  return auth === "" ? null : Buffer.from(auth, "base64url").toString("utf8");
}

const TELEGRAM = /^telegram:\/\/(?<token>\d+:[\w-]+)@(?<chat>-?\d+|@?[A-Za-z]\w+)$/;

/** https://core.telegram.org/bots/api#sendmessage */
function readTelegram(text: string): Receiver {
  const { token, chat } = TELEGRAM.exec(text)?.groups ?? {};
  if (token !== undefined && chat !== undefined) {
    const url = new URL(`https://api.telegram.org/bot${token}/sendMessage`);
    return { format: "telegram", url, fields: { chat_id: chatOf(chat) } };
  }
  const url = readAddress(text, HOW.telegram);
  const fields = Object.fromEntries(url.searchParams);
  if (!/\/bot[^/]+(\/sendMessage)?\/?$/.test(url.pathname) || !fields["chat_id"])
    throw refused(`it names no bot and chat. ${HOW.telegram}`);
  url.pathname = url.pathname.replace(/(\/sendMessage)?\/?$/, "/sendMessage");
  url.search = "";
  return { format: "telegram", url, fields };
}

function chatOf(text: string): string {
  return /^[A-Za-z]/.test(text) ? `@${text}` : text;
}

/** A point on P-256, uncompressed, and a secret: https://www.rfc-editor.org/rfc/rfc8291#section-3.1 */
const AUTH_BYTES = 16;

/** A subscription in one address: its endpoint, and in the fragment `p256dh`, `auth` and perhaps `name`. */
function readPush(text: string): Receiver {
  const fragment = new URLSearchParams(parseUrl(text)?.hash.slice(1));
  const [p256dh = "", auth = "", name = null] = ["p256dh", "auth", "name"].map(
    (part) => fragment.get(part) ?? undefined,
  );
  const url = readAddress(text, HOW.push);
  if (Buffer.from(auth, "base64url").length !== AUTH_BYTES || !isPoint(p256dh))
    throw refused(`it has no keys of a browser's subscription. ${HOW.push}`);
  return { format: "push", url, keys: { p256dh, auth }, name };
}

function isPoint(text: string): boolean {
  try {
    const point = Buffer.from(text, "base64url");
    return point.equals(
      Buffer.from(ECDH.convertKey(point, "prime256v1", undefined, undefined, "uncompressed")),
    );
  } catch {
    return false;
  }
}

const MAX_MAILBOX_CHARS = 254;

function readMailbox(text: string): string {
  const mailbox = decodedPart(text.replace(/^mailto:/i, ""));
  if (mailbox.length <= MAX_MAILBOX_CHARS && /^[^\s@,;:<>()[\]"\\?]+@[^\s@,;:<>()[\]"\\?]+$/.test(mailbox))
    return mailbox;
  throw refused(`this is not an e-mail address. ${HOW.email}`);
}

/** What lists and logs show. Paths of chats and names of topics are as good as passwords. */
export function showReceiver(receiver: Receiver): string {
  if (receiver.format === "email") return `mailto:${receiver.to}`;
  const { url } = receiver;
  if (receiver.format === "telegram") return `telegram://…@${receiver.fields["chat_id"] ?? ""}`;
  if (receiver.format === "push")
    return `${url.origin}/…${receiver.name === null ? "" : ` (${receiver.name})`}`;
  if (receiver.format !== "standard") return `${url.origin}/…`;
  return `${url.origin}${url.pathname}${url.search === "" ? "" : "?…"}`;
}

function refused(reason: string): AppError {
  return new AppError("invalid", `url: ${reason}`);
}
