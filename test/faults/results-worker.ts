import { appendFileSync } from "node:fs";
import { systemClock } from "../../src/app/system-clock.ts";
import { newId } from "../../src/domain/ids.ts";
import { collectResults } from "../../src/reporting/results/collect.ts";
import type { Store } from "../../src/store/engine/store.ts";
import { openStore } from "../../src/store/open-store.ts";
import { createMemoryLogger, createTestContext } from "../support/context.ts";
import { collected } from "./killed-results.ts";

/**
 * Collects figures until nothing is due, in a process that kills itself, by SIGKILL, at the n-th hit of a point:
 * before a write, once it is durable, before a platform is asked, or once it has answered.
 *
 * argv: database (a file or an address), file for what was asked, how far its clock is ahead in ms, point, n.
 */
const [database = "", log = "", ahead = "0", point = "none", hit = "1"] = process.argv.slice(2);

let hits = 0;
function passing(name: string): void {
  if (name !== point) return;
  hits += 1;
  if (hits === Number(hit)) process.kill(process.pid, "SIGKILL");
}

/** The same store, whose writes are told of. */
function watched(store: Store): Store {
  const write: Store["write"] = async (work) => {
    passing("writing");
    const result = await store.write(work);
    passing("durable");
    return result;
  };
  return new Proxy(store, {
    get: (target, name) => (name === "write" ? write : Reflect.get(target, name, target)),
  });
}

const clock = { ...systemClock, now: () => systemClock.now() + Number(ahead) };
const store = await openStore(
  database.startsWith("postgres") ? { url: database, clock: systemClock } : { file: database },
);
const platform = collected(async (post) => {
  passing("asking");
  appendFileSync(log, `${post.id}\n`);
  passing("answered");
  return { state: "live", visibility: "public", metrics: { likes: 7 } };
});
const ctx = await createTestContext({
  store: watched(store),
  clock: clock as never,
  log: createMemoryLogger(),
  platformList: [platform],
  feed: {} as never,
  workerId: newId("wrk"),
});
process.stdout.write("running\n");
await collectResults(ctx, new AbortController().signal);
await store[Symbol.asyncDispose]();
process.exit(0);
