import type { Client } from "pg";
import { AppError } from "../../domain/errors.ts";
import { readAddress, type Address } from "./connect/address.ts";
import type { ConnectionOptions } from "./connect/connections.ts";
import { clientConfig, LIMITS, loadDriver, openClient } from "./connect/pool.ts";
import { explained } from "./connect/sentences.ts";
import { checkSession } from "./connect/session.ts";
import { readSchema } from "./migrate.ts";

/** The facts about a server for `posthorn doctor`. Times in milliseconds. */
export type ServerHealth = Awaited<ReturnType<typeof readHealth>>;

interface Facts {
  readonly version: string;
  readonly user: string;
  readonly database: string;
  readonly synchronousCommit: string;
  readonly mayWrite: boolean;
  /** Whether the user sees the transactions of others. */
  readonly seesAll: boolean;
  readonly inUse: number;
  /** Without those that are kept for administrators. */
  readonly maxConnections: number;
}

interface OldTransaction {
  readonly kind: "snapshot" | "prepared";
  readonly minutes: number;
  /** The process's number, or the prepared transaction's name. */
  readonly id: string;
  readonly application: string;
  /** The statement that ends it, for a user who may. */
  readonly ending: string;
}

/** Transactions of this database that are older, the oldest first. */
const OLD_MINUTES = 10;

/** Looks at the server and changes nothing. Throws what `openConnections` throws where it cannot connect. */
export async function readHealth(
  { url, directUrl }: Pick<ConnectionOptions, "url" | "directUrl">,
  now: () => number,
) {
  const main = readAddress(url, "DATABASE_URL");
  const direct = directUrl === undefined ? main : readAddress(directUrl, "DATABASE_DIRECT_URL");
  const client = await connect(direct);
  try {
    // Why Posthorn refuses this server, or cannot reach it.
    const refusals = [
      await refusalOf(() => checkSession(client, direct)),
      direct === main ? null : await refusalOf(async () => void (await (await connect(main)).end())),
    ];
    return {
      ...(await look(client, now)),
      host: direct.host,
      refusals: refusals.filter((one) => one !== null),
      // Null: the address leads to the server itself.
      pooler: direct === main ? null : main.host,
      plain: await listPlain(direct === main ? [main] : [main, direct]),
    };
  } catch (error) {
    throw explained(error, direct);
  } finally {
    await client.end();
  }
}

/** The settings whose address leads over a network without TLS. The driver also reads variables (PGSSLMODE). */
async function listPlain(addresses: readonly Address[]): Promise<string[]> {
  const driver = await loadDriver();
  return addresses.flatMap((address) => {
    const { ssl, host } = new driver.Client(clientConfig(driver, address));
    return ssl || isOwnMachine(host) ? [] : address.setting;
  });
}

/** A host that begins with a slash is the folder of a socket. */
function isOwnMachine(host: string): boolean {
  return /^(\/|localhost$|127\.|::1$|\[::1\]$)/.test(host);
}

/** Whether what goes to this address can be read on its way. */
export async function isPlain(url: string): Promise<boolean> {
  return (await listPlain([readAddress(url, "DATABASE_URL")])).length > 0;
}

function connect(address: Address): Promise<Client> {
  return openClient(address, { queryMs: LIMITS.statementMs });
}

async function refusalOf(work: () => Promise<unknown>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

async function look(client: Client, now: () => number) {
  const facts = await one<Facts>(client, FACTS);
  const asked = now();
  const { server } = await one<{ server: number }>(client, CLOCK);
  const times = { asked, server, answered: now() };
  // Null where the user may not look.
  const schema = facts.mayWrite ? await readSchema(client) : null;
  const isCurrent = schema !== null && schema.version === schema.newest;
  const { processes } = isCurrent ? await one<{ processes: number }>(client, PROCESSES) : { processes: 0 };
  const { rows: old } = await client.query<OldTransaction>(OLD);
  return { ...facts, times, schema, processes, old };
}

/** Statements that give one row. */
async function one<T extends object>(client: Client, text: string): Promise<T> {
  const [row] = (await client.query<T>(text)).rows;
  if (row === undefined) throw new AppError("unavailable", "PostgreSQL told nothing of itself.");
  return row;
}

const CLOCK = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS server";

/** Where the tables exist: whether all of them can be written. Else: whether they can be made. */
const MAY_WRITE = `CASE WHEN to_regclass('schema_version') IS NULL
    THEN coalesce(has_schema_privilege(current_schema(), 'CREATE'), false)
    ELSE (SELECT bool_and(has_table_privilege(one.oid, 'SELECT') AND has_table_privilege(one.oid, 'INSERT')
        AND has_table_privilege(one.oid, 'UPDATE') AND has_table_privilege(one.oid, 'DELETE'))
      FROM pg_class AS one
      WHERE one.relkind = 'r' AND one.relnamespace =
        (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('schema_version'))) END`;

const FACTS = `SELECT split_part(current_setting('server_version'), ' ', 1) AS version, current_user AS user,
  current_database() AS database, current_setting('synchronous_commit') AS "synchronousCommit",
  ${MAY_WRITE} AS "mayWrite", pg_has_role('pg_read_all_stats', 'USAGE') AS "seesAll",
  (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) AS "inUse",
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
    - coalesce(current_setting('reserved_connections', true), '0')::int AS "maxConnections"`;

const PROCESSES = `SELECT count(DISTINCT (host, pid)) AS processes FROM workers
  WHERE heartbeat_at > (extract(epoch FROM clock_timestamp()) - 60) * 1000`;

/** The age of a transaction is at least that of its snapshot. */
const OLD = `SELECT * FROM (
    SELECT 'snapshot' AS kind, pid::text AS id, coalesce(application_name, '') AS application,
      'SELECT pg_terminate_backend(' || pid || ')' AS ending,
      floor(extract(epoch FROM clock_timestamp() - xact_start) / 60)::int AS minutes
    FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend'
    UNION ALL
    SELECT 'prepared', gid, '', 'COMMIT PREPARED or ROLLBACK PREPARED ' || quote_literal(gid),
      floor(extract(epoch FROM clock_timestamp() - prepared) / 60)::int
    FROM pg_prepared_xacts WHERE database = current_database()
  ) AS open
  WHERE minutes >= ${OLD_MINUTES} ORDER BY minutes DESC, id LIMIT 5`;
