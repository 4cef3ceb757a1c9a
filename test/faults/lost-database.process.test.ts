import { once } from "node:events";
import { spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { insertMeta } from "../../src/store/queries/meta.ts";
import { runCli } from "../support/cli.ts";
import { startService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const GONE =
  /The database is gone: posthorn\.db\S* was (deleted|replaced|emptied) while Posthorn had it open/;

/** What people and programs do to a database in use. */
const LOSSES: readonly [string, (data: string) => void][] = [
  ["deleted", (data) => removeDatabase(data)],
  ["deleted with its folder", (data) => rmSync(data, { recursive: true })],
  ["emptied", (data) => truncateSync(join(data, "posthorn.db"))],
  ["robbed of its log", (data) => rmSync(join(data, "posthorn.db-wal"))],
  ["robbed of its index", (data) => rmSync(join(data, "posthorn.db-shm"))],
  [
    "replaced by a copy",
    (data) => {
      copyFileSync(join(data, "posthorn.db"), join(data, "copy"));
      renameSync(join(data, "copy"), join(data, "posthorn.db"));
    },
  ],
];

function removeDatabase(data: string): void {
  for (const name of readdirSync(data)) if (name.startsWith("posthorn.db")) rmSync(join(data, name));
}

describe("a database that is lost while Posthorn runs", () => {
  it.each(LOSSES)(
    "%s: no write is acknowledged, no read answered, and it is not ready",
    async (_case, lose) => {
      await using service = await startService();
      const accountId = await service.addFeed();
      const body = { accountId, caption: "x", scheduledAt: "2027-01-01T00:00:00Z" };
      expect((await service.ask("POST /api/v1/posts", { json: body })).status).toBe(201);
      expect((await service.ask("GET /readyz")).status).toBe(200);
      lose(service.folder);
      const posted = await service.ask("POST /api/v1/posts", { json: body });
      expect(posted).toMatchObject({ status: 503, json: { error: expect.stringMatching(GONE) } });
      for (const target of ["GET /readyz", "GET /api/v1/posts", "GET /api/v1/accounts", "GET /api/v1/status"])
        expect(await service.ask(target)).toMatchObject({
          status: 503,
          json: { error: expect.stringMatching(GONE) },
        });
      expect((await service.ask("GET /healthz")).status).toBe(200);
      expect(service.log.lines.filter(({ level }) => level === "error")).toEqual([]);
    },
  );

  it.each(LOSSES.slice(0, 2))("%s: the server ends with one sentence", async (_case, lose) => {
    using folder = temporaryFolder();
    let isLost = false;
    const env = { ...folder.env, POSTHORN_PORT: "0" };
    const run = await runCli(["serve"], {
      env,
      onOutput: (output) => {
        if (isLost || !output.includes("Data folder")) return;
        isLost = true;
        lose(join(folder.path, "data"));
      },
    });
    expect(run.status).toBe(1);
    expect(run.stderr).toMatch(new RegExp(`^${GONE.source}[^\n]*\n$`));
  });

  it("ends as well without the folder of its locks, which others take for its death", async () => {
    await using service = await startService();
    rmSync(join(service.folder, "locks"), { recursive: true });
    const sentence = {
      error: expect.stringMatching(/^The data folder was damaged: the folder of its locks was deleted/),
    };
    const json = { accountId: "acc_x", caption: "x", scheduledAt: "2027-01-01T00:00:00Z" };
    expect(await service.ask("GET /readyz")).toMatchObject({ status: 503, json: sentence });
    expect(await service.ask("POST /api/v1/posts", { json })).toMatchObject({ status: 503, json: sentence });
  });

  it("ends an agent's session with one sentence, too", async () => {
    using folder = temporaryFolder();
    const child = spawn(process.execPath, [inject("program"), "stdio"], {
      env: {
        PATH: process.env["PATH"],
        HOME: process.env["HOME"],
        ...folder.env,
        POSTHORN_LOG_LEVEL: "error",
      },
      stdio: ["pipe", "pipe", "pipe"],
    });
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    const params = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    };
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
    await once(child.stdout, "data");
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
    const call = { name: "list_accounts", arguments: {} };
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/call", params: call })}\n`);
    await once(child.stdout, "data");
    removeDatabase(join(folder.path, "data"));
    const [code] = (await once(child, "close")) as [number | null];
    expect(code).toBe(1);
    // In a checkout a second line says how commands are typed there.
    expect(stderr).toMatch(new RegExp(`^${GONE.source}[^\n]*\n(\\(Here, type [^\n]*\n)?$`));
  });

  it("is not mistaken: others that open and close it, and its log that is folded, change nothing", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "posthorn.db");
    await using store = await openStore({ file });
    for (let n = 0; n < 20; n++) {
      await using other = await openStore({ file });
      await other.write((tx) => insertMeta(tx, `key ${n}`, "x".repeat(100_000)));
      await other.tidy();
      expect(store.isPresent()).toBe(true);
    }
    expect(store.lost.aborted).toBe(false);
  });
});

describe("a database that is missing at the start", () => {
  const commands = [
    ["serve"],
    ["call", "list_posts"],
    ["backup", "/nowhere/x.tar"],
    ["keys", "list"],
    ["doctor"],
  ];

  it.each(commands.flatMap((args) => [[args, "missing"] as const, [args, "empty"] as const]))(
    "is not made anew by %j where it is %s",
    async (args, what) => {
      using folder = temporaryFolder();
      const data = join(folder.path, "data");
      await runCli(["call", "list_accounts"], folder);
      removeDatabase(data);
      const file = join(data, "posthorn.db");
      if (what === "empty") writeFileSync(file, "");
      const { status, stdout, stderr } = await runCli(args, folder);
      expect(status).toBe(1);
      expect(stdout + stderr).toMatch(
        new RegExp(`posthorn\\.db is ${what}.*used before.*posthorn restore FILE.*remove \\S+generation`),
      );
      expect(readdirSync(data).filter((name) => name.startsWith("posthorn.db"))).toEqual(
        what === "empty" ? ["posthorn.db"] : [],
      );
    },
  );

  it("is put back by a restore, or made anew where the mark is removed", async () => {
    using folder = temporaryFolder();
    const data = join(folder.path, "data");
    const backup = join(folder.path, "backup.tar");
    await runCli(["call", "list_accounts"], folder);
    expect(await runCli(["backup", backup], folder)).toMatchObject({ status: 0 });
    for (const what of ["missing", "empty"]) {
      removeDatabase(data);
      if (what === "empty") writeFileSync(join(data, "posthorn.db"), "");
      expect(await runCli(["restore", backup], folder)).toMatchObject({ status: 0 });
      expect(await runCli(["call", "list_accounts"], folder)).toMatchObject({ status: 0 });
    }
    removeDatabase(data);
    rmSync(join(data, "generation"));
    expect(await runCli(["call", "list_accounts"], folder)).toMatchObject({ status: 0 });
  });

  it("is a first start where only the secret key is there, or a start that was cut off left an empty file", async () => {
    using folder = temporaryFolder();
    const data = join(folder.path, "data");
    mkdirSync(data, { mode: 0o700 });
    writeFileSync(join(data, "secret.key"), `${"ab".repeat(32)}\n`, { mode: 0o600 });
    writeFileSync(join(data, "posthorn.db"), "", { mode: 0o600 });
    expect(await runCli(["call", "list_accounts"], folder)).toMatchObject({ status: 0 });
    expect(existsSync(join(data, "generation"))).toBe(true);
  });
});
