import type { EventKind, WebhookFormat } from "../../../../src/domain/webhooks/webhook.ts";

/** A notice is a message for a person. Browsers are told by themselves, see `push.ts`. */
export type NoticeFormat = Exclude<WebhookFormat, "standard" | "push">;

interface NoticeField {
  readonly name: string;
  readonly label: string;
  readonly help: string;
  readonly placeholder: string;
  readonly type: "text" | "url" | "email" | "password";
  readonly isOptional?: boolean;
}

interface Format {
  readonly title: string;
  readonly fields: readonly NoticeField[];
  /** What the server takes, made of the fields. */
  address(fields: Fields): string;
}

export type Fields = Readonly<Record<string, string>>;

const address = (fields: Fields): string => valueOf(fields, "address");

export const NOTICE_FORMATS: Readonly<Record<NoticeFormat, Format>> = {
  ntfy: {
    title: "ntfy",
    fields: [
      {
        name: "address",
        label: "Address of the topic",
        help: "Think up a name that is hard to guess, and subscribe to it in the ntfy app.",
        placeholder: "https://ntfy.sh/my-secret-topic",
        type: "url",
      },
      {
        name: "token",
        label: "Access token",
        help: "Only for a topic that needs one. It is in your account at the ntfy server.",
        placeholder: "tk_…",
        type: "password",
        isOptional: true,
      },
    ],
    address: ntfyAddress,
  },
  slack: {
    title: "Slack",
    fields: [
      {
        name: "address",
        label: "Address of the webhook",
        help: "In Slack: Apps, Incoming Webhooks, Add to a channel. Copy the address that is shown.",
        placeholder: "https://hooks.slack.com/services/…",
        type: "url",
      },
    ],
    address,
  },
  discord: {
    title: "Discord",
    fields: [
      {
        name: "address",
        label: "Address of the webhook",
        help: "In Discord: Edit Channel, Integrations, Webhooks, New Webhook, Copy Webhook URL.",
        placeholder: "https://discord.com/api/webhooks/…",
        type: "url",
      },
    ],
    address,
  },
  telegram: {
    title: "Telegram",
    fields: [
      {
        name: "token",
        label: "Token of the bot",
        help: "Write /newbot to @BotFather. It answers with the token.",
        placeholder: "123456:ABC…",
        type: "password",
      },
      {
        name: "chat",
        label: "Chat",
        help: "Write to the bot once. Then give the number of your chat, or the @name of a channel that the bot is in.",
        placeholder: "123456789",
        type: "text",
      },
    ],
    address: (fields) => `telegram://${valueOf(fields, "token")}@${valueOf(fields, "chat")}`,
  },
  email: {
    title: "E-mail",
    fields: [
      {
        name: "address",
        label: "E-mail address",
        help: "The server needs POSTHORN_SMTP_URL for this: the mail server that it sends through.",
        placeholder: "someone@example.com",
        type: "email",
      },
    ],
    address,
  },
};
export const NOTICE_FORMAT_NAMES: readonly NoticeFormat[] = ["ntfy", "slack", "discord", "telegram", "email"];

/** What a format is called. One that this page does not make has its own name. */
export function formatTitle(format: string): string {
  const found = NOTICE_FORMAT_NAMES.find((name) => name === format);
  if (found !== undefined) return NOTICE_FORMATS[found].title;
  return format === "push" ? "A browser" : format;
}

function valueOf(fields: Fields, name: string): string {
  return (fields[name] ?? "").trim();
}

/** An access token is the password of a user without a name. */
function ntfyAddress(fields: Fields): string {
  const [given, token] = [valueOf(fields, "address"), valueOf(fields, "token")];
  if (token === "" || !URL.canParse(given)) return given;
  const url = new URL(given);
  url.password = token;
  return url.href;
}

/** What each event means to a person, in the order in which they are offered. */
export const EVENT_WORDS: Readonly<Record<EventKind, string>> = {
  "post.failed": "A post failed",
  "account.reconnect_required": "A channel must be reconnected",
  "account.expiring": "A channel's access ends within a week",
  "draft.waiting": "A draft waits for a decision",
  "draft.partly": "A draft went out only in part",
  "draft.decided": "A draft was decided",
  "digest.daily": "The day at eight in the morning",
  "post.published": "A post went live",
  "post.scheduled": "A post was scheduled",
  "post.uploaded": "A post was uploaded ahead of its time",
  "post.publishing": "A post is being sent",
  "post.cancelled": "A post was cancelled",
};
export const EVENTS = Object.keys(EVENT_WORDS) as readonly EventKind[];

/** As the server takes them where none are named. */
export const USUAL_EVENTS: readonly EventKind[] = [
  "post.failed",
  "account.reconnect_required",
  "account.expiring",
  "draft.waiting",
];

/** Chosen events in a sentence's part. */
export function eventsInWords(events: readonly EventKind[]): string {
  if (events.length === EVENTS.length) return "Everything that happens";
  const isUsual = events.length === USUAL_EVENTS.length && USUAL_EVENTS.every((one) => events.includes(one));
  if (isUsual) return "What needs you";
  return EVENTS.filter((one) => events.includes(one))
    .map((one) => EVENT_WORDS[one])
    .join(", ");
}

/** What came back of a test. */
export function testInWords(
  delivery: { readonly status: string; readonly httpStatus: number | null; readonly error: string | null },
  title: string,
): { readonly isGood: boolean; readonly text: string } {
  const status = delivery.httpStatus === null ? "" : ` It answered with status ${delivery.httpStatus}.`;
  if (delivery.status === "delivered")
    return { isGood: true, text: `${title} took the test message.${status}` };
  const reason = delivery.error ?? (status === "" ? "No answer came." : status.trim());
  return { isGood: false, text: `The test did not get through. ${reason}` };
}
