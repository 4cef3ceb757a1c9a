import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { z } from "zod";
import type { OutboundRequest, OutboundResponse } from "../../../src/ports/outbound.ts";

const Spec = z.object({
  post: z.record(z.string(), z.json()),
  operations: z.record(
    z.string(),
    z.object({ query: z.array(z.string()), required: z.array(z.string()).optional() }),
  ),
});

/** Ghost's own description of what is sent; the file names its source. */
const { post, operations } = Spec.parse(
  JSON.parse(readFileSync(new URL("./spec.json", import.meta.url), "utf8")),
);

const ajv = new Ajv({ strict: false });
addFormats.default(ajv);
ajv.addFormat("json-string", (text) => {
  JSON.parse(text);
  return true;
});

const OPERATIONS = Object.entries(operations).map(([name, { query, required }]) => {
  const [method = "", path = ""] = name.split(" ");
  return {
    name,
    method,
    pattern: new RegExp(`^${path.replace(/\{\w+\}/, "([\\w-]+)")}$`),
    query,
    body:
      required === undefined
        ? null
        : ajv.compile({
            type: "object",
            additionalProperties: false,
            required: ["posts"],
            properties: {
              posts: { type: "array", minItems: 1, maxItems: 1, items: { ...post, required } },
            },
          }),
  };
});

export interface GhostRequest {
  /** As the description has it: "POST /posts/". */
  readonly name: string;
  readonly id: string;
  readonly query: URLSearchParams;
  /** The post that is sent. */
  readonly post: any;
  readonly file: { readonly name: string; readonly type: string; readonly size: number } | null;
}

/** The request as it is described, or what is wrong with it. */
export async function readRequest(request: OutboundRequest, base: string): Promise<GhostRequest | string> {
  const url = new URL(request.url);
  const path = request.url.split("?")[0]?.slice(base.length) ?? "";
  const found = OPERATIONS.find(({ method, pattern }) => method === request.method && pattern.test(path));
  if (found === undefined) return `There is no ${request.method} ${path}.`;
  for (const name of url.searchParams.keys())
    if (!found.query.includes(name)) return `${found.name} has no parameter ${name}.`;
  const headers = Object.entries(request.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const { "content-type": type = "", "accept-version": version } = Object.fromEntries(headers);
  if (!/^v[56]\.\d+$/.test(version ?? "")) return "There is no Accept-Version.";
  const { body } = request;
  const bytes =
    body === undefined ? Buffer.alloc(0) : body instanceof Readable ? await buffer(body) : Buffer.from(body);
  const common = { name: found.name, id: found.pattern.exec(path)?.[1] ?? "", query: url.searchParams };
  if (found.name.endsWith("/upload/")) {
    if (!type.startsWith("multipart/form-data")) return `A body of ${type}.`;
    const form = await new Response(bytes, { headers: { "content-type": type } }).formData();
    const [[name, file] = []] = [...form];
    if ([...form].length !== 1 || name !== "file" || !(file instanceof File)) return "No file, or more.";
    return { ...common, post: null, file: { name: file.name, type: file.type, size: file.size } };
  }
  if ((found.body !== null) !== (type === "application/json")) return `A body of ${type}.`;
  const json: any = found.body === null ? null : JSON.parse(bytes.toString("utf8"));
  if (found.body !== null && !found.body(json)) return ajv.errorsText(found.body.errors);
  return { ...common, post: json?.posts[0] ?? null, file: null };
}

export interface Key {
  readonly id: string;
  readonly secret: string;
}

/** What jsonwebtoken says of a token; null: it is good. `now` in milliseconds. */
export function tokenProblem(token: string, key: Key, now: number): { code: string; message: string } | null {
  const [head = "", body = "", signature = ""] = token.split(".");
  const read = (part: string): any => JSON.parse(Buffer.from(part, "base64url").toString());
  const { alg, kid } = read(head);
  if (kid !== key.id) return { code: "UNKNOWN_ADMIN_API_KEY", message: "Unknown Admin API Key" };
  const expected = createHmac("sha256", Buffer.from(key.secret, "hex")).update(`${head}.${body}`);
  const { iat, exp, aud } = read(body);
  const problem =
    alg !== "HS256" || signature !== expected.digest("base64url")
      ? "invalid signature"
      : now / 1_000 >= exp
        ? "jwt expired"
        : now / 1_000 - iat > 300 || exp - iat > 300
          ? "maxAge exceeded"
          : /\/?admin\/?$/.test(aud)
            ? null
            : "jwt audience invalid";
  return problem === null ? null : { code: "INVALID_JWT", message: `Invalid token: ${problem}` };
}

export function answer(
  status: number,
  body: unknown = null,
  headers: Record<string, string> = {},
): OutboundResponse {
  const text = body === null ? "" : typeof body === "string" ? body : JSON.stringify(body);
  return { status, headers, url: "", body: Readable.from([Buffer.from(text)]) };
}

/** An error as Ghost words it. */
export function refusal(
  status: number,
  type: string,
  message: string,
  more: { code?: string; property?: string; context?: string } = {},
): OutboundResponse {
  const { code = null, property = null, context = null } = more;
  const error = {
    message,
    context,
    type,
    details: null,
    property,
    help: null,
    code,
    id: "1",
    ghostErrorCode: null,
  };
  return answer(status, { errors: [error] });
}
