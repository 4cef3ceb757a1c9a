import { cutText, type TextLimits } from "../../domain/text/cut-text.ts";
import { markdownEscaper } from "../../domain/text/markdown-escaper.ts";
import type { Receiver } from "../../domain/webhooks/receivers.ts";
import type { Mail } from "../../ports/mailer.ts";
import type { Notice } from "./notices.ts";

interface Request {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const JSON_TYPE = { "content-type": "application/json" };

/** The message as each service takes it. */
export function toRequest(
  receiver: Exclude<Receiver, { readonly format: "email" | "push" }>,
  notice: Notice,
): Request {
  const url = receiver.url.href;
  if (receiver.format === "ntfy") return toNtfy(url, receiver.authorization, notice);
  const body =
    receiver.format === "telegram"
      ? { ...receiver.fields, ...TELEGRAM, text: whole(notice, TELEGRAM_LIMITS) }
      : receiver.format === "discord"
        ? { content: whole(escapedForDiscord(notice), DISCORD_LIMITS), ...DISCORD }
        : { text: whole(notice, SLACK_LIMITS, escapeForSlack), ...SLACK };
  return { url, headers: JSON_TYPE, body: JSON.stringify(body) };
}

/** https://core.telegram.org/bots/api#sendmessage: plain text, so that nothing in it is obeyed. Its count is the largest. */
const TELEGRAM_LIMITS: TextLimits = { maxChars: 4_096 };
const TELEGRAM = { link_preview_options: { is_disabled: true } };

/** https://docs.discord.com/developers/resources/webhook#execute-webhook. A name in a caption calls no one. */
const DISCORD_LIMITS: TextLimits = { maxChars: 2_000 };
const SUPPRESS_EMBEDS = 1 << 2;
const DISCORD = { allowed_mentions: { parse: [] }, flags: SUPPRESS_EMBEDS };

/** Names and texts of others are no links and no markup there. */
const escapeForDiscord = markdownEscaper({ starts: "#>+-", signs: "\\\\*_~`|[\\]<" });

function escapedForDiscord(notice: Notice): Notice {
  const { title, text, more } = notice;
  return {
    ...notice,
    title: escapeForDiscord(title),
    text: escapeForDiscord(text),
    more: more === null ? null : escapeForDiscord(more),
  };
}

/**
 * https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks. A text should have at most 4,000
 * characters, and Slack cuts one of 40,000: also where each sign of this one must be escaped, it is shorter.
 */
const SLACK_LIMITS: TextLimits = { maxChars: 3_000 };
const SLACK = { mrkdwn: false, unfurl_links: false, unfurl_media: false };

/** https://docs.slack.dev/messaging/formatting-message-text#escaping */
function escapeForSlack(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** https://docs.ntfy.sh/publish: a message of more bytes becomes an attached file. */
const NTFY_LIMITS: TextLimits = { maxChars: 4_000, maxBytes: 4_000 };
const HIGH = "4";

function toNtfy(url: string, authorization: string | null, notice: Notice): Request {
  const { title, link, isUrgent } = notice;
  return {
    url,
    headers: {
      "content-type": "text/plain; charset=utf-8",
      title: headerText(title),
      tags: isUrgent ? "warning" : "postal_horn",
      ...(isUrgent ? { priority: HIGH } : {}),
      ...(link === null ? {} : { click: link }),
      ...(authorization === null ? {} : { authorization }),
    },
    body: whole({ ...notice, title: "" }, NTFY_LIMITS),
  };
}

/** RFC 2047, which ntfy reads. What looks like it would be read as what it hides. */
function headerText(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text) && !text.includes("=?")) return text;
  return `=?UTF-8?B?${Buffer.from(text, "utf8").toString("base64")}?=`;
}

/** No limit of a mailbox: what a notice holds is short. */
export function toMail(notice: Notice): Pick<Mail, "id" | "subject" | "text"> {
  const { id, title } = notice;
  // Readers of mail would show what such a word hides.
  return {
    id,
    subject: title.replaceAll("=?", "= ?"),
    text: `${whole({ ...notice, title: "" }, { maxChars: 20_000 })}\n`,
  };
}

/** Title, text, what came meanwhile and the link. Where it is too long, the text is cut. */
function whole(
  { title, text, more, link }: Notice,
  limits: TextLimits,
  escape: (text: string) => string = (plain) => plain,
): string {
  const after = [more, link].filter((part) => part !== null && part !== "").map((part) => `\n\n${part}`);
  const around = `${title}\n${after.join("")}`;
  const kept = cutText(text, {
    maxChars: Math.max(0, limits.maxChars - around.length),
    maxBytes: Math.max(0, (limits.maxBytes ?? Infinity) - Buffer.byteLength(around)),
  });
  return escape(
    cutText(`${[title, kept].filter((part) => part !== "").join("\n")}${after.join("")}`, limits),
  );
}
