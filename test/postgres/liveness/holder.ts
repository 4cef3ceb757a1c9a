import { openWorker } from "../../support/postgres-workers.ts";
import { insertWorker } from "../../../src/store/queries/workers.ts";

/** A process that holds a worker and, told so, tells the others: `holder.ts URL WORKER`. */
const [url = "", id = ""] = process.argv.slice(2);
const worker = await openWorker(url);
await worker.liveness.hold(id, () => {});
const now = worker.liveness.clock.now();
const row = { id, role: "serve", host: "elsewhere", pid: process.pid, version: "0" } as const;
await worker.write((tx) => insertWorker(tx, { ...row, started_at: now, heartbeat_at: now }));
process.stdout.write("held\n");
process.stdin.on("data", () => worker.wake.tell());
