import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadCatalog } from "../../../src/app/setup.ts";
import { runCli } from "../../support/cli.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { listen } from "../../support/listen.ts";
import type { Finding } from "../../../src/domain/health/findings.ts";

async function examine(env: Readonly<Record<string, string>>) {
  const run = await runCli(["doctor", "--json"], { env });
  const { findings } = JSON.parse(run.stdout) as { findings: Finding[] };
  return {
    ...run,
    verdicts: Object.fromEntries(findings.map(({ topic, verdict }) => [topic, verdict])),
    findings,
  };
}

describe("posthorn doctor", () => {
  it("finds a fresh installation in order", async () => {
    using folder = temporaryFolder();
    const { status, verdicts } = await examine(folder.env);
    expect(status).toBe(0);
    expect(verdicts).toMatchObject({
      settings: "ok",
      "data folder": "ok",
      "secret key": "ok",
      database: "ok",
      platforms: "ok",
      pictures: "ok",
      films: "ok",
      clock: "ok",
      "public address": "note",
    });
  });

  it("blames the setting of ffmpeg only where it is set", async () => {
    using folder = temporaryFolder();
    const told = (env: Record<string, string>) =>
      runCli(["doctor"], { env: { ...folder.env, ...env } }).then(
        ({ stdout }) => /^.*\bfilms\b.*$/m.exec(stdout)?.[0],
      );
    for (const PATH of [folder.path, `${folder.path}:/nowhere`, ""])
      expect(await told({ PATH })).toMatch(
        /^ok +films +sent as they are, or refused, as ffmpeg is not installed/,
      );
    const file = join(folder.path, "ffmpeg");
    writeFileSync(file, "");
    expect(await told({ PATH: "/nowhere", POSTHORN_FFMPEG: file })).toMatch(
      /^PROBLEM +films +POSTHORN_FFMPEG: /,
    );
  });

  it("walks the way of programs by OAuth alone, which needs an address", async () => {
    using folder = temporaryFolder();
    const { status, stdout } = await runCli(["doctor", "--oauth"], { env: folder.env });
    expect([status, stdout]).toEqual([1, expect.stringMatching(/^PROBLEM  address  .*POSTHORN_PUBLIC_URL/)]);
    const given = await runCli(["doctor", "--oauth", "http://posts.example.com"], { env: folder.env });
    expect([given.status, given.stdout]).toEqual([1, expect.stringContaining("is not an https address")]);
    const both = await runCli(["doctor", "bluesky", "--oauth"], { env: folder.env });
    expect([both.status, both.stderr]).toEqual([1, expect.stringContaining("not both")]);
  });

  it("tells the steps to set up a platform that is named, and knows which there are", async () => {
    using folder = temporaryFolder();
    const named = await runCli(["doctor", "bluesky"], { env: folder.env });
    expect(named.status).toBe(0);
    expect(named.stdout).toContain("no app needs to be registered");
    for (const line of named.stdout.trimEnd().split("\n")) expect(line).toMatch(/^ok +bluesky /);
    const withProblem = await runCli(["doctor", "bluesky"], { env: { ...folder.env, POSTHORN_PORT: "x" } });
    expect(withProblem.stdout).toMatch(/^PROBLEM +settings /);
    const unknown = await runCli(["doctor", "myspace"], { env: folder.env });
    expect(unknown).toMatchObject({ status: 1, stdout: "" });
    expect(unknown.stderr).toMatch(
      /^"myspace" is not a known platform\. The platforms are bluesky, (\w+, )*discord, /,
    );
  });

  it("makes nothing that a start would find", async () => {
    using folder = temporaryFolder();
    expect(await examine(folder.env)).toMatchObject({ status: 0 });
    expect(existsSync(join(folder.path, "data"))).toBe(false);
    expect(readdirSync(folder.path)).toEqual([]);
    mkdirSync(join(folder.path, "data"));
    expect(await examine(folder.env)).toMatchObject({ status: 0 });
    expect(readdirSync(join(folder.path, "data"))).toEqual([]);
  });

  it("says where no data folder can be made", async () => {
    using folder = temporaryFolder();
    symlinkSync(join(folder.path, "nowhere"), join(folder.path, "link"));
    for (const path of ["/proc/none/data", join(folder.path, "link"), join(folder.path, "link", "data")]) {
      const { status, findings } = await examine({ POSTHORN_DATA_DIR: path });
      expect(status).toBe(1);
      expect(findings.at(-1)).toMatchObject({
        topic: "data folder",
        verdict: "problem",
        text: expect.stringMatching(/lets no user make a folder|is a link, and nothing is where that leads/),
      });
    }
  });

  it("tells of a port that is taken, and of a server that has it", async () => {
    using folder = temporaryFolder();
    await using other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const told = await examine({ ...folder.env, POSTHORN_PORT: String(port) });
    expect(told.findings).toContainEqual({
      topic: "port",
      verdict: "note",
      text: `posthorn serve would not start. Port ${port} on 127.0.0.1 is taken by another program or another Posthorn. Stop that one, or set POSTHORN_PORT to a free port.`,
    });
    const wide = await examine({ ...folder.env, POSTHORN_HOST: "0.0.0.0", POSTHORN_PORT: "0" });
    expect(wide.findings.find(({ topic }) => topic === "public address")?.text).toMatch(
      /^it listens on 0\.0\.0\.0 for other machines, too, but/,
    );
  });

  // Permissions do not hold root up.
  it.skipIf(process.getuid?.() === 0)("finds a database that cannot be written", async () => {
    using folder = temporaryFolder();
    await runCli(["keys", "list"], folder);
    const file = join(folder.path, "data", "posthorn.db");
    chmodSync(file, 0o400);
    const { status, findings } = await examine(folder.env);
    chmodSync(file, 0o600);
    expect(status).toBe(1);
    expect(findings).toContainEqual({
      topic: "database",
      verdict: "problem",
      text: expect.stringContaining("cannot be written"),
    });
  });

  it("asks to connect a channel only where none is", async () => {
    using folder = temporaryFolder();
    await runCli(["keys", "list"], folder);
    const { findings } = await examine(folder.env);
    const textOf = (name: string) => findings.find(({ topic }) => topic === name)?.text;
    expect(textOf("feed")).toBe("ready, and 1 channel is connected");
    expect(textOf("bluesky")).toBeUndefined();
    // All but the feed, which is always ready.
    const leftOut = (await loadCatalog()).platforms.length - 1;
    expect(textOf("platforms")).toMatch(
      new RegExp(
        `^${leftOut} that have neither channels nor settings \\(left out\\)\\. "posthorn doctor instagram" shows`,
      ),
    );
    const asked = await examine({ ...folder.env, POSTHORN_BLUESKY_BASE_URL: "https://pds.example" });
    expect(asked.findings.find(({ topic }) => topic === "bluesky")?.text).toBe(
      "ready. Connect a channel with: posthorn connect bluesky",
    );
  });

  it("looks at everything that can still be looked at", async () => {
    using folder = temporaryFolder();
    const { status, stderr, findings } = await examine({
      ...folder.env,
      POSTHORN_PORT: "x",
      POSTHORN_NO: "1",
    });
    expect(status).toBe(1);
    expect(stderr).toContain("one problem");
    expect(findings[0]).toMatchObject({
      topic: "settings",
      verdict: "problem",
      text: expect.stringContaining("POSTHORN_NO"),
    });
    expect(findings[1]).toMatchObject({ topic: "data folder", verdict: "ok" });
  });

  it("finds a damaged database", async () => {
    using folder = temporaryFolder();
    mkdirSync(join(folder.path, "data"));
    writeFileSync(join(folder.path, "data", "posthorn.db"), "no database at all ".repeat(400));
    const { status, verdicts } = await examine(folder.env);
    expect(status).toBe(1);
    expect(verdicts["database"]).toBe("problem");
  });

  it.each([
    ["that answers, on time", 0, 200, { "public address": "ok", clock: "ok" }, 0],
    ["whose clock is another", -3_600_000, 200, { "public address": "ok", clock: "problem" }, 1],
    ["that is somebody else's", 0, 404, { "public address": "problem", clock: "ok" }, 1],
  ])("compares itself with a public address %s", async (_case, skewMs, code, expected, status) => {
    using folder = temporaryFolder();
    const server = createServer((_request, response) => {
      response.setHeader("Date", new Date(Date.now() + skewMs).toUTCString());
      response.writeHead(code).end();
    });
    const listening = await listen(server);
    const port = listening.port;
    const env = {
      ...folder.env,
      POSTHORN_PUBLIC_URL: `http://127.0.0.1:${port}`,
      POSTHORN_ALLOWED_HOSTS: `127.0.0.1:${port}`,
    };
    const run = await examine(env);
    await new Promise((resolve) => server.close(resolve));
    expect(run.verdicts).toMatchObject(expected);
    expect(run.status).toBe(status);
  });

  it("finds a public address that does not answer", async () => {
    using folder = temporaryFolder();
    const env = {
      ...folder.env,
      POSTHORN_PUBLIC_URL: "http://127.0.0.1:1",
      POSTHORN_ALLOWED_HOSTS: "127.0.0.1",
    };
    expect((await examine(env)).verdicts).toMatchObject({ "public address": "problem" });
  });

  it("is readable", async () => {
    using folder = temporaryFolder();
    const { stdout } = await runCli(["doctor"], folder);
    expect(stdout).toMatch(/^ok {7}settings {8}/m);
  });
});
