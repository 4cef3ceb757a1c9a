import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { pack } from "tar-stream";
import { describe, expect, inject, it } from "vitest";
import { localCaller } from "../../../src/access/api-keys.ts";
import { makeBackup } from "../../../src/app/operations/backup.ts";
import { sealSecrets } from "../../../src/channels/platform-io/secrets.ts";
import { startSession } from "../../../src/app/start-session.ts";
import { readSetup } from "../../../src/app/setup.ts";
import { forgeBackup } from "../../support/backup-files.ts";
import { runCli } from "../../support/cli.ts";
import { addAccount, addPost } from "../../support/publishing.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { queryOf, rawOf } from "../../support/handles.ts";
import type { RestoreResult } from "../../../src/domain/health/backups.ts";

type Env = Readonly<Record<string, string>>;

const QUIET = { POSTHORN_LOG_LEVEL: "silent" };
const PICTURE = readFileSync(join(import.meta.dirname, "..", "..", "fixtures", "photo.jpg"));

async function open(env: Env) {
  return startSession(
    await readSetup({ ...QUIET, ...env }),
    { host: "test", pid: process.pid },
    { isRegistered: false },
  );
}

async function call(env: Env, tool: string, args: object): Promise<any> {
  const run = await runCli(["call", tool, JSON.stringify(args)], { env });
  expect(run.stderr).toBe("");
  return JSON.parse(run.stdout);
}

/** A data folder with a picture, an account with secrets, and a post that waits for tomorrow. */
async function fill(env: Env) {
  const folder = env["POSTHORN_DATA_DIR"] ?? "";
  const picture = join(dirname(folder), "picture.jpg");
  writeFileSync(picture, PICTURE);
  const { file } = await call({ ...env, POSTHORN_UPLOAD_FOLDERS: dirname(picture) }, "upload_file", {
    path: picture,
  });
  const { accounts } = await call(env, "list_accounts", {});
  const at = new Date(Date.now() + 24 * 3_600_000).toISOString();
  const { post } = await call(env, "schedule_post", {
    accountId: accounts[0].id,
    caption: "Tomorrow",
    mediaUrl: file.id,
    scheduledAt: at,
  });
  return { file, post, account: accounts[0] };
}

const databaseOf = (env: Env): string => join(env["POSTHORN_DATA_DIR"] ?? "", "posthorn.db");

/** Another data folder that has the first one's secret key, as whoever moves to another machine brings it. */
function besides(folder: { readonly path: string; readonly env: Env }): Env {
  const env = { POSTHORN_DATA_DIR: join(folder.path, "other") };
  mkdirSync(env.POSTHORN_DATA_DIR, { mode: 0o700 });
  copyFileSync(
    join(folder.env["POSTHORN_DATA_DIR"] ?? "", "secret.key"),
    join(env.POSTHORN_DATA_DIR, "secret.key"),
  );
  return env;
}

