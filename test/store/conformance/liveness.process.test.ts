import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/app/system-clock.ts";
import type { Store } from "../../../src/store/engine/store.ts";
import { PROCESS_PLACE } from "../../../src/store/engine/process-place.ts";
import { isWorkerListed } from "../../../src/store/queries/workers.ts";
import { fillQueue, wishOf } from "../../support/queue.ts";
import { openPlace, type Place } from "./place.ts";

const HOLDER = fileURLToPath(new URL("holder.ts", import.meta.url));
const children: ChildProcess[] = [];

let place: Place;
let store: Store;
beforeEach(async () => {
  place = await openPlace();
  store = await place.open();
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await store[Symbol.asyncDispose]();
  await place[Symbol.asyncDispose]();
});

/** Another process that holds this worker, from when it does. */
async function startHolder(id: string): Promise<ChildProcess> {
  const args = ["--import", "tsx", HOLDER, JSON.stringify(place.options), id];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "pipe"] });
  children.push(child);
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const isHeld = once(child.stdout, "data").then(() => true);
  if (await Promise.race([isHeld, once(child, "close").then(() => false)])) return child;
  throw new Error(`The process that was to hold ${id} ended: ${said}`);
}

/** What a publisher does with those that end without a word. */
async function takeOver(from: Store): Promise<string[]> {
  const taken: string[] = [];
  for (const id of await from.liveness.listDead("wrk_me"))
    if ((await from.claims.takeOver(id, Date.now())) !== null) taken.push(id);
  return taken;
}

// Where a process is seen to have ended: on other systems the lease of some engines is waited for.
describe.runIf(process.platform === "linux")("a worker of another process", () => {
  it("lives while its process is there, and its posts are free once that ended in whatever way", async () => {
    await fillQueue(store, { accounts: 1, posts: 1, dueAt: 1 });
    const holder = await startHolder("wrk_other");
    const now = (): number => 2;
    expect((await store.claims.claim(wishOf("wrk_other", { now }))).posts).toHaveLength(1);
    const seen = { id: "wrk_other", host: PROCESS_PLACE, pid: holder.pid! };
    expect(await takeOver(store)).toEqual([]);
    holder.kill("SIGSTOP");
    await pause(200);
    expect(store.liveness.hasEnded(seen)).toBe(false);
    expect(await takeOver(store)).toEqual([]);
    expect(await isWorkerListed(store, "wrk_other")).toBe(true);
    holder.kill("SIGKILL");
    await once(holder, "close");
    expect(store.liveness.hasEnded(seen)).toBe(true);
    await expect.poll(() => takeOver(store), { timeout: 20_000 }).toEqual(["wrk_other"]);
    expect(await takeOver(store)).toEqual([]);
    expect(await isWorkerListed(store, "wrk_other")).toBe(false);
    await startHolder("wrk_next");
    const { posts } = await store.claims.claim(wishOf("wrk_next", { now }));
    expect(posts.map(({ lease }) => lease.fence)).toEqual([3]);
  });
});

describe("a worker of this process", () => {
  it("is held until it is released, and is none of its own dead", async () => {
    const hold = await store.liveness.hold("wrk_me", () => expect.unreachable());
    store.liveness.check();
    expect(await store.liveness.listDead("wrk_me")).toEqual([]);
    await hold.release();
    await (await store.liveness.hold("wrk_me", () => expect.unreachable())).release();
  });
});

describe("the clock", () => {
  it("is the database's where workers are on several machines, and goes on", async () => {
    const { clock } = store.liveness;
    expect(clock !== null).toBe(store.capabilities.manyHosts);
    const shown = clock ?? systemClock;
    const first = shown.now();
    // Both are on this machine.
    expect(Math.abs(first - systemClock.now())).toBeLessThan(5_000);
    await pause(50);
    const passed = shown.now() - first;
    expect(passed).toBeGreaterThanOrEqual(45);
  });
});

describe("a word to other processes", () => {
  it("is heard where they are on several machines, and holds up nobody", async () => {
    const hold = await store.liveness.hold("wrk_me", () => {});
    let heard = 0;
    const stop = store.wake.listen(() => (heard += 1));
    const holder = await startHolder("wrk_other");
    holder.stdin!.write("tell\n");
    if (store.capabilities.manyHosts) await expect.poll(() => heard, { timeout: 10_000 }).toBe(1);
    else store.wake.tell();
    stop();
    await hold.release();
  });
});
