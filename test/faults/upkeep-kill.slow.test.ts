import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import { sealSecrets, openSecrets } from "../../src/channels/platform-io/secrets.ts";
import { readSetup } from "../../src/app/setup.ts";
import { startSession } from "../../src/app/start-session.ts";
import { runCli } from "../support/cli.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { queryOf } from "../support/handles.ts";

const PROGRAM = inject("program");
const SECRETS = { appPassword: "canary-password" };

type Env = Readonly<Record<string, string>>;

/** Runs a command of the shipped program; its n-th change of the disk is its last. */
async function runKilled(
  args: readonly string[],
  env: Env,
  killAt: number,
): Promise<{ isKilled: boolean; stderr: string }> {
  const child = spawn(
    process.execPath,
    ["--require", join(import.meta.dirname, "kill-at.cjs"), PROGRAM, ...args],
    {
      env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env, KILL_AT: String(killAt) },
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  if (signal === null) expect(code, stderr).toBe(0);
  return { isKilled: signal === "SIGKILL", stderr };
}

async function open(env: Env) {
  return startSession(
    await readSetup({ POSTHORN_LOG_LEVEL: "silent", ...env }),
    { host: "test", pid: process.pid },
    { isRegistered: false },
  );
}

/** What a folder holds, as its user sees it; a folder that does not open fails the test. */
async function look(env: Env): Promise<{ statuses: string[]; secrets: Readonly<Record<string, string>> }> {
  await using session = await open(env);
  const { ctx } = session;
  const posts = await queryOf(ctx.store).selectFrom("posts").select("status").orderBy("id").execute();
  const account = await queryOf(ctx.store).selectFrom("accounts").selectAll().executeTakeFirstOrThrow();
  return { statuses: posts.map(({ status }) => status), secrets: openSecrets(ctx, account) };
}

/**
 * A folder with an account that has secrets and a waiting post, a backup of it, and the post cancelled after
 * that.
 */
async function prepare(path: string): Promise<{ template: string; backup: string }> {
  const template = join(path, "template");
  const env = { POSTHORN_DATA_DIR: template };
  const backup = join(path, "backup.tar");
  await using session = await open(env);
  const { ctx } = session;
  const account = await queryOf(ctx.store).selectFrom("accounts").selectAll().executeTakeFirstOrThrow();
  await queryOf(ctx.store)
    .updateTable("accounts")
    .set({ secrets_enc: sealSecrets(ctx, account, SECRETS) })
    .execute();
  const scheduledAt = new Date(Date.now() + 24 * 3_600_000).toISOString();
  const call = async (tool: string, args: object): Promise<any> => {
    const run = await runCli(["call", tool, JSON.stringify(args)], { env });
    return JSON.parse(run.stdout);
  };
  await call("schedule_post", { accountId: account.id, caption: "Tomorrow", scheduledAt });
  expect(await runCli(["backup", backup], { env })).toMatchObject({ status: 0 });
  await call("schedule_post", { accountId: account.id, caption: "Since then", scheduledAt });
  return { template, backup };
}

/** One kill of so many is tried, beginning at any of them. */
const EVERY = 4;

/** The command, killed at its changes of the disk until it ends by itself; `check` looks at what was left. */
async function killEverywhere(
  template: string,
  args: readonly string[],
  check: (env: Env) => Promise<void>,
): Promise<number> {
  const first = 1 + Math.floor(Math.random() * EVERY);
  for (let n = first; ; n += EVERY) {
    const path = join(template, "..", `run-${args[0]}-${n}`);
    mkdirSync(path, { mode: 0o700 });
    cpSync(template, path, { recursive: true });
    const env = { POSTHORN_DATA_DIR: path };
    const { isKilled } = await runKilled(args, env, n);
    await check(env);
    rmSync(path, { recursive: true, force: true });
    if (!isKilled) return n - EVERY;
  }
}

describe.concurrent("kill -9 at a change of the disk", { timeout: 400_000 }, () => {
  it("leaves a folder that opens while the secret key is replaced", async () => {
    using folder = temporaryFolder();
    const { template } = await prepare(folder.path);
    const kills = await killEverywhere(template, ["keys", "rotate-secret"], async (env) => {
      expect(await look(env)).toEqual({ statuses: ["scheduled", "scheduled"], secrets: SECRETS });
      expect(await runCli(["keys", "rotate-secret"], { env })).toMatchObject({ status: 0 });
      expect(await look(env)).toEqual({ statuses: ["scheduled", "scheduled"], secrets: SECRETS });
    });
    expect(kills).toBeGreaterThan(10);
  });

  it("leaves the old state or the new one while a backup is restored", async () => {
    using folder = temporaryFolder();
    const { template, backup } = await prepare(folder.path);
    const seen = new Set<string>();
    const kills = await killEverywhere(template, ["restore", backup, "--force"], async (env) => {
      const { statuses, secrets } = await look(env);
      expect(secrets).toEqual(SECRETS);
      seen.add(statuses.join());
      expect(await runCli(["restore", backup, "--force"], { env })).toMatchObject({ status: 0 });
      expect(await look(env)).toEqual({ statuses: ["scheduled"], secrets: SECRETS });
    });
    expect(kills).toBeGreaterThan(10);
    expect([...seen].sort()).toEqual(["scheduled", "scheduled,scheduled"]);
  });
});
