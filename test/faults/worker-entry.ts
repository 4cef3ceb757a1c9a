import { appendFileSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { newId } from "../../src/domain/ids.ts";
import { createOutbound } from "../../src/media/outbound/outbound.ts";
import type { Outbound } from "../../src/ports/outbound.ts";
import { startPublisher } from "../../src/publishing/loop.ts";
import { createCipher } from "../../src/store/engine/cipher.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { SqliteDatabase } from "../../src/store/local/driver.ts";
import { systemClock } from "../../src/app/system-clock.ts";
import { createMemoryLogger, createTestContext } from "../support/context.ts";
import { CLASS_PLATFORMS } from "./class-platforms.ts";
import { rawOf } from "../support/handles.ts";
import { writeNamed } from "../support/protocol-writes.ts";

/**
 * The publisher in a process of its own to which something happens, SIGKILL if nothing else is said, once it comes to a
 * named point of the protocol. The points sit around the database and the network from outside; the publisher knows
 * nothing of them. argv: data folder, base address of the platforms, point (or "none"), what happens, and for how many
 * milliseconds.
 */
const [folder = "", baseUrl = "", point = "none", what = "kill", lastsMs = "0"] = process.argv.slice(2);

/** What happens at the point. The test is told first, because some of it leaves no time to. */
const HAPPENINGS: Readonly<Record<string, () => void>> = {
  kill: () => process.kill(process.pid, "SIGKILL"),
  full: fillDatabase,
  "full disk": fillDisk,
};

let hasHappened = false;
function passing(name: string): void {
  if (name !== point || hasHappened) return;
  hasHappened = true;
  writeSync(1, "reached\n");
  HAPPENINGS[what]?.();
}

/**
 * SQLite answers as on a full disk, for a while: the database may not grow, and what is free inside is used
 * up.
 */
function fillDatabase(): void {
  const raw = rawOf(store);
  const { page_count: pages } = raw.prepare("PRAGMA page_count").get([]) as { page_count: number };
  raw.exec(`PRAGMA max_page_count = ${pages}`);
  try {
    for (;;) raw.exec("INSERT INTO ballast VALUES (randomblob(200))");
  } catch {
    setTimeout(() => raw.exec("PRAGMA max_page_count = 1000000"), Number(lastsMs));
  }
}

/** The folder is on a small disk of its own; a file takes what is left of it, for a while. */
function fillDisk(): void {
  const ballast = join(folder, "ballast");
  try {
    for (;;) appendFileSync(ballast, Buffer.alloc(1 << 16));
  } catch {
    setTimeout(() => rmSync(ballast), Number(lastsMs));
  }
}

/** A piece of work is written once its statements ran, and durable once its transaction is committed. */
function watchWrites(raw: SqliteDatabase): SqliteDatabase {
  let names = new Set<string>();
  const prepare: SqliteDatabase["prepare"] = (source) => {
    const statement = raw.prepare(source);
    const name = writeNamed(source);
    if (name !== undefined) names.add(name);
    if (source === "rollback") names = new Set();
    if (source !== "commit") return statement;
    const run: typeof statement.run = (parameters) => {
      const written = names;
      names = new Set();
      for (const one of written) passing(`${one}:written`);
      const result = statement.run(parameters);
      for (const one of written) passing(`${one}:durable`);
      return result;
    };
    return { ...statement, reader: false, run };
  };
  return { ...raw, prepare };
}

function watchNetwork(outbound: Outbound): Outbound {
  return {
    assertAllowed: (field, url) => outbound.assertAllowed(field, url),
    request: async (request) => {
      const kind = request.method === "GET" ? "read" : "change";
      if (kind === "change" && countIntents() === 0) {
        writeSync(2, "A request that changes something is sent without its intent.\n");
        process.exit(4);
      }
      passing(`${kind}:sending`);
      const answer = await outbound.request(request);
      passing(`${kind}:answered`);
      return answer;
    },
  };
}

function countIntents(): number {
  return (
    rawOf(store).prepare("SELECT COUNT(*) AS n FROM effects WHERE state = 'intent'").get([]) as { n: number }
  ).n;
}

/** After so long it is in vain. */
const GIVE_UP_MS = 120_000;

const log = createMemoryLogger();
const store = await openStore({
  file: join(folder, "posthorn.db"),
  locks: join(folder, "workers"),
  around: watchWrites,
});
const settings = Object.fromEntries(
  Object.keys(CLASS_PLATFORMS).map((name) => [`POSTHORN_${name.toUpperCase()}_BASE_URL`, baseUrl]),
);
if (what === "full") rawOf(store).exec("CREATE TABLE IF NOT EXISTS ballast (bytes BLOB)");
passing("start");
let wake = (): void => {};
const ctx = await createTestContext({
  store,
  log,
  clock: systemClock,
  cipher: createCipher(readFileSync(join(folder, "key"))),
  outbound: watchNetwork(createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] })),
  media: { forPost: () => ({}) as never, release: async () => {} },
  platformList: Object.values(CLASS_PLATFORMS),
  settings: { timezone: "UTC", maxLatenessMs: 3_600_000, uploadFolders: [], platformSettings: settings },
  workerId: newId("wrk"),
  wakePublisher: () => wake(),
});
const publisher = await startPublisher(ctx, {
  identity: { role: "serve", host: "test", pid: process.pid, version: "0" },
});
wake = () => publisher.wake();
process.stdout.write("publishing\n");

const started = Date.now();
const timer = setInterval(() => {
  const row = rawOf(store)
    .prepare("SELECT COUNT(*) AS waiting FROM posts WHERE next_at IS NOT NULL OR lease_worker IS NOT NULL")
    .get([]) as {
    waiting: number;
  };
  if (row.waiting > 0 && Date.now() - started < GIVE_UP_MS) return;
  clearInterval(timer);
  if (row.waiting > 0) process.stderr.write(`${log.lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
  void publisher.close().then(() => process.exit(row.waiting > 0 ? 3 : 0));
}, 10);
