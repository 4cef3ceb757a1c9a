import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import pg from "pg";
import { openDatabase } from "../../src/store/sqlite/database.ts";
import { migrate, readSchema } from "../../src/store/postgres/migrate.ts";
import { createDatabase } from "../support/postgres.ts";
import type { TestDatabase } from "../support/postgres-server.ts";

/** What the migrations of November 2026 made. */
const EARLY = readFileSync(new URL("../fixtures/schema-15.postgres.sql", import.meta.url), "utf8");

/** `table.column`, and whether it may be null. */
type Columns = Record<string, "null" | "not null">;

/** What an engine has for itself alone. */
const ONLY_SQLITE = /^search_(index|posts)/;
const ONLY_POSTGRES = /^(schema_version|post_search)\.|^workers\.server$/;

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createDatabase({ isEmpty: true });
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await database[Symbol.asyncDispose]();
});

describe("the schema of PostgreSQL", () => {
  it("is made once by several that start together", async () => {
    const others = [1, 2, 3].map(() => new pg.Client({ connectionString: database.url }));
    await Promise.all(others.map((other) => other.connect()));
    await Promise.all([client, ...others].map((one) => migrate(one)));
    await Promise.all(others.map((other) => other.end()));
    const { rows } = await client.query("SELECT version FROM schema_version");
    expect(rows).toEqual([{ version: (await readSchema(client)).newest }]);
  });

  it("has SQLite's tables and columns, which may be null where they may there", async () => {
    const [sqlite, postgres] = [await columnsOfSqlite(), await columnsOfPostgres()];
    expect(Object.keys(postgres).length).toBeGreaterThan(150);
    expect(without(postgres, ONLY_POSTGRES)).toEqual(without(sqlite, ONLY_SQLITE));
  });

  it("has SQLite's indexes", async () => {
    await using sqlite = openDatabase({ file: ":memory:" });
    const named = sqlite.raw
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
      .all([]) as { name: string }[];
    const { rows } = await client.query<{ name: string }>(
      "SELECT indexname AS name FROM pg_indexes WHERE schemaname = current_schema()",
    );
    const names = new Set(rows.map(({ name }) => name));
    const missing = named.filter(({ name }) => !ONLY_SQLITE.test(name) && !names.has(name));
    expect(missing).toEqual([]);
  });

  it("compares and sorts every text byte by byte", async () => {
    const { rows } = await client.query(
      `SELECT table_name, column_name FROM information_schema.columns
       WHERE table_schema = current_schema() AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'`,
    );
    expect(rows).toEqual([]);
  });

  it("says so in time on a server that is slow to answer", async () => {
    await using held = await createDatabase({ isEmpty: true });
    const [holder, starting] = [1, 2].map(() => new pg.Client({ connectionString: held.url }));
    await Promise.all([holder!.connect(), starting!.connect()]);
    await holder!.query("SELECT pg_advisory_lock(5795996486486553198)");
    const query = starting!.query.bind(starting!);
    starting!.query = (async (...args: [string]) => {
      await new Promise((resolve) => setTimeout(resolve, 250));
      return query(...args);
    }) as never;
    const startedAt = performance.now();
    let toldAt = Infinity;
    const tell = (): void => {
      toldAt = Math.min(toldAt, performance.now());
      void holder!.query("SELECT pg_advisory_unlock_all()");
    };
    await migrate(starting!, { everyMs: 2_000, tell });
    // Before the first try two questions, after it up to two.
    expect(toldAt - startedAt).toBeLessThan(2_000 + 5 * 250 + 500);
    await Promise.all([holder!.end(), starting!.end()]);
  });

  it("says what it waits for, and goes on when that is over", async () => {
    await using held = await createDatabase({ isEmpty: true });
    const connect = async () => {
      const one = new pg.Client({ connectionString: held.url });
      await one.connect();
      return one;
    };
    const [holder, starting] = [await connect(), await connect()];
    await holder.query("SELECT pg_advisory_lock(5795996486486553198)");
    const { rows } = await holder.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    const told: string[] = [];
    await migrate(starting, {
      everyMs: 500,
      tell: (sentence, kind) => {
        told.push(`${kind}: ${sentence}`);
        if (told.length === 2) void holder.query("SELECT pg_advisory_unlock_all()");
      },
    });
    expect(told).toEqual([told[0], told[0]]);
    expect(told[0]).toBe(
      `waiting: The start waits for process ${rows[0]?.pid} of the user "postgres" on the PostgreSQL server, which holds the lock for bringing the database to a newer schema. Another Posthorn lets go of it by itself. Where it is none, end that session: SELECT pg_terminate_backend(${rows[0]?.pid}).`,
    );
    await Promise.all([holder.end(), starting.end()]);
  });

  it("is carried over from the last one before the first release, with what is in it", async () => {
    await using early = await createDatabase({ isEmpty: true });
    await using other = new EndingClient({ connectionString: early.url });
    await other.connect();
    await other.query(EARLY);
    await other.query("INSERT INTO attempt_totals VALUES (3, 'scripted', 'published', 50, 7, 12)");
    const told: string[] = [];
    await migrate(other, { tell: (sentence) => void told.push(sentence) });
    const { newest } = await readSchema(other);
    expect(told).toEqual([`The database was brought from schema 15 to ${newest}.`]);
    expect(await shapeOf(other)).toEqual(await shapeOf(client));
    const { rows } = await other.query("SELECT part, attempts FROM attempt_totals");
    expect(rows).toEqual([{ part: 3, attempts: "7" }]);
  });

  it("refuses a database of a newer Posthorn, and changes nothing", async () => {
    await using newer = await createDatabase();
    await using other = new EndingClient({ connectionString: newer.url });
    await other.connect();
    await other.query("UPDATE schema_version SET version = 999");
    const { newest } = await readSchema(client);
    await expect(migrate(other)).rejects.toMatchObject({
      kind: "unavailable",
      message: `The database was written by a newer Posthorn (schema 999, this one knows ${newest}). Nothing was changed. Update Posthorn, or point DATABASE_URL at another database.`,
    });
  });
});

