import { randomBytes } from "node:crypto";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { createCipher } from "../../src/store/engine/cipher.ts";
import { openStore } from "../../src/store/open-store.ts";
import { createBlueskyWorld } from "../support/bluesky.ts";
import { FakeClock } from "../support/clock.ts";
import { startLosingProxy, type Fault } from "../support/losing-proxy.ts";
import { startPds, type PdsUser, type TestPds } from "../support/pds.ts";
import { buildWorker, readOutcome, runWorker, type Exit } from "./fault-runner.ts";
import { randomFor, report, SEED, times, TIMEOUT_MS } from "./report.ts";

let pds: TestPds;
let user: PdsUser;
let appPassword: string;
let worker: string;
beforeAll(async () => {
  [pds, worker] = await Promise.all([startPds(), buildWorker("bluesky-worker")]);
  user = await pds.createUser();
  appPassword = await user.appPassword("kills");
});

interface Channel {
  readonly baseUrl: string;
  readonly user: PdsUser;
  readonly appPassword: string;
}

/** A data folder with a connected channel and a thread with a picture that is due. */
async function makeFolder(caption: string, channel: Channel): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), "posthorn-bluesky-"));
  const key = randomBytes(32);
  await writeFile(join(path, "key"), key, { mode: 0o600 });
  await copyFile(new URL("../fixtures/photo.png", import.meta.url), join(path, "photo.png"));
  const store = await openStore({ file: join(path, "posthorn.db") });
  const clock = new FakeClock(new Date().toISOString());
  await using world = await createBlueskyWorld({
    baseUrl: channel.baseUrl,
    overrides: { store, clock, cipher: createCipher(key) },
  });
  const account = await world.connect(channel.user, channel.appPassword);
  await world.schedule(account, {
    caption,
    mediaUrl: "https://m.example/1",
    metadata: { thread: [{ caption: "2" }, { caption: "3" }] },
  });
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

function run(path: string, point = "none", hit = 1): Promise<Exit> {
  return runWorker(worker, [path, pds.url, point, String(hit)]).exit;
}

/**
 * Runs until a process ends by itself; the second is killed at the same point too in every second round.
 * Returns the kills.
 */
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

describe("F2 kill -9 of a publisher on a real Bluesky server", () => {
  it.each(["commit:before", "commit:after", "request:before", "request:after"])(
    "at every %s: the thread is there once, and is called published",
    { timeout: TIMEOUT_MS },
    async (point) => {
      let total = 0;
      for (let hit = 1, kills = 1; kills > 0; hit += 1) {
        const caption = `${point} ${hit}`;
        const before = (await user.records()).length;
        await using folder = await makeFolder(caption, { baseUrl: pds.url, user, appPassword });
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
        if (records.length > 80)
          for (const { uri } of records)
            await user.deleteRecord("app.bsky.feed.post", uri.split("/").at(-1) ?? "");
      }
      expect(total).toBeGreaterThanOrEqual(point.startsWith("commit") ? 8 : 2);
      report({
        fault: "F2",
        how: `a real Bluesky server, a thread with a picture: SIGKILL at the 1st, 2nd, … ${point.replace(":", ", ")} it`,
        runs: `${total} kills`,
        seen: "the server itself counts each thread once, and each is called published",
      });
    },
  );
});

const WRITE = "com.atproto.repo.applyWrites";
const UPLOAD = "com.atproto.repo.uploadBlob";
const LOSSES: readonly (Fault | null)[] = [
  null,
  "lose_answer",
  "half_answer",
  "garbage",
  "cut_upload",
  { status: 500, when: "after" },
  { status: 502, when: "before" },
];
const WANTED_KILLS = times({ short: 3, long: 200 });
const LANES = 3;
/** Long enough to fall before, into and after the publishing. */
const LATEST_KILL_MS = 900;

describe("F2 kill -9 at random moments behind a proxy that loses answers", () => {
  it("each thread is on the real server once, and is called published", { timeout: TIMEOUT_MS }, async () => {
    let kills = 0;
    let threads = 0;
    const lane = async (number: number): Promise<void> => {
      const random = randomFor(`bluesky ${number}`);
      const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)];
      await using proxy = await startLosingProxy(pds.url);
      while (kills < WANTED_KILLS) {
        // Once a thread, because a page of the server's listing is what is counted.
        const owner = await pds.createUser();
        const channel = { baseUrl: proxy.url, user: owner, appPassword: await owner.appPassword("kills") };
        await using folder = await makeFolder("1", channel);
        let cuts = 0;
        for (let cut = 0; cut < 3; cut++) {
          const loss = pick(LOSSES) ?? null;
          if (loss !== null) proxy.fail(pick([WRITE, UPLOAD]) ?? WRITE, loss);
          const running = runWorker(worker, [folder.path, proxy.url, "none", "1"]);
          await running.ready;
          await delay(random() * LATEST_KILL_MS);
          running.child.kill("SIGKILL");
          if ((await running.exit).signal !== "SIGKILL") break;
          kills += 1;
          cuts += 1;
        }
        // Each loss is waited out, longer each time.
        const last = await runWorker(worker, [folder.path, proxy.url, "none", "1", "600000"]).exit;
        expect(last, last.stderr).toMatchObject({ code: 0 });
        threads += 1;
        const texts = (await owner.records()).map(({ value }) => value["text"]);
        const posts = await readOutcome(folder.path);
        // Three kills in a row while it was worked on: it fails and says so, and nothing of it is there twice.
        if (cuts === 3 && posts[0]?.error?.includes("the program ended 4 times in a row")) {
          expect({ SEED, texts }).toEqual({ SEED, texts: ["1", "2", "3"].slice(0, texts.length) });
          expect(posts).toMatchObject([{ caption: "1", status: "failed" }]);
          continue;
        }
        expect({ SEED, texts, posts }).toEqual({
          SEED,
          texts: ["1", "2", "3"],
          posts: [{ caption: "1", status: "published", inDoubt: false, error: null }],
        });
      }
    };
    await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
    report({
      fault: "F2",
      how: "a real Bluesky server behind a proxy that loses, breaks off, garbles and refuses: SIGKILL at random moments, up to three a thread",
      runs: `${kills} kills, ${threads} threads`,
      seen: "the server itself counts each thread once, and each is called published",
      isSeeded: true,
    });
  });
});
