import type { OutboundRequest } from "../../../src/ports/outbound.ts";

/** The one file of a form that is sent to an upload's address, where nobody shows a token; null: it is none. */
export async function readUpload({ method, headers = {}, body }: OutboundRequest): Promise<Buffer | null> {
  const boundary = /^multipart\/form-data; boundary=(\S+)$/.exec(headers["content-type"] ?? "")?.[1];
  const chunks: Buffer[] = [];
  if (typeof body === "object" && !Buffer.isBuffer(body)) for await (const chunk of body) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const isWhole = Number(headers["content-length"]) === bytes.length;
  if (method !== "POST" || boundary === undefined || headers["authorization"] !== undefined || !isWhole)
    return null;
  const parts = bytes.toString("latin1").split(`--${boundary}`).slice(1, -1);
  const [head = "", content = ""] = (parts[0] ?? "").split(/\r\n\r\n([^]*)/);
  const isFile = /name="file"; filename="[^"]+"\r\nContent-Type: video\//.test(head);
  return parts.length === 1 && isFile ? Buffer.from(content.slice(0, -2), "latin1") : null;
}
