import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { startService } from "../support/service.ts";
import { startClassServers } from "./class-servers.ts";
import { buildWorker, judge, makeDataFolder, readOutcome, runWorker } from "./fault-runner.ts";
import { rawOf } from "../support/handles.ts";

let worker: string;
beforeAll(async () => {
  worker = await buildWorker("worker-entry");
});

const HOLDER = `
  const { openSqlite } = await import("./src/store/local/driver.ts");
  const { database } = openSqlite({ file: process.argv[1], busyTimeoutMs: 30_000 });
  database.exec("BEGIN IMMEDIATE");
  process.stdout.write("held\\n");
  setTimeout(() => { database.exec("ROLLBACK"); process.exit(0); }, Number(process.argv[2]));`;

/** What follows is a module's text, which may import those of the product. */
const MODULE = ["--import", "tsx", "--input-type=module", "-e"];

/** Another program with the write lock, as a `sqlite3` shell in a transaction is. Resolves once it has it. */
async function holdLock(file: string, ms: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [...MODULE, HOLDER, file, String(ms)], {
    cwd: join(import.meta.dirname, "..", ".."),
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout!, "data");
  return child;
}

/** Does it again and again until then; how many milliseconds it took at most. */
async function slowestOf(until: Promise<unknown>, work: () => Promise<void>): Promise<number> {
  let isOver = false;
  void until.then(() => (isOver = true));
  let slowest = 0;
  while (!isOver) {
    const start = performance.now();
    await work();
    slowest = Math.max(slowest, performance.now() - start);
  }
  return slowest;
}

/** Shorter than the 10 s that a write waits. */
const BELOW_MS = 700;
describe("another process with the write lock", { timeout: 60_000 }, () => {
  it("for less than ten seconds: every call waits for it, and none fails", async () => {
    const calls = 10;
    await using service = await startService();
    const accountId = await service.addFeed();
    const { file } = rawOf(service.ctx.store)
      .prepare("SELECT file FROM pragma_database_list WHERE name = 'main'")
      .get([]) as { file: string };
    const holder = await holdLock(file, BELOW_MS);
    const ended = once(holder, "exit");
    const json = { accountId, caption: "in spite of it", scheduledAt: "2099-01-01T00:00:00Z" };
    const answers = await Promise.all(
      Array.from({ length: calls }, () => service.ask("POST /api/v1/posts", { json })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: calls }, () => 201));
    await ended;
  });

  it("holds up nobody who does not write", async () => {
    const heldMs = 4_000;
    await using service = await startService();
    const accountId = await service.addFeed();
    const { file } = rawOf(service.ctx.store)
      .prepare("SELECT file FROM pragma_database_list WHERE name = 'main'")
      .get([]) as { file: string };
    const holder = await holdLock(file, heldMs);
    const ended = once(holder, "exit");
    const json = { accountId, caption: "waits", scheduledAt: "2099-01-01T00:00:00Z" };
    const writing = service.ask("POST /api/v1/posts", { json });
    await expect.poll(() => service.ctx.store.writeTrouble()?.message).toMatch(/holds the database's lock/);
    const slowest = await slowestOf(ended, async () => {
      expect(await service.ask("GET /healthz")).toMatchObject({ status: 200 });
      expect(await service.ask("GET /api/v1/posts")).toMatchObject({ status: 200 });
    });
    expect(slowest).toBeLessThan(heldMs / 2);
    expect(await writing).toMatchObject({ status: 201 });
    expect(service.ctx.store.writeTrouble()).toBeNull();
  });

  it("two publishers on the folder go on after it, and nothing goes out twice", async () => {
    const posts = { count: 12, accounts: 4 };
    await using servers = await startClassServers({ delayMs: 40 });
    await using folder = await makeDataFolder("class_e", posts);
    const workers = [1, 2].map(() => runWorker(worker, [folder.path, servers.baseUrl]));
    // One that finds the lock taken when it opens the database says so and ends.
    await Promise.all(workers.map(({ ready }) => ready));
    const holder = await holdLock(join(folder.path, "posthorn.db"), 1_000);
    await once(holder, "exit");
    for (const { exit } of workers) expect(await exit, (await exit).stderr).toMatchObject({ code: 0 });
    expect(judge(await readOutcome(folder.path), servers.visible(), false)).toEqual([]);
    expect(servers.violations).toEqual([]);
  });
});
