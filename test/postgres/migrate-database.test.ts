import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createContext } from "../../src/app/compose.ts";
import { openDatabase } from "../../src/app/file-store.ts";
import { readSetup } from "../../src/app/setup.ts";
import { migrateDatabase } from "../../src/app/operations/migrate-database.ts";
import { listPosts } from "../../src/posts/list-posts.ts";
import type { Store } from "../../src/store/engine/store.ts";
import type { MovedCount } from "../../src/store/moving/move.ts";
import { takeFolder } from "../../src/store/local/locks.ts";
import { callOf } from "../support/context.ts";
import { queryOf } from "../support/handles.ts";
import { createDatabase } from "../support/postgres.ts";
import type { TestDatabase } from "../support/postgres-server.ts";
import { addAccount, addPost } from "../support/publishing.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let folder: ReturnType<typeof temporaryFolder>;
let database: TestDatabase;

const folderEnv = (): Record<string, string> => ({
  POSTHORN_DATA_DIR: folder.path,
  POSTHORN_PORT: "0",
  POSTHORN_LOG_LEVEL: "silent",
});
const env = (): Record<string, string> => ({
  ...folderEnv(),
  DATABASE_URL: database.url,
  POSTHORN_FILES: "folder",
});

beforeEach(async () => {
  folder = temporaryFolder();
  database = await createDatabase({ isEmpty: true });
});
afterEach(async () => {
  await database[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const open = async (settings: Record<string, string>) => createContext(await readSetup(settings));

const CAPTIONS = ["Größe é 東京 🚀", "50%off C:\\temp", "plain words", 'quotes "and" \\u0000 none'];

/** A folder with posts of every kind, one of which a process held that died. */
async function fill(posts: number): Promise<void> {
  await using ctx = await open(folderEnv());
  const account = await addAccount(ctx, { provider: "feed", settings: '{"a":1}' });
  await queryOf(ctx.store)
    .insertInto("webhooks")
    .values({
      id: "whk_1",
      owner_id: "default",
      address: "https://hooks.example/",
      secrets_enc: ctx.cipher.seal("{}", "whk_1|webhooks"),
      events: '["post.scheduled"]',
      status: "active",
      lease_until: 0,
      created_at: 0,
      updated_at: 0,
    })
    .execute();
  for (let at = 0; at < posts; at++) {
    await addPost(ctx, account, {
      caption: CAPTIONS[at % CAPTIONS.length]!,
      metadata: JSON.stringify({ tags: [`tag${at}`] }),
      scheduled_at: Date.UTC(2030, 0, 1) + (at % 7) * 1_000,
    });
  }
  const held = await addPost(ctx, account, {
    id: "post_held",
    status: "publishing",
    lease_worker: "wrk_dead",
    attempts: 1,
    scheduled_at: Date.UTC(2030, 0, 2),
  });
  await queryOf(ctx.store)
    .updateTable("accounts")
    .set({ in_flight_post: held.id })
    .where("id", "=", account.id)
    .execute();
}

const run = (options: { signal?: AbortSignal; progress?: (moved: MovedCount) => unknown } = {}) =>
  migrateDatabase({ env: env(), signal: new AbortController().signal, progress: () => {}, ...options });

async function everyPost(store: Store): Promise<unknown[]> {
  return queryOf(store)
    .selectFrom("posts")
    .select(["id", "caption", "metadata", "status", "scheduled_at", "content_hash"])
    .orderBy("id")
    .execute();
}

it("moves everything, frees what a dead process held, and is found again", async () => {
  await fill(25);
  const bytes = readFileSync(join(folder.path, "posthorn.db"));
  const result = await run();
  expect(result).toMatchObject({ folder: folder.path, copied: 0, missing: [] });
  expect(result.tables).toContainEqual({ table: "posts", rows: 26 });
  expect(result.tables).toContainEqual({ table: "webhook_deliveries", rows: 25 });
  expect(readFileSync(join(folder.path, "posthorn.db")).equals(bytes)).toBe(true);

  await using ctx = await open(env());
  const held = await queryOf(ctx.store)
    .selectFrom("posts")
    .select(["lease_worker", "next_at"])
    .where("id", "=", "post_held")
    .executeTakeFirstOrThrow();
  expect(held).toMatchObject({ lease_worker: null });
  expect(held.next_at).not.toBeNull();
  const { posts } = await listPosts(callOf(ctx), { search: "東京", limit: 50 });
  expect(posts).toHaveLength(7);
  const all = await listPosts(callOf(ctx), { limit: 100 });
  expect(all.posts).toHaveLength(26);
  // New events are numbered after those that came along.
  const account = await addAccount(ctx, { provider: "feed" });
  await addPost(ctx, account, { caption: "after" });
  const { seq } = await queryOf(ctx.store)
    .selectFrom("webhook_deliveries")
    .select("seq")
    .orderBy("seq", "desc")
    .executeTakeFirstOrThrow();
  expect(seq).toBe(26);
});

it("begins anew where it was cut off, and lets nothing work there meanwhile", async () => {
  await fill(1_300);
  const stop = new AbortController();
  const cut = run({
    signal: stop.signal,
    progress: ({ table, rows }) => {
      if (table === "posts" && rows === 1_000) stop.abort(new Error("The process is stopping."));
    },
  });
  await expect(cut).rejects.toThrow("The process is stopping.");
  await expect(open(env())).rejects.toThrow(/that has not ended.*migrate-database again/);
  await expect(open(folderEnv())).rejects.toThrow(/was moved to PostgreSQL/);
  const steps: MovedCount[] = [];
  const result = await run({ progress: (moved) => steps.push(moved) });
  expect(result.tables).toContainEqual({ table: "posts", rows: 1_301 });
  expect(steps.filter(({ table }) => table === "posts").map(({ rows }) => rows)).toEqual([1_000, 1_301]);
  await using ctx = await open(env());
  expect(await everyPost(ctx.store)).toHaveLength(1_301);
  // Another call finds that there is nothing left to do.
  expect((await run()).tables).toBeNull();
});

it("refuses a database that is in use, a folder at work, and one that is not there", async () => {
  await fill(1);
  const lock = takeFolder(join(folder.path, "locks"));
  await expect(run()).rejects.toThrow(/is at work on this data folder/);
  lock.release();
  await using other = await openDatabase(await readSetup(env()), () => {});
  await queryOf(other).insertInto("meta").values({ key: "x", value: "y" }).execute();
  await expect(run()).rejects.toThrow(/its table meta is not empty/);
  expect(existsSync(join(folder.path, "moved-to-postgresql"))).toBe(false);
  using empty = temporaryFolder();
  const nothing = { ...env(), POSTHORN_DATA_DIR: empty.path };
  await expect(
    migrateDatabase({ env: nothing, signal: new AbortController().signal, progress: () => {} }),
  ).rejects.toThrow(/There is no database in/);
  await expect(
    migrateDatabase({ env: folderEnv(), signal: new AbortController().signal, progress: () => {} }),
  ).rejects.toThrow(/DATABASE_URL is not set/);
});

it("notices a row that is not what the folder holds, and keeps nothing of it", async () => {
  await fill(2);
  await using target = await openDatabase(await readSetup(env()), () => {});
  const query = queryOf(target);
  await sql`CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN NEW.name := 'changed'; RETURN NEW; END $$`.execute(query);
  await sql`CREATE TRIGGER spoil BEFORE INSERT ON accounts FOR EACH ROW EXECUTE FUNCTION spoil()`.execute(
    query,
  );
  await expect(run()).rejects.toThrow(/The copy of accounts is not what the folder holds/);
  expect(await query.selectFrom("accounts").selectAll().execute()).toEqual([]);
  await expect(open(env())).rejects.toThrow(/that has not ended/);
  await sql`DROP TRIGGER spoil ON accounts`.execute(query);
  expect((await run()).tables).toContainEqual({ table: "posts", rows: 3 });
});
