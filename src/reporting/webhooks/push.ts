import * as z from "zod";
import { DAY, SECOND } from "../../domain/time.ts";
import { cutText } from "../../domain/text/cut-text.ts";
import type { Receiver } from "../../domain/webhooks/receivers.ts";
import { insertMeta, readMeta } from "../../store/queries/meta.ts";
import type { AppContext } from "../../context.ts";
import type { Notice } from "./notices.ts";

/*
 * Web Push (RFC 8030): a notice goes encrypted (RFC 8291) to the push service of a browser, which knows this
 * installation by its own keys (RFC 8292). The library makes the request. It is sent through our own client.
 */

/** Under which name the database remembers them, sealed. */
const PUSH_KEYS = "push_keys";

const PushKeys = z.strictObject({ publicKey: z.string(), privateKey: z.string() });

/** What a browser is subscribed with. The same for all processes on the database, and for good. */
export async function readPublicPushKey(ctx: AppContext): Promise<string> {
  return (await readPushKeys(ctx)).publicKey;
}

/** Made once: subscriptions are bound to them. */
async function readPushKeys(ctx: AppContext): Promise<z.infer<typeof PushKeys>> {
  const sealed = await readMeta(ctx.store, PUSH_KEYS);
  if (sealed !== null) return PushKeys.parse(JSON.parse(ctx.cipher.open(sealed, PUSH_KEYS)));
  const { generateVAPIDKeys } = await loadWebPush();
  const made = ctx.cipher.seal(JSON.stringify(generateVAPIDKeys()), PUSH_KEYS);
  // Another process may have been first: what stands there then counts.
  await ctx.store.write((tx) => insertMeta(tx, PUSH_KEYS, made));
  return readPushKeys(ctx);
}

/** Loaded with the first use: few starts need it. */
async function loadWebPush() {
  return (await import("web-push")).default;
}

/** How long a push service keeps it for a browser that is off. */
const KEPT_SECONDS = DAY / SECOND;

/** https://www.rfc-editor.org/rfc/rfc8291#section-4: a message has at most 4,096 bytes, its encryption among them. */
const TITLE = { maxChars: 200 };
const BODY = { maxChars: 1_000, maxBytes: 2_000 };

/** The notice as the service worker of the page takes it (`apps/page/static/sw.js`), encrypted. */
export async function toPushRequest(
  ctx: AppContext,
  { url, keys }: Extract<Receiver, { format: "push" }>,
  { id, title, text, more, page, isUrgent }: Notice,
) {
  const body = [text, more].filter((part) => part !== null && part !== "").join("\n");
  const payload = { id, title: cutText(title, TITLE), body: cutText(body, BODY), url: page };
  const [pushKeys, webPush] = [await readPushKeys(ctx), await loadWebPush()];
  const made = webPush.generateRequestDetails({ endpoint: url.href, keys }, JSON.stringify(payload), {
    vapidDetails: { ...pushKeys, subject: contactOf(ctx) },
    TTL: KEPT_SECONDS,
    urgency: isUrgent ? "high" : "normal",
  });
  // The client counts the bytes itself.
  const headers = Object.entries(made.headers).filter(([name]) => name !== "Content-Length");
  return {
    url: url.href,
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), String(value)])),
    body: made.body,
  };
}

/** Of those who make Posthorn, where an installation has no address of its own that a push service takes. */
const NO_CONTACT = "https://github.com/posthorn/posthorn";

/** Whom a push service asks about misuse: it takes an address of https, or a mailbox. */
function contactOf({ settings, mailer }: AppContext): string {
  const { publicUrl = null } = settings;
  if (publicUrl?.startsWith("https:") === true) return publicUrl;
  return mailer === null ? NO_CONTACT : `mailto:${mailer.from}`;
}
