import { parseUrl } from "../../domain/parse-url.ts";
import type { Connected, ConnectInput, ConnectIo, SecretField } from "../../ports/connect.ts";
import { randomUUID } from "node:crypto";
import * as z from "zod";
import { MEDIA_KINDS } from "../../domain/accounts/account.ts";
import { AppError } from "../../domain/errors.ts";
import { makeSecret, readSecret, signedHeaders } from "../../domain/webhooks/standard-webhooks.ts";
import { SECOND } from "../../domain/time.ts";
import { definePlatform } from "../../ports/platform.ts";
import { PlatformFault, type JsonObject, type PlatformResponse } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { oneChannel, optional, secretField } from "../shared/connect.ts";
import { ACCEPTED } from "../shared/media.ts";
import { toEvent, WebhookMetadata, type WebhookPost } from "./event.ts";

const MAX_ITEMS = 21;

const FIELDS: readonly SecretField[] = [
  {
    // Such addresses often carry a token.
    ...secretField(
      "url",
      "Address",
      "The https address that your program or automation tool gave you. Each post is sent there by POST.",
    ),
    isSeen: true,
  },
  optional(
    secretField(
      "secret",
      "Signing secret",
      "whsec_ and 24 to 64 bytes in base64, if the receiver has one already. If left empty, one is made and shown once.",
    ),
  ),
];

/** Posts as signed JSON to an address of the user's own. */
export default definePlatform({
  name: "webhook",
  title: "Webhook channel",
  aliases: ["zapier", "n8n"],
  docs: "https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md",
  capabilities: {
    media: {
      required: false,
      maxItems: MAX_ITEMS,
      // What the receiver makes of them is its own affair.
      accepts: MEDIA_KINDS.map((kind) => ({ kind, mimeTypes: ACCEPTED[kind], maxItems: MAX_ITEMS })),
    },
    caption: { maxLength: null, unit: "characters" },
    thumbnail: { set: true, replaceAfterPublish: false },
    reconciles: "server_key",
    fetchesMedia: MEDIA_KINDS,
    // Many a receiver runs beside us.
    fetchesFrom: "near",
  },
  metadata: WebhookMetadata,
  settings: [],
  connect: [
    {
      kind: "secrets",
      name: "webhook",
      label: "Address that receives the posts",
      fields: FIELDS,
      renewal: null,
      instructions:
        "Enter the address that receives the posts, and its signing secret if it has one already.",
      connect,
    },
  ],

  preview: () => ({ title: null, note: "The receiver gets every field and decides what it shows of them." }),

  async publish(post, io) {
    if (!io.isDue) return { state: "prepared" };
    const happenedAt = await io.once("happenedAt", () => io.now());
    const answer = await io.effect<JsonObject>({
      step: "deliver",
      request: {
        id: post.id,
        caption: post.caption,
        mediaUrl: post.mediaUrl,
        metadata: Fields.parse(post.metadata),
      },
      send: async () => deliver(post, JSON.stringify(await toEvent(post, io, happenedAt)), io),
      // The receiver drops what comes again under the same webhook-id, or refuses it as known.
      reconcile: async () => ({ outcome: "send_again", isStillInDoubt: true }),
    });
    const { id, url } = Delivered.parse(answer);
    return { state: "live", platformPostId: id ?? post.id, platformUrl: url };
  },
});

const Fields = z.record(z.string(), z.json());

async function connect(input: ConnectInput, io: ConnectIo): Promise<Connected> {
  const address = readAddress(input.secrets["url"] ?? "");
  const given = input.secrets["secret"] ?? "";
  const secret = given === "" ? makeSecret() : readSecret(given);
  await knock(address, io);
  return oneChannel({
    // The same whatever address the channel is given later; and one address may serve several channels.
    platformAccountId: input.reconnecting?.platformAccountId ?? randomUUID(),
    name: input.name ?? input.reconnecting?.name ?? address.host,
    handle: address.host,
    secrets: { url: address.href, secret },
    ...(given === "" ? { notice: NOTICE, shownOnce: secret } : {}),
  });
}

const NOTICE =
  "With this signing secret the receiver checks that the posts come from Posthorn. Give it to the receiver.";

function readAddress(text: string): URL {
  const url = parseUrl(text);
  if (url === null) {
    throw new AppError(
      "invalid",
      "url: is not an address. Give all of it, for example https://example.com/hooks/posts.",
    );
  }
  url.hash = "";
  return url;
}

/** The address must be allowed, and a server must answer. What a HEAD is answered says nothing about posts. */
async function knock(address: URL, io: ConnectIo): Promise<void> {
  try {
    await io.request({ method: "HEAD", url: address.href, timeoutMs: 10 * SECOND });
  } catch (error) {
    if (!(error instanceof PlatformFault)) throw error;
    if (error.httpStatus !== null || error.kind === "transient") return;
    if (error.kind === "rejected") throw new AppError("invalid", `url: ${error.message}`, { cause: error });
    throw error;
  }
}

async function deliver(post: WebhookPost, body: string, io: PublishIo): Promise<JsonObject> {
  const message = { id: post.id, sentAt: io.now(), body };
  const response = await io.authorized(({ url = "", secret = "" }) =>
    io.request({
      method: "POST",
      url,
      headers: { "content-type": "application/json", ...signedHeaders(message, secret) },
      body,
      newConnection: true,
      isIdempotent: true,
      classify,
    }),
  );
  return readAnswer(response);
}

/** Refusals in our words; null leaves the rest to the usual reading, which tries again. */
function classify({ status, headers }: PlatformResponse): PlatformFault | null {
  if (status < 300 || status === 429) return null;
  if (status < 500) return new PlatformFault("rejected", refusal(status));
  const after = headers["retry-after"] ?? "";
  // One that is neither seconds nor a date (RFC 9110) asks for nothing.
  if (!/^\d+$/.test(after.trim()) && Number.isNaN(Date.parse(after))) return null;
  return new PlatformFault("rate", `The receiver asks to come again later (HTTP ${status}).`);
}

const REFUSALS: Readonly<Record<number, string>> = {
  401: "The receiver does not accept the signature (HTTP 401). Reconnect the channel with the secret that the receiver checks with.",
  404: "The receiver knows nothing at this address (HTTP 404). Reconnect the channel with the right one.",
  410: "The address is gone for good (HTTP 410). Reconnect the channel with the new address.",
};

function refusal(status: number): string {
  if (status < 400) {
    return `The address redirects (HTTP ${status}), which is not followed. Reconnect the channel with the address it leads to.`;
  }
  return (
    REFUSALS[status] ??
    `The receiver refused the post (HTTP ${status}). Its own log says why. Then send the post again.`
  );
}

const Delivered = z.object({ id: z.string().nullable(), url: z.string().nullable() });

const AnsweredId = z.union([
  z
    .string()
    .min(1)
    .max(500)
    .regex(/^[^\p{C}\p{Zl}\p{Zp}]+$/u),
  z.int().transform(String),
]);
const AnsweredUrl = z.url({ protocol: /^https?$/ }).max(2_000);
const Answered = z.object({ id: AnsweredId.nullable().catch(null), url: AnsweredUrl.nullable().catch(null) });

/** What the receiver tells of the post, where it tells anything that can be used. */
function readAnswer({ json }: PlatformResponse): JsonObject {
  return Answered.safeParse(json).data ?? { id: null, url: null };
}
