import { Readable } from "node:stream";
import { Router } from "express";
import sharp from "sharp";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { File } from "../../../src/domain/files/file.ts";
import { storeUpload } from "../../../src/files/file-uploads.ts";
import { createPicturesRouter } from "../../../src/http/page/pictures.ts";
import { createMediaProbe } from "../../../src/media/probe/media-reader.ts";
import { OutboundFailure } from "../../../src/ports/outbound.ts";
import { startCanary } from "../../support/canary.ts";
import { callOf } from "../../support/context.ts";
import { createFileContext, type FileContext } from "../../support/file-context.ts";
import { queryOf } from "../../support/handles.ts";
import { interlacedPng } from "../../support/hostile-media.ts";
import { type Ask, startTestServer, type TestServer } from "../../support/http.ts";
import { fixture } from "../../support/media.ts";
import { addAccount, addPost } from "../../support/publishing.ts";

const PHOTO = fixture("photo.png");
const CLIP = fixture("clip.mp4");

let ctx: FileContext;
let server: TestServer;
let closers: AsyncDisposable[];

async function start(overrides: Parameters<typeof createFileContext>[0] = {}): Promise<void> {
  ctx = await createFileContext(overrides);
  const routers = [
    (guard: Parameters<typeof createPicturesRouter>[1]) =>
      Router().use("/app/api", createPicturesRouter(ctx, guard)),
  ];
  server = await startTestServer(ctx, [], { routers, routes: [] });
  closers.push(ctx, server);
}

beforeEach(async () => {
  closers = [];
  await start();
});
afterEach(async () => {
  for (const closer of closers.reverse()) await closer[Symbol.asyncDispose]();
});

async function store(bytes: Buffer, name = "sea.png"): Promise<File> {
  return (await storeUpload(callOf(ctx), { name, altText: null, body: Readable.from([bytes]) })).file;
}

const picture = (url: string, size = 240, ask: Ask = {}) =>
  server.ask(`GET /app/api/pictures?url=${encodeURIComponent(url)}&size=${size}`, ask);

/** What came, as bytes: the other way of asking reads text. */
async function see(url: string, size: number) {
  const key = await server.keyFor("default");
  const answer = await fetch(
    `http://127.0.0.1:${server.port}/app/api/pictures?url=${encodeURIComponent(url)}&size=${size}`,
    { headers: { Authorization: `Bearer ${key}` } },
  );
  expect(answer.status).toBe(200);
  return sharp(Buffer.from(await answer.arrayBuffer())).metadata();
}

