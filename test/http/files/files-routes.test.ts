import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFilesRouter } from "../../../src/http/files/files-routes.ts";
import type { UploadPlace } from "../../../src/http/files/resumable-uploads.ts";
import { takeFileLock } from "../../../src/store/local/locks.ts";
import { createUploadLink } from "../../../src/files/file-uploads.ts";
import deleteFileTool from "../../../tools/delete_file.ts";
import listFilesTool from "../../../tools/list_files.ts";
import { startCanary } from "../../support/canary.ts";
import { callOf } from "../../support/context.ts";
import { createFileContext, type FileContext } from "../../support/file-context.ts";
import { send, startTestServer, type Ask, type TestServer } from "../../support/http.ts";
import { fixture } from "../../support/media.ts";
import { RESOURCE_ROUTES } from "../../../src/http/api/resource-routes.ts";
import { queryOf } from "../../support/handles.ts";

let ctx: FileContext;
let server: TestServer;
let uploads: UploadPlace;
beforeEach(async () => {
  const base = await createFileContext({ publicUrl: async () => `http://127.0.0.1:${server.port}` });
  ctx = base;
  const routes = RESOURCE_ROUTES.filter((route) => route.path.startsWith("/files"));
  const folder = join(ctx.folder, "uploads");
  uploads = { folder, takeLock: takeFileLock };
  const routers = [createFilesRouter({ ctx, uploads })];
  server = await startTestServer(ctx, [listFilesTool, deleteFileTool], { routers, routes });
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await ctx[Symbol.asyncDispose]();
});

const PHOTO = fixture("photo.png");
const CLIP = fixture("clip.mp4");
const post = (query: string, ask: Ask) => server.ask(`POST /api/v1/files${query}`, ask);
const bytes = (body: Uint8Array, type = "application/octet-stream"): Ask => ({
  body,
  headers: { "Content-Type": type },
});
const pathOf = (address: string) => new URL(address).pathname + new URL(address).search;

