import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createDatabaseOn, startPostgres } from "../test/support/postgres-server.ts";
import { fillQueue } from "../test/support/queue.ts";
import { openStoreOn } from "../test/support/postgres-store-on.ts";
import { installWorkspace } from "../test/support/workspace.ts";
import type { Order } from "./support/drain-worker.ts";
import { percentile, print } from "./support/report.ts";

/**
 * How late posts leave that are all due at one moment, from a PostgreSQL that waits for its disk, with a platform
 * that does nothing: claim, intent, result and end of each.
 *
 *   npx tsx bench/drain-postgres.ts [posts] [processes]
 */
const [POSTS = 1_000, PROCESSES = 4] = process.argv.slice(2).map(Number);

await installWorkspace("postgres");
await using server = await startPostgres({ isDurable: true, flags: ["-c", "max_connections=200"] });
await using database = await createDatabaseOn(server.address);
const workers = Array.from({ length: PROCESSES }, (_, n) => {
  const child = fork(join(import.meta.dirname, "support", "drain-worker.ts"), { stdio: "inherit" });
  child.send({ url: database.url, id: `wrk_${n}` } satisfies Order);
  return child;
});
await Promise.all(workers.map((worker) => once(worker, "message")));
await using store = await openStoreOn(database.url);
const dueAt = Math.ceil((Date.now() + 3_000) / 1_000) * 1_000;
await fillQueue(store, { accounts: POSTS, posts: POSTS, dueAt });
const late: number[] = [];
let isOver = false;
const ended = workers.map((worker) => once(worker, "exit"));
for (const worker of workers) {
  worker.on("message", (sentAt: number[]) => {
    late.push(...sentAt.map((at) => at - dueAt));
    if (isOver || late.length < POSTS) return;
    isOver = true;
    for (const one of workers) one.send("stop");
  });
  worker.send("begin");
}
await Promise.all(ended);
const at = (percent: number): string => `${percentile(late, percent)} ms`;
print(
  [`${late.length} posts due at one moment, ${PROCESSES} processes, sent after`, "p50", "p99", "last"],
  [["", at(50), at(99), at(100)]],
);