/** A client that ends with its test, also where that fails. */
class EndingClient extends pg.Client implements AsyncDisposable {
  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }
}

/** Columns, indexes and triggers. What a column is when none is given may differ. */
async function shapeOf(one: pg.Client): Promise<unknown[]> {
  const { rows } = await one.query(
    `SELECT table_name || '.' || column_name AS name, data_type || is_nullable AS what
       FROM information_schema.columns WHERE table_schema = current_schema()
     UNION ALL SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema()
     UNION ALL SELECT tgname, 'trigger' FROM pg_trigger WHERE NOT tgisinternal
     UNION ALL SELECT proname, 'function' FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
     ORDER BY 1, 2`,
  );
  return rows;
}

async function columnsOfSqlite(): Promise<Columns> {
  await using database = openDatabase({ file: ":memory:" });
  const rows = database.raw
    .prepare(
      `SELECT t.name || '.' || c.name AS name, c."notnull" OR c.pk > 0 AS is_set
       FROM pragma_table_list t, pragma_table_info(t.name) c
       WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite%'`,
    )
    .all([]) as { name: string; is_set: number }[];
  return Object.fromEntries(rows.map(({ name, is_set }) => [name, is_set === 1 ? "not null" : "null"]));
}

async function columnsOfPostgres(): Promise<Columns> {
  const { rows } = await client.query<{ name: string; is_nullable: string }>(
    `SELECT table_name || '.' || column_name AS name, is_nullable
     FROM information_schema.columns WHERE table_schema = current_schema()`,
  );
  return Object.fromEntries(
    rows.map(({ name, is_nullable }) => [name, is_nullable === "YES" ? "null" : "not null"]),
  );
}

function without(columns: Columns, own: RegExp): Columns {
  return Object.fromEntries(Object.entries(columns).filter(([name]) => !own.test(name)));
}
