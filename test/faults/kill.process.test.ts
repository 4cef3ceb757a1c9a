import { beforeAll, describe, expect, it } from "vitest";
import { startClassServers } from "./class-servers.ts";
import { buildWorker, judge, makeDataFolder, readOutcome, runWorker } from "./fault-runner.ts";

let worker: string;
beforeAll(async () => {
  worker = await buildWorker("worker-entry");
});

/* What the simulation plays, once in earnest: SIGKILL, SQLite's log of what is written, and the kernel's locks. */
describe.concurrent("two processes on one folder, one killed by SIGKILL", { timeout: 120_000 }, () => {
  it.each([
    "class_c at claim:durable",
    "class_c at intent:durable",
    "class_c at result:written",
    "class_e at intent:written",
    "class_e at change:answered",
  ])("%s: the other one takes over, each post goes out once", async (name) => {
    const [provider = "", , point = ""] = name.split(" ");
    await using servers = await startClassServers();
    await using folder = await makeDataFolder(provider, { count: 6, accounts: 3 });
    const args = [folder.path, servers.baseUrl];
    const killed = runWorker(worker, [...args, point]);
    await killed.ready;
    const other = runWorker(worker, args);
    const ends = await Promise.all([killed.exit, other.exit]);
    expect(ends, ends[1].stderr).toMatchObject([{ signal: "SIGKILL" }, { code: 0 }]);
    const wrong = judge(await readOutcome(folder.path), servers.visible(), false);
    expect({ wrong, violations: servers.violations }).toEqual({ wrong: [], violations: [] });
  });
});
