import { expect, it } from "vitest";
import type { Tx } from "../../../src/store/engine/engine.ts";
import { Fenced } from "../../../src/store/engine/ledger.ts";
import { createStore } from "../../../src/store/open-store.ts";
import { proveDeath } from "../../../src/store/postgres/liveness.ts";
import { gate } from "../../support/gate.ts";
import { createDatabase } from "../../support/postgres.ts";
import { openStoreOn } from "../../support/postgres-store-on.ts";
import { enlist, fillQueue, wishOf } from "../../support/queue.ts";

const DUE_AT = Date.parse("2026-11-21T09:00:00Z");
const now = (): number => DUE_AT + 1_000;
const NO_LEASE = { leaseMs: 0, stopsMs: 0, leaseElsewhereMs: 0, requestMs: 0 };

it("never lets a claim stand that whoever takes over does not see", async () => {
  await using database = await createDatabase();
  await using store = await openStoreOn(database.url);
  await using other = await openStoreOn(database.url);
  await fillQueue(store, { accounts: 1, posts: 1, dueAt: DUE_AT });
  await enlist(store, "worker_a", "worker_b");
  const [reached, commit] = [gate(), gate()];
  const late = createStore({
    ...store,
    write: (work) =>
      store.write(async (tx) => {
        const result = await work(tx);
        reached.open();
        await commit.opened;
        return result;
      }),
  });
  const wish = wishOf("worker_a", { now });
  const claiming = late.claims.claim(wish);
  await reached.opened;
  const death = (tx: Tx, workerId: string) => proveDeath(tx, workerId, NO_LEASE);
  const taking = createStore({ ...other, queue: { ...other.queue, death } }).claims;
  expect(await taking.takeOver("worker_a", now())).toBeNull();
  commit.open();
  expect((await claiming).posts).toHaveLength(1);
  expect(await taking.takeOver("worker_a", now())).toMatchObject({ posts: 1 });
  expect((await other.claims.claim(wishOf("worker_b", { now }))).posts).toHaveLength(1);
  // It has noticed nothing yet.
  await expect(store.claims.claim(wish)).rejects.toThrow(Fenced);
});
