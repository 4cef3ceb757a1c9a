import { readFileSync } from "node:fs";
import { join } from "node:path";
import { newId } from "../../src/domain/ids.ts";
import { createOutbound } from "../../src/media/outbound.ts";
import type { Outbound } from "../../src/ports/outbound.ts";
import { startPublisher } from "../../src/publisher/loop.ts";
import { createCipher } from "../../src/store/cipher.ts";
import { openDb, type Db } from "../../src/store/db.ts";
import type { SqliteDatabase } from "../../src/store/driver.ts";
import { createWorkerLocks } from "../../src/store/worker-lock.ts";
import { systemClock } from "../../src/system-clock.ts";
import { createMemoryLogger, createTestContext } from "../support/context.ts";
import { CLASS_PLATFORMS } from "./class-platforms.ts";

/**
 * The publisher in a process of its own that kills itself, by SIGKILL, at the n-th hit of a named point of the protocol. The
 * points sit around the database and the network from outside; the publisher knows nothing of them.
 *
 * argv: data folder, base address of the platforms, point (or "none"), n.
 */
const [folder = "", baseUrl = "", point = "none", hit = "1"] = process.argv.slice(2);

let hits = 0;
function passing(name: string): void {
  if (name !== point) return;
  hits += 1;
  if (hits === Number(hit)) process.kill(process.pid, "SIGKILL");
}

/** What a piece of work writes, told by its statements. */
const WRITES: readonly (readonly [RegExp, string])[] = [
  [/^\s*UPDATE posts SET status = CASE/, "claim"],
  [/^\s*INSERT INTO effects/, "intent"],
  [/^\s*UPDATE effects SET state/, "result"],
  [/^\s*UPDATE effects SET handle_enc/, "handle"],
  [/^\s*UPDATE effects SET asked/, "asked"],
  [/^\s*UPDATE attempts SET outcome = \?/, "end"],
  [/^\s*UPDATE posts SET lease_worker = NULL/, "takeover"],
];

function watchWrites(db: Db): Db {
  const commit: Db["commit"] = async (work) => {
    const names = new Set<string>();
    const result = await db.commit((raw) => {
      const value = work(spy(raw, names));
      for (const name of names) passing(`${name}:written`);
      return value;
    });
    for (const name of names) passing(`${name}:durable`);
    return result;
  };
  return { ...db, commit, [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() };
}

function spy(raw: SqliteDatabase, names: Set<string>): SqliteDatabase {
  const prepare: SqliteDatabase["prepare"] = (source) => {
    const name = WRITES.find(([pattern]) => pattern.test(source))?.[1];
    if (name !== undefined) names.add(name);
    return raw.prepare(source);
  };
  return { ...raw, prepare };
}

function watchNetwork(outbound: Outbound): Outbound {
  return {
    assertAllowed: (field, url) => outbound.assertAllowed(field, url),
    request: async (request) => {
      const kind = request.method === "GET" ? "read" : "change";
      passing(`${kind}:sending`);
      const answer = await outbound.request(request);
      passing(`${kind}:answered`);
      return answer;
    },
  };
}

const log = createMemoryLogger();
const db = watchWrites(await openDb({ file: join(folder, "posthorn.db") }));
const settings = Object.fromEntries(Object.keys(CLASS_PLATFORMS).map((name) => [`POSTHORN_${name.toUpperCase()}_BASE_URL`, baseUrl]));
let wake = (): void => {};
const ctx = await createTestContext({
  db,
  log,
  clock: systemClock,
  cipher: createCipher(readFileSync(join(folder, "key"))),
  outbound: watchNetwork(createOutbound({ allowedHosts: [], trustedOrigins: [baseUrl] })),
  media: { forPost: () => ({}) as never, release: async () => {} },
  platformList: Object.values(CLASS_PLATFORMS),
  settings: { timezone: "UTC", maxLatenessMs: 3_600_000, uploadFolders: [], platformSettings: settings },
  workerId: newId("wrk"),
  wakePublisher: () => wake(),
});
const publisher = await startPublisher(ctx, {
  identity: { role: "serve", host: "test", pid: process.pid, version: "0" },
  locks: createWorkerLocks(join(folder, "workers")),
});
wake = () => publisher.wake();
process.stdout.write("publishing\n");

const GIVE_UP_MS = 20_000;
const started = Date.now();
const timer = setInterval(() => {
  const row = db.raw.prepare("SELECT COUNT(*) AS waiting FROM posts WHERE next_at IS NOT NULL OR lease_worker IS NOT NULL").get([]) as {
    waiting: number;
  };
  if (row.waiting > 0 && Date.now() - started < GIVE_UP_MS) return;
  clearInterval(timer);
  if (row.waiting > 0) process.stderr.write(`${log.lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
  void publisher.close().then(() => process.exit(row.waiting > 0 ? 3 : 0));
}, 10);
