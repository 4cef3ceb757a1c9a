import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { loadCatalog } from "../../src/app/catalog.ts";
import { describeTools } from "../../src/toolkit/toolbox.ts";
import { runCli } from "../support/cli.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "..", "..");

/** Below `node_modules`, where the bundle finds the native packages that stay outside of it. */
const FOLDER = join(ROOT, "node_modules", ".cache", `posthorn-build-${process.pid}`);
const BUNDLE = join(FOLDER, "posthorn.js");

const build = () => run(process.execPath, ["--import", "tsx", "scripts/build.ts", FOLDER], { cwd: ROOT });

beforeAll(build, 120_000);

afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

describe("the bundle", () => {
  it("lists the tools that the source lists", async () => {
    using folder = temporaryFolder();
    const bundled = await run(BUNDLE, ["tools"], { env: { PATH: process.env["PATH"], ...folder.env } });
    expect(bundled.stdout).toBe((await runCli(["tools"], folder)).stdout);
    expect(bundled.stderr).toBe("");
  });

  it.each(["risky", "always"] as const)(
    "lists over stdio what the source lists, with confirmation %s",
    async (confirm) => {
      using folder = temporaryFolder();
      const { tools } = await listTools({ ...folder.env, POSTHORN_CONFIRM: confirm, POSTHORN_TOOLS: "all" });
      const expected = describeTools((await loadCatalog()).tools, { confirm });
      expect(
        tools.map(({ inputSchema, outputSchema, annotations }) => ({
          inputSchema,
          outputSchema,
          annotations,
        })),
      ).toEqual(
        expected.map(({ inputSchema, outputSchema, annotations: { title: _title, ...annotations } }) => ({
          inputSchema,
          outputSchema,
          annotations,
        })),
      );
      expect(tools.map(({ name, title, description }) => [name, title, description])).toEqual(
        expected.map(({ name, title, description }) => [name, title, description]),
      );
    },
  );

  it("knows the settings of each platform before it loads any", async () => {
    using folder = temporaryFolder();
    const env = { PATH: process.env["PATH"], ...folder.env, POSTHORN_BLUESKY_BASE_URI: "https://a.example" };
    const child = spawn(BUNDLE, ["stdio"], { env });
    const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    expect(stderr).toContain(
      "POSTHORN_BLUESKY_BASE_URI: no such setting. Did you mean POSTHORN_BLUESKY_BASE_URL?",
    );
    expect(status).toBe(1);
  });

  it("tells why it ends when the service behind the list cannot be opened", async () => {
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
    // The entry, the helpers of the bundler, and whether it is one.
    expect(seen.size).toBeLessThanOrEqual(3);
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
  it("leaves the chunks that both have, and takes away those of the other alone", async () => {
    const chunks = join(FOLDER, "chunks");
    const before = readdirSync(chunks);
    writeFileSync(join(chunks, "stale-AAAAAAAA.js"), "");
    await build();
    expect(readdirSync(chunks)).toEqual(before);
    expect(statSync(BUNDLE).mode & 0o777).toBe(0o755);
  });

  it("has maps, by which a stack of the log is read", async () => {
    const words = "no such setting";
    const chunks = readdirSync(join(FOLDER, "chunks")).filter((name) => name.endsWith(".js"));
    const places = chunks.flatMap((name) =>
      readFileSync(join(FOLDER, "chunks", name), "utf8")
        .split("\n")
        .flatMap((line, index) =>
          line.includes(words) ? [`chunks/${name}:${index + 1}:${line.indexOf(words) + 1}`] : [],
        ),
    );
    const reading = run(process.execPath, ["--import", "tsx", "scripts/read-stack.ts", FOLDER], {
      cwd: ROOT,
    });
    reading.child.stdin?.end(`Error: x\n${places.map((place) => `    at a (file:///opt/dist/${place})\n`)}`);
    expect((await reading).stdout).toMatch(
      /^Error: x\n {4}at a \(src\/domain\/settings\/unknown-names\.ts:\d+:\d+\)\n/,
    );
  });

  it("carries the licence of every library in it", () => {
    const sections = readFileSync(join(FOLDER, "THIRD-PARTY-LICENSES.txt"), "utf8").split(/^-{80}$/m);
    const maps = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".map"),
    );
    const folders = new Set(
      maps.flatMap((name) => {
        const { sources } = JSON.parse(readFileSync(join(FOLDER, name), "utf8")) as { sources: string[] };
        const paths = sources.map((source) => resolve(FOLDER, dirname(name), source).slice(ROOT.length + 1));
        return paths.flatMap((path) => /^.*node_modules\/(@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? []);
      }),
    );
    // What the build itself writes, and what libraries that are bundles themselves were made of.
    for (const folder of folders) if (!existsSync(join(ROOT, folder, "package.json"))) folders.delete(folder);
    expect(folders.size).toBeGreaterThan(90);
    for (const folder of folders) {
      const { name, version } = JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8"));
      const section = sections.find((text) => text.startsWith(`\n${name} ${version}\nLicense: `));
      expect(section, name).toMatch(
        /Permission is hereby granted|Permission to use|Redistribution and use|Apache License|Mozilla Public License/,
      );
      const file = readdirSync(join(ROOT, folder)).find((one) => /^licen[cs]e/i.test(one));
      if (file !== undefined)
        expect(section).toContain(readFileSync(join(ROOT, folder, file), "utf8").trim());
    }
  });
});

async function listTools(env: Readonly<Record<string, string>>) {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport({ command: BUNDLE, args: ["stdio"], env }));
  try {
    return await client.listTools();
  } finally {
    await client.close();
  }
}