async function stored(): Promise<string[]> {
  const entries = await readdir(join(ctx.folder, "files"), { recursive: true, withFileTypes: true }).catch(
    () => [],
  );
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

describe("POST /api/v1/files", () => {
  it("stores the bytes and answers with the file", async () => {
    const answer = await post("?name=sea.png&altText=The%20sea", bytes(PHOTO, "image/png"));
    expect(answer.status).toBe(201);
    expect(Object.keys(answer.json)).toEqual(["file"]);
    expect(answer.json.file).toMatchObject({
      name: "sea.png",
      altText: "The sea",
      type: "image",
      status: "ready",
    });
    expect(answer.headers["location"]).toBe(`/api/v1/files/${answer.json.file.id}`);
    expect(answer.headers["cache-control"]).toBe("no-store");
    const shown = await server.ask(`GET /api/v1/files/${answer.json.file.id}`);
    expect(shown).toMatchObject({ status: 200, json: answer.json });
    expect((await server.ask("GET /api/v1/files")).json.files).toEqual([answer.json.file]);
    expect((await server.ask(`DELETE /api/v1/files/${answer.json.file.id}`)).json.file.id).toBe(
      answer.json.file.id,
    );
    expect((await server.ask(`GET /api/v1/files/${answer.json.file.id}`)).status).toBe(404);
  });

  it("takes a body in chunks without a length", async () => {
    const answer = await post("", {
      body: CLIP,
      headers: { "Content-Type": "video/mp4", "Transfer-Encoding": "chunked" },
    });
    expect(answer).toMatchObject({
      status: 201,
      json: { file: { sizeBytes: CLIP.length, name: "file.mp4" } },
    });
  });

  it.each([
    ["text/csv", "text,when\nHello,tomorrow\n", "text/csv"],
    ["text/csv; charset=utf-8", "text;when\nHello;tomorrow\n", "text/csv"],
    ["text/tab-separated-values", "text\twhen\nHello\ttomorrow\n", "text/csv"],
    ["application/vnd.ms-excel", "text,when\nHello,tomorrow\n", "text/csv"],
    ["text/vtt", "WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n", "text/vtt"],
    ["application/x-subrip", "1\n00:00:00,000 --> 00:00:01,000\nHello\n", "application/x-subrip"],
  ])("takes tables and subtitles as %s", async (type, content, mimeType) => {
    const answer = await post("?name=a", bytes(Buffer.from(content), type));
    expect(answer).toMatchObject({ status: 201, json: { file: { mimeType, type: "other" } } });
  });

  it.each([
    ["image/heic", fixture("phone.heic"), "image/heic"],
    ["image/heif", fixture("phone.heic"), "image/heic"],
    ["application/octet-stream", fixture("phone.heic"), "image/heic"],
  ])("takes a telephone's picture as %s", async (type, content, mimeType) => {
    const answer = await post("?name=IMG_0001.HEIC", bytes(content, type));
    const file = { mimeType, type: "image", name: "IMG_0001.HEIC", width: 800, height: 1_000 };
    expect(answer).toMatchObject({ status: 201, json: { file } });
  });

  it("imports from an address that stands in JSON", async () => {
    await using source = await startCanary((_request, response) => response.end(PHOTO));
    const answer = await post("", { json: { url: `${source.origin}/sea.png`, altText: "Sea" } });
    expect(answer).toMatchObject({ status: 201, json: { file: { name: "sea.png", altText: "Sea" } } });
    expect((await post("", { json: { url: "http://169.254.169.254/latest" } })).json.error).toMatch(
      /^url: The address leads to a private/,
    );
  });

  it("leaves out what null and an empty text leave out", async () => {
    await using source = await startCanary((_request, response) => response.end(PHOTO));
    const json = { url: `${source.origin}/sea.png`, name: "", altText: null };
    const answer = await post("", { json });
    expect(answer).toMatchObject({ status: 201, json: { file: { name: "sea.png", altText: null } } });
  });

  it.each([
    ["no type", { body: PHOTO }, /^Content-Type: must be/],
    ["a form", bytes(PHOTO, "multipart/form-data; boundary=x"), /not a form/],
    ["curl's default", bytes(PHOTO, "application/x-www-form-urlencoded"), /not a form/],
    ["HTML", bytes(Buffer.from("<html>"), "image/jpeg"), /web page/],
    ["nothing", bytes(Buffer.alloc(0), "image/jpeg"), /empty/],
    ["JSON without an address", { json: {} }, /^url: is required\. Give a string\.$/],
    [
      "JSON with more",
      { json: { url: "https://example.com", path: "/etc/passwd" } },
      /"path" is not a known field/,
    ],
    ["broken JSON", { body: "{", headers: { "Content-Type": "application/json" } }, /not valid JSON/],
  ] as const)("refuses %s", async (_what, ask, reason) => {
    const answer = await post("", ask);
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.json)).toEqual(["error"]);
    expect(answer.json.error).toMatch(reason);
    expect(await stored()).toEqual([]);
  });

  it("checks key, permission, size and the rest in this order", async () => {
    const reader = await server.keyFor("default", { permissions: ["read"] });
    const huge = { "Content-Length": String(5 * 1024 ** 3), "Content-Type": "text/html" };
    const ask = (key: string | null | undefined, headers: Record<string, string>): Promise<number> =>
      new Promise((resolve, reject) => {
        const authorization = key === null ? {} : { Authorization: `Bearer ${key}` };
        const outgoing = httpRequest(
          {
            host: "127.0.0.1",
            port: server.port,
            method: "POST",
            path: "/api/v1/files?x=1",
            headers: { ...authorization, ...headers },
            agent: false,
          },
          (incoming) => {
            resolve(incoming.statusCode ?? 0);
            outgoing.destroy();
          },
        );
        outgoing.on("error", reject);
        outgoing.write("x");
      });
    const full = await server.keyFor("default");
    expect(await ask(null, huge)).toBe(401);
    expect(await ask(reader, huge)).toBe(403);
    expect((await post("?x=1", bytes(PHOTO))).json.error).toMatch(/"x" is not a known query parameter/);
    expect(await ask(full, { ...huge, "Content-Length": "10" })).toBe(400);
  });

  it("answers 413 to a length that is too much, before the body", async () => {
    const full = await server.keyFor("default");
    const head = [
      "POST /api/v1/files HTTP/1.1",
      "Host: 127.0.0.1",
      `Authorization: Bearer ${full}`,
      "Content-Type: video/mp4",
      `Content-Length: ${5 * 1024 ** 3}`,
    ];
    const socket = connect(server.port, "127.0.0.1", () => socket.write(`${head.join("\r\n")}\r\n\r\nbegin`));
    const answer = await new Promise<string>((resolve) =>
      socket.once("data", (data) => resolve(data.toString())),
    );
    socket.destroy();
    expect(answer).toContain("HTTP/1.1 413");
    expect(answer).toContain('{"error":"The file is larger than 4294967296 bytes.');
  });

  it("keeps nothing of an upload whose sender goes away, and logs no error", async () => {
    const full = await server.keyFor("default");
    const headers = {
      Authorization: `Bearer ${full}`,
      "Content-Type": "video/mp4",
      "Content-Length": "1000000",
    };
    const outgoing = httpRequest({
      host: "127.0.0.1",
      port: server.port,
      method: "POST",
      path: "/api/v1/files",
      headers,
      agent: false,
    });
    outgoing.on("error", () => {});
    outgoing.write(Buffer.concat([CLIP, Buffer.alloc(200_000)]));
    const rows = () => queryOf(ctx.store).selectFrom("files").selectAll().execute();
    await expect.poll(rows).toHaveLength(1);
    outgoing.destroy();
    await expect.poll(rows).toHaveLength(0);
    await expect.poll(stored).toEqual([]);
    expect(ctx.log.lines.filter((line) => line.level === "error")).toEqual([]);
  });

  it("lets the sender of a large refused file see the answer, over a connection that stays", async () => {
    const answer = await post("", bytes(Buffer.alloc(20_000_000, "x"), "video/mp4"));
    expect(answer).toMatchObject({
      status: 400,
      json: { error: expect.stringContaining("This is plain text") },
    });
  });

  it("names the methods that are possible", async () => {
    expect(await server.ask("PUT /api/v1/files")).toMatchObject({
      status: 405,
      headers: { allow: "GET, HEAD, POST" },
    });
    expect(await server.ask("PATCH /api/v1/files/file_1")).toMatchObject({
      status: 405,
      headers: { allow: "GET, HEAD, DELETE" },
    });
    expect((await server.ask("PUT /api/v1/files", { key: null })).status).toBe(401);
  });

  it("shows a file to its owner alone", async () => {
    const { file } = (await post("", bytes(PHOTO))).json;
    const other = await server.keyFor("other");
    const foreign = await server.ask(`GET /api/v1/files/${file.id}`, { key: other });
    expect(foreign.status).toBe(404);
    for (const id of [
      "file_0000000000000000000000000a",
      "..%2f..%2fetc",
      "%00",
      "%252e%252e",
      "x".repeat(300),
      "%c0%af",
    ]) {
      expect((await server.ask(`GET /api/v1/files/${id}`)).status).toBe(404);
    }
    expect((await server.ask(`GET /api/v1/files/${file.id}`, { key: null })).status).toBe(401);
  });
});

