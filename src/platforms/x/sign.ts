import { createHmac, randomBytes } from "node:crypto";
import { SECOND } from "../../domain/time.ts";
import type { Secrets } from "../../ports/connect.ts";
import type { PlatformRequest, SignedRequest } from "../../ports/platform-io.ts";
import { bearer } from "../shared/faults.ts";

/** What of a request OAuth 1.0a signs; bodies that are JSON or in parts are none of it. */
export type Signable = Pick<PlatformRequest, "method" | "url" | "query">;

/** Signs with the token of a consent, or, where the channel was connected with four keys, with these. */
export function signer(request: Signable, now: number): NonNullable<SignedRequest["sign"]> {
  return (secrets) =>
    secrets["apiKey"] === undefined
      ? bearer()(secrets)
      : { headers: { authorization: keysHeader(request, secrets, now) } };
}

/** The header of a request that the four keys sign (RFC 5849, 3.5.1). */
export function keysHeader(request: Signable, secrets: Secrets, now: number): string {
  const oauth = {
    oauth_consumer_key: secrets["apiKey"] ?? "",
    oauth_nonce: randomBytes(16).toString("hex"),
    oauth_signature_method: "HMAC-SHA1",
    oauth_timestamp: String(Math.floor(now / SECOND)),
    oauth_token: secrets["accessToken"] ?? "",
    oauth_version: "1.0",
  };
  const signed = { ...oauth, oauth_signature: signatureOf(request, oauth, secrets) };
  const fields = Object.entries(signed).map(([name, value]) => `${name}="${encode(value)}"`);
  return `OAuth ${fields.join(", ")}`;
}

/** RFC 5849, 3.4: over the method, the address and all parameters, those of the address among them. */
export function signatureOf(
  { method, url, query = {} }: Signable,
  oauth: Readonly<Record<string, string>>,
  secrets: Secrets,
): string {
  const { origin, pathname, searchParams } = new URL(url);
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  const parameters = [...searchParams, ...given.map(([name, value]) => [name, String(value)] as const)]
    .concat(Object.entries(oauth))
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted();
  const base = [method, `${origin}${pathname}`, parameters.join("&")].map(encode).join("&");
  const key = [secrets["apiSecret"], secrets["accessSecret"]].map((part) => encode(part ?? "")).join("&");
  return createHmac("sha1", key).update(base).digest("base64");
}

/** RFC 3986's percent encoding: of what JavaScript leaves as it is, five more characters. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
