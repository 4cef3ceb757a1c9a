import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "./support/cli.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "..");

/** Below `node_modules`, where the bundle finds the native packages that stay outside of it. */
const FOLDER = join(ROOT, "node_modules", ".cache", `posthorn-build-${process.pid}`);
const BUNDLE = join(FOLDER, "posthorn.js");

beforeAll(async () => {
  await run("npx", ["tsx", "scripts/build.ts", FOLDER], { cwd: ROOT });
}, 120_000);

afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

describe("the one-file bundle", () => {
  it("lists the tools that the source lists", async () => {
    using folder = temporaryFolder();
    const bundled = await run(BUNDLE, ["tools"], { env: { PATH: process.env["PATH"], ...folder.env } });
    expect(bundled.stdout).toBe((await runCli(["tools"], folder)).stdout);
    expect(bundled.stderr).toBe("");
  });

  it("has the platforms, and pictures, too", async () => {
    using folder = temporaryFolder();
    const demo = await run(BUNDLE, ["demo", "--exit"], { env: { PATH: process.env["PATH"], ...folder.env } });
    expect(demo.stdout).toMatch(/✔ +[\d.]+ s {2}published/);
    const { stdout } = await run(BUNDLE, ["call", "list_platforms"], { env: { PATH: process.env["PATH"], ...folder.env } });
    expect(stdout).toBe((await runCli(["call", "list_platforms"], folder)).stdout);
  });
});
