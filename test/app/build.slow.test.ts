import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { runCli } from "../support/cli.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "..", "..");

/** What the run has built, in a folder of its own below `node_modules`, where it finds its packages. */
const FOLDER = join(ROOT, "node_modules", ".cache", `posthorn-build-${process.pid}`);
const BUNDLE = join(FOLDER, "posthorn.js");

/** Each of them starts several processes. */
vi.setConfig({ testTimeout: 120_000 });

const build = () => run(process.execPath, ["--import", "tsx", "scripts/build.ts", FOLDER], { cwd: ROOT });

beforeAll(() => cpSync(dirname(inject("program")), FOLDER, { recursive: true }));

afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

describe("the bundle", () => {
  it("lists the tools that the source lists", async () => {
    using folder = temporaryFolder();
    const bundled = await run(BUNDLE, ["tools"], { env: { PATH: process.env["PATH"], ...folder.env } });
    expect(bundled.stdout).toBe((await runCli(["tools"], folder)).stdout);
    expect(bundled.stderr).toBe("");
  });

  it("tells why it ends when it cannot be opened", async () => {
    using folder = temporaryFolder();
    await run(BUNDLE, ["tools"], { env: { PATH: process.env["PATH"], ...folder.env } });
    writeFileSync(join(folder.path, "data", "secret.key"), `${"0".repeat(64)}\n`);
    const child = spawn(BUNDLE, ["stdio"], { env: { PATH: process.env["PATH"], ...folder.env } });
    const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    expect(stderr).toContain("secret.key does not belong to this database");
    expect(status).toBe(1);
  });

  it("publishes beside the API, and ends with what is under way written down", async () => {
    using folder = temporaryFolder();
    const env = { PATH: process.env["PATH"], ...folder.env, POSTHORN_PORT: "0", POSTHORN_LOG_LEVEL: "warn" };
    const child = spawn(BUNDLE, ["serve"], { env });
    const [stderr, ended] = [text(child.stderr), once(child, "exit")];
    await once(child.stdout, "data");
    const post = async (): Promise<{ status: string }[]> =>
      JSON.parse((await run(BUNDLE, ["call", "list_posts"], { env })).stdout).posts;
    const { accounts } = JSON.parse((await run(BUNDLE, ["call", "list_accounts"], { env })).stdout);
    await run(
      BUNDLE,
      ["call", "schedule_post", JSON.stringify({ accountId: accounts[0].id, caption: "Beside the API" })],
      { env },
    );
    await expect
      .poll(post, { timeout: 20_000, interval: 500 })
      .toMatchObject([{ status: "published", caption: "Beside the API" }]);
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    expect(await stderr).toBe("Posthorn is stopping. What is under way is finished first.\n");
  });

  it("has the platforms, and pictures, too", async () => {
    using folder = temporaryFolder();
    const demo = await run(BUNDLE, ["demo", "--exit"], { env: { PATH: process.env["PATH"], ...folder.env } });
    expect(demo.stdout).toMatch(/✔ +[\d.]+ s {2}published/);
    const { stdout } = await run(BUNDLE, ["call", "list_platforms"], {
      env: { PATH: process.env["PATH"], ...folder.env },
    });
    expect(stdout).toBe((await runCli(["call", "list_platforms"], folder)).stdout);
  });
});

