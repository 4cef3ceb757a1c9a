import { mkdir, mkdtemp, readdir, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFolderStore, removePartialFiles } from "../../../src/media/stores/folder-store.ts";

let root: string;
let folder: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "posthorn-files-"));
  folder = join(root, "files");
});
afterEach(() => rm(root, { recursive: true, force: true }));

const body = (content: string): Readable => Readable.from([Buffer.from(content)]);

describe("the folder store", () => {
  it("writes for this user alone, and has no address of its own", async () => {
    const store = createFolderStore(folder);
    await store.write("ab/one.txt", body("hello"));
    await store.create("ab/two.txt", body("hello"));
    expect((await stat(join(folder, "ab", "two.txt"))).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, "ab", "two.txt"))).nlink).toBe(1);
    expect(await store.temporaryUrl("ab/one.txt", { lastsMs: 1_000, mimeType: "text/plain" })).toBeNull();
    expect((await stat(join(folder, "ab", "one.txt"))).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
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

  it("clears it at a start, unless another process is at work", async () => {
    const temporary = join(folder, ".temporary");
    await mkdir(temporary, { recursive: true });
    await writeFile(join(temporary, "new"), "x");
    await removePartialFiles([join(root, "none"), folder], () => false);
    expect(await readdir(temporary)).toEqual(["new"]);
    await removePartialFiles([join(root, "none"), folder], () => true);
    expect(await readdir(temporary)).toEqual([]);
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
});
