import { createRequire } from "node:module";
import { drain, enlist, publish, wishOf } from "../../test/support/postgres-queue.ts";
import { openStoreOn } from "../../test/support/postgres-store-on.ts";

/** A process that `bench/drain-postgres.ts` starts: works through a queue once it is told to. */
export interface Order {
  readonly kind: "posthorn" | "graphile";
  readonly url: string;
  readonly id: string;
  /** Where graphile-worker is installed. */
  readonly graphile: string;
}

export interface Told {
  readonly done: number;
  /** When each left, in milliseconds since 1970. */
  readonly sentAt: readonly number[];
  readonly claimMs: readonly number[];
}

interface GraphileWorker {
  run(options: object): Promise<{ stop(): Promise<void> }>;
  Logger: new (factory: () => () => void) => unknown;
}

const ROOM = 2_048;
const BATCH = 400;
/** What graphile-worker's own benchmark takes. */
const CONCURRENT_JOBS = 24;

process.once("message", (order: Order) => void work(order));

async function work(order: Order): Promise<void> {
  const sentAt: number[] = [];
  const claimMs: number[] = [];
  let isOver = false;
  const tell = (): void => void process.send?.({ done: sentAt.length, sentAt: [], claimMs: [] });
  /** Until then: when the posts are due. */
  const begin = async (): Promise<number> => {
    process.send?.("ready");
    const [dueAt] = await new Promise<number[]>((resolve) => process.once("message", resolve));
    telling = setInterval(tell, 20);
    return dueAt ?? 0;
  };
  let telling: NodeJS.Timeout | undefined;
  process.on("message", (word) => (isOver ||= word === "stop"));
  const until = async (): Promise<void> => {
    while (!isOver) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  if (order.kind === "graphile") {
    const { run, Logger } = createRequire(order.graphile)("graphile-worker") as GraphileWorker;
    await begin();
    const runner = await run({
      connectionString: order.url,
      concurrency: CONCURRENT_JOBS,
      noHandleSignals: true,
      logger: new Logger(() => () => {}),
      taskList: { send: async () => void sentAt.push(Date.now()) },
    });
    await until();
    await runner.stop();
  } else {
    const store = await openStoreOn(order.url);
    await enlist(store, order.id);
    // Publishers have looked before, on all of their connections.
    await Promise.all([1, 2, 3, 4].map(() => store.claims.claim(wishOf(order.id, { now: () => 0 }))));
    const dueAt = await begin();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueAt - Date.now())));
    await drain(store, {
      workerId: order.id,
      now: Date.now,
      room: ROOM,
      batch: BATCH,
      isOver: () => isOver,
      onClaim: ({ posts }, ms) => posts.length > 0 && void claimMs.push(ms),
      work: (claimed) =>
        publish(store, claimed, { now: Date.now, send: async () => void sentAt.push(Date.now()) }),
    });
    await store[Symbol.asyncDispose]();
  }
  clearInterval(telling);
  process.send?.({ done: sentAt.length, sentAt, claimMs } satisfies Told);
  process.disconnect();
}
