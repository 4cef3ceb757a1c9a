import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { OutboundRequest } from "../../../src/ports/outbound.ts";

/** A request as a server reads it. */
export interface Received {
  /** "POST /api/notes/create" */
  readonly operation: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
  /** Fields of JSON or of a form. */
  readonly fields: Record<string, unknown>;
  readonly files: ReadonlyMap<string, { readonly type: string; readonly size: number }>;
  /** The token of its Authorization header; "" without one. */
  readonly token: string;
}

export async function receive(request: OutboundRequest): Promise<Received> {
  const { pathname, searchParams } = new URL(request.url);
  const lower = Object.entries(request.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const headers: Record<string, string> = Object.fromEntries(lower);
  return {
    operation: `${request.method} ${pathname}`,
    query: searchParams,
    headers,
    ...(await readBody(request, headers["content-type"] ?? "")),
    token: /^Bearer (\S+)$/.exec(headers["authorization"] ?? "")?.[1] ?? "",
  };
}

async function readBody(
  { body }: OutboundRequest,
  type: string,
): Promise<Pick<Received, "fields" | "files">> {
  const files = new Map<string, { type: string; size: number }>();
  if (body === undefined) return { fields: {}, files };
  const bytes = body instanceof Readable ? await buffer(body) : Buffer.from(body);
  if (type.startsWith("application/json")) return { fields: JSON.parse(bytes.toString()), files };
  const form = await new Response(bytes, { headers: { "content-type": type } }).formData();
  const fields: Record<string, unknown> = {};
  for (const [name, value] of form) {
    if (typeof value === "string") fields[name] = value;
    else files.set(name, { type: value.type, size: value.size });
  }
  return { fields, files };
}
