import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseSearch } from "../../../src/domain/text/compare-words.ts";
import { openSqlite, type SqliteDatabase } from "../../../src/store/local/driver.ts";
import { keepSchemaCopy } from "../../../src/store/backup/database-copy.ts";
import { NEWEST_SCHEMA } from "../../../src/store/sqlite/schema.ts";
import { readAttemptTotals } from "../../../src/store/queries/status.ts";
import type { Store } from "../../../src/store/engine/store.ts";
import { openStore } from "../../../src/store/open-store.ts";
import { createTestContext } from "../../support/context.ts";
import { EARLY_SCHEMA, makeEarlyDatabase } from "../../support/early-database.ts";
import { freshSchema } from "../../support/fresh-schema.ts";
import { queryOf, rawOf } from "../../support/handles.ts";
import { drain, readPost } from "../../support/publishing.ts";
import { scriptedPlatform } from "../../support/scripted-platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const NOW = Date.parse("2026-11-21T09:00:00.000Z");
const DUE = NOW - 5_000;

/** Waiting posts, by id and the file that they show. */
const POSTS = [
  ["post_text", null],
  ["post_own", "file_1"],
  ["post_cover", "file_2"],
] as const;

/** Those that can be opened here: a compiled one is made for one release of Node. */
const DRIVERS = (["better-sqlite3", "node:sqlite"] as const).filter((driver) => {
  try {
    openSqlite({ file: ":memory:", busyTimeoutMs: 1_000, driver }).database.close();
    return true;
  } catch {
    return false;
  }
});

/** With posts, a webhook, and what was counted of them. */
function makeOld(file: string): void {
  makeEarlyDatabase(file, (database) => {
    database.exec(`
      INSERT INTO accounts (id, owner_id, provider, name, status, scopes, settings, secrets_version, next_allowed_at, created_at, updated_at)
        VALUES ('acc_1', 'default', 'scripted', 'Old', 'connected', '[]', '{}', 0, 0, 1, 1);
      INSERT INTO attempt_totals VALUES ('scripted', 'published', 50, 7, 12);
      INSERT INTO webhooks (id, owner_id, address, events, status, secrets_enc, lease_until, created_at, updated_at)
        VALUES ('whk_1', 'default', 'https://hooks.example', '["post.scheduled","post.published"]', 'active', '', 0, 1, 1);`);
    const post = database.prepare(
      `INSERT INTO posts (id, owner_id, account_id, provider, media_url, caption, scheduled_at, due_at, next_at, file_ids,
         status, in_doubt, attempts, tries, run, fence, content_hash, is_light, created_at, updated_at)
       VALUES (?, 'default', 'acc_1', 'scripted', '', 'Hello', ?, ?, ?, ?, 'scheduled', 0, 0, 0, 1, 0, '', 1, 1, 1)`,
    );
    for (const [id, file] of POSTS) {
      post.run([id, DUE, DUE, DUE, file === null ? null : JSON.stringify([file])]);
      database.prepare("INSERT INTO search_posts (post_id) VALUES (?)").run([id]);
      database
        .prepare(
          "INSERT INTO search_index (rowid, tokens) SELECT number, 'hello' FROM search_posts WHERE post_id = ?",
        )
        .run([id]);
    }
    database.exec("DELETE FROM webhook_deliveries");
  });
}

describe("a database of the version before", () => {
  it("is carried over: all of it is there, goes out and is told once", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "posthorn.db");
    makeOld(file);
    const platform = scriptedPlatform({
      publish: async (post) => ({ state: "live", platformPostId: post.id, platformUrl: null }),
    });
    const media = { forPost: () => ({}) as never, release: async () => {} };
    const store = await openStore({ file });
    await using ctx = await createTestContext({ store, platformList: [platform], media });
    expect(await find(ctx.store, "hel")).toHaveLength(POSTS.length);
    const query = queryOf(ctx.store);
    expect(await query.selectFrom("file_uses").selectAll().execute()).toEqual([
      { account_id: "acc_1", file_id: "file_1", posts: 1 },
      { account_id: "acc_1", file_id: "file_2", posts: 1 },
    ]);
    await drain(ctx);
    for (const [id] of POSTS)
      expect(await readPost(ctx, id)).toMatchObject({ status: "published", attempts: 1 });
    const told = await query.selectFrom("webhook_deliveries").select("event").execute();
    expect(told).toEqual(POSTS.map(() => ({ event: "post.published" })));
    const totals = await readAttemptTotals(ctx.store);
    expect(totals.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(7 + POSTS.length);
  });

  it("is migrated once, whoever opens it, and has the schema of a new one", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "posthorn.db");
    makeOld(file);
    const stores = await Promise.all([1, 2, 3].map(() => openStore({ file })));
    await using fresh = await openStore({ file: ":memory:" });
    for (const store of stores) expect(shapeOf(rawOf(store))).toEqual(shapeOf(rawOf(fresh)));
    for (const store of stores) await store[Symbol.asyncDispose]();
  });

  it("is in tests what all migrations make", async () => {
    await using migrated = await openStore({ file: ":memory:" });
    await using quick = await openStore({ file: ":memory:", around: await freshSchema() });
    const [expected, found] = [migrated, quick].map((store) => everythingIn(rawOf(store)));
    expect(Object.keys(expected?.rows ?? {}).length).toBeGreaterThan(20);
    expect(found).toEqual(expected);
  });
});

