import { systemClock } from "../../../src/app/system-clock.ts";
import { PROCESS_PLACE } from "../../../src/store/engine/process-place.ts";
import { openStore } from "../../../src/store/open-store.ts";
import { insertWorker } from "../../../src/store/queries/workers.ts";

/* A process that holds a worker until it ends and, told so, tells the others: `holder.ts OPTIONS WORKER`. */

const [options = "{}", id = ""] = process.argv.slice(2);
const store = await openStore({ ...JSON.parse(options), clock: systemClock });
await store.liveness.hold(id, () => {});
const now = (store.liveness.clock ?? systemClock).now();
const row = { id, role: "serve", host: PROCESS_PLACE, pid: process.pid, version: "0" } as const;
await store.write((tx) => insertWorker(tx, { ...row, started_at: now, heartbeat_at: now }));
process.stdout.write("held\n");
process.stdin.on("data", () => store.wake.tell());
