import type { ClientBase } from "pg";
import { AppError } from "../../../domain/errors.ts";
import * as init from "./0001_init.ts";

/** In order, append-only; the table `schema_version` counts those that a database has. */
const MIGRATIONS: readonly { readonly statements: readonly string[] }[] = [init];

/** Advisory locks of a database are told apart by their numbers alone: this one is "Posthorn" in ASCII. */
const LOCK = "5795996486486553198";

/**
 * Brings a database to the newest schema, on a connection to the server itself. Of several processes that
 * start together, one migrates and the others find it done. Throws `unavailable` for a database that is newer
 * than this program; the server's own errors come as they are.
 */
export async function migrate(client: ClientBase): Promise<void> {
  if ((await readVersion(client)) === MIGRATIONS.length) return;
  // However long another process's migration takes.
  await client.query("SET statement_timeout = 0; SET lock_timeout = 0");
  await client.query(`SELECT pg_advisory_lock(${LOCK})`);
  try {
    const version = await readVersion(client);
    if (version > MIGRATIONS.length) throw newerSchema(version);
    for (const [step, { statements }] of MIGRATIONS.slice(version).entries()) {
      // Several statements in one query are one transaction.
      await client.query([...statements, ...noting(version + step + 1)].join(";\n"));
    }
  } finally {
    await client.query(`SELECT pg_advisory_unlock(${LOCK})`);
  }
}

export interface Schema {
  /** 0: the database has no tables yet. */
  readonly version: number;
  /** Which this program brings it to. */
  readonly newest: number;
}

export async function readSchema(client: ClientBase): Promise<Schema> {
  return { version: await readVersion(client), newest: MIGRATIONS.length };
}

function newerSchema(version: number): AppError {
  return new AppError(
    "unavailable",
    `The database was written by a newer Posthorn (schema ${version}, this one knows ${MIGRATIONS.length}). Nothing was changed. Update Posthorn, or point DATABASE_URL at another database.`,
  );
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