describe("GET pictures", () => {
  it("shows an own picture small, by address or id, and says how long it is good", async () => {
    const large = await sharp({ create: { width: 1_500, height: 1_000, channels: 3, background: "red" } })
      .jpeg()
      .toBuffer();
    const file = await store(large, "red.jpg");
    expect(await see(file.url, 100)).toMatchObject({ format: "webp", width: 240, height: 160 });
    expect(await see(file.id, 96)).toMatchObject({ width: 96, height: 64 });
    expect(await see(file.id, 99_999)).toMatchObject({ width: 960, height: 640 });
    const answer = await picture(file.url);
    expect(answer.headers).toMatchObject({
      "content-type": "image/webp",
      "cache-control": "private, max-age=86400",
      etag: `"${file.sha256}-240"`,
      "x-content-type-options": "nosniff",
      "content-security-policy": "sandbox; default-src 'none'",
    });
    const again = await picture(file.url, 240, { headers: { "If-None-Match": `"${file.sha256}-240"` } });
    expect(again).toMatchObject({ status: 304, text: "" });
  });

  it("never enlarges, turns as it is shown and strips metadata", async () => {
    const small = await sharp({ create: { width: 80, height: 40, channels: 3, background: "red" } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    const shown = await see((await store(small, "turned.jpg")).url, 480);
    expect(shown).toMatchObject({ width: 40, height: 80 });
    expect([shown.exif, shown.xmp, shown.orientation]).toEqual([undefined, undefined, undefined]);
  });

  it("tells another owner and a key that does not reach it the same as of an unknown file", async () => {
    const file = await store(PHOTO);
    const [mine, theirs] = [await addAccount(ctx), await addAccount(ctx)];
    const other = await server.keyFor("other");
    const limited = await server.keyFor("default", { accountIds: [mine.id] });
    const writer = await server.keyFor("default", { permissions: ["files"] });
    const unknown = await picture("r2://x/y.png", 240, { key: other });
    expect(unknown.status).toBe(404);
    for (const key of [other, limited])
      for (const url of [file.url, file.id]) {
        const answer = await picture(url, 240, { key });
        expect(answer.status).toBe(404);
        expect(answer.json.error.replace(url, "r2://x/y.png")).toBe(unknown.json.error);
        expect((await server.ask(`GET /app/api/files/${file.id}/content`, { key })).status).toBe(404);
      }
    expect((await picture(file.url, 240, { key: writer })).status).toBe(403);
    expect((await picture(file.url, 240, { key: null })).status).toBe(401);
    const use = (account: typeof mine) =>
      addPost(ctx, account, { media_url: file.url, file_ids: JSON.stringify([file.id]) });
    await use(mine);
    expect((await picture(file.url, 240, { key: limited })).status).toBe(200);
    await use(theirs);
    expect((await picture(file.url, 240, { key: limited })).status).toBe(404);
  });

  it("answers 415 to a film, to what is no media, damaged or takes too much to read", async () => {
    const film = await store(CLIP, "clip.mp4");
    const answer = await picture(film.url);
    expect(answer).toMatchObject({
      status: 415,
      json: { error: "url: This is no picture, so there is no small one." },
    });
    expect(answer.headers["cache-control"]).toBeUndefined();
    const bombs = {
      "/film": CLIP,
      "/page": Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>"),
      "/cut": PHOTO.subarray(0, PHOTO.length / 2),
      "/bomb": (await interlacedPng(20_000, 10_000, 16)).subarray(0, 4_000_000),
      "/large": Buffer.alloc(21 * 1024 * 1024),
    };
    await using source = await startCanary((request, response) =>
      response.end(bombs[(request.url ?? "") as keyof typeof bombs]),
    );
    const reasons = [
      /no picture/,
      /SVG drawing/,
      /damaged or cut off/,
      /MiB to read/,
      /larger than 20971520/,
    ];
    for (const [at, path] of Object.keys(bombs).entries()) {
      const refused = await picture(source.origin + path);
      expect([path, refused.status, refused.json.error]).toEqual([
        path,
        415,
        expect.stringMatching(reasons[at] ?? /^$/),
      ]);
    }
  });

  it("reads other servers through the outbound client alone", async () => {
    await using source = await startCanary((request, response) => {
      if (request.url === "/inside") return response.writeHead(302, { Location: "http://10.0.0.1/" }).end();
      if (request.url === "/gone") return response.writeHead(410).end();
      return response.end(PHOTO);
    });
    expect(await see(`${source.origin}/sea.png`, 96)).toMatchObject({ format: "webp" });
    for (const url of [`${source.origin}/inside`, "http://169.254.169.254/latest", "file:///etc/passwd"]) {
      const answer = await picture(url);
      expect(answer.status).toBe(400);
      expect(answer.json.error).toMatch(/^url: /);
    }
    expect((await picture(`${source.origin}/gone`)).status).toBe(404);
    expect((await server.ask("GET /app/api/pictures")).json.error).toMatch(/^url: is missing/);
  });

  it("lets a server that does not answer hold up nobody else, and asks it no more for a minute", async () => {
    let asked = 0;
    const released: (() => void)[] = [];
    const { outbound } = ctx;
    await start({
      outbound: {
        ...outbound,
        assertAllowed: (...args) => outbound.assertAllowed(...args),
        request: () =>
          new Promise((_resolve, reject) => {
            asked += 1;
            released.push(() => reject(new OutboundFailure("It does not answer.", true)));
          }),
      },
    });
    const silent = Array.from({ length: 12 }, (_, at) => picture(`https://dead.example/${at}.png`));
    await expect.poll(() => asked).toBe(4);
    // While they wait, others see theirs.
    expect((await picture((await store(PHOTO)).url)).status).toBe(200);
    const other = picture("https://dead.example/x.png", 240, { key: await server.keyFor("other") });
    await expect.poll(() => asked).toBe(5);
    for (const release of released) release();
    for (const answer of [...(await Promise.all(silent)), await other]) expect(answer.status).toBe(503);
    expect(asked).toBe(5);
  });

  it("works on four at a time", async () => {
    let atWork = 0;
    let most = 0;
    const probe = createMediaProbe();
    const shrinkImage: typeof probe.shrinkImage = async (...args) => {
      most = Math.max(most, (atWork += 1));
      await new Promise((resolve) => setTimeout(resolve, 20));
      atWork -= 1;
      return probe.shrinkImage(...args);
    };
    await start({ probe: { ...probe, shrinkImage } });
    const file = await store(PHOTO);
    const answers = await Promise.all(Array.from({ length: 12 }, () => picture(file.url)));
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200));
    expect(most).toBe(4);
  });

  it("shows small files as they are where pictures cannot be changed", async () => {
    await start({ probe: { ...createMediaProbe(), shrinkImage: async () => null } });
    const answer = await picture((await store(PHOTO)).url);
    expect(answer).toMatchObject({ status: 200, headers: { "content-type": "image/png" } });
    expect(answer.headers["content-length"]).toBe(String(PHOTO.length));
    const noise = { type: "gaussian", mean: 128, sigma: 50 } as const;
    const large = await sharp({ create: { width: 900, height: 900, channels: 3, background: "red", noise } })
      .png()
      .toBuffer();
    expect(large.length).toBeGreaterThan(1024 ** 2);
    expect(await picture((await store(large)).url)).toMatchObject({ status: 415 });
  });
});

