import { writeSync } from "node:fs";
import type pg from "pg";
import { supervise } from "../../../src/publishing/workers.ts";
import { systemClock } from "../../../src/app/system-clock.ts";
import { newId } from "../../../src/domain/ids.ts";
import { createOutbound } from "../../../src/media/outbound/outbound.ts";
import type { Outbound } from "../../../src/ports/outbound.ts";
import { startPublisher } from "../../../src/publishing/loop.ts";
import { startWebhookLoop } from "../../../src/reporting/webhooks/webhook-deliveries.ts";
import { createCipher } from "../../../src/store/engine/cipher.ts";
import { openStore } from "../../../src/store/open-store.ts";
import { loadDriver } from "../../../src/store/postgres/connect/pool.ts";
import { CLASS_PLATFORMS } from "../../faults/class-platforms.ts";
import { createMemoryLogger, createTestContext } from "../../support/context.ts";
import { countWaiting, describeWaiting } from "./waiting.ts";
import { LEASES, LIMITS, TIMES, type Happening, type WorkerTask } from "./worker-task.ts";
import { writeNamed } from "../../support/protocol-writes.ts";

/**
 * The publisher of a host of its own, in a process to which something happens at the n-th hit of a named point
 * of the protocol. The points sit around the driver and the network; the publisher knows nothing of them. It
 * ends once nothing waits any more. argv: a `WorkerTask` as JSON. Says "publishing", "reached" and, as
 * `name=milliseconds since 1970`, when it lost its tie, when a request of its was broken off, when it took over.
 */
const task = JSON.parse(process.argv[2] ?? "{}") as WorkerTask;
const { url, baseUrl, key, point, hit = 1, what = "kill", host = "test", clockErrorMs = 0, size } = task;

function tell(name: string): void {
  writeSync(1, `${name}=${Date.now()}\n`);
}

const HAPPENINGS: Readonly<Record<Happening, () => void>> = {
  kill: () => process.kill(process.pid, "SIGKILL"),
  stop: () => process.kill(process.pid, "SIGSTOP"),
  block: () => {
    const until = performance.now() + 2 * (LEASES.leaseElsewhereMs + LEASES.requestMs);
    while (performance.now() < until);
  },
};

let hits = 0;
function passing(name: string): void {
  if (name === "takeover:durable") tell("took-over");
  if (name !== point) return;
  hits += 1;
  if (hits !== hit) return;
  writeSync(1, "reached\n");
  HAPPENINGS[what]();
}

/** The driver, with places to die around each COMMIT; `committing`: it is on its way to the server. */
function watchCommits({ Client }: typeof pg): void {
  type Query = (this: pg.Client, config: string | { text: string }, ...rest: unknown[]) => unknown;
  const query = Client.prototype.query as Query;
  const written = new WeakMap<pg.Client, Set<string>>();
  const watched: Query = function (config, ...rest) {
    const text = typeof config === "string" ? config : config.text;
    if (/^(BEGIN|ROLLBACK)/.test(text)) written.set(this, new Set());
    const names = written.get(this) ?? new Set();
    const name = writeNamed(text);
    if (name !== undefined) names.add(name);
    if (text !== "COMMIT") return query.call(this, config, ...rest);
    for (const one of names) passing(`${one}:written`);
    const answered = query.call(this, config, ...rest) as Promise<unknown>;
    for (const one of names) passing(`${one}:committing`);
    return answered.then((result) => {
      for (const one of names) passing(`${one}:durable`);
      return result;
    });
  };
  Client.prototype.query = watched as typeof Client.prototype.query;
}

function watchNetwork(outbound: Outbound): Outbound {
  return {
    assertAllowed: (field, address) => outbound.assertAllowed(field, address),
    request: async (request) => {
      const isEvent = !request.url.startsWith(baseUrl);
      const kind = isEvent ? "event" : request.method === "GET" ? "read" : "change";
      passing(`${kind}:sending`);
      try {
        const answer = await outbound.request(request);
        passing(`${kind}:answered`);
        return answer;
      } catch (error) {
        if (request.signal?.aborted === true) tell("broken-off");
        throw error;
      }
    },
  };
}

watchCommits(await loadDriver());
const log = createMemoryLogger();
const machine = { ...systemClock, now: () => systemClock.now() + clockErrorMs };
const quick = task.hasRealTimes === true ? {} : { leases: LEASES, times: TIMES, limits: LIMITS };
const store = await openStore({ url, clock: machine, ...quick, size });
const settings = Object.fromEntries(
  Object.keys(CLASS_PLATFORMS).map((name) => [`POSTHORN_${name.toUpperCase()}_BASE_URL`, baseUrl]),
);
let wake = (): void => {};
const door = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
const ctx = await createTestContext({
  store,
  log,
  clock: (store.liveness.clock ?? machine) as never,
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
  const events = startWebhookLoop(own);
  wake = () => publisher.wake();
  const deaf = store.wake.listen(() => {
    publisher.wake();
    events.wake();
  });
  return {
    async close(graceMs?: number) {
      deaf();
      await events.close(Math.min(graceMs ?? 1_000, 1_000));
      await publisher.close(graceMs);
    },
  };
});
process.stdout.write("publishing\n");

const giveUpAt = performance.now() + (task.giveUpMs ?? 90_000);
// A database that is away has something waiting.
while (performance.now() < giveUpAt && (await countWaiting(store).catch(() => 1)) > 0)
  await systemClock.sleep(50);
const isInVain = performance.now() >= giveUpAt;
if (isInVain) process.stderr.write(`${await describeWaiting(store).catch(String)}\n${log.text()}\n`);
await kept.close();
process.exit(isInVain ? 3 : 0);