describe("the bundle on a Node that does not do", () => {
  const start = (preload: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    run(process.execPath, ["--require", join(ROOT, "test", "support", preload), BUNDLE, ...args], {
      env: { PATH: process.env["PATH"], ...env },
    }).then(
      ({ stderr }) => ({ code: 0, stderr }),
      ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
    );

  it.each([["--version"], ["doctor"], ["stdio"]])("names the release that it needs: %s", async (...args) => {
    const { major, minor } = /(?<major>\d+)\.(?<minor>\d+)/.exec(manifest.engines.node)?.groups ?? {};
    expect(await start("older-node.cjs", args)).toEqual({
      code: 1,
      stdout: "",
      stderr: `Posthorn needs Node.js ${major}.${minor} or newer, and this is 18.20.8. Install a newer one from https://nodejs.org, then start Posthorn again.\n`,
    });
  });

  it("looks at the release before it loads what an older one does not know", () => {
    const seen = new Set<string>();
    const imported = (file: string): string[] =>
      [
        ...readFileSync(file, "utf8").matchAll(
          /^import(?:[^"'(]*?from)?"([^"]+)"|;import(?:[^"'(]*?from)?"([^"]+)"/gm,
        ),
      ].map(([, first, later]) => first ?? later ?? "");
    const walk = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      for (const name of imported(file)) if (name.startsWith(".")) walk(join(dirname(file), name));
    };
    walk(BUNDLE);
    // The entry, and the helpers of the bundler.
    expect(seen.size).toBeLessThanOrEqual(2);
  });

  it.each([["serve"], ["stdio"]])("says what to do where no driver of SQLite works: %s", async (...args) => {
    using folder = temporaryFolder();
    const { code, stderr } = await start("without-sqlite.cjs", args, { ...folder.env });
    expect(code).toBe(1);
    expect(stderr.trimEnd().split("\n").at(-1)).toMatch(
      /^No SQLite driver works here: better-sqlite3 was not built .*Node\.js 22\.13 or newer.*npm rebuild better-sqlite3/,
    );
    expect(stderr).not.toMatch(/went wrong on our side|"stack"/);
  });

  it("does not advise to rebuild a driver that npm has left out", async () => {
    using folder = temporaryFolder();
    const { stderr } = await start("without-sqlite.cjs", ["serve"], { ...folder.env, LEFT_OUT: "yes" });
    expect(stderr).toMatch(/better-sqlite3 is missing .*install Posthorn again .*nodedir/);
    expect(stderr).not.toContain("rebuild");
  });

  it("says it at the end of npm ci in a checkout, and once for all tests", async () => {
    const preload = ["--require", join(ROOT, "test", "support", "without-sqlite.cjs")];
    const prepared = await run(
      process.execPath,
      [...preload, "--import", "tsx", "scripts/prepare.ts", `${FOLDER}-prepared`],
      { cwd: ROOT },
    );
    rmSync(`${FOLDER}-prepared`, { recursive: true });
    expect(prepared.stderr).toMatch(/^\nNo SQLite driver works here: .*\n$/);
    const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
    const tested = await run(process.execPath, [...preload, vitest, "run", "test/store"], {
      cwd: ROOT,
    }).catch((error: { code: number; stdout: string; stderr: string }) => error);
    expect(tested).toMatchObject({ code: 1 });
    expect(`${tested.stdout}${tested.stderr}`.split("No SQLite driver works here: ")).toHaveLength(2);
  });

  it("says it in doctor, too", async () => {
    using folder = temporaryFolder();
    const told = await start("without-sqlite.cjs", ["doctor"], { ...folder.env });
    expect(told).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/PROBLEM +database +No SQLite driver works here: .*npm rebuild/),
    });
  });

  it("keeps one warning of Node from people, and no other", async () => {
    const { stderr } = await start("warns-of-sqlite.cjs", ["--version"]);
    expect(stderr).toContain("Another feature is experimental");
    expect(stderr).not.toContain("SQLite");
  });
});

describe("a build into the folder of another one", () => {
  it("can run beside a third one, as two starts at one moment do, and takes away what is no longer made", async () => {
    const before = readdirSync(FOLDER, { recursive: true });
    writeFileSync(join(FOLDER, "src", "chunks", "stale-AAAAAAAA.js"), "");
    const startAfterBuild = async (): Promise<string> => {
      await build();
      return (await run(BUNDLE, ["--version"])).stdout;
    };
    const started = await Promise.all([startAfterBuild(), startAfterBuild()]);
    expect(started).toEqual([`${manifest.version}\n`, `${manifest.version}\n`]);
    expect(readdirSync(FOLDER, { recursive: true })).toEqual(before);
    expect(readdirSync(dirname(FOLDER)).filter((name) => name.includes(`${process.pid}.draft`))).toEqual([]);
    expect(statSync(BUNDLE).mode & 0o777).toBe(0o755);
  });

  it("has no maps, and names the source of what a stack points to", async () => {
    const broken = `import os from "node:os"; import { syncBuiltinESMExports } from "node:module";
      os.platform = () => { throw new Error("by hand"); }; syncBuiltinESMExports();`;
    const options = ["--import", `data:text/javascript,${encodeURIComponent(broken)}`];
    const { stderr } = await run(process.execPath, [...options, BUNDLE, "--version"]).catch(
      (error: { stderr: string }) => error,
    );
    const [, file = "", line] = /at createHost \(file:\/\/(\S+):(\d+):\d+\)/.exec(stderr) ?? [];
    const above = readFileSync(file, "utf8").split("\n").slice(0, Number(line));
    expect(above.findLast((text) => SOURCE.test(text))).toBe("// src/app/host.ts");
    expect(filesOfBuild().filter((name) => name.endsWith(".map"))).toEqual([]);
  });

  it("holds our own code only", () => {
    const sources = filesOfBuild().flatMap((name) =>
      name.endsWith(".js")
        ? readFileSync(join(FOLDER, name), "utf8")
            .split("\n")
            .flatMap((line) => SOURCE.exec(line)?.[1] ?? [])
        : [],
    );
    expect(sources.length).toBeGreaterThan(400);
    // Kysely comes as many small files.
    expect(sources.filter((source) => /node_modules\/(?!kysely\/)/.test(source))).toEqual([]);
  });
});

/** What the build writes above the code of each file. */
const SOURCE = /^\/\/ ((?:src|tools|node_modules)\/\S+)$/;

const filesOfBuild = () => readdirSync(FOLDER, { recursive: true, encoding: "utf8" });
