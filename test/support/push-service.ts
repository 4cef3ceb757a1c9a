import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import * as z from "zod";
import { listen } from "./listen.ts";

/** A browser that subscribed, and what its service worker was handed. */
export interface Browser {
  readonly subscription: {
    readonly endpoint: string;
    readonly keys: { readonly p256dh: string; readonly auth: string };
  };
  readonly seen: z.infer<typeof Payload>[];
}

interface PushService extends AsyncDisposable {
  readonly origin: string;
  /** Bound to the server's key, as in `pushManager.subscribe`. */
  subscribe(applicationServerKey: string): Browser;
  /** What was not taken, and why. */
  readonly refused: string[];
  /** Status of the next answers, in order. */
  readonly failures: number[];
  readonly headers: IncomingMessage["headers"][];
}

/** What the service worker of the page reads. */
const Payload = z.strictObject({
  id: z.string(),
  title: z.string().min(1),
  body: z.string(),
  url: z.string().startsWith("/app/").nullable(),
});

interface Subscribed extends Browser {
  readonly secret: ReturnType<typeof createECDH>;
  readonly serverKey: string;
}

/**
 * A strict push service on loopback. It holds requests to RFC 8030, RFC 8292 and RFC 8291, and decrypts what comes, as
 * the browser would.
 */
export async function startPushService(): Promise<PushService> {
  const browsers = new Map<string, Subscribed>();
  const [refused, failures, headers]: [string[], number[], IncomingMessage["headers"][]] = [[], [], []];
  const take = async (request: IncomingMessage): Promise<number> => {
    const body = await buffer(request);
    if (request.method === "HEAD") return 405;
    const status = failures.shift();
    if (status !== undefined) return status;
    const browser = browsers.get(request.url ?? "");
    if (browser === undefined) return 404;
    headers.push(request.headers);
    checkHeaders(request.headers, body);
    checkSender(String(request.headers.authorization), { origin, serverKey: browser.serverKey });
    browser.seen.push(Payload.parse(JSON.parse(decrypt(browser, body).toString("utf8"))));
    return 201;
  };
  const server = createServer((request, response) => {
    take(request).then(
      (status) => response.writeHead(status).end(),
      (error: unknown) => {
        refused.push(String(error));
        response.writeHead(400).end();
      },
    );
  });
  const listening = await listen(server);
  const origin = listening.origin;
  return {
    origin,
    refused,
    failures,
    headers,
    subscribe(serverKey) {
      const secret = createECDH("prime256v1");
      const p256dh = secret.generateKeys("base64url");
      const path = `/push/${randomBytes(32).toString("base64url")}`;
      const keys = { p256dh, auth: randomBytes(16).toString("base64url") };
      const subscription = { endpoint: origin + path, keys };
      const browser = { subscription, seen: [], secret, serverKey };
      browsers.set(path, browser);
      return browser;
    },
    [Symbol.asyncDispose]: listening[Symbol.asyncDispose],
  };
}

/** https://www.rfc-editor.org/rfc/rfc8030#section-5: TTL is required; a service need not take more than 4,096 bytes. */
function checkHeaders(headers: IncomingMessage["headers"], body: Buffer): void {
  if (!/^\d+$/.test(String(headers["ttl"]))) throw new Error("no TTL");
  if (!/^(very-low|low|normal|high)$/.test(String(headers["urgency"]))) throw new Error("no urgency");
  if (headers["content-encoding"] !== "aes128gcm") throw new Error("not encrypted");
  if (body.length > 4_096 || headers["content-length"] !== String(body.length)) throw new Error("too large");
}

/** https://www.rfc-editor.org/rfc/rfc8292 */
function checkSender(authorization: string, wanted: { origin: string; serverKey: string }): void {
  const [, token = "", key = ""] = /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(authorization) ?? [];
  const [head = "", claims = "", signature = ""] = token.split(".");
  const point = Buffer.from(key, "base64url");
  const part = (start: number): string => point.subarray(start, start + 32).toString("base64url");
  const jwk = { kty: "EC", crv: "P-256", x: part(1), y: part(33) };
  const publicKey = createPublicKey({ key: jwk, format: "jwk" });
  const signed = Buffer.from(`${head}.${claims}`);
  const bytes = Buffer.from(signature, "base64url");
  if (!verify("sha256", signed, { key: publicKey, dsaEncoding: "ieee-p1363" }, bytes))
    throw new Error("the signature is wrong");
  const read = (part: string): unknown => JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
  z.looseObject({ alg: z.literal("ES256") }).parse(read(head));
  const now = Date.now() / 1_000;
  z.looseObject({
    aud: z.literal(wanted.origin),
    exp: z
      .number()
      .min(now)
      .max(now + 24 * 3_600),
    sub: z.string().regex(/^(https:\/\/|mailto:[^@]+@)/),
  }).parse(read(claims));
  if (key !== wanted.serverKey) throw new Error("another server subscribed");
}

/** https://www.rfc-editor.org/rfc/rfc8291#section-3.4 and https://www.rfc-editor.org/rfc/rfc8188#section-2 */
function decrypt({ secret, subscription: { keys } }: Subscribed, body: Buffer): Buffer {
  const idLength = body.readUInt8(20);
  const [salt, sender, sealed] = [
    body.subarray(0, 16),
    body.subarray(21, 21 + idLength),
    body.subarray(21 + idLength),
  ];
  const shared = secret.computeSecret(sender);
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), secret.getPublicKey(), sender]);
  const material = hkdfSync("sha256", shared, Buffer.from(keys.auth, "base64url"), info, 32);
  const part = (name: string, bytes: number): Buffer =>
    Buffer.from(hkdfSync("sha256", Buffer.from(material), salt, `Content-Encoding: ${name}\0`, bytes));
  const decipher = createDecipheriv("aes-128-gcm", part("aes128gcm", 16), part("nonce", 12));
  decipher.setAuthTag(sealed.subarray(-16));
  const record = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
  return record.subarray(0, record.lastIndexOf(2));
}
