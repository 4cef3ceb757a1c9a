import { Readable } from "node:stream";
import {
  OutboundFailure,
  type Outbound,
  type OutboundRequest,
  type OutboundResponse,
} from "../../../src/ports/outbound.ts";

/** A file of a form, as it arrived. */
export interface ReceivedFile {
  readonly fileName: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
}

/** A request as a platform reads it. */
export interface Received {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Null where the body is none. */
  readonly json: unknown;
  readonly texts: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, ReceivedFile>>;
}

export interface Answer {
  readonly status: number;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The way out, behind which one platform alone answers; nothing leaves the process. */
export function createFakeDoor(
  origin: string,
  answer: (request: Received) => Answer,
): Outbound & { readonly requests: Received[] } {
  const requests: Received[] = [];
  return {
    requests,
    assertAllowed: (_field, url) => new URL(url),
    async request(request): Promise<OutboundResponse> {
      const received = await receive(request);
      if (received.url.origin !== origin) throw new OutboundFailure("Nobody is there.", false);
      requests.push(received);
      const { status, json, headers = {} } = answer(received);
      const text = json === undefined ? "" : JSON.stringify(json);
      const type = json === undefined ? {} : { "content-type": "application/json" };
      return {
        status,
        headers: { ...type, ...headers },
        url: request.url,
        body: Readable.from([Buffer.from(text)]),
      };
    },
  };
}

async function receive(request: OutboundRequest): Promise<Received> {
  const headers = Object.fromEntries(
    Object.entries(request.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const body = await readBody(request.body);
  const length = headers["content-length"];
  if (length !== undefined && Number(length) !== body.length)
    throw new Error(`${body.length} bytes came, and ${length} were said to.`);
  const type = headers["content-type"] ?? "";
  const form = type.startsWith("multipart/form-data") ? await readForm(body, type) : { texts: {}, files: {} };
  const isJson = type.startsWith("application/json");
  return {
    method: request.method,
    url: new URL(request.url),
    headers,
    json: isJson ? JSON.parse(body.toString("utf8")) : null,
    ...form,
  };
}

async function readBody(body: OutboundRequest["body"]): Promise<Buffer> {
  if (body === undefined) return Buffer.alloc(0);
  if (!(body instanceof Readable)) return Buffer.from(body);
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

async function readForm(body: Buffer, type: string): Promise<Pick<Received, "texts" | "files">> {
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  const texts: Record<string, string> = {};
  const files: Record<string, ReceivedFile> = {};
  for (const [name, value] of form) {
    if (name in texts || name in files) throw new Error(`The part ${name} came twice.`);
    if (typeof value === "string") texts[name] = value;
    else files[name] = { fileName: value.name, mimeType: value.type, sizeBytes: value.size };
  }
  return { texts, files };
}