describe("signed downloads", () => {
  async function downloadPath(): Promise<string> {
    return pathOf((await post("?name=s%C3%A9a.png", bytes(PHOTO))).json.file.downloadUrl);
  }

  it("give the bytes without a key, as something to keep and never to show", async () => {
    const answer = await server.ask(`GET ${await downloadPath()}`, { key: null });
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      "content-type": "image/png",
      "content-length": String(PHOTO.length),
      "x-content-type-options": "nosniff",
      "content-security-policy": "sandbox; default-src 'none'",
      "accept-ranges": "bytes",
    });
    expect(answer.headers["content-disposition"]).toMatch(
      /^attachment; filename="s.*a\.png"; filename\*=UTF-8''s%C3%A9a\.png$/,
    );
  });

  it("give copies for platforms the same way, HEAD too, until their post is finished", async () => {
    const media = ctx.media.forPost({ ownerId: "default", postId: "post_1" }, new AbortController().signal);
    const { url } = (await post("?name=a.png", bytes(PHOTO))).json.file;
    const limits = { maxBytes: 1_000_000, mimeTypes: ["image/jpeg"] };
    const fitted = await media.fitImage(await media.item(url), limits);
    const path = pathOf(await media.publicUrl(fitted, 30, { mayBeNear: true }));
    const headers = { "content-type": "image/jpeg", "content-length": String(fitted.bytes.length) };
    expect(await server.ask(`GET ${path}`, { key: null })).toMatchObject({ status: 200, headers });
    expect(await server.ask(`HEAD ${path}`, { key: null })).toMatchObject({ status: 200, headers, text: "" });
    const foreign = path.replace("/copy?", "/download?");
    expect((await server.ask(`GET ${foreign}`, { key: null })).status).toBe(404);
    expect((await server.ask(`GET ${path.replace("post_1", "post_2")}`, { key: null })).status).toBe(404);
    await ctx.media.release("post_1");
    expect((await server.ask(`GET ${path}`, { key: null })).status).toBe(404);
    // Nothing keeps fetchers out.
    expect((await server.ask("GET /robots.txt", { key: null })).text).not.toContain("Disallow");
    await ctx.clock.advance(31 * 60_000);
    expect((await server.ask(`GET ${path}`, { key: null })).status).toBe(403);
  });

  it("give ranges", async () => {
    const path = await downloadPath();
    const range = (value: string, more: Record<string, string> = {}) =>
      server.ask(`GET ${path}`, { key: null, headers: { Range: value, ...more } });
    const size = PHOTO.length;
    expect(await range("bytes=1-3")).toMatchObject({
      status: 206,
      text: "PNG",
      headers: { "content-range": `bytes 1-3/${size}`, "content-length": "3" },
    });
    expect(await range("bytes=-2")).toMatchObject({
      status: 206,
      headers: { "content-range": `bytes ${size - 2}-${size - 1}/${size}` },
    });
    expect(await range("bytes=10-")).toMatchObject({
      status: 206,
      headers: { "content-length": String(size - 10) },
    });
    expect(await range(`bytes=${size}-`)).toMatchObject({
      status: 416,
      headers: { "content-range": `bytes */${size}` },
    });
    expect((await range("bytes=0-1,4-5")).status).toBe(200);
    expect((await range("bytes=nonsense")).status).toBe(200);
    const etag = (await range("bytes=0-0")).headers["etag"] ?? "";
    expect((await range("bytes=0-0", { "If-Range": etag })).status).toBe(206);
    expect((await range("bytes=0-0", { "If-Range": '"other"' })).status).toBe(200);
    expect((await server.ask(`GET ${path}`, { key: null, headers: { "If-None-Match": etag } })).status).toBe(
      304,
    );
    const head = await server.ask(`HEAD ${path}`, { key: null });
    expect(head).toMatchObject({ status: 200, text: "", headers: { "content-length": String(size) } });
  });

  it("refuse what was not signed, and what is over", async () => {
    const path = await downloadPath();
    for (const forged of [
      path.replace(/signature=./, "signature=x"),
      path.replace(/expires=\d/, "expires=9"),
      path.split("?")[0] ?? "",
    ]) {
      expect(await server.ask(`GET ${forged}`, { key: null })).toMatchObject({
        status: 404,
        json: { error: expect.any(String) },
      });
    }
    expect((await server.ask(`POST ${path}`, { key: null })).status).toBe(405);
    await ctx.clock.advance(2 * 60 * 60_000);
    expect((await server.ask(`GET ${path}`, { key: null })).status).toBe(403);
  });
});

