import { setTimeout as delay } from "node:timers/promises";
import type { ClientBase } from "pg";
import type { Tell } from "../engine/engine.ts";
import { statementsFrom } from "../schema/versions.ts";
import { NEWEST_SCHEMA, SCHEMA } from "./schema.ts";

/** Advisory locks of a database are told apart by their numbers alone: this one is "Posthorn" in ASCII. */
const LOCK = "5795996486486553198";

export interface Telling {
  readonly tell: Tell;
  /** How often it says what it still waits for. Default: 10 s. */
  readonly everyMs?: number;
}

const TELL_EVERY_MS = 10_000;
const TRY_EVERY_MS = 250;

/**
 * Brings a database to the newest schema, on a connection to the server itself. Of several processes that
 * start together, one migrates and the others find it done. Throws `unavailable` for a database that is newer
 * than this program; the server's own errors come as they are.
 */
export async function migrate(client: ClientBase, telling: Telling = { tell: () => {} }): Promise<void> {
  if ((await readVersion(client)) === NEWEST_SCHEMA) return;
  // However long another process's migration takes.
  await client.query("SET statement_timeout = 0; SET lock_timeout = 0");
  await takeLock(client, telling);
  try {
    const version = await readVersion(client);
    await apply(client, [...statementsFrom(version, SCHEMA), ...noting(NEWEST_SCHEMA)]);
    if (version > 0 && version < NEWEST_SCHEMA)
      telling.tell(`The database was brought from schema ${version} to ${NEWEST_SCHEMA}.`, "done");
  } finally {
    await client.query(`SELECT pg_advisory_unlock(${LOCK})`);
  }
}

/** All of it, or nothing. */
async function apply(client: ClientBase, statements: readonly string[]): Promise<void> {
  await client.query("BEGIN");
  try {
    for (const statement of statements) await client.query(statement);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  }
}

/**
 * Tried again and again instead of waited for: any role that may connect to the database can hold it, and a
 * start that waits without a word looks like one that hangs.
 */
async function takeLock(client: ClientBase, { tell, everyMs = TELL_EVERY_MS }: Telling): Promise<void> {
  let isTelling = false;
  // By a clock of its own: on a busy server the tries take their time, too.
  const timer = setInterval(() => (isTelling = true), everyMs);
  try {
    while (!(await tryLock(client))) {
      if (isTelling) tell(await describeHolder(client), "waiting");
      isTelling = false;
      await delay(TRY_EVERY_MS);
    }
  } finally {
    clearInterval(timer);
  }
}

async function tryLock(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(`SELECT pg_try_advisory_lock(${LOCK}) AS taken`);
  return rows[0]?.taken === true;
}

/** An advisory lock's number stands in two columns of 32 bits each. */
const HOLDER = `
  SELECT a.pid, a.usename AS role FROM pg_locks l JOIN pg_stat_activity a USING (pid)
  WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND a.datname = current_database()
    AND (l.classid::bigint << 32) | l.objid::bigint = ${LOCK}`;

async function describeHolder(client: ClientBase): Promise<string> {
  const { rows } = await client.query<{ pid: number; role: string | null }>(HOLDER);
  const [holder] = rows;
  const who =
    holder === undefined
      ? "another session"
      : `process ${holder.pid} of the user ${JSON.stringify(holder.role)}`;
  const end = holder === undefined ? "" : `: SELECT pg_terminate_backend(${holder.pid})`;
  return `The start waits for ${who} on the PostgreSQL server, which holds the lock for bringing the database to a newer schema. Another Posthorn lets go of it by itself. Where it is none, end that session${end}.`;
}

export interface Schema {
  /** 0: the database has no tables yet. */
  readonly version: number;
  /** Which this program brings it to. */
  readonly newest: number;
}

export async function readSchema(client: ClientBase): Promise<Schema> {
  return { version: await readVersion(client), newest: NEWEST_SCHEMA };
}

function noting(version: number): readonly string[] {
  return [
    "CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL)",
    "DELETE FROM schema_version",
    `INSERT INTO schema_version VALUES (${version})`,
  ];
}

async function readVersion(client: ClientBase): Promise<number> {
  const table = await client.query<{ name: string | null }>("SELECT to_regclass('schema_version') AS name");
  if (table.rows[0]?.name === null) return 0;
  const { rows } = await client.query<{ version: number }>("SELECT version FROM schema_version");
  return rows[0]?.version ?? 0;
}