describe("posthorn backup and restore", () => {
  it("brings everything to another folder", async () => {
    using folder = temporaryFolder();
    const { file, post } = await fill(folder.env);
    const backup = join(folder.path, "backup.tar");
    const made = await runCli(["backup", backup], folder);
    expect(made.stderr).toMatch(/not in it\. Keep a copy of .*secret\.key/);
    expect(JSON.parse(made.stdout)).toMatchObject({
      file: backup,
      files: 1,
      missing: [],
      sizeBytes: statSync(backup).size,
    });
    expect(statSync(backup).mode & 0o777).toBe(0o600);

    const env = besides(folder);
    const restored = await runCli(["restore", backup], { env });
    expect(restored.stderr).toContain("two of them would publish everything twice");
    expect(JSON.parse(restored.stdout)).toMatchObject({ posts: 1, files: 1, held: 0, keptAside: null });
    expect((await call(env, "get_post", { id: post.id })).post).toEqual(post);
    await using session = await open(env);
    expect(Buffer.concat(await session.ctx.files.read(file.url.slice("r2://".length)).toArray())).toEqual(
      PICTURE,
    );
    expect(readdirSync(env["POSTHORN_DATA_DIR"] ?? "").filter((name) => name.startsWith("."))).toEqual([]);
  });

  it("brings the settings, which nobody reads in it, and leaves those that are there", async () => {
    using folder = temporaryFolder();
    const SETTINGS =
      "POSTHORN_TIMEZONE=Asia/Tokyo\nPOSTHORN_X_CLIENT_SECRET=canary-4711\nPOSTHORN_X_CLIENT_ID=x\n";
    await open(folder.env).then((session) => session[Symbol.asyncDispose]());
    const file = join(folder.env["POSTHORN_DATA_DIR"] ?? "", "posthorn.env");
    writeFileSync(file, SETTINGS, { mode: 0o600 });
    const backup = join(folder.path, "backup.tar");
    const made = await runCli(["backup", backup], folder);
    expect(JSON.parse(made.stdout)).toMatchObject({ hasSettings: true });
    expect(made.stderr).toContain("posthorn.env is in it, encrypted.");
    for (const word of ["canary-4711", "Asia/Tokyo"]) expect(readFileSync(backup).includes(word)).toBe(false);

    const env = besides(folder);
    const restored = join(env["POSTHORN_DATA_DIR"] ?? "", "posthorn.env");
    const run = await runCli(["restore", backup], { env });
    expect(JSON.parse(run.stdout)).toMatchObject({ settings: { file: restored, isInForce: true } });
    expect(run.stderr).toContain(`The settings of the backup are in ${restored}.`);
    expect(readFileSync(restored, "utf8")).toBe(SETTINGS);
    expect(statSync(restored).mode & 0o777).toBe(0o600);
    expect((await runCli(["doctor"], { env })).stdout).toContain("Time zone: Asia/Tokyo");
    expect(JSON.parse((await runCli(["restore", backup], { env })).stdout).settings).toBeNull();

    writeFileSync(restored, "POSTHORN_TIMEZONE=Europe/Berlin\n");
    const again = await runCli(["restore", backup], { env });
    const beside = JSON.parse(again.stdout).settings.file as string;
    expect(beside).toMatch(/posthorn\.env\.from-backup-\d{4}-\d{2}-\d{2}T\d{6}$/);
    expect(again.stderr).toContain("posthorn.env of the data folder stays as it is.");
    expect(readFileSync(beside, "utf8")).toBe(SETTINGS);
    expect(readFileSync(restored, "utf8")).toBe("POSTHORN_TIMEZONE=Europe/Berlin\n");
  });

  it("does without settings that are wrong on this machine, and takes none that somebody made up", async () => {
    using folder = temporaryFolder();
    await open(folder.env).then((session) => session[Symbol.asyncDispose]());
    const pictures = join(folder.path, "pictures");
    mkdirSync(pictures);
    const file = join(folder.env["POSTHORN_DATA_DIR"] ?? "", "posthorn.env");
    writeFileSync(file, `POSTHORN_UPLOAD_FOLDERS=${pictures}\n`, { mode: 0o600 });
    const backup = join(folder.path, "backup.tar");
    await runCli(["backup", backup], folder);
    rmSync(pictures, { recursive: true });
    const env = besides(folder);
    expect(await runCli(["restore", backup], { env })).toMatchObject({ status: 0 });
    expect((await runCli(["doctor"], { env })).stdout).toMatch(
      /PROBLEM +settings .*POSTHORN_UPLOAD_FOLDERS/s,
    );

    const manifest = { format: 2, program: "posthorn", version: "1", createdAt: 1, secretKeyId: "a" };
    const forged = { ...manifest, settings: `v1.${"A".repeat(80)}` };
    await forgeBackup(backup, { changes: { "manifest.json": JSON.stringify(forged) } });
    rmSync(join(env["POSTHORN_DATA_DIR"] ?? "", "posthorn.env"));
    expect(await runCli(["restore", backup, "--unsigned"], { env })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("The settings in the backup do not open"),
    });
    expect(readdirSync(env["POSTHORN_DATA_DIR"] ?? "")).not.toContain("posthorn.env");
  });

  it("is one moment of a database that others are writing", async () => {
    using folder = temporaryFolder();
    const { account } = await fill(folder.env);
    await using session = await open(folder.env);
    const backups = [1, 2].map((n) => join(folder.path, `backup-${n}.tar`));
    let written = 0;
    // In processes of their own, as a server and a backup are.
    let running = backups.length;
    const processes = backups.map((backup) =>
      start(["backup", backup], folder.env).finally(() => (running -= 1)),
    );
    while (running > 0) {
      // Two posts in each transaction: a copy with an odd number of them would be none of one moment.
      written += 1;
      const at = new Date(Date.now() + 3_600_000 * (2 + written)).toISOString();
      const posts = [1, 2].map((which) => ({
        accountId: account.id,
        caption: `pair ${written} ${which}`,
        scheduledAt: at,
      }));
      await session.toolbox.call("schedule_posts", { posts, atomic: true }, localCaller());
      // Everything above runs without waiting for anything: the ends of the processes must be heard, too.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await Promise.all(processes)).toEqual([0, 0]);
    const env = besides(folder);
    for (const backup of backups) {
      const report = JSON.parse(
        (await runCli(["restore", backup, "--force"], { env })).stdout,
      ) as RestoreResult;
      expect(report.posts % 2).toBe(1);
    }
  });

  it("holds no secret in plain text, nor the key that opens them", async () => {
    using folder = temporaryFolder();
    const canary = "canary-app-password-4711";
    await using session = await open(folder.env);
    const { ctx } = session;
    const { accounts } = await call(folder.env, "list_accounts", {});
    const row = await queryOf(ctx.store)
      .selectFrom("accounts")
      .selectAll()
      .where("id", "=", accounts[0].id)
      .executeTakeFirstOrThrow();
    const sealed = sealSecrets(ctx, row, { appPassword: canary }) ?? "";
    await queryOf(ctx.store)
      .updateTable("accounts")
      .set({ secrets_enc: sealed })
      .where("id", "=", row.id)
      .execute();
    const { key } = JSON.parse((await runCli(["keys", "create"], folder)).stdout) as { key: string };
    const backup = join(folder.path, "backup.tar");
    await runCli(["backup", backup], folder);
    const bytes = readFileSync(backup);
    const master = readFileSync(join(session.folder, "secret.key"), "utf8").trim();
    expect(bytes.includes(sealed)).toBe(true);
    for (const secret of [canary, key.split("_")[2] ?? "", master])
      expect(bytes.includes(secret)).toBe(false);
    expect(bytes.includes(Buffer.from(master, "hex"))).toBe(false);
  });

  it("says which files were gone", async () => {
    using folder = temporaryFolder();
    const { file } = await fill(folder.env);
    rmSync(join(folder.env["POSTHORN_DATA_DIR"] ?? "", "files", file.url.slice("r2://".length)));
    const made = await runCli(["backup", join(folder.path, "backup.tar")], folder);
    expect(made.status).toBe(0);
    expect(JSON.parse(made.stdout)).toMatchObject({ files: 0, missing: [file.url.slice("r2://".length)] });
    expect(made.stderr).toContain("1 file is not in it");
  });

  it("holds back what was due since, and says how much", async () => {
    using folder = temporaryFolder();
    const backup = join(folder.path, "backup.tar");
    {
      await using session = await open(folder.env);
      const { ctx } = session;
      for (const provider of ["bluesky", "feed"]) {
        const account = await addAccount(ctx, { provider });
        const at = Date.now() - 60_000;
        await addPost(ctx, account, { caption: provider, scheduled_at: at, due_at: at, next_at: at });
      }
      expect(await runCli(["backup", backup], folder)).toMatchObject({ status: 0 });
    }
    const env = besides(folder);
    const restored = await runCli(["restore", backup], { env });
    expect(restored.stderr).toContain("1 post was due and may have gone out");
    expect(JSON.parse(restored.stdout)).toMatchObject({ posts: 2, held: 1 });
    expect((await runCli(["doctor"], { env })).stdout).toMatch(
      /note +restore +put back from a copy at .*: 1 post /,
    );
    const { posts } = await call(env, "list_posts", {});
    expect(posts).toEqual([
      expect.objectContaining({ caption: "feed", status: "scheduled" }),
      expect.objectContaining({ caption: "bluesky", status: "publishing" }),
    ]);
  });

  it("overwrites nothing unasked, and leaves nothing half", async () => {
    using folder = temporaryFolder();
    const backup = join(folder.path, "backup.tar");
    writeFileSync(backup, "mine");
    expect(await runCli(["backup", backup], folder)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("is there already"),
    });
    expect(readFileSync(backup, "utf8")).toBe("mine");
    expect(await runCli(["backup", backup, "--force"], folder)).toMatchObject({ status: 0 });
    expect(await runCli(["backup", join(folder.path, "none", "b.tar")], folder)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("its folder does not exist"),
    });
    expect(readdirSync(folder.path).sort()).toEqual(["backup.tar", "data"]);
  });

  it.each(["backup", "restore", "export", "upload"])(
    "%s names a file that has an empty name",
    async (command) => {
      using folder = temporaryFolder();
      expect(await runCli([command, ""], folder)).toMatchObject({
        status: 1,
        stdout: "",
        stderr: "file: is empty. Give the name of a file.\n",
      });
    },
  );

  it("replaces posts only when told to, and keeps them beside", async () => {
    using folder = temporaryFolder();
    const { post } = await fill(folder.env);
    const backup = join(folder.path, "backup.tar");
    await runCli(["backup", backup], folder);
    await call(folder.env, "update_post", { id: post.id, caption: "Changed" });
    const refused = await runCli(["restore", backup], folder);
    expect(refused).toMatchObject({ status: 1, stdout: "", stderr: expect.stringContaining("--force") });
    expect((await call(folder.env, "get_post", { id: post.id })).post.caption).toBe("Changed");

    const { keptAside } = JSON.parse(
      (await runCli(["restore", backup, "--force"], folder)).stdout,
    ) as RestoreResult;
    expect((await call(folder.env, "get_post", { id: post.id })).post.caption).toBe("Tomorrow");
    copyFileSync(keptAside ?? "", databaseOf(folder.env));
    expect((await call(folder.env, "get_post", { id: post.id })).post.caption).toBe("Changed");
  });

  it("is refused while anything works on the folder", async () => {
    using folder = temporaryFolder();
    await fill(folder.env);
    const backup = join(folder.path, "backup.tar");
    await runCli(["backup", backup], folder);
    await using session = await open(folder.env);
    const run = await runCli(["restore", backup, "--force"], folder);
    expect(run).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("Posthorn is at work on this data folder"),
    });
    expect(session.folder).toBe(folder.env["POSTHORN_DATA_DIR"]);
  });

  it("needs the secret key that belongs to it", async () => {
    using folder = temporaryFolder();
    await fill(folder.env);
    const backup = join(folder.path, "backup.tar");
    await runCli(["backup", backup], folder);
    const env = { POSTHORN_DATA_DIR: join(folder.path, "other") };
    expect(await runCli(["restore", backup], { env })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("secret.key is not there"),
    });
    writeFileSync(join(env.POSTHORN_DATA_DIR, "secret.key"), `${randomBytes(32).toString("hex")}\n`, {
      mode: 0o600,
    });
    expect(await runCli(["restore", backup], { env })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("is another"),
    });
    expect(existsSync(databaseOf(env))).toBe(false);
  });

  describe("refuses, with nothing changed, a file", () => {
    it.each<[string, (backup: string) => void | Promise<void>, string]>([
      [
        "that is none",
        (backup) => writeFileSync(backup, "no archive at all ".repeat(99)),
        "no backup of Posthorn",
      ],
      ["that is empty", (backup) => writeFileSync(backup, ""), "it is cut off"],
      ["that is cut off", (backup) => truncateSync(backup, statSync(backup).size - 5_000), "damaged"],
      ["with another byte in it", (backup) => flip(backup, statSync(backup).size >> 1), "is not what it was"],
      [
        "with a name that leads out",
        (backup) => rewrite(backup, [["files/../../evil", "x"]]),
        "under a name",
      ],
      ["with an absolute name", (backup) => rewrite(backup, [["/etc/evil", "x"]]), "under a name"],
      ["with a file that nobody listed", (backup) => rewrite(backup, [["files/evil", "x"]]), "cut off"],
      ["with a link in it", (backup) => rewrite(backup, [], "symlink"), "no plain file"],
      ["of a newer Posthorn", (backup) => rewrite(backup, [], "newer"), "newer Posthorn (9.9.9)"],
    ])("%s", async (_case, spoil, sentence) => {
      using folder = temporaryFolder();
      const { post } = await fill(folder.env);
      const backup = join(folder.path, "backup.tar");
      await runCli(["backup", backup], folder);
      await spoil(backup);
      const before = readdirSync(folder.path, { recursive: true }).sort();
      const run = await runCli(["restore", backup, "--force"], folder);
      expect(run).toMatchObject({ status: 1, stdout: "", stderr: expect.stringContaining(sentence) });
      expect(readdirSync(folder.path, { recursive: true }).sort()).toEqual(before);
      expect((await call(folder.env, "get_post", { id: post.id })).post).toEqual(post);
    });
  });

  it("refuses the database of a newer schema", async () => {
    using folder = temporaryFolder();
    await fill(folder.env);
    {
      await using session = await open(folder.env);
      rawOf(session.ctx.store).exec("PRAGMA user_version = 999");
      const input = {
        file: join(folder.path, "b.tar"),
        isForced: false,
        folder: session.folder,
        version: "9",
        secretKeyId: "x",
        settings: null,
        cipher: session.ctx.cipher,
        bucket: null,
      };
      await makeBackup(session.ctx, { ...input, signal: new AbortController().signal });
    }
    const env = besides(folder);
    const run = await runCli(["restore", join(folder.path, "b.tar")], { env });
    expect(run).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("written by a newer Posthorn (schema 999"),
    });
  });
});

/** The exit status of a command in a process of its own. */
async function start(args: readonly string[], env: Env): Promise<number | null> {
  const child = spawn(process.execPath, [inject("program"), ...args], {
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env },
    stdio: "ignore",
  });
  const [code] = (await once(child, "close")) as [number | null];
  return code;
}

function flip(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

/** An archive with a right manifest, and then something that is not right. */
async function rewrite(
  backup: string,
  entries: readonly [string, string][],
  kind: "plain" | "symlink" | "newer" = "plain",
): Promise<void> {
  const archive = pack();
  const format = kind === "newer" ? 3 : 2;
  archive.entry(
    { name: "manifest.json" },
    JSON.stringify({ format, program: "posthorn", version: "9.9.9", createdAt: 1, secretKeyId: "a" }),
  );
  if (kind === "symlink") archive.entry({ name: "files/link", type: "symlink", linkname: "/etc/passwd" });
  for (const [name, text] of entries) archive.entry({ name }, text);
  archive.finalize();
  const chunks: Uint8Array[] = [];
  for await (const chunk of archive as AsyncIterable<Uint8Array>) chunks.push(chunk);
  writeFileSync(backup, Buffer.concat(chunks));
}
