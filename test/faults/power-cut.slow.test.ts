import { execFile, execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { openSqlite } from "../../src/store/local/driver.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { CLASS_PLATFORMS } from "./class-platforms.ts";
import { startClassServers, type ClassServers } from "./class-servers.ts";
import {
  buildWorker,
  judge,
  makeDataFolder,
  readOutcome,
  runWorker,
  type RunningWorker,
} from "./fault-runner.ts";
import { report, times, TIMEOUT_MS } from "./report.ts";

const CACHE = join(import.meta.dirname, "..", "..", "node_modules", ".cache", "posthorn-test");
const SOURCE = join(import.meta.dirname, "synced-copies.c");

let worker: string;
/** Null where there is no compiler: then only what was written is cut, synced or not. */
let preload: string | null;
beforeAll(async () => {
  worker = await buildWorker("worker-entry");
  const library = join(CACHE, `synced-copies-${process.pid}.so`);
  preload = await promisify(execFile)("gcc", ["-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"]).then(
    () => library,
    () => null,
  );
});

interface Cut {
  readonly provider: string;
  readonly posts: number;
  /** At which request that changes something. */
  readonly nth: number;
  /** The server acts on it although nobody is there any more to hear. */
  readonly isDone: boolean;
  /** What was never synced is lost; else all that was written is there. */
  readonly isSyncedOnly: boolean;
}

function copyDatabase(from: string, to: string): void {
  for (const name of readdirSync(from))
    if (/^posthorn\.db(-wal)?$/.test(name)) copyFileSync(join(from, name), join(to, name));
}

/** The step of the post whose request the platform saw, as the image of the disk has it. */
function intentsIn(image: string, text: string): { states: string[]; integrity: string } {
  const { database } = openSqlite({ file: join(image, "posthorn.db"), busyTimeoutMs: 0 });
  try {
    const rows = database
      .prepare(
        "SELECT e.state FROM effects e JOIN posts p ON p.id = e.post_id WHERE p.caption = ? AND e.step NOT LIKE 'once:%'",
      )
      .all([text]) as { state: string }[];
    const { integrity } = database
      .prepare("SELECT integrity_check AS integrity FROM pragma_integrity_check")
      .get([]) as { integrity: string };
    return { states: rows.map(({ state }) => state), integrity };
  } finally {
    database.close();
  }
}

/** Beside what this process was started with itself, a clock that is set elsewhere, say. */
function preloading(library: string): string {
  return [library, process.env["LD_PRELOAD"]].filter(Boolean).join(":");
}

/**
 * The power goes at the request; a new process goes on from what the disk had. False: there was no such
 * request any more.
 */
async function cutPower(cut: Cut): Promise<boolean> {
  await using servers = await startClassServers();
  await using folder = await makeDataFolder(cut.provider, { count: cut.posts, accounts: 1 });
  using temporary = temporaryFolder();
  const [synced, image, looked] = ["synced", "image", "looked"].map((name) => join(temporary.path, name));
  for (const path of [synced, image, looked]) mkdirSync(path!);
  copyDatabase(folder.path, synced!);
  const env =
    cut.isSyncedOnly && preload !== null
      ? { LD_PRELOAD: preloading(preload), SYNCED_FROM: folder.path, SYNCED_TO: synced! }
      : {};
  const running = runWorker(worker, [folder.path, servers.baseUrl], env);
  const text = await untilCut(servers, cut, running, () =>
    copyDatabase(cut.isSyncedOnly ? synced! : folder.path, image!),
  );
  if (text === null) return false;
  // Looking changes the files; what goes on must begin with what was there.
  copyDatabase(image!, looked!);
  expect({ cut, ...intentsIn(looked!, text) }).toEqual({
    cut,
    states: expect.arrayContaining(["intent"]),
    integrity: "ok",
  });
  copyFileSync(join(folder.path, "key"), join(image!, "key"));
  const last = await runWorker(worker, [image!, servers.baseUrl]).exit;
  expect(last, last.stderr).toMatchObject({ code: 0 });
  const wrong = judge(await readOutcome(image!), servers.visible(), cut.provider === "class_f");
  expect({ cut, wrong, violations: servers.violations }).toEqual({ cut, wrong: [], violations: [] });
  return true;
}

async function untilCut(
  servers: ClassServers,
  cut: Cut,
  running: RunningWorker,
  takeImage: () => void,
): Promise<string | null> {
  let seen = 0;
  let at: string | null = null;
  servers.onChange = (text) => {
    seen += 1;
    if (seen !== cut.nth) return true;
    takeImage();
    running.child.kill("SIGKILL");
    at = text;
    return cut.isDone;
  };
  const exit = await running.exit;
  servers.onChange = null;
  if (at === null) expect(exit, exit.stderr).toMatchObject({ code: 0 });
  return at;
}

describe("F6 a power cut", { timeout: TIMEOUT_MS }, () => {
  it("takes no intent of a request that the platform saw, and what goes on from the disk publishes once", async () => {
    const wanted = times({ short: 4, long: 500 });
    let images = 0;
    const kinds = [false, true].flatMap((isDone) =>
      (preload === null ? [false] : [true, false]).map((isSyncedOnly) => ({ isDone, isSyncedOnly })),
    );
    const queue = (function* (): Generator<Cut> {
      // The short form takes the first of each class, then the next ones.
      for (let posts = 2; ; posts += 2) {
        for (let nth = 1; nth <= posts * 4; nth++) {
          for (const kind of kinds)
            for (const provider of Object.keys(CLASS_PLATFORMS)) yield { provider, posts, nth, ...kind };
        }
      }
    })();
    const lane = async (): Promise<void> => {
      for (const cut of queue) {
        if (images >= wanted) return;
        if (await cutPower(cut)) images += 1;
      }
    };
    await Promise.all([lane(), lane()]);
    report({
      fault: "F6",
      how: `the power goes at the n-th request that changes something, before or after the platform acts; ${preload === null ? "what was written is kept" : "what was never synced is lost, or all that was written is kept"}; a new process goes on from the image, 6 classes`,
      runs: `${images} images`,
      seen: "each had the intent of the request that the platform saw; integrity ok; 0 twice, 0 lost; unknown only on blind platforms",
    });
  });

  it("would be noticed by this test if commits were not synced", async () => {
    if (preload === null) return;
    for (const synchronous of ["NORMAL", "FULL"]) {
      using temporary = temporaryFolder();
      const [from, to] = [join(temporary.path, "from"), join(temporary.path, "to")];
      for (const path of [from, to]) mkdirSync(path);
      const script = `
        const { openSqlite } = await import("./src/store/local/driver.ts");
        const { database } = openSqlite({ file: process.argv[1], busyTimeoutMs: 0 });
        database.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (x); PRAGMA wal_checkpoint(TRUNCATE)");
        database.exec("PRAGMA synchronous = ${synchronous}; INSERT INTO t VALUES (1)"); process.kill(process.pid, "SIGKILL");`;
      const args = ["--import", "tsx", "--input-type=module", "-e", script, join(from, "posthorn.db")];
      try {
        execFileSync(process.execPath, args, {
          cwd: join(import.meta.dirname, "..", ".."),
          env: { ...process.env, LD_PRELOAD: preloading(preload), SYNCED_FROM: from, SYNCED_TO: to },
        });
      } catch {
        // It ends by its own kill.
      }
      // Of the time before WAL; its removal was synced, too.
      rmSync(join(to, "posthorn.db-journal"));
      const { database } = openSqlite({ file: join(to, "posthorn.db"), busyTimeoutMs: 0 });
      const { n } = database.prepare("SELECT count(*) AS n FROM t").get([]) as { n: number };
      database.close();
      expect({ synchronous, n }).toEqual({ synchronous, n: synchronous === "FULL" ? 1 : 0 });
    }
    rmSync(preload, { force: true });
  });
});
