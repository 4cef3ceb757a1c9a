import * as z from "zod";
import type { Readable } from "node:stream";
import { AppError } from "../../domain/errors.ts";
import { deadline, SECOND } from "../../domain/time.ts";
import { type Receiver, readReceiver } from "../../domain/webhooks/receivers.ts";
import { signedHeaders } from "../../domain/webhooks/standard-webhooks.ts";
import type { WebhookFormat } from "../../domain/webhooks/webhook.ts";
import { MailFailure } from "../../ports/mailer.ts";
import { OutboundFailure } from "../../ports/outbound.ts";
import type { WebhookRow } from "../../store/queries/webhooks.ts";
import { isKeyActive } from "../../access/api-keys.ts";
import type { AppContext } from "../../context.ts";
import { readRetryAfter } from "../../channels/platform-io/platform-request.ts";
import { bodyOf, type EventDelivery } from "./event-body.ts";
import { toPushRequest } from "./push.ts";
import { toMail, toRequest } from "./message-formats.ts";
import { writeNotice } from "./notices.ts";

const TIMEOUT_MS = 15 * SECOND;

/** Read of an answer, so that the connection can serve the next event. */
const MAX_DRAINED_BYTES = 64 * 1024;

/** `error` null: the receiver took it. */
export interface Answer {
  readonly httpStatus: number | null;
  readonly error: string | null;
  readonly retryAfterMs: number | null;
  /** The receiver is gone for good. */
  readonly isGone?: boolean;
}

interface Sending {
  /** One, or where people are told, all that goes into one message. */
  readonly deliveries: readonly EventDelivery[];
  readonly signal: AbortSignal;
}

/** Sends them once: an event signed, or a message for people. */
export async function send(ctx: AppContext, webhook: WebhookRow, sending: Sending): Promise<Answer> {
  try {
    const { url, secret, keyId } = openTarget(ctx, webhook);
    if (keyId !== undefined && !(await isKeyActive(ctx, { keyId }))) return KEY_ENDED;
    const receiver = readReceiver(webhook.format, url);
    if (receiver.format === "email") return await sendMail(ctx, webhook, receiver, sending);
    return await post(ctx, webhook.format, {
      ...(await requestFor(ctx, webhook, { receiver, secret, deliveries: sending.deliveries })),
      signal: sending.signal,
    });
  } catch (error) {
    return { httpStatus: null, error: sentenceFor(error), retryAfterMs: null };
  }
}

const KEY_ENDED: Answer = {
  httpStatus: null,
  error: "The key of the person who reads there was revoked, or is over.",
  retryAfterMs: null,
  isGone: true,
};

