import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { systemClock } from "../../../src/app/system-clock.ts";
import type { AppContext } from "../../../src/context.ts";
import { noticeRestore } from "../../../src/publishing/restored.ts";
import { advanceEpoch, readEpoch } from "../../../src/store/backup/restore-epoch.ts";
import { createTestContext, type TestContext } from "../../support/context.ts";
import { administer } from "../../support/postgres-server.ts";
import { createDatabase, serverAddress } from "../../support/postgres.ts";
import { openStoreOn } from "../../support/postgres-store-on.ts";
import { addAccount, addPost } from "../../support/publishing.ts";
import { queryOf } from "../../support/handles.ts";
import { scriptedPlatform } from "../../support/scripted-platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

let folder: ReturnType<typeof temporaryFolder>;
let database: Awaited<ReturnType<typeof createDatabase>>;
const open: TestContext[] = [];
beforeEach(async () => {
  folder = temporaryFolder();
  database = await createDatabase();
});
afterEach(async () => {
  await closeAll();
  await database[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function closeAll(): Promise<void> {
  for (const ctx of open.splice(0)) await ctx[Symbol.asyncDispose]();
}

async function openHost(): Promise<TestContext> {
  const ctx = await createTestContext({
    store: await openStoreOn(database.url),
    clock: systemClock,
    platformList: [
      scriptedPlatform({ publish: async () => ({ state: "live", platformPostId: null, platformUrl: null }) }),
    ],
  });
  open.push(ctx);
  return ctx;
}

const fileOf = (host: string): string => join(folder.path, host);
const held = (ctx: TestContext): number =>
  ctx.log.lines.filter(({ message }) => message.includes("put back from a copy")).length;
const suspects = async (ctx: AppContext): Promise<number> =>
  (await queryOf(ctx.store).selectFrom("effects").select("post_id").where("step", "=", "restored").execute())
    .length;

/** Puts back what the database was when `copy` was made of it; nobody may be connected. */
async function copyDatabase(from: string, to: string): Promise<void> {
  await administer(serverAddress(), `DROP DATABASE IF EXISTS ${to} WITH (FORCE)`);
  await administer(serverAddress(), `CREATE DATABASE ${to} TEMPLATE ${from}`);
}

it("is held back once, by the first of several hosts that finds it behind", async () => {
  const first = await openHost();
  await noticeRestore(first, fileOf("a"));
  const account = await addAccount(first);
  await addPost(first, account, { scheduled_at: Date.now() - 1_000 });
  await advanceEpoch(first.store, fileOf("a"));
  await closeAll();
  const copy = `${database.name}_copy`;
  await copyDatabase(database.name, copy);

  const [one, two] = [await openHost(), await openHost()];
  // New hosts take it for what it is.
  await noticeRestore(two, fileOf("b"));
  expect(held(two)).toBe(0);
  for (let n = 0; n < 20; n++)
    await Promise.all([advanceEpoch(one.store, fileOf("a")), advanceEpoch(two.store, fileOf("b"))]);
  // None was lost where both moved it at once.
  expect((await readEpoch(one.store))?.count).toBe(41);
  await Promise.all([noticeRestore(one, fileOf("a")), noticeRestore(two, fileOf("b"))]);
  expect([held(one), held(two)]).toEqual([0, 0]);
  await closeAll();

  await copyDatabase(copy, database.name);
  const hosts = await Promise.all(["a", "b", "new"].map(() => openHost()));
  await Promise.all(["a", "b", "new"].map((host, n) => noticeRestore(hosts[n]!, fileOf(host))));
  expect(hosts.map(held).reduce((sum, n) => sum + n)).toBe(1);
  expect(await suspects(hosts[0]!)).toBe(1);
  for (const [n, host] of ["a", "b", "new"].entries()) {
    await advanceEpoch(hosts[n]!.store, fileOf(host));
    await noticeRestore(hosts[n]!, fileOf(host));
  }
  expect(hosts.map(held).reduce((sum, n) => sum + n)).toBe(1);
  await closeAll();

  // Put back again: what was written since is gone once more.
  await copyDatabase(copy, database.name);
  const again = await openHost();
  await noticeRestore(again, fileOf("b"));
  expect(held(again)).toBe(1);
  const late = await openHost();
  await noticeRestore(late, fileOf("a"));
  await administer(serverAddress(), `DROP DATABASE ${copy}`);
  expect(held(late)).toBe(0);
});
