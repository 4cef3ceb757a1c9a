import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, cpSync, mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { readBuildContext } from "./support/build-context.ts";
import { addressOf, API_KEY, callTool } from "./support/program.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

const ROOT = join(import.meta.dirname, "..");

describe("the image's program", () => {
  it("is built from what is sent to the builder alone, and runs as any user", async (test) => {
    using folder = temporaryFolder();
    for (const path of readBuildContext()) {
      const isOwn = (source: string): boolean => !source.endsWith("node_modules");
      cpSync(join(ROOT, path), join(folder.path, path), { recursive: true, filter: isOwn });
    }
    symlinkSync(join(ROOT, "node_modules"), join(folder.path, "node_modules"));
    await promisify(execFile)(process.execPath, ["--import", "tsx", "scripts/build.ts"], {
      cwd: folder.path,
    });
    const program = join(folder.path, "dist", "posthorn.js");
    expect(statSync(program).mode & 0o111).toBe(0o111);

    // A user without a name, as "docker run --user" takes them; root alone can become one.
    const user = { uid: 54_321, gid: 54_321 };
    chmodSync(folder.path, 0o755);
    const tried = spawnSync(process.execPath, [program, "--version"], { env: { HOME: "/" }, ...user });
    if (tried.status !== 0)
      test.skip("Only root can become another user, who must be able to read the checkout.");
    const data = join(folder.path, "data");
    mkdirSync(data, { mode: 0o700 });
    chownSync(data, user.uid, user.gid);
    const env = { HOME: "/", POSTHORN_DATA_DIR: data, POSTHORN_PORT: "0", POSTHORN_API_KEY: API_KEY };
    const child = spawn(process.execPath, [program, "serve"], {
      env,
      ...user,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const ended = once(child, "exit");
    try {
      const address = await addressOf(child.stdout);
      const { uploadUrl } = await callTool(address, "upload_file", { name: "photo.png" });
      const put = await fetch(uploadUrl, {
        method: "PUT",
        headers: { "Content-Type": "application/octet-stream" },
        body: readFileSync(join(ROOT, "test", "fixtures", "photo.png")),
      });
      expect([put.status, await put.json()]).toMatchObject([201, { file: { width: 200 } }]);
    } finally {
      child.kill("SIGTERM");
    }
    expect(await ended).toEqual([0, null]);
  }, 180_000);
});
