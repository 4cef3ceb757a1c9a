import { createHmac } from "node:crypto";
import type { OutboundRequest } from "../../../src/ports/outbound.ts";

export interface Keys {
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly accessToken: string;
  readonly accessSecret: string;
}

/** What of an OAuth 1.0a header is wrong; the signature is made anew, after X's own page. */
export function wrongInSignature(request: OutboundRequest, keys: Keys, now: number): string[] {
  const header = request.headers?.["authorization"] ?? "";
  const fields = Object.fromEntries(
    [...header.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [
      name,
      decodeURIComponent(value),
    ]),
  );
  const { oauth_signature: signature, ...signed } = fields;
  const url = new URL(request.url);
  const percent = (text: string): string =>
    [...Buffer.from(text)]
      .map((byte) =>
        /[\w.~-]/.test(String.fromCharCode(byte))
          ? String.fromCharCode(byte)
          : `%${byte.toString(16).padStart(2, "0").toUpperCase()}`,
      )
      .join("");
  const pairs = [...url.searchParams, ...Object.entries(signed)].map((pair) => pair.map(percent).join("="));
  const base = `${request.method}&${percent(url.origin + url.pathname)}&${percent(pairs.sort().join("&"))}`;
  const expected = createHmac("sha1", `${percent(keys.apiSecret)}&${percent(keys.accessSecret)}`)
    .update(base)
    .digest("base64");
  return [
    ...(signature === expected ? [] : ["signature"]),
    ...(fields["oauth_consumer_key"] === keys.apiKey ? [] : ["oauth_consumer_key"]),
    ...(fields["oauth_token"] === keys.accessToken ? [] : ["oauth_token"]),
    ...(fields["oauth_version"] === "1.0" ? [] : ["oauth_version"]),
    ...(Math.abs(Number(fields["oauth_timestamp"]) * 1_000 - now) < 300_000 ? [] : ["oauth_timestamp"]),
  ];
}
