import { mkdir, mkdtemp, readdir, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFolderStore } from "../../src/media/folder-store.ts";

let root: string;
let folder: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "posthorn-files-"));
  folder = join(root, "files");
});
afterEach(() => rm(root, { recursive: true, force: true }));

const body = (content: string): Readable => Readable.from([Buffer.from(content)]);

describe("the folder store", () => {
  it("writes whole files, hashed, for this user alone", async () => {
    const store = createFolderStore(folder);
    const written = await store.write("ab/one.txt", body("hello"));
    expect(written).toEqual({ sizeBytes: 5, sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" });
    expect(await store.size("ab/one.txt")).toBe(5);
    expect(await text(store.read("ab/one.txt"))).toBe("hello");
    expect((await stat(join(folder, "ab", "one.txt"))).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect(await readdir(join(folder, ".temporary"))).toEqual([]);
  });

  it("reads ranges, both ends included, and nothing past the end", async () => {
    const store = createFolderStore(folder);
    await store.write("a.bin", body("0123456789"));
    expect(await text(store.read("a.bin", { start: 2, end: 4 }))).toBe("234");
    expect(await text(store.read("a.bin", { start: 8 }))).toBe("89");
    expect(await text(store.read("a.bin", { end: 1 }))).toBe("01");
    expect(await text(store.read("a.bin", { start: 20, end: 30 }))).toBe("");
  });

  it("says what is missing, and removing it is no error", async () => {
    const store = createFolderStore(folder);
    expect(await store.size("none/at/all")).toBeNull();
    await expect(text(store.read("none"))).rejects.toMatchObject({ kind: "not_found" });
    await store.remove("none/at/all");
    await store.write("gone", body("x"));
    await store.remove("gone");
    expect(await store.size("gone")).toBeNull();
  });

  it("leaves nothing of a body that breaks off or is called off, and keeps what stood under the key", async () => {
    const store = createFolderStore(folder);
    await store.write("a/b", body("before"));
    async function* broken(): AsyncGenerator<Buffer> {
      yield Buffer.alloc(300_000);
      throw new Error("broke off");
    }
    await expect(store.write("a/b", Readable.from(broken()))).rejects.toThrow("broke off");
    const caller = new AbortController();
    const endless = Readable.from(
      (async function* () {
        for (;;) {
          yield Buffer.alloc(1_000);
          caller.abort(new Error("called off"));
          await new Promise((resolve) => setImmediate(resolve));
        }
      })(),
    );
    await expect(store.write("a/b", endless, caller.signal)).rejects.toThrow("called off");
    expect(await text(store.read("a/b"))).toBe("before");
    expect(await readdir(join(folder, ".temporary"))).toEqual([]);
  });

  it("clears the temporary place of what a crash left long ago, not of what another process writes now", async () => {
    const temporary = join(folder, ".temporary");
    await mkdir(temporary, { recursive: true });
    await writeFile(join(temporary, "old"), "x");
    await writeFile(join(temporary, "new"), "x");
    await utimes(join(temporary, "old"), 1, 1);
    await createFolderStore(folder).write("a", body("x"));
    expect(await readdir(temporary)).toEqual(["new"]);
  });

  it("follows no links, neither files nor folders", async () => {
    const store = createFolderStore(folder);
    await store.write("own/file", body("own"));
    await writeFile(join(root, "outside"), "secret");
    await symlink(join(root, "outside"), join(folder, "own", "link"));
    await symlink(root, join(folder, "out"));
    await expect(text(store.read("own/link"))).rejects.toMatchObject({ kind: "not_found" });
    expect(await store.size("own/link")).toBeNull();
    await expect(text(store.read("out/outside"))).rejects.toMatchObject({ kind: "not_found" });
    await expect(store.write("out/new", body("x"))).rejects.toMatchObject({ kind: "not_found" });
    await expect(store.remove("out/outside")).rejects.toMatchObject({ kind: "not_found" });
    expect((await readdir(root)).sort()).toEqual(["files", "outside"]);
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

  it.each(TRAVERSALS)("refuses the key %j", async (key) => {
    const store = createFolderStore(folder);
    await expect(store.write(key, body("x"))).rejects.toMatchObject({ kind: "invalid" });
    await expect(store.size(key)).rejects.toMatchObject({ kind: "invalid" });
    await expect(store.remove(key)).rejects.toMatchObject({ kind: "invalid" });
    expect(() => store.read(key)).toThrow(/not an address/);
    expect(await readdir(root)).toEqual([]);
  });
});
