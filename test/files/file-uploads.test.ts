import { createHash } from "node:crypto";
import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import {
  importFile,
  uploadFile,
  createUploadLink,
  receiveLinkedUpload,
  storeUpload,
} from "../../src/files/file-uploads.ts";
import { listFiles } from "../../src/files/files.ts";
import { guestCall } from "../../src/context.ts";
import { startCanary } from "../support/canary.ts";
import { callerOf, callOf } from "../support/context.ts";
import { createFileContext, type FileContext } from "../support/file-context.ts";
import { fixture, pngOf } from "../support/media.ts";
import { queryOf } from "../support/handles.ts";

const CALLER = callerOf();

/** Everything that lies below the files folder. */
async function stored(ctx: FileContext): Promise<string[]> {
  const entries = await readdir(join(ctx.folder, "files"), { recursive: true, withFileTypes: true }).catch(
    () => [],
  );
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

async function expectNothingLeft(ctx: FileContext): Promise<void> {
  expect(await stored(ctx)).toEqual([]);
  expect(await queryOf(ctx.store).selectFrom("files").selectAll().execute()).toEqual([]);
}

const send = (ctx: FileContext, body: Readable, name = "a.jpg") =>
  storeUpload(callOf(ctx, CALLER), { name, altText: null, body });

describe("storing an upload", () => {
  it("names it for display: no paths, no tricks, the extension of its content", async () => {
    await using ctx = await createFileContext();
    const nameOf = async (name: string | null) => {
      const { file } = await storeUpload(callOf(ctx, CALLER), {
        name,
        altText: null,
        body: Readable.from([fixture("photo.png")]),
      });
      return file.name;
    };
    expect(await nameOf("../../etc/passwd")).toBe("passwd.png");
    expect(await nameOf("C:\\Users\\me\\pic.png")).toBe("pic.png");
    expect(await nameOf("invoice\u202egnp.exe")).toBe("invoicegnp.exe.png");
    expect(await nameOf("a\u0000b\r\nc.png")).toBe("abc.png");
    expect(await nameOf(".htaccess")).toBe("htaccess.png");
    expect(await nameOf("")).toBe("file.png");
    expect(await nameOf(null)).toBe("file.png");
    expect(await nameOf("é".repeat(400))).toHaveLength(204);
    expect(await nameOf('a"<b>|c?.PNG')).toBe("a__b__c_.PNG");
  });

  it.each([
    ["HTML named .jpg", Buffer.from("<!doctype html><script>alert(1)</script>"), /web page/],
    ["SVG named .jpg", Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>"), /SVG/],
    ["half a PDF", Buffer.from("%PDF-1.7 ..."), /PDF.* cut off/],
    ["nothing", Buffer.alloc(0), /empty/],
    ["a bomb", pngOf(30_000, 30_000), /too many pixels/],
    ["half a picture", fixture("photo.jpg").subarray(0, 2_000), /cut off/],
  ])("refuses %s and keeps nothing of it", async (_what, bytes, reason) => {
    await using ctx = await createFileContext();
    await expect(send(ctx, Readable.from([bytes]))).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(reason),
    });
    await expectNothingLeft(ctx);
  });

  it("keeps nothing of an upload that breaks off", async () => {
    await using ctx = await createFileContext();
    async function* broken(): AsyncGenerator<Buffer> {
      yield fixture("clip.mp4");
      yield Buffer.alloc(200_000);
      throw new Error("aborted");
    }
    await expect(send(ctx, Readable.from(broken()))).rejects.toThrow("aborted");
    await expectNothingLeft(ctx);
  });

  it("stops reading what is no media at its beginning", async () => {
    await using ctx = await createFileContext();
    let given = 0;
    async function* endless(): AsyncGenerator<Buffer> {
      for (;;) {
        given += 65_536;
        yield Buffer.alloc(65_536, "x");
      }
    }
    const body = Readable.from(endless());
    await expect(send(ctx, body)).rejects.toMatchObject({ kind: "invalid" });
    expect(given).toBeLessThan(2_000_000);
    expect(body.destroyed).toBe(true);
  });

  it("holds no more of a large file than a few chunks", async () => {
    await using ctx = await createFileContext();
    const head = fixture("clip.mp4");
    const sizeBytes = 300 * 1024 * 1024;
    const hash = createHash("sha256");
    let peak = 0;
    async function* large(): AsyncGenerator<Buffer> {
      hash.update(head);
      yield head;
      // A box that readers skip: the file stays a valid video.
      const box = Buffer.alloc(8);
      box.writeUInt32BE(sizeBytes - head.length, 0);
      box.write("free", 4);
      const chunk = Buffer.alloc(64 * 1024);
      for (let left = sizeBytes - head.length; left > 0; left -= chunk.length) {
        const part = Buffer.from(chunk.subarray(0, Math.min(chunk.length, left)));
        if (left === sizeBytes - head.length) box.copy(part);
        hash.update(part);
        yield part;
        peak = Math.max(peak, process.memoryUsage().rss);
      }
    }
    const before = process.memoryUsage().rss;
    const { file } = await send(ctx, Readable.from(large(), { objectMode: false }), "large.mp4");
    expect(file).toMatchObject({ sizeBytes, sha256: hash.digest("hex"), type: "video", durationSeconds: 2 });
    expect(peak - before).toBeLessThan(150 * 1024 * 1024);
  });
});

