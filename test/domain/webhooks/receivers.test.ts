import { describe, expect, it } from "vitest";
import { readReceiver, showReceiver } from "../../../src/domain/webhooks/receivers.ts";
import type { WebhookFormat } from "../../../src/domain/webhooks/webhook.ts";

const BASIC = `Basic ${Buffer.from("me:pass").toString("base64")}`;
const AUTH = Buffer.from("Bearer tk_x").toString("base64url");

describe("readReceiver", () => {
  it.each([
    ["ntfy", "https://ntfy.sh/topic", { url: "https://ntfy.sh/topic", authorization: null }],
    ["ntfy", "https://:tk_x@ntfy.sh/topic", { url: "https://ntfy.sh/topic", authorization: "Bearer tk_x" }],
    ["ntfy", "https://tk_x@ntfy.sh/topic", { url: "https://ntfy.sh/topic", authorization: "Bearer tk_x" }],
    [
      "ntfy",
      "https://me:pass@ntfy.example/push/topic",
      { url: "https://ntfy.example/push/topic", authorization: BASIC },
    ],
    [
      "ntfy",
      "https://ntfy.sh/topic?token=tk_x",
      { url: "https://ntfy.sh/topic", authorization: "Bearer tk_x" },
    ],
    [
      "ntfy",
      `https://ntfy.sh/topic?auth=${AUTH}`,
      { url: "https://ntfy.sh/topic", authorization: "Bearer tk_x" },
    ],
    ["slack", " https://hooks.slack.com/services/T/B/x ", { url: "https://hooks.slack.com/services/T/B/x" }],
    [
      "discord",
      "https://discord.com/api/webhooks/1/x?thread_id=2",
      { url: "https://discord.com/api/webhooks/1/x?thread_id=2" },
    ],
    [
      "telegram",
      "telegram://1:aB-_@-100",
      { url: "https://api.telegram.org/bot1:aB-_/sendMessage", fields: { chat_id: "-100" } },
    ],
    [
      "telegram",
      "telegram://1:aB@@news",
      { url: "https://api.telegram.org/bot1:aB/sendMessage", fields: { chat_id: "@news" } },
    ],
    [
      "telegram",
      "telegram://1:aB@news",
      { url: "https://api.telegram.org/bot1:aB/sendMessage", fields: { chat_id: "@news" } },
    ],
    [
      "telegram",
      "https://api.telegram.org/bot1:aB/sendMessage?chat_id=5&message_thread_id=7",
      {
        url: "https://api.telegram.org/bot1:aB/sendMessage",
        fields: { chat_id: "5", message_thread_id: "7" },
      },
    ],
    [
      "telegram",
      "https://bots.example/bot1:aB?chat_id=5",
      { url: "https://bots.example/bot1:aB/sendMessage", fields: { chat_id: "5" } },
    ],
    ["email", "mailto:me@example.com", { to: "me@example.com" }],
    ["email", "me@example.com", { to: "me@example.com" }],
    ["standard", "https://example.com/hook?x=1#y", { url: "https://example.com/hook?x=1" }],
  ] as const)("%s: %s", (format, text, expected) => {
    const receiver = readReceiver(format, text);
    expect(receiver).toEqual({
      format,
      ...expected,
      ...("url" in expected ? { url: new URL(expected.url) } : {}),
    });
  });

  it.each([
    ["ntfy", "ntfy.sh/canary"],
    ["ntfy", "https://:canary@ntfy.sh/"],
    ["ntfy", "https://:canary%0d%0ax@ntfy.sh/topic"],
    ["slack", "canary"],
    ["discord", "ftp://canary"],
    ["telegram", "123:canary"],
    ["telegram", "telegram://123:canary"],
    ["telegram", "https://api.telegram.org/bot1:canary/sendMessage"],
    ["telegram", "https://api.telegram.org/canary?chat_id=1"],
  ] as const)("refuses %s: %s, and quotes no token", (format, text) => {
    const refuse = () => readReceiver(format, text);
    expect(refuse).toThrow(/^url: .*\. ?(Give .*\.)?$/);
    expect(refuse).not.toThrow(/canary/);
  });

  it.each(["", "mailto:", "nobody", "a@b,c@d", "a@b?subject=x", "Me <a@b>", "a@b\nBcc: c@d"])(
    "refuses the mailbox %j",
    (text) => expect(() => readReceiver("email", text)).toThrow(/^url: .*is not an e-mail address/),
  );
});

it.each([
  ["ntfy", "https://:canary@ntfy.sh/canary", "https://ntfy.sh/…"],
  ["slack", "https://hooks.slack.com/services/canary", "https://hooks.slack.com/…"],
  ["discord", "https://discord.com/api/webhooks/1/canary", "https://discord.com/…"],
  ["telegram", "telegram://1:canary@-100", "telegram://…@-100"],
  ["email", "mailto:me@example.com", "mailto:me@example.com"],
  ["standard", "https://example.com/hook?canary", "https://example.com/hook?…"],
] satisfies [WebhookFormat, string, string][])(
  "showReceiver hides what may be a token: %s",
  (format, text, shown) => {
    expect(showReceiver(readReceiver(format, text))).toBe(shown);
  },
);
