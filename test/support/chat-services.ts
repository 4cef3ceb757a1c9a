import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import * as z from "zod";
import { listen } from "./listen.ts";

/** A message as a person would see it. */
export interface Seen {
  readonly service: "ntfy" | "slack" | "discord" | "telegram";
  readonly text: string;
  readonly title: string | null;
  readonly link: string | null;
  readonly headers: IncomingMessage["headers"];
}

export const CHAT_TOKENS = {
  ntfy: "tk_canarytokenofntfy0000000000",
  slack: "/services/T00000000/B00000000/canarycanarycanarycanary",
  discord: "/api/webhooks/123456789012345678/canary-token-of-the-discord-webhook",
  telegram: "123456:canary-token-of-the-bot",
  topic: "canary-topic",
} as const;

export interface ChatServices extends AsyncDisposable {
  readonly origin: string;
  readonly seen: Seen[];
  /** What a service did not take, and why. */
  readonly refused: string[];
  /** Status of the next answers, in order; then each service's own. */
  readonly failures: number[];
  readonly targets: Readonly<Record<Seen["service"], string>>;
}

/** https://docs.discord.com/developers/resources/webhook#execute-webhook */
const Discord = z.strictObject({
  content: z.string().min(1).max(2_000),
  allowed_mentions: z.strictObject({ parse: z.array(z.never()) }),
  flags: z.literal(4),
});

/** https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
const Slack = z.strictObject({
  text: z
    .string()
    .min(1)
    .max(4_000)
    .regex(/^(?:[^<>&]|&(?:lt|gt|amp);)*$/u),
  mrkdwn: z.literal(false),
  unfurl_links: z.literal(false),
  unfurl_media: z.literal(false),
});

/** https://core.telegram.org/bots/api#sendmessage */
const Telegram = z.strictObject({
  chat_id: z.string().regex(/^(-?\d+|@\w+)$/),
  text: z.string().min(1).max(4_096),
  link_preview_options: z.strictObject({ is_disabled: z.boolean() }),
  message_thread_id: z.string().optional(),
});

/** Strict fakes of the services in which people are told, on one port; each checks what its own documents say. */
export async function startChatServices(): Promise<ChatServices> {
  const seen: Seen[] = [];
  const refused: string[] = [];
  const failures: number[] = [];
  const server = createServer((request, response) => {
    answer({ seen, refused, failures }, request, response).catch((error: unknown) => {
      refused.push(String(error));
      response.writeHead(400).end();
    });
  });
  const listening = await listen(server);
  const host = `127.0.0.1:${listening.port}`;
  const origin = `http://${host}`;
  return {
    origin,
    seen,
    refused,
    failures,
    targets: {
      ntfy: `http://:${CHAT_TOKENS.ntfy}@${host}/${CHAT_TOKENS.topic}`,
      slack: `${origin}${CHAT_TOKENS.slack}`,
      discord: `${origin}${CHAT_TOKENS.discord}`,
      telegram: `${origin}/bot${CHAT_TOKENS.telegram}/sendMessage?chat_id=-100987`,
    },
    [Symbol.asyncDispose]: listening[Symbol.asyncDispose],
  };
}

async function answer(
  { seen, refused, failures }: Pick<ChatServices, "seen" | "refused" | "failures">,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await buffer(request);
  // The look at the address, before there is a message.
  if (request.method === "HEAD") return void response.writeHead(405).end();
  const status = failures.shift();
  if (status !== undefined) return void response.writeHead(status).end();
  const { headers, url = "" } = request;
  const read = <T>(schema: z.ZodType<T>): T => {
    if (headers["content-type"] !== "application/json") throw new Error("It is not JSON.");
    return schema.parse(JSON.parse(body.toString("utf8")));
  };
  const note = (service: Seen["service"], text: string, more: Partial<Seen> = {}): unknown =>
    seen.push({ service, text, title: null, link: null, headers, ...more });
  if (request.method !== "POST") throw new Error(`${request.method} ${url}`);
  if (url === CHAT_TOKENS.discord) {
    note("discord", read(Discord).content);
    return void response.writeHead(204).end();
  }
  if (url === CHAT_TOKENS.slack) {
    note("slack", read(Slack).text);
    return void response.writeHead(200).end("ok");
  }
  if (url === `/bot${CHAT_TOKENS.telegram}/sendMessage`) {
    note("telegram", read(Telegram).text);
    return void response.writeHead(200).end(JSON.stringify({ ok: true, result: {} }));
  }
  if (url === `/${CHAT_TOKENS.topic}`) {
    note("ntfy", body.toString("utf8"), readNtfy(body, headers));
    return void response.writeHead(200).end("{}");
  }
  refused.push(`${request.method} ${url}`);
  response.writeHead(404).end();
}

/** https://docs.ntfy.sh/publish: headers in ASCII or RFC 2047, up to 4,096 bytes, and the topic is guarded. */
function readNtfy(body: Buffer, headers: IncomingMessage["headers"]): Partial<Seen> {
  if (headers.authorization !== `Bearer ${CHAT_TOKENS.ntfy}`) throw new Error("ntfy: no access.");
  if (body.length > 4_096) throw new Error("ntfy: it would become a file.");
  if (!/^[1-5]$/.test(String(headers["priority"] ?? "3"))) throw new Error("ntfy: no priority.");
  const { title, click } = headers;
  return { title: decodeWord(String(title)), link: typeof click === "string" ? click : null };
}

function decodeWord(text: string): string {
  const [, encoded] = /^=\?UTF-8\?B\?([A-Za-z0-9+/=]+)\?=$/.exec(text) ?? [];
  return encoded === undefined ? text : Buffer.from(encoded, "base64").toString("utf8");
}
