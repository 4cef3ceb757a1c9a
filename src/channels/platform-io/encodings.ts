import * as z from "zod";
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { MediaUnavailable } from "../../ports/media.ts";
import type { OutboundRequest } from "../../ports/outbound.ts";
import type { Json, PlatformRequest, SignedRequest } from "../../ports/platform-io.ts";
import type { Fields, FormPart } from "../../ports/request-body.ts";
import type { Secrets } from "../../ports/connect.ts";

interface EncodedBody {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: NonNullable<OutboundRequest["body"]>;
}

/** The address with the request's query. */
export function encodeUrl({ url, query }: PlatformRequest): string {
  const tail = encodeFields(query ?? {});
  return tail === "" ? url : `${url}${url.includes("?") ? "&" : "?"}${tail}`;
}

/** What is sent, with the headers that say what it is. */
export function encodeBody({ json, form, multipart, body }: PlatformRequest): EncodedBody {
  if (json !== undefined)
    return { headers: { "content-type": "application/json" }, body: JSON.stringify(json) };
  if (form !== undefined)
    return { headers: { "content-type": "application/x-www-form-urlencoded" }, body: encodeFields(form) };
  if (multipart !== undefined) return encodeMultipart(multipart);
  if (body === undefined) return { headers: {} };
  return { headers: {}, body: typeof body === "function" ? body() : body };
}

/** A space becomes %20, which every server reads; + is a space only in forms. */
export function encodeFields(fields: Fields): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value === null || value === undefined) continue;
    for (const one of [value].flat()) pairs.append(name, String(one));
  }
  return pairs.toString().replaceAll("+", "%20");
}

const LINE_END = Buffer.from("\r\n");

/** RFC 7578. The length is known beforehand: platforms refuse bodies in pieces of unknown number. */
function encodeMultipart(parts: readonly FormPart[]): EncodedBody {
  const boundary = `posthorn-${randomBytes(16).toString("hex")}`;
  const opened = parts.map((part) => ({ head: headOf(boundary, part), ...contentOf(part) }));
  const end = Buffer.from(`--${boundary}--\r\n`);
  const sizeBytes = opened.reduce(
    (sum, { head, sizeBytes: content }) => sum + head.length + content + LINE_END.length,
    end.length,
  );
  return {
    headers: {
      "content-type": `multipart/form-data; boundary=${boundary}`,
      "content-length": String(sizeBytes),
    },
    body: Readable.from(writeParts(opened, end), { objectMode: false }),
  };
}

function headOf(boundary: string, part: FormPart): Buffer {
  const file = "fileName" in part ? `; filename="${quoted(part.fileName)}"` : "";
  const type = part.mimeType === undefined ? "" : `Content-Type: ${part.mimeType}\r\n`;
  const disposition = `Content-Disposition: form-data; name="${quoted(part.name)}"${file}\r\n`;
  return Buffer.from(`--${boundary}\r\n${disposition}${type}\r\n`);
}

/** As browsers do it (https://html.spec.whatwg.org/#multipart-form-data). */
function quoted(text: string): string {
  return text.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

interface Content {
  readonly sizeBytes: number;
  readonly open: () => AsyncIterable<unknown> | Iterable<unknown>;
}

function contentOf(part: FormPart): Content {
  if ("open" in part) return { sizeBytes: part.sizeBytes, open: () => part.open() };
  const bytes = "bytes" in part ? part.bytes : Buffer.from(part.text);
  return { sizeBytes: bytes.length, open: () => [bytes] };
}

async function* writeParts(
  parts: readonly (Content & { readonly head: Buffer })[],
  end: Buffer,
): AsyncGenerator<Buffer> {
  for (const { head, sizeBytes, open } of parts) {
    yield head;
    let left = sizeBytes;
    for await (const chunk of open()) {
      const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
      left -= bytes.length;
      yield bytes;
    }
    if (left !== 0) throw new MediaUnavailable("The media had another length than it was said to have.");
    yield LINE_END;
  }
  yield end;
}

/** The request with what its `sign` makes of the secrets. */
export function signRequest({ sign, ...request }: SignedRequest, secrets: Secrets): PlatformRequest {
  const { url = request.url, headers, query, form, json } = sign?.(secrets) ?? {};
  return {
    ...request,
    url,
    headers: { ...request.headers, ...headers },
    ...(query === undefined ? {} : { query: { ...request.query, ...query } }),
    ...(form === undefined ? {} : { form: { ...request.form, ...form } }),
    ...(json === undefined ? {} : { json: beside(request.json, json) }),
  };
}

const Fields = z.record(z.string(), z.json());

/** Objects become one; anything else takes the place of what was there. */
function beside(before: Json | undefined, added: Json): Json {
  const [fields, more] = [Fields.safeParse(before), Fields.safeParse(added)];
  return fields.success && more.success ? { ...fields.data, ...more.data } : added;
}
