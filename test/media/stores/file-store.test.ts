import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { createBucketStore } from "../../../src/media/stores/bucket-store.ts";
import { PART_BYTES } from "../../../src/media/stores/bucket/objects.ts";
import { createFolderStore } from "../../../src/media/stores/folder-store.ts";
import type { FileStore } from "../../../src/ports/file-store.ts";
import { startFakeS3 } from "../../support/fake-s3.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

interface Opened extends AsyncDisposable {
  readonly store: FileStore;
  /** What an unfinished or called-off write left behind. */
  leftovers(): readonly string[];
  /** Every key under which something is. */
  keys(): readonly string[];
}

const stores: Record<string, () => Promise<Opened>> = {
  async "a folder"() {
    const folder = temporaryFolder();
    const path = join(folder.path, "files");
    const list = (): string[] =>
      existsSync(path)
        ? readdirSync(path, { recursive: true, withFileTypes: true })
            .filter((entry) => entry.isFile())
            .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
        : [];
    return {
      store: createFolderStore(path),
      leftovers: () => list().filter((name) => name.startsWith(".")),
      keys: () => list().filter((name) => !name.startsWith(".")),
      [Symbol.asyncDispose]: async () => folder[Symbol.dispose](),
    };
  },
  async "a bucket"() {
    const s3 = await startFakeS3();
    return {
      store: createBucketStore({ bucket: s3.bucket, secretAccessKey: s3.secretAccessKey }),
      leftovers: () => [...s3.uploads.keys()],
      keys: () => [...s3.objects.keys()],
      [Symbol.asyncDispose]: () => s3[Symbol.asyncDispose](),
    };
  },
};

const body = (content: string | Buffer): Readable =>
  Readable.from([Buffer.from(content)], { objectMode: false });
const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** More than one part of a multipart upload, in pieces that fit no boundary. */
const LARGE = randomBytes(2 * PART_BYTES + 12_345);
const inPieces = (bytes: Buffer): Readable =>
  Readable.from(
    (function* () {
      for (let at = 0; at < bytes.length; at += 100_003) yield bytes.subarray(at, at + 100_003);
    })(),
    { objectMode: false },
  );

