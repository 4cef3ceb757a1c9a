import { randomBytes } from "node:crypto";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCipher } from "../../src/store/cipher.ts";
import { openDb } from "../../src/store/db.ts";
import { createBlueskyWorld } from "../support/bluesky.ts";
import { FakeClock } from "../support/clock.ts";
import { startPds, type PdsUser, type TestPds } from "../support/pds.ts";
import { buildWorker, readOutcome, runWorker, type Exit } from "./fault-runner.ts";

let pds: TestPds;
let user: PdsUser;
let appPassword: string;
let worker: string;
beforeAll(async () => {
  [pds, worker] = await Promise.all([startPds(), buildWorker("bluesky-worker")]);
  user = await pds.createUser();
  appPassword = await user.appPassword("kills");
});
afterAll(() => pds[Symbol.asyncDispose]());

/** A data folder with a connected channel and a thread with a picture that is due. */
async function makeFolder(caption: string): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), "posthorn-bluesky-"));
  const key = randomBytes(32);
  await writeFile(join(path, "key"), key, { mode: 0o600 });
  await copyFile(new URL("../fixtures/photo.png", import.meta.url), join(path, "photo.png"));
  const db = await openDb({ file: join(path, "posthorn.db") });
  const clock = new FakeClock(new Date().toISOString());
  await using world = await createBlueskyWorld({ baseUrl: pds.url, overrides: { db, clock, cipher: createCipher(key) } });
  const account = await world.connect(user, appPassword);
  await world.schedule(account, { caption, mediaUrl: "https://m.example/1", metadata: { thread: [{ caption: "2" }, { caption: "3" }] } });
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

function run(path: string, point = "none", hit = 1): Promise<Exit> {
  return runWorker(worker, [path, pds.url, point, String(hit)]).exit;
}

/** Runs until a process ends by itself; the second is killed at the same point too in every second round. Returns the kills. */
async function runToTheEnd(path: string, point: string, hit: number): Promise<number> {
  let kills = 0;
  let exit = await run(path, point, hit);
  while (exit.signal === "SIGKILL") {
    kills += 1;
    exit = await run(path, kills === 1 && hit % 2 === 0 ? point : "none");
  }
  expect(exit, exit.stderr).toMatchObject({ code: 0 });
  return kills;
}

describe("kill -9 of a publisher on a real Bluesky server", () => {
  it.each(["commit:before", "commit:after", "request:before", "request:after"])(
    "at every %s: the thread is there once, and is called published",
    { timeout: 180_000 },
    async (point) => {
      let total = 0;
      for (let hit = 1, kills = 1; kills > 0; hit += 1) {
        const caption = `${point} ${hit}`;
        const before = (await user.records()).length;
        await using folder = await makeFolder(caption);
        kills = await runToTheEnd(folder.path, point, hit);
        total += kills;
        const records = await user.records();
        const texts = records.slice(before).map(({ value }) => value["text"]);
        expect({ hit, texts, posts: await readOutcome(folder.path) }).toEqual({
          hit,
          texts: [caption, "2", "3"],
          posts: [{ caption, status: "published", inDoubt: false, error: null }],
        });
        // A page of the server's listing is what is counted: begin anew before it is full.
        if (records.length > 80) for (const { uri } of records) await user.deleteRecord("app.bsky.feed.post", uri.split("/").at(-1) ?? "");
      }
      expect(total).toBeGreaterThanOrEqual(point.startsWith("commit") ? 8 : 2);
    },
  );
});
