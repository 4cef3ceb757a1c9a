import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseSearch } from "../../../src/domain/compare-words.ts";
import { openSqlite, type SqliteDatabase } from "../../../src/store/sqlite/driver.ts";
import { statements as init } from "../../../src/store/sqlite/migrations/0001_init.ts";
import { keepSchemaCopy } from "../../../src/store/backup/database-copy.ts";
import { MIGRATIONS } from "../../../src/store/sqlite/migrations/migrate.ts";
import type { Store } from "../../../src/store/engine/store.ts";
import { openStore } from "../../../src/store/open-store.ts";
import { readHistory } from "../../../src/posts/posts.ts";
import { createTestContext } from "../../support/context.ts";
import { freshSchema } from "../../support/fresh-schema.ts";
import { queryOf, rawOf } from "../../support/handles.ts";
import { drain, readPost } from "../../support/publishing.ts";
import { scriptedPlatform } from "../../support/scripted-platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const NOW = Date.parse("2026-11-21T09:00:00.000Z");
const DUE = NOW - 5_000;

/**
 * Waiting posts as the first schema had them: by id, address and metadata, and whether they bring no media.
 */
const POSTS: readonly [id: string, mediaUrl: string, metadata: object | null, isLight: 0 | 1][] = [
  ["post_text", "", null, 1],
  ["post_words", "", { title: 'She said: "url": no', tags: ["mediaUrl"] }, 1],
  ["post_link", "", { link: "https://example.org/url" }, 1],
  ["post_picture", "https://media.example/1.png", null, 0],
  ["post_own", "r2://file_1", { altText: "x" }, 0],
  ["post_more", "", { moreMedia: [{ url: "r2://file_2" }] }, 0],
  ["post_thread", "", { thread: [{ caption: "More", mediaUrl: "r2://file_3" }] }, 0],
  ["post_cover", "", { title: "T", thumbnailUrl: "r2://file_4" }, 0],
];

/** Those that can be opened here: a compiled one is made for one release of Node. */
const DRIVERS = (["better-sqlite3", "node:sqlite"] as const).filter((driver) => {
  try {
    openSqlite({ file: ":memory:", busyTimeoutMs: 1_000, driver }).database.close();
    return true;
  } catch {
    return false;
  }
});

/** A database as the version before left it. */
function makeOld(file: string): void {
  const { database } = openSqlite({ file, busyTimeoutMs: 1_000 });
  database.exec("PRAGMA journal_mode = WAL");
  for (const statement of init) database.exec(statement);
  database.exec("PRAGMA user_version = 1");
  const account = database.prepare(
    `INSERT INTO accounts (id, owner_id, provider, name, status, scopes, settings, secrets_version, next_allowed_at, created_at, updated_at)
     VALUES (?, 'default', 'scripted', 'Old', 'connected', '[]', '{}', 0, 0, 1, 1)`,
  );
  const post = database.prepare(
    `INSERT INTO posts (id, owner_id, account_id, provider, media_url, caption, metadata, scheduled_at, due_at, next_at, sort_key,
       status, in_doubt, attempts, tries, run, fence, content_hash, created_at, updated_at)
     VALUES (?, 'default', ?, 'scripted', ?, 'Hello', ?, ?, ?, ?, ?, ?, 0, 0, 0, 1, 0, '', 1, 1)`,
  );
  database.exec(
    `INSERT INTO webhooks (id, owner_id, address, events, status, secrets_enc, lease_until, created_at, updated_at)
     SELECT 'whk_1', 'default', 'https://hooks.example', '["post.scheduled","post.published"]', 'active', '', 0, 1, 1`,
  );
  POSTS.forEach(([id, mediaUrl, metadata], n) => {
    account.run([`acc_${n}`]);
    const json = metadata === null ? null : JSON.stringify(metadata);
    post.run([id, `acc_${n}`, mediaUrl, json, DUE, DUE, DUE, n, "scheduled"]);
  });
  post.run(["post_gone", "acc_0", "", null, DUE, DUE, null, 99, "published"]);
  post.run(["post_gone_own", "acc_4", "r2://file_1", null, DUE, DUE, null, 98, "published"]);
  for (const n of [1, 2, 3, 4]) {
    database
      .prepare(
        `INSERT INTO files (id, owner_id, storage_key, name, mime_type, type, size_bytes, status, created_at, updated_at)
         VALUES (?, 'default', ?, 'x.png', 'image/png', 'image', 1, 'ready', 1, 1)`,
      )
      .run([`id_${n}`, `file_${n}`]);
  }
  database.exec("DELETE FROM webhook_deliveries");
  database.close();
}