describe("GET files/{id}/content", () => {
  const content = (id: string, headers: Record<string, string> = {}) =>
    server.ask(`GET /app/api/files/${id}/content`, { headers });

  it("sends a film inline, or the part of it that is asked for", async () => {
    const film = await store(CLIP, "clip.mp4");
    const whole = await content(film.id);
    expect(whole.headers).toMatchObject({
      "content-type": "video/mp4",
      "content-disposition": "inline; filename=clip.mp4",
      "content-length": String(CLIP.length),
      "accept-ranges": "bytes",
      "content-security-policy": "sandbox; default-src 'none'",
      "cross-origin-resource-policy": "same-origin",
    });
    expect(await content(film.id, { Range: "bytes=10-19" })).toMatchObject({
      status: 206,
      headers: { "content-range": `bytes 10-19/${CLIP.length}`, "content-length": "10" },
    });
    expect((await content(film.id, { Range: "bytes=99999999-" })).status).toBe(416);
    expect((await content(film.id, { "If-None-Match": `"${film.sha256}"` })).status).toBe(304);
    expect((await content("file_unknown")).json.error).toMatch(/^id: there is no file "file_unknown"/);
    expect((await server.ask(`POST /app/api/files/${film.id}/content`)).status).toBe(405);
  });

  it.each(["text/html", "image/svg+xml", "application/pdf", "application/octet-stream"])(
    "never shows %s",
    async (type) => {
      const file = await store(PHOTO);
      await queryOf(ctx.store).updateTable("files").set({ mime_type: type }).execute();
      const answer = await content(file.id);
      expect(answer.headers).toMatchObject({
        "content-type": "application/octet-stream",
        "content-disposition": "attachment; filename=sea.png",
      });
    },
  );
});