/** Tables with their columns, indexes and triggers. What a column is when none is given may differ. */
function shapeOf(raw: SqliteDatabase) {
  const made = raw
    .prepare("SELECT type, name FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
    .all([]) as {
    readonly type: string;
    readonly name: string;
  }[];
  const columnsOf = (table: string) =>
    (
      raw.prepare(`PRAGMA table_info("${table}")`).all([]) as {
        name: string;
        type: string;
        notnull: number;
      }[]
    )
      .map(({ name, type, notnull }) => `${name} ${type} ${notnull}`)
      .toSorted();
  return made.map(({ type, name }) => [type, name, type === "table" ? columnsOf(name) : []]);
}

/** The schema, its version, and what every table holds. */
function everythingIn(raw: SqliteDatabase) {
  const made = raw.prepare("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name").all([]) as {
    readonly type: string;
    readonly name: string;
  }[];
  const tables = made.filter(({ type }) => type === "table").map(({ name }) => name);
  const rows = Object.fromEntries(
    tables.map((name) => [name, raw.prepare(`SELECT * FROM "${name}" ORDER BY 1`).all([])]),
  );
  return { made, rows, version: raw.prepare("PRAGMA user_version").get([]) };
}

it.each([
  [
    18,
    "written by an early Posthorn (schema 18). Nothing was changed. Start it once with a Posthorn of November 2026",
  ],
  [999, `written by a newer Posthorn (schema 999, this one knows ${NEWEST_SCHEMA}). Nothing was changed.`],
])("a database of schema %d is refused and stays as it is", async (version, sentence) => {
  using folder = temporaryFolder();
  const file = join(folder.path, "posthorn.db");
  makeEarlyDatabase(file, (database) => database.exec(`PRAGMA user_version = ${version}`));
  const before = readFileSync(file);
  await expect(openStore({ file })).rejects.toThrow(sentence);
  expect(readFileSync(file)).toEqual(before);
});

describe("a database that is brought to a newer schema", () => {
  const upgrade = (file: string, told: string[]) => ({
    keepCopy: (version: number) => keepSchemaCopy(file, { version, now: NOW }),
    tell: (one: string) => void told.push(one),
  });
  const versionOf = (file: string): number => {
    const { database } = openSqlite({ file, busyTimeoutMs: 1_000 });
    const row = database.prepare("PRAGMA user_version").get([]) as { user_version: number };
    database.close();
    return row.user_version;
  };

  it.each(DRIVERS)("is copied before, for this user alone (%s)", async (driver) => {
    using folder = temporaryFolder();
    const file = join(folder.path, "posthorn.db");
    makeOld(file);
    const told: string[] = [];
    await using store = await openStore({ file, driver, upgrade: upgrade(file, told) });
    const copy = `${file}.schema-${EARLY_SCHEMA}-2026-11-21T090000`;
    expect(told).toEqual([
      `The database was brought from schema ${EARLY_SCHEMA} to ${NEWEST_SCHEMA}. A copy of it as it was is kept in ${copy}.`,
    ]);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(versionOf(copy)).toBe(EARLY_SCHEMA);
    expect(await readCount(store)).toBe(POSTS.length);
    // What the program before would read.
    await using old = await openStore({ file: copy });
    expect(await readCount(old)).toBe(POSTS.length);
  });

  it("is copied by one of several starts, and neither when it is new nor when nothing changes", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "posthorn.db");
    const told: string[] = [];
    for (let start = 0; start < 2; start++) {
      const store = await openStore({ file, upgrade: upgrade(file, told) });
      await store[Symbol.asyncDispose]();
    }
    expect(told).toEqual([]);
    expect(readdirSync(folder.path).filter((name) => name.includes("schema"))).toEqual([]);
  });

  it("keeps the newest two copies", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "posthorn.db");
    for (const name of [
      "schema-12-2025-01-01T000000",
      "schema-2-2026-01-01T000000",
      "before-2024-01-01T000000",
    ])
      writeFileSync(`${file}.${name}`, "");
    makeOld(file);
    await using _store = await openStore({ file, upgrade: upgrade(file, []) });
    expect(readdirSync(folder.path).filter((name) => /\.(schema|before)-/.test(name))).toEqual([
      "posthorn.db.before-2024-01-01T000000",
      `posthorn.db.schema-${EARLY_SCHEMA}-2026-11-21T090000`,
      "posthorn.db.schema-2-2026-01-01T000000",
    ]);
  });

  it("stays as it is where the copy cannot be written", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "posthorn.db");
    makeOld(file);
    mkdirSync(`${file}.schema-${EARLY_SCHEMA}-2026-11-21T090000`);
    writeFileSync(`${file}.schema-${EARLY_SCHEMA}-2026-11-21T090000/x`, "");
    const told: string[] = [];
    await expect(openStore({ file, upgrade: upgrade(file, told) })).rejects.toThrow(
      `The database needs a newer schema, and the copy that is kept of it before cannot be written to ${folder.path}: it is a folder. Nothing was changed.`,
    );
    expect(versionOf(file)).toBe(EARLY_SCHEMA);
    expect(told).toEqual([]);
    expect(readdirSync(folder.path).filter((name) => name.startsWith(".new-"))).toEqual([]);
  });
});

async function find(store: Store, words: string): Promise<string[]> {
  const all = { accountIds: null, providers: null, statuses: null, from: null, to: null };
  const filter = { ...all, ownerId: "default", terms: parseSearch(words) };
  const { rows } = await store.search.page(filter, { before: null, limit: 50, now: () => 0 });
  return rows.map(({ id }) => id);
}

async function readCount(store: Store): Promise<number> {
  const [row] = await queryOf(store)
    .selectFrom("posts")
    .select((eb) => eb.fn.countAll().as("count"))
    .execute();
  return Number(row?.count);
}
