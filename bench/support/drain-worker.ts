import { drain, enlist, publish, wishOf } from "../../test/support/queue.ts";
import { openStoreOn } from "../../test/support/postgres-store-on.ts";

/** A process that `bench/drain-postgres.ts` starts: works through a queue once it is told to. */
export interface Order {
  readonly url: string;
  readonly id: string;
}

const ROOM = 1_024;
const BATCH = 400;

process.once("message", (order: Order) => void work(order));

/** Tells now and then when its posts left, in milliseconds since 1970. */
async function work({ url, id }: Order): Promise<void> {
  let isOver = false;
  const sentAt: number[] = [];
  const tell = (): void => void process.send?.(sentAt.splice(0));
  const store = await openStoreOn(url);
  await enlist(store, id);
  // Publishers have looked before, on all of their connections.
  await Promise.all([1, 2, 3, 4].map(() => store.claims.claim(wishOf(id, { now: () => 0 }))));
  process.send?.([]);
  await new Promise((resolve) => process.once("message", resolve));
  process.on("message", (word) => (isOver ||= word === "stop"));
  const telling = setInterval(tell, 20);
  await drain(store, {
    workerId: id,
    now: Date.now,
    room: ROOM,
    batch: BATCH,
    isOver: () => isOver,
    work: (claimed) =>
      publish(store, claimed, { now: Date.now, send: async () => void sentAt.push(Date.now()) }),
  });
  await store[Symbol.asyncDispose]();
  clearInterval(telling);
  tell();
  process.disconnect();
}
