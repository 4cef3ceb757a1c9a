import { readdir, writeFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { createBucketStore } from "../../../src/media/stores/bucket-store.ts";
import { MediaUnavailable } from "../../../src/ports/media.ts";
import { storeUpload } from "../../../src/files/file-uploads.ts";
import { deleteFile } from "../../../src/files/files.ts";
import { startCanary } from "../../support/canary.ts";
import { callOf } from "../../support/context.ts";
import { createFileContext, type FileContext } from "../../support/file-context.ts";
import { fixture, pngOf } from "../../support/media.ts";

const owner = { ownerId: "default", postId: "post_1" };
const never = new AbortController().signal;
const itemOf = (ctx: FileContext, url: string, post = owner) => ctx.media.forPost(post, never).item(url);

async function spooled(ctx: FileContext): Promise<string[]> {
  const entries = await readdir(join(ctx.folder, "spool"), { recursive: true, withFileTypes: true }).catch(
    () => [],
  );
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

async function upload(ctx: FileContext, name: string) {
  const body = Readable.from([fixture(name)]);
  return (await storeUpload(callOf(ctx), { name, altText: "stored text", body })).file;
}

describe("own files", () => {
  it("are read in place, as often as needed, whole or in part", async () => {
    await using ctx = await createFileContext();
    const file = await upload(ctx, "clip.mp4");
    const item = await itemOf(ctx, file.url);
    expect(item).toMatchObject({ url: file.url, altText: "stored text" });
    expect(item.facts).toMatchObject({
      mimeType: "video/mp4",
      videoCodec: "avc",
      audioCodec: "aac",
      sha256: file.sha256,
      sizeBytes: file.sizeBytes,
    });
    for (let time = 0; time < 2; time += 1) expect(await buffer(item.open())).toEqual(fixture("clip.mp4"));
    expect(await buffer(item.open({ start: 10, end: 19 }))).toEqual(fixture("clip.mp4").subarray(10, 20));
    expect(await spooled(ctx)).toEqual([]);
    expect((await ctx.media.forPost(owner, never).item(file.url, "the post's own")).altText).toBe(
      "the post's own",
    );
  });

  it("of others, and those that are gone, are not found", async () => {
    await using ctx = await createFileContext();
    const file = await upload(ctx, "photo.png");
    await expect(itemOf(ctx, file.url, { ...owner, ownerId: "other" })).rejects.toMatchObject({
      kind: "not_found",
    });
    for (const url of ["r2://missing/a.png", "r2://../secret.key", "r2://"]) {
      await expect(itemOf(ctx, url)).rejects.toMatchObject({ kind: "not_found" });
    }
    await deleteFile(callOf(ctx), { id: file.id });
    await expect(itemOf(ctx, file.url)).rejects.toMatchObject({ kind: "not_found" });
  });

  it("have a signed public address where platforms can reach us", async () => {
    await using ctx = await createFileContext({ publicUrl: async () => "https://posts.example.com" });
    const file = await upload(ctx, "photo.png");
    const media = ctx.media.forPost(owner, never);
    const url = new URL(await media.publicUrl(await media.item(file.url), 30));
    expect(url.href).toContain(`https://posts.example.com/files/${file.id}/download?expires=`);
    expect(Number(url.searchParams.get("expires")) * 1000 - ctx.clock.now()).toBe(30 * 60_000);
  });

  it("have one of their bucket where that is public and we are not", async () => {
    const bucket = {
      endpoint: "https://abc.r2.cloudflarestorage.com",
      name: "media",
      region: "auto",
      accessKeyId: "AKID",
    };
    const address = { here: "http://localhost:4747" };
    await using ctx = await createFileContext({ publicUrl: async () => address.here });
    const { temporaryUrl } = createBucketStore({
      bucket,
      secretAccessKey: "canary-secret",
    });
    ctx.files.temporaryUrl = temporaryUrl;
    const file = await upload(ctx, "photo.png");
    const media = ctx.media.forPost(owner, never);
    const item = await media.item(file.url);
    for (const options of [undefined, { mayBeNear: true }]) {
      const url = new URL(await media.publicUrl(item, 30, options));
      expect(url.origin + url.pathname).toBe(
        `https://abc.r2.cloudflarestorage.com/media/${file.url.slice("r2://".length)}`,
      );
      expect(url.searchParams.get("X-Amz-Expires")).toBe("1800");
      expect(url.searchParams.get("response-content-type")).toBe("image/png");
      expect(url.href).not.toContain("canary");
    }
    address.here = "https://posts.example.com";
    expect(await media.publicUrl(item, 30)).toContain("https://posts.example.com/files/");
  });

  it.each(["http://localhost:4747", "http://127.0.0.1:4747", "http://192.168.1.5", "http://[::1]:4747"])(
    "have none at %s, and the sentence says what to set",
    async (address) => {
      await using ctx = await createFileContext({ publicUrl: async () => address });
      const media = ctx.media.forPost(owner, never);
      const item = await media.item((await upload(ctx, "photo.png")).url);
      await expect(media.publicUrl(item, 30)).rejects.toMatchObject({
        kind: "invalid",
        message: expect.stringContaining("POSTHORN_PUBLIC_URL"),
      });
    },
  );
});

describe("remote media", () => {
  const serve =
    (bytes: Buffer): RequestListener =>
    (_request, response) =>
      void response.end(bytes);

  it("is fetched once for a post, by whatever try, and forgotten with it", async () => {
    await using ctx = await createFileContext();
    await using server = await startCanary(serve(fixture("clip.mp4")));
    const url = `${server.origin}/clip`;
    const media = ctx.media.forPost(owner, never);
    const [first, second] = await Promise.all([media.item(url), media.item(url)]);
    expect(first.facts).toEqual(second.facts);
    // Another try, as after a crash: nothing of the first one's memory is left.
    const again = await itemOf(ctx, url);
    expect(again.facts).toEqual(first.facts);
    expect(await buffer(again.open({ start: 5, end: 9 }))).toEqual(fixture("clip.mp4").subarray(5, 10));
    expect(server.requests).toHaveLength(1);
    await itemOf(ctx, url, { ...owner, postId: "post_2" });
    expect(server.requests).toHaveLength(2);
    await ctx.media.release("post_1");
    expect(await spooled(ctx)).toHaveLength(2);
    await itemOf(ctx, url);
    expect(server.requests).toHaveLength(3);
  });

  it("of which only a part lies there is fetched anew", async () => {
    await using ctx = await createFileContext();
    await using server = await startCanary(serve(fixture("photo.png")));
    await itemOf(ctx, server.origin);
    const data = (await spooled(ctx)).find((name) => !name.endsWith(".json")) ?? "";
    await writeFile(join(ctx.folder, "spool", "post_1", data), "cut");
    expect((await itemOf(ctx, server.origin)).facts.sizeBytes).toBe(fixture("photo.png").length);
    expect(server.requests).toHaveLength(2);
  });

  it.each([404, 410, 403, 204, 206])("that answers %i will never come", async (status) => {
    await using ctx = await createFileContext();
    await using server = await startCanary((_request, response) => response.writeHead(status).end());
    await expect(itemOf(ctx, server.origin)).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringContaining(`HTTP ${status}`),
    });
  });

  it.each([500, 502, 503, 429, 408])("that answers %i may come later", async (status) => {
    await using ctx = await createFileContext();
    let isWell = false;
    await using server = await startCanary((_request, response) => {
      if (isWell) return void response.end(fixture("photo.png"));
      response.writeHead(status).end();
    });
    const media = ctx.media.forPost(owner, never);
    await expect(media.item(server.origin)).rejects.toBeInstanceOf(MediaUnavailable);
    isWell = true;
    expect((await media.item(server.origin)).facts.type).toBe("image");
  });

  it("that breaks off, lies about its length or is not there may come later, and leaves nothing", async () => {
    await using ctx = await createFileContext();
    await using server = await startCanary((request, response) => {
      if (request.url === "/lies") response.writeHead(200, { "content-length": "100000" });
      response.write(fixture("photo.png"), () => response.destroy());
    });
    await expect(itemOf(ctx, `${server.origin}/lies`)).rejects.toBeInstanceOf(MediaUnavailable);
    await expect(itemOf(ctx, `${server.origin}/breaks`)).rejects.toBeInstanceOf(MediaUnavailable);
    await server[Symbol.asyncDispose]();
    await expect(itemOf(ctx, server.origin)).rejects.toBeInstanceOf(MediaUnavailable);
    expect(await spooled(ctx)).toEqual([]);
  });

  it("that never ends is cut off at the largest size", async () => {
    await using ctx = await createFileContext({ maxBytes: 2_000_000 });
    await using server = await startCanary((request, response) => {
      if (request.url === "/says")
        return void response.writeHead(200, { "content-length": "3000000" }).write("x");
      const feed = (): void => {
        while (response.write(Buffer.alloc(65_536))) if (response.destroyed) return;
        response.once("drain", feed);
      };
      feed();
    });
    await expect(itemOf(ctx, server.origin)).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringContaining("larger than 2000000"),
    });
    await expect(itemOf(ctx, `${server.origin}/says`)).rejects.toMatchObject({ kind: "invalid" });
    expect(await spooled(ctx)).toEqual([]);
  });

  it("that trickles is left", async () => {
    await using ctx = await createFileContext();
    let isOpen = true;
    await using server = await startCanary((_request, response) => {
      const timer = setInterval(() => {
        response.write("x");
        void ctx.clock.advance(20_000);
      }, 10);
      response.on("close", () => {
        clearInterval(timer);
        isOpen = false;
      });
    });
    await expect(itemOf(ctx, server.origin)).rejects.toThrow(/too slowly/);
    await expect.poll(() => isOpen).toBe(false);
  });

  it.each([
    ["a page", Buffer.from("<!doctype html><title>Not found</title>"), /web page/],
    ["SVG", Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>"), /SVG/],
    ["a bomb", pngOf(30_000, 30_000), /too many pixels/],
    ["nothing", Buffer.alloc(0), /empty/],
  ])("that is %s can never be sent", async (_what, bytes, reason) => {
    await using ctx = await createFileContext();
    await using server = await startCanary(serve(bytes));
    await expect(itemOf(ctx, `${server.origin}/a.jpg`)).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(reason),
    });
    expect(await spooled(ctx)).toEqual([]);
  });

  it("is not fetched from inside, directly or by a redirect", async () => {
    await using ctx = await createFileContext();
    await using inner = await startCanary();
    await using outer = await startCanary((_request, response) =>
      response.writeHead(302, { location: `http://127.0.0.2:${inner.port}/` }).end(),
    );
    for (const url of [
      `http://127.0.0.2:${inner.port}/`,
      `http://[::1]:${inner.port}/`,
      outer.origin,
      "file:///etc/passwd",
    ]) {
      await expect(itemOf(ctx, url)).rejects.toMatchObject({ kind: "invalid" });
    }
    expect(inner.connections).toBe(0);
  });

  it("is called off with its post", async () => {
    await using ctx = await createFileContext();
    const publishing = new AbortController();
    await using server = await startCanary((_request, response) => {
      response.write("x", () => publishing.abort(new Error("called off")));
    });
    await expect(ctx.media.forPost(owner, publishing.signal).item(server.origin)).rejects.toThrow(
      "called off",
    );
    expect(await spooled(ctx)).toEqual([]);
  });

  it("never lies outside its folder", async () => {
    await using ctx = await createFileContext();
    await using server = await startCanary(serve(fixture("photo.png")));
    await expect(itemOf(ctx, server.origin, { ...owner, postId: "../../out" })).rejects.toThrow();
    await expect(async () => ctx.media.release("../files")).rejects.toThrow();
  });

  it("holds no more of a large file than a few chunks", async () => {
    await using ctx = await createFileContext();
    const head = fixture("clip.mp4");
    const boxBytes = 300 * 1024 * 1024;
    await using server = await startCanary((_request, response) => {
      const box = Buffer.alloc(8);
      box.writeUInt32BE(boxBytes, 0);
      box.write("free", 4);
      Readable.from(
        (function* () {
          yield head;
          yield box;
          const chunk = Buffer.alloc(1024 * 1024);
          for (let left = boxBytes - 8; left > 0; left -= chunk.length)
            yield chunk.subarray(0, Math.min(left, chunk.length));
        })(),
      ).pipe(response);
    });
    const before = process.memoryUsage().rss;
    let peak = 0;
    const sampler = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 10);
    const item = await itemOf(ctx, server.origin);
    clearInterval(sampler);
    expect(item.facts.sizeBytes).toBe(head.length + boxBytes);
    expect(item.facts.durationSeconds).toBe(2);
    expect(peak - before).toBeLessThan(150 * 1024 * 1024);
  });
});

describe("pictures", () => {
  it("are fitted to a platform's limits; other media are not pictures", async () => {
    await using ctx = await createFileContext();
    const media = ctx.media.forPost(owner, never);
    const photo = await media.item((await upload(ctx, "photo.jpg")).url);
    const fitted = await media.fitImage(photo, {
      maxBytes: 1_000_000,
      mimeTypes: ["image/jpeg"],
      maxWidth: 100,
    });
    expect(fitted).toMatchObject({ mimeType: "image/jpeg", width: 100, height: 150, isChanged: true });
    expect(fitted.bytes.includes("Camera One")).toBe(false);
    const video = await media.item((await upload(ctx, "clip.mp4")).url);
    await expect(media.fitImage(video, { maxBytes: 1, mimeTypes: ["image/jpeg"] })).rejects.toMatchObject({
      kind: "invalid",
    });
  });
});
