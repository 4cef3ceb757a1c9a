import { createHmac, randomBytes } from "node:crypto";
import { AppError } from "../errors.ts";

/** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
const PREFIX = "whsec_";
const MADE_BYTES = 32;
const MIN_BYTES = 24;
const MAX_BYTES = 64;

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** A new signing secret in its usual form. */
export function makeSecret(): string {
  return PREFIX + randomBytes(MADE_BYTES).toString("base64");
}

/** The secret in its usual form. Throws `invalid` for one that receivers' libraries would not take. */
export function readSecret(text: string): string {
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text;
  const bytes = BASE64.test(encoded) && encoded.length % 4 === 0 ? Buffer.from(encoded, "base64").length : 0;
  if (bytes >= MIN_BYTES && bytes <= MAX_BYTES) return PREFIX + encoded;
  throw new AppError(
    "invalid",
    `secret: must be ${PREFIX} and ${MIN_BYTES} to ${MAX_BYTES} bytes in base64. Leave it empty to have one made.`,
  );
}

/** What is sent, before it is signed. */
interface WebhookMessage {
  readonly id: string;
  /** Milliseconds since 1970: when it is sent, not when it happened. */
  readonly sentAt: number;
  readonly body: string;
}

/** The three headers by which the receiver knows the sender, the moment and repeats. */
export function signedHeaders(message: WebhookMessage, secret: string): Record<string, string> {
  const timestamp = String(Math.floor(message.sentAt / 1_000));
  const signature = createHmac("sha256", Buffer.from(secret.slice(PREFIX.length), "base64"))
    .update(`${message.id}.${timestamp}.${message.body}`)
    .digest("base64");
  return { "webhook-id": message.id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
}
