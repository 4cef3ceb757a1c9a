import { rmSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { beforeAll, describe, expect, it } from "vitest";
import { AppError } from "../../src/domain/errors.ts";
import { createFolderStore } from "../../src/media/stores/folder-store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startClassServers } from "./class-servers.ts";
import {
  buildWorker,
  judge,
  makeDataFolder,
  readOutcome,
  runWorker,
  type Exit,
  type RunningWorker,
} from "./fault-runner.ts";
import { mountSmallDisk } from "./small-disk.ts";

let worker: string;
beforeAll(async () => {
  worker = await buildWorker("worker-entry");
});

const FULL_MS = 1_200;

/** The disk is full from the point on, for a while. False: it was never reached. */
async function fill(at: {
  provider: string;
  point: string;
  what: "full" | "full disk";
  path?: string;
}): Promise<boolean> {
  const { provider, point, what } = at;
  await using servers = await startClassServers();
  await using folder = await makeDataFolder(provider, { count: 2, accounts: 1 }, at.path);
  const running = runWorker(worker, [folder.path, servers.baseUrl, point, what, String(FULL_MS)]);
  const isReached = await running.reached;
  const exit = await startedAgain(at, running, [folder.path, servers.baseUrl]);
  expect(exit, exit.stderr).toMatchObject({ code: 0 });
  const wrong = judge(await readOutcome(folder.path), servers.visible(), provider === "class_f");
  expect({ ...at, wrong, violations: servers.violations }).toEqual({ ...at, wrong: [], violations: [] });
  return isReached;
}

/** A process that finds no space at all when it starts says so and ends; the next one finds some. */
async function startedAgain(
  at: { point: string; what: string },
  running: RunningWorker,
  args: [string, string],
): Promise<Exit> {
  const exit = await running.exit;
  if (at.point !== "start" || at.what !== "full disk") return exit;
  expect(exit).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("The disk of the data folder is full"),
  });
  rmSync(join(args[0], "ballast"));
  return runWorker(worker, args).exit;
}

describe("a full disk", { timeout: 120_000 }, () => {
  it.each(["class_b at claim:durable", "class_c at handle:durable", "class_d at change:answered"])(
    "%s: nothing is sent without its intent, and it goes on by itself when there is space again",
    async (name) => {
      const [provider = "", , point = ""] = name.split(" ");
      expect(await fill({ provider, point, what: "full" })).toBe(true);
    },
  );

  it("of a few megabytes, filled to the last byte: the same", async ({ skip }) => {
    using temporary = temporaryFolder();
    await using disk = await mountSmallDisk(temporary.path, 3);
    if (disk === null) return skip("This process may not mount a disk.");
    const at = { provider: "class_a", point: "start", path: temporary.path };
    expect(await fill({ ...at, what: "full disk" })).toBe(true);
  });

  it("takes a part of no file: the upload fails with a sentence, and the next one that fits is stored", async ({
    skip,
  }) => {
    using temporary = temporaryFolder();
    await using disk = await mountSmallDisk(temporary.path, 3);
    if (disk === null) return skip("This process may not mount a disk.");
    const store = createFolderStore(temporary.path);
    const bytes = (mebibytes: number): Readable =>
      Readable.from(Array.from({ length: mebibytes }, () => Buffer.alloc(1 << 20, "x")));
    const full = await store.write("default/large", bytes(8)).catch((error: unknown) => error);
    expect(full).toBeInstanceOf(AppError);
    expect(full).toMatchObject({ kind: "unavailable", message: expect.stringMatching(/full/) });
    expect(await store.size("default/large")).toBeNull();
    expect(await store.write("default/small", bytes(2))).toMatchObject({ sizeBytes: 2 << 20 });
  });
});
