import { rmSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { beforeAll, describe, expect, it } from "vitest";
import { AppError } from "../../src/domain/errors.ts";
import { createFolderStore } from "../../src/media/stores/folder-store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { CLASS_PLATFORMS } from "./class-platforms.ts";
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
import { IS_LONG, report, TIMEOUT_MS } from "./report.ts";
import { mountSmallDisk } from "./small-disk.ts";

let worker: string;
beforeAll(async () => {
  worker = await buildWorker("worker-entry");
});

/** After each of them comes another write, and each write once is the one that does not fit. */
const POINTS = [
  "start",
  "claim:durable",
  "intent:durable",
  "change:sending",
  "change:answered",
  "read:answered",
  "handle:durable",
  "asked:durable",
  "result:durable",
];
const FULL_MS = 1_200;
const CLASSES = Object.keys(CLASS_PLATFORMS);

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

async function inLanes<T>(count: number, jobs: readonly T[], work: (job: T) => Promise<void>): Promise<void> {
  const queue = jobs.values();
  const lane = async (): Promise<void> => {
    for (const job of queue) await work(job);
  };
  await Promise.all(Array.from({ length: count }, lane));
}

const everywhere = CLASSES.flatMap((provider) => POINTS.map((point) => ({ provider, point })));
const chosen = IS_LONG ? everywhere : everywhere.filter((_, n) => n % 11 === 1);

describe("F7 a full disk", { timeout: TIMEOUT_MS }, () => {
  it("at any write: nothing is sent without its intent, and it goes on by itself when there is space again", async () => {
    let filled = 0;
    await inLanes(5, chosen, async (at) => {
      if (await fill({ ...at, what: "full" })) filled += 1;
    });
    expect(filled).toBeGreaterThan(0);
    report({
      fault: "F7",
      how: `the database may not grow (SQLITE_FULL) for ${FULL_MS / 1_000} s from each of ${POINTS.length} points on, 6 classes`,
      runs: `${filled} full disks`,
      seen: "no request without its intent; went on by itself; 0 twice, 0 lost; unknown only on blind platforms",
    });
  });

  it("of a few megabytes, filled to the last byte: the same", async ({ skip }) => {
    let filled = 0;
    for (const at of IS_LONG ? chosen : everywhere.slice(0, 1)) {
      using temporary = temporaryFolder();
      await using disk = await mountSmallDisk(temporary.path, 3);
      if (disk === null) return skip("This process may not mount a disk.");
      if (await fill({ ...at, what: "full disk", path: temporary.path })) filled += 1;
    }
    report({
      fault: "F7",
      how: `a real disk of 3 MB, filled to the last byte for ${FULL_MS / 1_000} s from each of ${POINTS.length} points on, 6 classes`,
      runs: `${filled} full disks`,
      seen: "no request without its intent; went on by itself; 0 twice, 0 lost; unknown only on blind platforms",
    });
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
    report({
      fault: "F7",
      how: "a real disk of 3 MB, and a file of 8 MB for the file store",
      runs: "1",
      seen: "refused with a sentence (503), no part of it left; a file that fits is stored after it",
    });
  });
});
