import { setTimeout as delay } from "node:timers/promises";
import { createWorkerLocks } from "../../../src/store/local/locks.ts";

// A process that holds the lock of `wrk_other` in the folder it is given, until it ends, though nothing of it
// refers to the lock.
createWorkerLocks(process.argv[2]!).hold("wrk_other");
for (let at = 0; at < 3; at += 1) {
  // With `--expose-gc`.
  globalThis.gc!();
  await delay(1);
}
process.stdout.write("held\n");
setInterval(() => {}, 1_000);
