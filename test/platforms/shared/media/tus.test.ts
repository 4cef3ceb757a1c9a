import { createServer } from "node:http";
import { Readable } from "node:stream";
import { FileStore } from "@tus/file-store";
import { Server } from "@tus/server";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PlatformFault, type PlatformIo, type PlatformRequest } from "../../../../src/ports/platform-io.ts";
import type { MediaFacts } from "../../../../src/ports/media.ts";
import { sendByTus, tusOffset } from "../../../../src/platforms/shared/uploads.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { listen } from "../../../support/listen.ts";

const FILE = Buffer.from("0123456789abcdefghijklmno");

/** A real server of the protocol. */
const folder = temporaryFolder();
const tus = new Server({ path: "/files", datastore: new FileStore({ directory: folder.path }) });
const http = createServer((request, response) => void tus.handle(request, response));
let base = "";

beforeAll(async () => {
  const { origin } = await listen(http);
  base = `${origin}/files`;
});

afterAll(() => {
  http.close();
  folder[Symbol.dispose]();
});

const sent: string[] = [];

/** The door, as far as these requests need it. */
const io: Pick<PlatformIo, "request"> = {
  async request({ method, url, headers = {}, body, classify }: PlatformRequest) {
    const parts: Buffer[] = [];
    if (typeof body === "function") for await (const part of body()) parts.push(Buffer.from(part));
    const bytes = Buffer.concat(parts);
    sent.push(`${method} ${headers["upload-offset"] ?? ""}+${bytes.length}`);
    const { "content-length": _length, ...rest } = headers;
    const given = method === "PATCH" ? { body: new Uint8Array(bytes) } : {};
    const answer = await fetch(url, { method, headers: rest, ...given });
    const text = await answer.text();
    const found = { status: answer.status, headers: Object.fromEntries(answer.headers), text, json: null };
    const fault = classify?.(found) ?? null;
    if (fault instanceof PlatformFault) throw fault;
    if (fault !== "ok" && !answer.ok) throw new PlatformFault("rejected", text);
    return found;
  },
};

async function create(): Promise<string> {
  const headers = { "tus-resumable": "1.0.0", "upload-length": String(FILE.length) };
  const answer = await fetch(base, { method: "POST", headers });
  return answer.headers.get("location") ?? "";
}

const item = {
  facts: { sizeBytes: FILE.length, mimeType: "video/mp4" } as MediaFacts,
  open: ({ start = 0, end = FILE.length - 1 } = {}) => Readable.from([FILE.subarray(start, end + 1)]),
};

it("fills an upload chunk by chunk, from where the server says that it is", async () => {
  const url = await create();
  expect(await tusOffset(io, { url })).toBe(0);
  await fetch(url, {
    method: "PATCH",
    headers: {
      "tus-resumable": "1.0.0",
      "upload-offset": "0",
      "content-type": "application/offset+octet-stream",
    },
    body: new Uint8Array(FILE.subarray(0, 7)),
  });
  const from = (await tusOffset(io, { url })) ?? 0;
  sent.length = 0;
  await sendByTus(io, { url, item, from, chunkBytes: 10 });
  expect(sent).toEqual(["PATCH 7+10", "PATCH 17+8"]);
  expect(await tusOffset(io, { url })).toBe(FILE.length);
  // Nothing is left to be sent.
  await sendByTus(io, { url, item, from: FILE.length, chunkBytes: 10 });
  expect(sent).toHaveLength(3);
});

it("wants to be asked again where the server is elsewhere, and knows one that it does not know", async () => {
  const url = await create();
  await expect(sendByTus(io, { url, item, from: 5, chunkBytes: 10 })).rejects.toMatchObject({
    kind: "transient",
  });
  expect(await tusOffset(io, { url: `${base}/none` })).toBeNull();
});
