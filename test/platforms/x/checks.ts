import { createHmac } from "node:crypto";
import { Ajv } from "ajv";
import type { OutboundRequest } from "../../../src/ports/outbound.ts";
import spec from "./spec.json" with { type: "json" };

/**
 * X's pages and every client say tweet.fields and note_tweet; the description of version 2.167 has already
 * post.fields and note_post.
 */
const NAMES: Readonly<Record<string, string>> = { "tweet.fields": "post.fields", note_tweet: "note_post" };

const ajv = new Ajv({ strict: false, allErrors: true });
ajv.addSchema(spec);

interface Operation {
  readonly query: Readonly<Record<string, { readonly required: boolean; readonly schema: Schema }>>;
  readonly scopes: readonly string[];
  readonly contentType?: string;
  readonly body?: object;
}
interface Schema {
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
}

const OPERATIONS = Object.entries(spec.operations as unknown as Record<string, Operation>).map(
  ([name, operation]) => {
    const [method = "", path = ""] = name.split(" ");
    return { name, method, path: new RegExp(`^${path.replace("{id}", "(\\d{1,19})")}$`), operation };
  },
);

/** What a request asks for by the description; null for what is not in it. */
export function operationOf(method: string, pathname: string) {
  for (const { name, path, operation, ...one } of OPERATIONS) {
    const match = path.exec(pathname);
    if (one.method === method && match !== null) return { name, operation, id: match[1] ?? "" };
  }
  return null;
}

/** What of a query is not as described. */
export function wrongInQuery({ query }: Operation, given: URLSearchParams): string[] {
  const missing = Object.entries(query).filter(([name, { required }]) => required && !given.has(name));
  const wrong = [...given].flatMap(([name, value]) => {
    const schema = query[NAMES[name] ?? name]?.schema;
    return schema !== undefined && fits(schema, value) ? [] : [`query ${name}=${value}`];
  });
  return [...missing.map(([name]) => `query ${name} is missing`), ...wrong];
}

function fits({ type, items, pattern, enum: values, minimum, maximum }: Schema, value: string): boolean {
  if (type === "array")
    return value.split(",").every((one) => items === undefined || fits(items, NAMES[one] ?? one));
  if (type === "integer" && !(Number(value) >= (minimum ?? 0) && Number(value) <= (maximum ?? Infinity)))
    return false;
  return (pattern === undefined || new RegExp(pattern).test(value)) && (values?.includes(value) ?? true);
}

/** What of a body is not as described. */
export function wrongInBody({ body }: Operation, given: unknown): string[] {
  if (body === undefined) return given === null ? [] : ["a body where none belongs"];
  const reference = (body as { $ref: string }).$ref;
  const validate = ajv.getSchema(`x${reference}`);
  if (validate === undefined) throw new Error(`No schema ${reference}`);
  return validate(given) === true ? [] : [ajv.errorsText(validate.errors)];
}

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