describe("signed uploads", () => {
  it("take one file without a key", async () => {
    const link = await createUploadLink(callOf(ctx), { name: "clip.mp4", altText: null });
    const put = (ask: Ask) =>
      server.ask(`PUT ${pathOf(link.uploadUrl)}`, { key: null, headers: link.headers, ...ask });
    expect((await put({ body: "<html>" })).status).toBe(400);
    const done = await put({ body: CLIP });
    expect(done).toMatchObject({
      status: 201,
      json: { file: { name: "clip.mp4", type: "video", status: "ready" } },
    });
    expect((await put({ body: CLIP })).status).toBe(409);
    expect(
      (await server.ask(`PUT ${pathOf(link.uploadUrl)}0`, { key: null, headers: link.headers, body: CLIP }))
        .status,
    ).toBe(404);
    expect(await server.ask(`GET ${pathOf(link.uploadUrl)}`, { key: null })).toMatchObject({
      status: 405,
      headers: { allow: "PUT" },
    });
  });
});

describe("resumable uploads", () => {
  const TUS = { "Tus-Resumable": "1.0.0" };
  const PATCH = { ...TUS, "Content-Type": "application/offset+octet-stream" };
  const metadata = (fields: Record<string, string>) =>
    Object.entries(fields)
      .map(([name, value]) => `${name} ${Buffer.from(value).toString("base64")}`)
      .join(",");
  const begin = (length: number, ask: Ask = {}) =>
    server.ask("POST /api/v1/files/uploads", {
      ...ask,
      headers: {
        ...TUS,
        "Upload-Length": String(length),
        "Upload-Metadata": metadata({ filename: "clip.mp4", filetype: "video/mp4" }),
        ...ask.headers,
      },
    });
  const patch = (location: string, offset: number, part: Uint8Array, ask: Ask = {}) =>
    server.ask(`PATCH ${location}`, {
      body: part,
      ...ask,
      headers: { ...PATCH, "Upload-Offset": String(offset), ...ask.headers },
    });

  it("go on where they broke off and become a file", async () => {
    const begun = await begin(CLIP.length);
    expect(begun.status).toBe(201);
    const location = begun.headers["location"] ?? "";
    expect(location).toMatch(/^\/api\/v1\/files\/uploads\/[0-9a-f]{16}-[0-9a-f]{8}-[0-9a-z]{26}$/);
    expect(begun.headers["upload-expires"]).toBeDefined();
    expect(await patch(location, 0, CLIP.subarray(0, 5_000))).toMatchObject({
      status: 204,
      headers: { "upload-offset": "5000" },
    });
    expect(await server.ask(`HEAD ${location}`, { headers: TUS })).toMatchObject({
      status: 200,
      headers: { "upload-offset": "5000" },
    });
    const conflict = await patch(location, 0, CLIP.subarray(0, 10));
    expect(conflict).toMatchObject({
      status: 409,
      json: { error: expect.stringContaining("Upload-Offset") },
    });
    const last = await patch(location, 5_000, CLIP.subarray(5_000));
    expect(last.status).toBe(204);
    const shown = await server.ask(`GET ${last.headers["content-location"]}`);
    expect(shown.json.file).toMatchObject({
      name: "clip.mp4",
      type: "video",
      sizeBytes: CLIP.length,
      status: "ready",
    });
    expect(await readFile(join(ctx.folder, "files", shown.json.file.url.slice(5)))).toEqual(CLIP);
    await expect.poll(() => readdir(join(ctx.folder, "uploads"))).toEqual([]);
  });

  it("say what they became to those who lost the answer", async () => {
    const location = (await begin(CLIP.length)).headers["location"] ?? "";
    const last = await patch(location, 0, CLIP);
    const size = String(CLIP.length);
    for (let time = 0; time < 2; time += 1) {
      expect(await server.ask(`HEAD ${location}`, { headers: TUS })).toMatchObject({
        status: 200,
        headers: {
          "upload-offset": size,
          "upload-length": size,
          "content-location": last.headers["content-location"],
        },
      });
    }
    expect((await server.ask("GET /api/v1/files")).json.files).toHaveLength(1);
    expect(
      (await server.ask(`HEAD ${location}`, { key: await server.keyFor("other"), headers: TUS })).status,
    ).toBe(404);
  });

  it("whose bytes are all there, and which nobody stored, are stored when they are asked about", async () => {
    const location = (await begin(CLIP.length)).headers["location"] ?? "";
    // As a process leaves it that is killed after the last byte.
    await writeFile(join(ctx.folder, "uploads", location.split("/").at(-1) ?? ""), CLIP);
    const heads = await Promise.all([1, 2].map(() => server.ask(`HEAD ${location}`, { headers: TUS })));
    expect(new Set(heads.map(({ headers }) => headers["content-location"])).size).toBe(1);
    expect((await server.ask(`GET ${heads[0]?.headers["content-location"]}`)).json.file).toMatchObject({
      name: "clip.mp4",
      status: "ready",
    });
    await expect.poll(() => readdir(join(ctx.folder, "uploads"))).toEqual([]);
    expect((await server.ask("GET /api/v1/files")).json.files).toHaveLength(1);
  });

  it("can be sent with their beginning", async () => {
    const done = await begin(PHOTO.length, {
      body: PHOTO,
      headers: { "Content-Type": "application/offset+octet-stream" },
    });
    expect(done.status).toBe(201);
    expect((await server.ask(`GET ${done.headers["content-location"]}`)).json.file.type).toBe("image");
    await expect.poll(() => readdir(join(ctx.folder, "uploads"))).toEqual([]);
  });

  it("of what is no media are refused with a sentence and leave nothing", async () => {
    const { headers } = await begin(10);
    const answer = await patch(headers["location"] ?? "", 0, Buffer.from("<html>1234"));
    expect(answer).toMatchObject({
      status: 400,
      headers: { "content-type": "application/json; charset=utf-8" },
    });
    expect(answer.json).toEqual({ error: expect.stringContaining("web page") });
    expect(await readdir(join(ctx.folder, "uploads"))).toEqual([]);
    expect(await stored()).toEqual([]);
  });

  it("belong to their owner, need the permission, and lie nowhere else", async () => {
    const location = (await begin(CLIP.length)).headers["location"] ?? "";
    const reader = await server.keyFor("default", { permissions: ["read"] });
    // Nor are they for another key of the owner.
    for (const other of [await server.keyFor("other"), await server.keyFor("default")]) {
      for (const method of ["HEAD", "DELETE"]) {
        expect((await server.ask(`${method} ${location}`, { key: other, headers: TUS })).status).toBe(404);
      }
      expect((await patch(location, 0, CLIP, { key: other })).status).toBe(404);
    }
    expect((await begin(10, { key: null })).status).toBe(401);
    expect((await begin(10, { key: reader })).status).toBe(403);
    for (const id of [
      "..%2f..%2fsecret.key",
      "%2e%2e",
      "a".repeat(49),
      `${"0".repeat(16)}-${"0".repeat(32)}`,
    ]) {
      expect((await server.ask(`HEAD /api/v1/files/uploads/${id}`, { headers: TUS })).status).toBe(404);
    }
    expect((await server.ask(`DELETE ${location}`, { headers: TUS })).status).toBe(204);
  });

  it("go on where a proxy lets only POST through", async () => {
    const location = (await begin(CLIP.length)).headers["location"] ?? "";
    const override = { ...PATCH, "Upload-Offset": "0", "X-HTTP-Method-Override": "PATCH" };
    expect(await server.ask(`POST ${location}`, { body: CLIP, headers: override })).toMatchObject({
      status: 204,
      headers: { "upload-offset": String(CLIP.length) },
    });
    const other = (await begin(10)).headers["location"] ?? "";
    const end = { ...TUS, "X-HTTP-Method-Override": "delete" };
    expect((await server.ask(`POST ${other}`, { headers: end })).status).toBe(204);
    await expect.poll(() => readdir(join(ctx.folder, "uploads"))).toEqual([]);
  });

  it("take one request at a time, also of two servers on one folder", async () => {
    await using second = await startTestServer(ctx, [], {
      routers: [createFilesRouter({ ctx, uploads })],
      routes: [],
    });
    const key = await server.keyFor("default");
    const location = (await begin(CLIP.length, { key })).headers["location"] ?? "";
    const slow = connect(server.port, "127.0.0.1").setEncoding("latin1");
    let answer = "";
    slow.on("data", (part: string) => (answer += part));
    const head = { ...PATCH, Host: "localhost", Authorization: `Bearer ${key}`, "Upload-Offset": "0" };
    const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
    slow.write(`PATCH ${location} HTTP/1.1\r\n${lines.join("")}Content-Length: ${CLIP.length}\r\n\r\n`);
    slow.write(CLIP.subarray(0, 1_000));
    const place = join(uploads.folder, location.split("/").at(-1) ?? "");
    await expect.poll(async () => (await stat(place)).size).toBeGreaterThan(0);
    const other = { body: Buffer.alloc(CLIP.length, "X"), headers: { ...PATCH, "Upload-Offset": "0" }, key };
    expect(await send(second.port, `PATCH ${location}`, other)).toMatchObject({
      status: 423,
      json: { error: expect.stringContaining("Another request") },
    });
    slow.write(CLIP.subarray(1_000));
    await expect.poll(() => answer).toContain("HTTP/1.1 204");
    slow.destroy();
    const made = /content-location: (\S+)/i.exec(answer)?.[1] ?? "";
    const { file } = (await server.ask(`GET ${made}`)).json;
    expect(await readFile(join(ctx.folder, "files", file.url.slice(5)))).toEqual(CLIP);
  });

  it("have limits: size, protocol version, what was said", async () => {
    expect((await begin(5 * 1024 ** 3)).status).toBe(413);
    expect(
      await server.ask("POST /api/v1/files/uploads", { headers: { "Upload-Length": "1" } }),
    ).toMatchObject({
      status: 412,
      json: { error: expect.stringContaining("Tus-Resumable") },
    });
    const location = (await begin(10)).headers["location"] ?? "";
    expect((await patch(location, 0, Buffer.alloc(50))).status).toBe(413);
    const options = await server.ask("OPTIONS /api/v1/files/uploads");
    expect(options.headers).toMatchObject({ "tus-version": "1.0.0", "tus-max-size": String(4 * 1024 ** 3) });
    expect(options.headers["access-control-allow-origin"]).toBeUndefined();
  });

  it("are 64 at most of one owner", async () => {
    for (let begun = 0; begun < 64; begun++) expect((await begin(10)).status).toBe(201);
    const refused = await begin(10, { key: await server.keyFor("default") });
    expect(refused).toMatchObject({
      status: 409,
      json: { error: expect.stringContaining("64 unfinished uploads") },
    });
    expect((await begin(10, { key: await server.keyFor("other") })).status).toBe(201);
  });

  it("that were given up are forgotten after a day", async () => {
    const location = (await begin(CLIP.length)).headers["location"] ?? "";
    await patch(location, 0, CLIP.subarray(0, 100));
    const folder = join(ctx.folder, "uploads");
    const note = join(folder, (await readdir(folder)).find((name) => name.endsWith(".json")) ?? "");
    const old = { ...JSON.parse(await readFile(note, "utf8")), creation_date: "2020-01-01T00:00:00.000Z" };
    await writeFile(note, JSON.stringify(old));
    await ctx.clock.advance(2 * 60 * 60_000);
    await begin(PHOTO.length);
    expect((await server.ask(`HEAD ${location}`, { headers: TUS })).status).toBe(404);
    const names = await readdir(folder);
    for (const left of [
      names.filter((name) => !name.includes(".")),
      names.filter((name) => name.endsWith(".lock")),
    ])
      expect(left).toHaveLength(1);
  });
});