describe.each(Object.entries(stores))("%s as a file store", (_name, open) => {
  it("writes whole files, measured and hashed, and gives them back", async () => {
    await using opened = await open();
    const { store } = opened;
    for (const content of [Buffer.alloc(0), Buffer.from("hello"), randomBytes(PART_BYTES), LARGE]) {
      const written = await store.write("ab/one.bin", inPieces(content));
      expect(written).toEqual({ sizeBytes: content.length, sha256: sha256(content) });
      expect(await store.size("ab/one.bin")).toBe(content.length);
      expect((await buffer(store.read("ab/one.bin"))).equals(content)).toBe(true);
    }
    expect(opened.leftovers()).toEqual([]);
    expect(opened.keys()).toEqual(["ab/one.bin"]);
  });

  it("reads ranges, both ends included, and nothing past the end", async () => {
    await using opened = await open();
    const { store } = opened;
    await store.write("a.bin", body("0123456789"));
    expect(await text(store.read("a.bin", { start: 2, end: 4 }))).toBe("234");
    expect(await text(store.read("a.bin", { start: 8 }))).toBe("89");
    expect(await text(store.read("a.bin", { end: 1 }))).toBe("01");
    expect(await text(store.read("a.bin", { start: 5, end: 500 }))).toBe("56789");
    expect(await text(store.read("a.bin", { start: 20, end: 30 }))).toBe("");
    expect(await text(store.read("a.bin", { start: 4, end: 3 }))).toBe("");
    await store.write("empty", body(""));
    expect(await text(store.read("empty", { start: 0 }))).toBe("");
  });

  it("may be left in the middle of a file", async () => {
    await using opened = await open();
    await opened.store.write("a.bin", inPieces(LARGE));
    const reading = opened.store.read("a.bin");
    for await (const chunk of reading) {
      expect((chunk as Buffer).equals(LARGE.subarray(0, (chunk as Buffer).length))).toBe(true);
      break;
    }
    expect(reading.destroyed).toBe(true);
  });

  it("says what is missing, and removing it is no error", async () => {
    await using opened = await open();
    const { store } = opened;
    expect(await store.size("none/at/all")).toBeNull();
    await expect(text(store.read("none"))).rejects.toMatchObject({ kind: "not_found" });
    await store.remove("none/at/all");
    await store.write("gone", body("x"));
    await store.remove("gone");
    expect(await store.size("gone")).toBeNull();
    expect(opened.keys()).toEqual([]);
  });

  it("replaces what stands under a key, unless the key is to be new", async () => {
    await using opened = await open();
    const { store } = opened;
    const created = await store.create("a/b", body("first"));
    expect(created).toEqual({ sizeBytes: 5, sha256: sha256(Buffer.from("first")) });
    await expect(store.create("a/b", body("second"))).rejects.toMatchObject({ kind: "conflict" });
    await expect(store.create("a/b", inPieces(LARGE))).rejects.toMatchObject({ kind: "conflict" });
    expect(await text(store.read("a/b"))).toBe("first");
    await store.write("a/b", body("third"));
    expect(await text(store.read("a/b"))).toBe("third");
    expect(await store.create("a/c", inPieces(LARGE))).toEqual({
      sizeBytes: LARGE.length,
      sha256: sha256(LARGE),
    });
    expect(opened.leftovers()).toEqual([]);
  });

  it.each([300_000, PART_BYTES + 300_000])(
    "leaves nothing of a body that breaks off or is called off after %i bytes",
    async (sizeBytes) => {
      await using opened = await open();
      const { store } = opened;
      await store.write("a/b", body("before"));
      async function* broken(): AsyncGenerator<Buffer> {
        for (let sent = 0; sent < sizeBytes; sent += 100_000) yield Buffer.alloc(100_000);
        throw new Error("broke off");
      }
      await expect(store.write("a/b", Readable.from(broken()))).rejects.toThrow("broke off");
      const caller = new AbortController();
      async function* endless(): AsyncGenerator<Buffer> {
        for (let sent = 0; ; sent += 100_000) {
          yield Buffer.alloc(100_000);
          if (sent >= sizeBytes) caller.abort(new Error("called off"));
          await new Promise((resolve) => setImmediate(resolve));
        }
      }
      await expect(store.write("a/b", Readable.from(endless()), { signal: caller.signal })).rejects.toThrow(
        "called off",
      );
      expect(await text(store.read("a/b"))).toBe("before");
      expect(opened.leftovers()).toEqual([]);
      expect(opened.keys()).toEqual(["a/b"]);
    },
  );

  it("writes nothing for whoever has called it off before", async () => {
    await using opened = await open();
    const signal = AbortSignal.abort(new Error("called off"));
    await expect(opened.store.write("a/b", body("x"), { signal })).rejects.toThrow("called off");
    expect(opened.keys()).toEqual([]);
  });

  const TRAVERSALS = [
    "..",
    "../outside",
    "a/../../outside",
    "a/..",
    "./a",
    "a/./b",
    "/etc/passwd",
    "//etc/passwd",
    "a//b",
    "a/",
    "/",
    "",
    ".",
    ".hidden",
    "a/.hidden",
    ".temporary/x",
    "..\\outside",
    "a\\..\\b",
    "..%2foutside",
    "%2e%2e/outside",
    "%252e%252e%252foutside",
    "..%c0%afoutside",
    "..%ef%bc%8foutside",
    "．．/outside",
    "‥/outside",
    "a\u0000.jpg",
    "a%00.jpg",
    "a\n",
    "A/B",
    "a b",
    "c:/windows",
    "a:stream",
    "\\\\server\\share",
    "~/a",
    "a/...",
    "...",
    "a./b",
    "a/b.",
    "é",
    "a".repeat(300),
    "a?b",
    "a#b",
    "r2://a",
  ];

  it("refuses every key that could name anything but a file of its own", async () => {
    await using opened = await open();
    const { store } = opened;
    for (const key of TRAVERSALS) {
      await expect(store.write(key, body("x")), key).rejects.toMatchObject({ kind: "invalid" });
      await expect(store.create(key, body("x")), key).rejects.toMatchObject({ kind: "invalid" });
      await expect(store.size(key), key).rejects.toMatchObject({ kind: "invalid" });
      await expect(store.remove(key), key).rejects.toMatchObject({ kind: "invalid" });
      expect(() => store.read(key), key).toThrow(/not an address/);
    }
    expect(opened.keys()).toEqual([]);
  });
});
