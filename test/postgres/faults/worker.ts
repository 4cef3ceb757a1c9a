import { writeSync } from "node:fs";
import type pg from "pg";
import { supervise } from "../../../src/publishing/workers.ts";
import { systemClock } from "../../../src/app/system-clock.ts";
import { newId } from "../../../src/domain/ids.ts";
import { createOutbound } from "../../../src/media/outbound/outbound.ts";
import type { Outbound } from "../../../src/ports/outbound.ts";
import { startPublisher } from "../../../src/publishing/loop.ts";
import { createCipher } from "../../../src/store/engine/cipher.ts";
import { openStore } from "../../../src/store/open-store.ts";
import { loadDriver } from "../../../src/store/postgres/connect/pool.ts";
import { CLASS_PLATFORMS } from "../../faults/class-platforms.ts";
import { createMemoryLogger, createTestContext } from "../../support/context.ts";
import { queryOf } from "../../support/handles.ts";
import { LEASES, LIMITS, TIMES, type WorkerTask } from "./worker-task.ts";

/**
 * The publisher of a host of its own, in a process to which something happens. What happens sits around the driver
 * and the network; the publisher knows nothing of it. It ends once nothing waits any more. argv: a `WorkerTask` as JSON.
 * Says "publishing", "reached" and, as `name=milliseconds since 1970`, when it lost its tie, when a request of its was
 * broken off, when it took over.
 */
const task = JSON.parse(process.argv[2] ?? "{}") as WorkerTask;
const { url, baseUrl, key, what, host = "test" } = task;
const GIVE_UP_MS = 90_000;

function tell(name: string): void {
  writeSync(1, `${name}=${Date.now()}\n`);
}

/** Tells of each take-over once it is durable. */
function watchTakeOvers({ Client }: typeof pg): void {
  type Query = (this: pg.Client, config: string | { text: string }, ...rest: unknown[]) => unknown;
  const query = Client.prototype.query as Query;
  const taking = new WeakSet<pg.Client>();
  const watched: Query = function (config, ...rest) {
    const text = typeof config === "string" ? config : config.text;
    if (/^(BEGIN|ROLLBACK)/.test(text)) taking.delete(this);
    if (/^delete from "workers" where "id"/i.test(text)) taking.add(this);
    const answered = query.call(this, config, ...rest);
    if (text !== "COMMIT" || !taking.has(this)) return answered;
    return (answered as Promise<unknown>).then((result) => {
      tell("took-over");
      return result;
    });
  };
  Client.prototype.query = watched as typeof Client.prototype.query;
}

let changes = 0;
function watchNetwork(outbound: Outbound): Outbound {
  return {
    assertAllowed: (field, address) => outbound.assertAllowed(field, address),
    request: async (request) => {
      try {
        const answer = await outbound.request(request);
        if (what !== undefined && request.method !== "GET" && (changes += 1) === 2) {
          writeSync(1, "reached\n");
          process.kill(process.pid, what);
        }
        return answer;
      } catch (error) {
        if (request.signal?.aborted === true) tell("broken-off");
        throw error;
      }
    },
  };
}

/** A database that is away has something waiting. */
async function isWaiting(): Promise<boolean> {
  const waiting = queryOf(store).selectFrom("posts").select("id").where("next_at", "is not", null);
  const posts = await waiting.execute().catch(() => [{}]);
  const held = queryOf(store).selectFrom("posts").select("id").where("lease_worker", "is not", null);
  return posts.length > 0 || (await held.execute().catch(() => [{}])).length > 0;
}

watchTakeOvers(await loadDriver());
const log = createMemoryLogger();
const store = await openStore({ url, clock: systemClock, leases: LEASES, times: TIMES, limits: LIMITS });
const settings = Object.fromEntries(
  Object.keys(CLASS_PLATFORMS).map((name) => [`POSTHORN_${name.toUpperCase()}_BASE_URL`, baseUrl]),
);
let wake = (): void => {};
const door = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
const ctx = await createTestContext({
  store,
  log,
  clock: (store.liveness.clock ?? systemClock) as never,
  cipher: createCipher(Buffer.from(key, "hex")),
  outbound: watchNetwork(door),
  media: { forPost: () => ({}) as never, release: async () => {} },
  platformList: Object.values(CLASS_PLATFORMS),
  settings: { timezone: "UTC", maxLatenessMs: 3_600_000, uploadFolders: [], platformSettings: settings },
  wakePublisher: () => wake(),
});
const kept = await supervise(ctx, async (onLost) => {
  const own = { ...ctx, workerId: newId("wrk") };
  const publisher = await startPublisher(own, {
    identity: { role: "serve", host, pid: process.pid, version: "0" },
    onLost: (reason) => {
      tell("lost");
      onLost(reason);
    },
  });
  wake = () => publisher.wake();
  const deaf = store.wake.listen(wake);
  return {
    close(graceMs?: number) {
      deaf();
      return publisher.close(graceMs);
    },
  };
});
process.stdout.write("publishing\n");

const giveUpAt = performance.now() + GIVE_UP_MS;
while (performance.now() < giveUpAt && (await isWaiting())) await systemClock.sleep(50);
const isInVain = performance.now() >= giveUpAt;
if (isInVain) process.stderr.write(`${log.text()}\n`);
await kept.close();
process.exit(isInVain ? 3 : 0);
