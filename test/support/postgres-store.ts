import type { Store } from "../../src/store/engine/store.ts";
import { createStore } from "../../src/store/open-store.ts";
import { enlist } from "./queue.ts";
import { DEATH, openStoreOn } from "./postgres-store-on.ts";
import { createDatabase } from "./postgres.ts";

/** A store in which whoever a test takes over from is dead, as on SQLite, where the caller has made sure of that. */
async function openTestStoreOn(url: string): Promise<Store> {
  const opened = await openStoreOn(url);
  const store = createStore({ ...opened, queue: { ...opened.queue, death: async () => DEATH } });
  const enlisted = new Set<string>();
  return {
    ...store,
    claims: {
      ...store.claims,
      // Without a publisher around it.
      async claim(wish) {
        if (!enlisted.has(wish.workerId)) await enlist(store, wish.workerId);
        enlisted.add(wish.workerId);
        return store.claims.claim(wish);
      },
    },
  };
}

/** A store on a database of its own, which goes with it. */
export async function openTestStore(): Promise<Store> {
  const database = await createDatabase();
  const store = await openTestStoreOn(database.url);
  return {
    ...store,
    [Symbol.asyncDispose]: async () => {
      await store[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}