interface Request {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

async function requestFor(
  ctx: AppContext,
  webhook: WebhookRow,
  {
    receiver,
    secret,
    deliveries,
  }: {
    receiver: Exclude<Receiver, { format: "email" }>;
    secret: string;
    deliveries: readonly EventDelivery[];
  },
): Promise<Request> {
  const [first] = deliveries;
  if (receiver.format === "push")
    return toPushRequest(ctx, receiver, await writeNotice(ctx, webhook, deliveries));
  if (receiver.format !== "standard" || first === undefined)
    return toRequest(receiver, await writeNotice(ctx, webhook, deliveries));
  const body = bodyOf(ctx, first);
  const signed = signedHeaders({ id: first.id, body, sentAt: ctx.clock.now() }, secret);
  return { url: receiver.url.href, headers: { "content-type": "application/json", ...signed }, body };
}

async function post(
  ctx: AppContext,
  format: WebhookFormat,
  request: Request & { readonly signal: AbortSignal },
): Promise<Answer> {
  const answer = await ctx.outbound.request({ method: "POST", ...request, timeoutMs: TIMEOUT_MS });
  await drain(answer.body);
  const { "retry-after": retryAfter } = answer.headers;
  const now = ctx.clock.now();
  const retryAfterMs = retryAfter === undefined ? null : readRetryAfter({ "retry-after": retryAfter }, now);
  const isGone = format === "push" && SUBSCRIPTION_ENDED.includes(answer.status);
  return { httpStatus: answer.status, error: refusal(answer.status, format), retryAfterMs, isGone };
}

/** For `create_webhook` and for every try, where the setting was taken away since. */
export function noMailServer(): AppError {
  return new AppError(
    "unavailable",
    "format: e-mail needs a mail server. Set POSTHORN_SMTP_URL, for example smtps://user:password@mail.example.com?from=posthorn@example.com, and start Posthorn again.",
  );
}

async function sendMail(
  ctx: AppContext,
  webhook: WebhookRow,
  { to }: Extract<Receiver, { format: "email" }>,
  { deliveries, signal }: Sending,
): Promise<Answer> {
  if (ctx.mailer === null) throw noMailServer();
  const mail = toMail(await writeNotice(ctx, webhook, deliveries));
  await ctx.mailer.send({ to, ...mail, signal: deadline(TIMEOUT_MS, signal) });
  return { httpStatus: null, error: null, retryAfterMs: null };
}

/** What the receiver says is of no interest. Leaving the loop destroys the stream and its connection. */
async function drain(answer: Readable): Promise<void> {
  let size = 0;
  try {
    for await (const chunk of answer) {
      size += Buffer.from(chunk).length;
      if (size > MAX_DRAINED_BYTES) return;
    }
  } catch {
    // Its status has come.
  }
}

const REFUSALS: Readonly<Record<number, string>> = {
  401: "The receiver does not accept the signature (HTTP 401). Check that it verifies with this webhook's secret.",
  404: "The receiver knows nothing at this address (HTTP 404).",
  410: "The address is gone for good (HTTP 410).",
  429: "The receiver asks to come again later (HTTP 429).",
};

/** Of the services where people read along. Nothing is signed for them. */
const CHECK_ADDRESS = "Check the token, chat or topic in its address.";
const MESSAGE_REFUSALS: Readonly<Record<number, string>> = {
  400: `The service does not take the message (HTTP 400). ${CHECK_ADDRESS}`,
  401: `The service does not accept the access (HTTP 401). ${CHECK_ADDRESS}`,
  403: `The service does not let it write there (HTTP 403). ${CHECK_ADDRESS}`,
};

/** https://www.rfc-editor.org/rfc/rfc8030#section-7.3; some services answer with the other one. */
const SUBSCRIPTION_ENDED: readonly number[] = [404, 410];

/** Of the push services of browsers. */
const AGAIN = "Turn notices off and on again in that browser.";
const PUSH_REFUSALS: Readonly<Record<number, string>> = {
  400: `The push service does not take the message (HTTP 400). ${AGAIN}`,
  401: `The push service does not know this Posthorn (HTTP 401). ${AGAIN}`,
  403: `The push service does not know this Posthorn (HTTP 403). ${AGAIN}`,
  404: "The browser takes no notices any more (HTTP 404). Turn them on again there.",
  410: "The browser takes no notices any more (HTTP 410). Turn them on again there.",
};

function refusal(status: number, format: WebhookFormat): string | null {
  if (status >= 200 && status < 300) return null;
  if (status < 400)
    return `The address redirects (HTTP ${status}), which is not followed. Make a webhook with the address that it leads to.`;
  const usual = status < 500 ? "The receiver refused it" : "The receiver has a problem of its own";
  const own = { standard: {}, push: PUSH_REFUSALS };
  const known = { ...REFUSALS, ...(format in own ? own[format as "push"] : MESSAGE_REFUSALS) };
  return known[status] ?? `${usual} (HTTP ${status}). Its own log says why.`;
}

function sentenceFor(error: unknown): string {
  if (error instanceof AppError || error instanceof MailFailure) return error.message;
  if (error instanceof OutboundFailure && !error.wasSent) return "The receiver could not be reached.";
  if (error instanceof OutboundFailure)
    return `The receiver did not answer properly within ${TIMEOUT_MS / SECOND} seconds.`;
  throw error;
}

const Target = z.strictObject({ url: z.string(), secret: z.string(), keyId: z.string().optional() });
/**
 * Where a webhook's events go, and what they are signed with: nothing where people are told. `keyId`: the key that it
 * ends with.
 */
export type Target = z.infer<typeof Target>;

export function webhookAad(row: { owner_id: string; id: string }): string {
  return `${row.owner_id}|${row.id}|webhook`;
}

export function sealTarget(ctx: AppContext, row: { owner_id: string; id: string }, target: Target): string {
  return ctx.cipher.seal(JSON.stringify(target), webhookAad(row));
}

/** Throws `conflict` where the row was sealed with another key than this instance has. */
export function openTarget(ctx: AppContext, row: WebhookRow): Target {
  try {
    return Target.parse(JSON.parse(ctx.cipher.open(row.secrets_enc, webhookAad(row))));
  } catch (cause) {
    throw new AppError(
      "conflict",
      "Its stored secret cannot be read with this instance's secret key. Make the webhook again.",
      { cause },
    );
  }
}
