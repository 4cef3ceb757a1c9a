import type { OutboundRequest } from "../../../src/ports/outbound.ts";
import type { FakeState } from "./fake.ts";

/** S3's form: the parameters that were given, then the file as its last part; nobody shows a token. */
export function takeForm(state: FakeState, { method, headers = {} }: OutboundRequest, bytes: Buffer): number {
  const boundary = /^multipart\/form-data; boundary=(\S+)$/.exec(headers["content-type"] ?? "")?.[1];
  if (method !== "POST" || headers["authorization"] !== undefined || boundary === undefined) return 403;
  if (Number(headers["content-length"]) !== bytes.length) return 400;
  const parts = bytes
    .toString("latin1")
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => {
      const [head = "", content = ""] = part.trimStart().split("\r\n\r\n");
      return { name: /name="([^"]*)"/.exec(head)?.[1] ?? "", content: content.replace(/\r\n$/, "") };
    });
  const names = parts.map(({ name }) => name);
  if (names.join() !== "key,policy,x-amz-signature,file") return 400;
  const [key, , signature] = parts.map(({ content }) => content);
  const id = key?.replace("uploads/", "") ?? "";
  const media = state.media.get(id);
  if (media === undefined || signature !== `sign-${id}`) return 403;
  media.uploadedAt = state.now();
  return 204;
}