describe("a signed address for an upload", () => {
  const partsOf = (link: { uploadUrl: string }) => {
    const url = new URL(link.uploadUrl);
    const id = url.pathname.split("/")[2] ?? "";
    return {
      id,
      expires: url.searchParams.get("expires") ?? "",
      signature: url.searchParams.get("signature") ?? "",
    };
  };
  const photo = () => Readable.from([fixture("photo.png")]);

  it("takes one file within its time", async () => {
    await using ctx = await createFileContext();
    const link = await createUploadLink(callOf(ctx, CALLER), { name: "sea.jpg", altText: "The sea" });
    expect(link).toMatchObject({ method: "PUT", expiresAt: "2026-11-21T09:15:00.000Z" });
    expect((await listFiles(callOf(ctx, CALLER), { limit: 5 })).files[0]).toMatchObject({
      status: "uploading",
      downloadUrl: null,
    });
    const parts = partsOf(link);
    const { file } = await receiveLinkedUpload(guestCall(ctx), { ...parts, body: photo() });
    expect(file).toMatchObject({
      id: parts.id,
      name: "sea.jpg.png",
      altText: "The sea",
      status: "ready",
      type: "image",
    });
    await expect(receiveLinkedUpload(guestCall(ctx), { ...parts, body: photo() })).rejects.toMatchObject({
      kind: "conflict",
    });
    expect(await stored(ctx)).toHaveLength(1);
  });

  it("takes one of two that are sent at the same time", async () => {
    await using ctx = await createFileContext();
    const parts = partsOf(await createUploadLink(callOf(ctx, CALLER), { name: null, altText: null }));
    const results = await Promise.allSettled([
      receiveLinkedUpload(guestCall(ctx), { ...parts, body: photo() }),
      receiveLinkedUpload(guestCall(ctx), { ...parts, body: photo() }),
    ]);
    expect(results.map((result) => result.status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await stored(ctx)).toHaveLength(1);
    const [row] = await queryOf(ctx.store).selectFrom("files").selectAll().execute();
    expect(await ctx.files.size(row?.storage_key ?? "")).toBe(fixture("photo.png").length);
  });

  it("can be sent to again after an upload that broke off or was refused", async () => {
    await using ctx = await createFileContext();
    const parts = partsOf(await createUploadLink(callOf(ctx, CALLER), { name: null, altText: null }));
    await expect(
      receiveLinkedUpload(guestCall(ctx), { ...parts, body: Readable.from([Buffer.from("<html>")]) }),
    ).rejects.toMatchObject({ kind: "invalid" });
    expect(await stored(ctx)).toEqual([]);
    expect((await receiveLinkedUpload(guestCall(ctx), { ...parts, body: photo() })).file.status).toBe(
      "ready",
    );
  });

  it("does nothing for others: a forged one, an old one, one for downloads", async () => {
    await using ctx = await createFileContext();
    const parts = partsOf(await createUploadLink(callOf(ctx, CALLER), { name: null, altText: null }));
    await expect(
      receiveLinkedUpload(guestCall(ctx), { ...parts, signature: "0".repeat(64), body: photo() }),
    ).rejects.toMatchObject({ kind: "not_found" });
    const download = ctx.cipher.sign("file download", `${parts.id}\n${parts.expires}`);
    await expect(
      receiveLinkedUpload(guestCall(ctx), { ...parts, signature: download, body: photo() }),
    ).rejects.toMatchObject({
      kind: "not_found",
    });
    await ctx.clock.advance(15 * 60_000);
    await expect(receiveLinkedUpload(guestCall(ctx), { ...parts, body: photo() })).rejects.toMatchObject({
      kind: "forbidden",
    });
  });

  it("is forgotten a day after it was not used", async () => {
    await using ctx = await createFileContext();
    await createUploadLink(callOf(ctx, CALLER), { name: null, altText: null });
    await ctx.clock.advance(25 * 60 * 60_000);
    await createUploadLink(callOf(ctx, CALLER), { name: null, altText: null });
    expect((await listFiles(callOf(ctx, CALLER), { limit: 5 })).files).toHaveLength(1);
  });
});

describe("importing from an address", () => {
  it("fetches the file through the door", async () => {
    await using ctx = await createFileContext();
    await using server = await startCanary((_request, response) =>
      response.setHeader("content-type", "text/html").end(fixture("photo.png")),
    );
    const { file } = await importFile(callOf(ctx), {
      url: `${server.origin}/a/sea%20view.png?size=1`,
      altText: "Sea",
    });
    expect(file).toMatchObject({
      name: "sea view.png",
      mimeType: "image/png",
      altText: "Sea",
      status: "ready",
    });
  });

  it.each([
    ["404", "invalid", (): Answer => ({ status: 404 })],
    ["500", "unavailable", (): Answer => ({ status: 500 })],
    ["429", "unavailable", (): Answer => ({ status: 429 })],
    ["a page", "invalid", (): Answer => ({ body: Buffer.from("<!doctype html>") })],
    ["nothing", "invalid", (): Answer => ({ body: Buffer.alloc(0) })],
    [
      "packed",
      "invalid",
      (): Answer => ({ headers: { "content-encoding": "gzip" }, body: Buffer.alloc(10) }),
    ],
    ["too much said", "invalid", (): Answer => ({ headers: { "content-length": "9999999999999" } })],
    [
      "less than said",
      "unavailable",
      (): Answer => ({ headers: { "content-length": "99999" }, body: fixture("photo.png"), isCut: true }),
    ],
    ["a cut-off picture", "invalid", (): Answer => ({ body: fixture("photo.png").subarray(0, 300) })],
  ] as const)("refuses %s as %s, and keeps nothing", async (_what, kind, make) => {
    await using ctx = await createFileContext();
    await using server = await startCanary((_request, response) => {
      const answer = make();
      response.writeHead(answer.status ?? 200, answer.headers ?? {});
      response.write(answer.body ?? "", () => (answer.isCut === true ? response.destroy() : response.end()));
    });
    await expect(importFile(callOf(ctx), { url: server.origin })).rejects.toMatchObject({
      kind,
      message: expect.stringMatching(/^url: /),
    });
    await expectNothingLeft(ctx);
  });

  it("reaches nothing inside, directly or by a redirect", async () => {
    await using ctx = await createFileContext();
    await using inner = await startCanary();
    await using outer = await startCanary((request, response) =>
      response.writeHead(302, { location: decodeURIComponent((request.url ?? "").slice(1)) }).end(),
    );
    for (const target of [
      `http://127.0.0.2:${inner.port}/`,
      `http://localhost:${inner.port}/`,
      `http://[::1]:${inner.port}/`,
      "file:///etc/passwd",
    ]) {
      await expect(importFile(callOf(ctx), { url: target })).rejects.toMatchObject({
        kind: "invalid",
        message: expect.stringMatching(/^url: /),
      });
      const redirect = `${outer.origin}/${encodeURIComponent(target)}`;
      await expect(importFile(callOf(ctx), { url: redirect })).rejects.toMatchObject({ kind: "invalid" });
    }
    expect(inner.connections).toBe(0);
  });

  it("stops when its caller goes", async () => {
    await using ctx = await createFileContext();
    const caller = new AbortController();
    await using server = await startCanary((_request, response) => {
      response.write(fixture("clip.mp4"), () => caller.abort(new Error("gone")));
    });
    const call = { ...callOf(ctx), signal: caller.signal };
    await expect(importFile(call, { url: server.origin })).rejects.toThrow();
    await expectNothingLeft(ctx);
  });
});

interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer;
  readonly isCut?: boolean;
}

