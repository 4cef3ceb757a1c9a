import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ensureFirstKey } from "../../src/access/api-keys.ts";
import { issueConfirmation, spendConfirmation } from "../../src/access/confirmations.ts";
import { runOnce } from "../../src/access/idempotency.ts";
import { openCalendarLink } from "../../src/reporting/feeds/calendar-link.ts";
import { createCipher } from "../../src/store/engine/cipher.ts";
import type { Store } from "../../src/store/engine/store.ts";
import type { Connections } from "../../src/store/postgres/connect/connections.ts";
import { listApiKeyRows, insertKey, takeOverKey } from "../../src/store/queries/access.ts";
import { insertAccount } from "../../src/store/queries/accounts.ts";
import { insertWorker } from "../../src/store/queries/workers.ts";
import { callerOf, callOf, createTestContext, type TestContext } from "../support/context.ts";
import { createDatabase, openTestConnections } from "../support/postgres.ts";
import type { TestDatabase } from "../support/postgres-server.ts";
import { accountRow } from "../support/publishing.ts";
import { ownsDatabase } from "../../src/app/secret-key.ts";

/* What several processes do at the same moment on one database: one of them, and the others see it. */

const PROCESSES = 4;
const TIMES = 100;
const KEY = Buffer.alloc(32, 7);

let database: TestDatabase;
let open: Connections[];
let processes: TestContext[];

beforeEach(async () => {
  database = await createDatabase();
  open = await Promise.all(Array.from({ length: PROCESSES }, () => openTestConnections(database.url)));
  processes = await Promise.all(open.map((one, at) => contextOf(one, `wrk_${at}`)));
  for (const { store, workerId: id } of processes) {
    const row = {
      id,
      role: "serve",
      host: "h",
      pid: 1,
      version: "",
      started_at: 1,
      heartbeat_at: 1,
    } as const;
    await store.write((tx) => insertWorker(tx, row));
  }
});
afterEach(async () => {
  await Promise.all(open.map((one) => one[Symbol.asyncDispose]()));
  await database[Symbol.asyncDispose]();
});

/** With a store that reads and writes, and has nothing that works on posts. */
async function contextOf(connections: Connections, workerId: string): Promise<TestContext> {
  const store = { ...connections } as unknown as Store;
  return createTestContext({ store, workerId, cipher: createCipher(KEY) });
}

/** The same in all processes at once, so many times; what each answered, undefined where it threw. */
async function together<T>(
  work: (ctx: TestContext, time: number) => Promise<T>,
): Promise<(T | undefined)[][]> {
  const rounds = Array.from({ length: TIMES }, (_, time) =>
    Promise.all(processes.map((ctx) => work(ctx, time).catch(() => undefined))),
  );
  return Promise.all(rounds);
}

const countOf = <T>(answers: readonly (readonly T[])[], wanted: T): readonly number[] => [
  ...new Set(answers.map((one) => one.filter((answer) => answer === wanted).length)),
];

describe("an idempotency key", () => {
  it("is worked on by one of those who bring it at the same moment", async () => {
    const runs = new Map<string, number>();
    await together((ctx, time) => {
      const call = { key: `key ${time}`, tool: "schedule_post", args: {} };
      return runOnce(ctx, callerOf(), call, async () => {
        runs.set(call.key, (runs.get(call.key) ?? 0) + 1);
        return { ok: true };
      });
    });
    expect(runs.size).toBe(TIMES);
    expect([...new Set(runs.values())]).toEqual([1]);
    const again = await runOnce(
      processes[0]!,
      callerOf(),
      { key: "key 7", tool: "schedule_post", args: {} },
      () => expect.unreachable(),
    );
    expect(again).toEqual({ isReplay: true, result: { ok: true } });
  });

  it("of a dead process is taken over by one", async () => {
    const row = (time: number) => ({
      owner_id: "default",
      key_hash: `dead ${time}`,
      tool: "schedule_post",
      fingerprint: "",
      worker_id: "wrk_dead",
      result: null,
      created_at: 1,
      expires_at: Number.MAX_SAFE_INTEGER,
    });
    const [first] = processes;
    for (let time = 0; time < TIMES; time += 1) await first!.store.write((tx) => insertKey(tx, row(time)));
    const taken = await together((ctx, time) =>
      ctx.store.write((tx) => takeOverKey(tx, row(time), ctx.workerId)),
    );
    expect(countOf(taken, true)).toEqual([1]);
  });
});

it("a person's yes is spent once", async () => {
  const call = (time: number) => ({ tool: "cancel_post", args: { id: `post_${time}` } });
  const tokens = Array.from({ length: TIMES }, (_, time) =>
    issueConfirmation(processes[0]!, callerOf(), call(time), {
      at: processes[0]!.clock.now(),
      mark: "0".repeat(64),
    }),
  );
  const spent = await together(async (ctx, time) => {
    await spendConfirmation(ctx, callerOf(), call(time), tokens[time]!);
    return "spent";
  });
  expect(countOf(spent, "spent")).toEqual([1]);
});

it("a calendar's address is the same for all who ask first", async () => {
  const links = await together((ctx, time) =>
    openCalendarLink(callOf(ctx, callerOf({ ownerId: `owner_${time}` })), { isNew: false }),
  );
  for (const round of links) expect(new Set(round.map((link) => link?.url)).size).toBe(1);
  expect(new Set(links.flat().map((link) => link?.url)).size).toBe(TIMES);
});

it("a channel is connected once by those who connect it at the same moment", async () => {
  const stored = await together((ctx, time) =>
    ctx.store.write((tx) => insertAccount(tx, accountRow(ctx, { platform_account_id: `channel ${time}` }))),
  );
  expect(countOf(stored, true)).toEqual([1]);
  expect(countOf(stored, false)).toEqual([PROCESSES - 1]);
});

it("the first start makes one key and one mark of the secret key", async () => {
  let kept = 0;
  const file = { read: () => null, write: () => void (kept += 1) };
  const keys = await Promise.all(processes.map((ctx) => ensureFirstKey(ctx, file)));
  expect(keys.filter((key) => key !== null)).toHaveLength(1);
  expect(kept).toBe(1);
  expect(await listApiKeyRows(processes[0]!.store, "default")).toHaveLength(1);
  const owned = await Promise.all(processes.map(({ store, cipher }) => ownsDatabase(store, cipher)));
  expect(owned).toEqual(processes.map(() => true));
  expect(await ownsDatabase(processes[1]!.store, createCipher(Buffer.alloc(32, 8)))).toBe(false);
});
