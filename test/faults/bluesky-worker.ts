import { readFileSync } from "node:fs";
import { join } from "node:path";
import { newId } from "../../src/domain/ids.ts";
import { createOutbound } from "../../src/media/outbound/outbound.ts";
import bluesky from "../../src/platforms/bluesky/index.ts";
import { startPublisher } from "../../src/publishing/loop.ts";
import { createCipher } from "../../src/store/engine/cipher.ts";
import { openStore } from "../../src/store/open-store.ts";
import { systemClock } from "../../src/app/system-clock.ts";
import { createMemoryLogger, createTestContext } from "../support/context.ts";
import { createMemoryMedia } from "../support/memory-media.ts";
import { rawOf, withWrite } from "../support/handles.ts";

/**
 * The publisher with the real Bluesky platform, in a process that kills itself by SIGKILL at the n-th durable
 * write or request, before or after it. The points lie around the database and the network; the publisher
 * knows nothing of them.
 * argv: data folder, address of the server, point (or "none"), n, and after how many milliseconds it is in
 * vain.
 */
const [folder = "", baseUrl = "", point = "none", hit = "1", giveUpMs = "20000"] = process.argv.slice(2);

let hits = 0;
function passing(name: string): void {
  if (name !== point) return;
  hits += 1;
  if (hits === Number(hit)) process.kill(process.pid, "SIGKILL");
}

const database = await openStore({ file: join(folder, "posthorn.db"), locks: join(folder, "workers") });
const store = withWrite(database, async (work) => {
  const result = await database.write(async (tx) => {
    const value = await work(tx);
    passing("commit:before");
    return value;
  });
  passing("commit:after");
  return result;
});
const outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
const bytes = readFileSync(join(folder, "photo.png"));
const log = createMemoryLogger();
let wake = (): void => {};
const ctx = await createTestContext({
  store,
  log,
  clock: systemClock,
  cipher: createCipher(readFileSync(join(folder, "key"))),
  outbound: {
    assertAllowed: (field, url) => outbound.assertAllowed(field, url),
    request: async (request) => {
      passing("request:before");
      const answer = await outbound.request(request);
      passing("request:after");
      return answer;
    },
  },
  media: createMemoryMedia(
    new Map([["https://m.example/1", { bytes, mimeType: "image/png", width: 4, height: 3 }]]),
  ),
  feed: { get: never, put: never, change: never, remove: never, keepMedia: never },
  platformList: [bluesky],
  settings: {
    timezone: "UTC",
    maxLatenessMs: 3_600_000,
    uploadFolders: [],
    platformSettings: { POSTHORN_BLUESKY_BASE_URL: baseUrl },
  },
  workerId: newId("wrk"),
  wakePublisher: () => wake(),
});
const publisher = await startPublisher(ctx, {
  identity: { role: "serve", host: "test", pid: process.pid, version: "0" },
});
wake = () => publisher.wake();
process.stdout.write("publishing\n");

async function never(): Promise<never> {
  throw new Error("Bluesky does not use the feed.");
}

const started = systemClock.monotonic();
const timer = setInterval(() => {
  const waiting =
    rawOf(database)
      .prepare("SELECT id FROM posts WHERE next_at IS NOT NULL OR lease_worker IS NOT NULL")
      .get([]) !== undefined;
  if (waiting && systemClock.monotonic() - started < Number(giveUpMs)) return;
  clearInterval(timer);
  if (waiting) process.stderr.write(`${log.lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
  void publisher.close().then(() => process.exit(waiting ? 3 : 0));
}, 10);