describe("upload_file", () => {
  const local = callerOf({ isLocal: true });

  async function withFolders(
    work: (ctx: FileContext, allowed: string, outside: string) => Promise<void>,
  ): Promise<void> {
    await using ctx = await createFileContext();
    const allowed = join(ctx.folder, "allowed");
    const outside = join(ctx.folder, "outside");
    await mkdir(join(allowed, "deep"), { recursive: true });
    await mkdir(outside);
    await writeFile(join(allowed, "deep", "a.png"), fixture("photo.png"));
    await writeFile(join(outside, "b.png"), fixture("photo.png"));
    await symlink(join(outside, "b.png"), join(allowed, "link.png"));
    await symlink(outside, join(allowed, "linked"));
    await work({ ...ctx, settings: { ...ctx.settings, uploadFolders: [allowed] } }, allowed, outside);
  }

  it("reads a path below an allowed folder, for whoever sits at this machine", () =>
    withFolders(async (ctx, allowed) => {
      const done = await uploadFile(callOf(ctx, local), {
        path: join(allowed, "deep", "a.png"),
        altText: "A",
      });
      expect(done).toMatchObject({ file: { name: "a.png", altText: "A", status: "ready" } });
    }));

  it("reads no other path, and does not tell what is there", () =>
    withFolders(async (ctx, allowed, outside) => {
      const sentences = new Set<string>();
      for (const path of [
        join(outside, "b.png"),
        join(outside, "missing.png"),
        `${allowed}/../outside/b.png`,
        `${allowed}/../outside/missing.png`,
        join(allowed, "linked", "missing.png"),
        `${allowed}/deep/../../outside/b.png`,
        join(allowed, "link.png"),
        join(allowed, "linked", "b.png"),
        `${allowed}-other/a.png`,
        "/etc/passwd",
        "/dev/zero",
      ]) {
        const error = await uploadFile(callOf(ctx, local), { path }).catch((thrown: Error) => thrown);
        expect(error).toMatchObject({ kind: "invalid" });
        sentences.add((error as Error).message);
      }
      expect(sentences.size).toBe(1);
      for (const path of [join(allowed, "deep"), allowed])
        await expect(uploadFile(callOf(ctx, local), { path })).rejects.toThrow(/^path: is a folder\./);
      await expect(uploadFile(callOf(ctx, local), { path: join(allowed, "missing.png") })).rejects.toThrow(
        /^path: there is no file ".*missing\.png"/,
      );
      for (const path of [
        "a.png",
        "./a.png",
        "~a.png",
        "",
        "file:///etc/passwd",
        `${allowed}/deep/a.png\0.txt`,
      ]) {
        await expect(uploadFile(callOf(ctx, local), { path })).rejects.toThrow(/absolute/);
      }
      expect(await stored(ctx)).toEqual([]);
    }));

  it("takes a path from nobody else, and only where folders are allowed", () =>
    withFolders(async (ctx, allowed) => {
      const path = join(allowed, "deep", "a.png");
      await expect(uploadFile(callOf(ctx), { path })).rejects.toMatchObject({ kind: "invalid" });
      const closed = { ...ctx, settings: { ...ctx.settings, uploadFolders: [] } };
      await expect(uploadFile(callOf(closed, local), { path })).rejects.toMatchObject({ kind: "forbidden" });
      await expect(
        uploadFile(callOf(ctx, local), { path, url: "https://example.com" }),
      ).rejects.toMatchObject({ kind: "invalid" });
    }));

  it("gives an address where neither is given", async () => {
    await using ctx = await createFileContext();
    expect(await uploadFile(callOf(ctx), { name: "a.mp4" })).toMatchObject({
      method: "PUT",
      uploadUrl: expect.stringContaining("/upload?"),
    });
  });
});