describe("a database of the version before", () => {
  it("is brought to this one: what waits with media is told from what does not, and all of it goes out", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "posthorn.db");
    makeOld(file);
    await using ctx = await createTestContext({
      store: await openStore({ file }),
      platformList: [
        scriptedPlatform({
          publish: async (post) => ({ state: "live", platformPostId: post.id, platformUrl: null }),
        }),
      ],
      media: { forPost: () => ({}) as never, release: async () => {} },
    });
    const rows = await queryOf(ctx.store)
      .selectFrom("posts")
      .select(["id", "is_light", "updated_at"])
      .where("next_at", "is not", null)
      .orderBy("id")
      .execute();
    const waiting = POSTS.map(([id, , , is_light]) => ({ id, is_light, updated_at: 1 }));
    expect(rows).toEqual(waiting.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
    expect(await find(ctx.store, "hel")).toHaveLength(POSTS.length + 2);
    expect(await find(ctx.store, "hel she")).toEqual(["post_words"]);
    expect(await queryOf(ctx.store).selectFrom("webhook_deliveries").selectAll().execute()).toEqual([]);
    expect(
      await queryOf(ctx.store).selectFrom("accounts").select(["wait_cause", "freed_at"]).execute(),
    ).toEqual(POSTS.map(() => ({ wait_cause: null, freed_at: null })));
    expect(await queryOf(ctx.store).selectFrom("file_uses").selectAll().execute()).toEqual([
      { account_id: "acc_4", file_id: "id_1", posts: 2 },
      { account_id: "acc_5", file_id: "id_2", posts: 1 },
      { account_id: "acc_6", file_id: "id_3", posts: 1 },
      { account_id: "acc_7", file_id: "id_4", posts: 1 },
    ]);
    // The scripted platform takes a title at most.
    await queryOf(ctx.store).updateTable("posts").set({ metadata: null }).execute();
    await drain(ctx);
    for (const [id] of POSTS) {
      const post = await readPost(ctx, id);
      expect(post).toMatchObject({ status: "published", attempts: 1 });
      expect(await readHistory(ctx, post)).toMatchObject([{ outcome: "published", lateCause: "load" }]);
    }
  });

  it("is migrated once, whoever opens it, and has the schema of a new one", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "posthorn.db");
    makeOld(file);
    const stores = await Promise.all([1, 2, 3].map(() => openStore({ file })));
    await using fresh = await openStore({ file: ":memory:" });
    const columns = (store: (typeof stores)[number]): unknown =>
      ["posts", "accounts", "attempts"].map((table) =>
        rawOf(store).prepare(`PRAGMA table_info(${table})`).all([]),
      );
    expect(columns(stores[0]!)).toEqual(columns(fresh));
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
    const copy = `${file}.schema-1-2026-11-21T090000`;
    expect(told).toEqual([
      `The database was brought from schema 1 to ${MIGRATIONS.length}. A copy of it as it was is kept in ${copy}.`,
    ]);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(versionOf(copy)).toBe(1);
    expect(await readCount(store)).toBe(POSTS.length + 2);
    // What the program before would read.
    await using old = await openStore({ file: copy });
    expect(await readCount(old)).toBe(POSTS.length + 2);
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
      "posthorn.db.schema-1-2026-11-21T090000",
      "posthorn.db.schema-2-2026-01-01T000000",
    ]);
  });

  it("stays as it is where the copy cannot be written", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "posthorn.db");
    makeOld(file);
    mkdirSync(`${file}.schema-1-2026-11-21T090000`);
    writeFileSync(`${file}.schema-1-2026-11-21T090000/x`, "");
    const told: string[] = [];
    await expect(openStore({ file, upgrade: upgrade(file, told) })).rejects.toThrow(
      `The database needs a newer schema, and the copy that is kept of it before cannot be written to ${folder.path}: it is a folder. Nothing was changed.`,
    );
    expect(versionOf(file)).toBe(1);
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
