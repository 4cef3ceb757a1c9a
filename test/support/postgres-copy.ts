import pg from "pg";

/** All rows of a database at one moment, while others are at work on it, as `pg_dump` reads them. */
export interface DatabaseCopy {
  /** In the place of what is there now; nobody may be at work on it. */
  putBack(): Promise<void>;
}

/** Of each table the rows as JSON. */
export async function readTables(url: string): Promise<ReadonlyMap<string, string>> {
  const rows = new Map<string, string>();
  await transact(url, "ISOLATION LEVEL REPEATABLE READ, READ ONLY", async (client) => {
    const tables = await client.query<{ name: string }>(
      "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'",
    );
    for (const { name } of tables.rows) {
      const all = await client.query<{ rows: string }>(
        `SELECT coalesce(json_agg(t ORDER BY t::text), '[]')::text AS rows FROM ${name} t`,
      );
      rows.set(name, all.rows[0]?.rows ?? "[]");
    }
  });
  return rows;
}

export async function copyDatabase(url: string): Promise<DatabaseCopy> {
  const rows = await readTables(url);
  return {
    putBack: () =>
      transact(url, "ISOLATION LEVEL SERIALIZABLE", async (client) => {
        // Neither triggers nor foreign keys, as for a restore.
        await client.query("SET LOCAL session_replication_role = replica");
        await client.query(`TRUNCATE ${[...rows.keys()].join(", ")}`);
        for (const [name, json] of rows)
          await client.query(`INSERT INTO ${name} SELECT * FROM json_populate_recordset(NULL::${name}, $1)`, [
            json,
          ]);
      }),
  };
}

async function transact(
  url: string,
  mode: string,
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`BEGIN ${mode}`);
    await work(client);
    await client.query("COMMIT");
  } finally {
    await client.end();
  }
}
