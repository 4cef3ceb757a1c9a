import type { ClientBase } from "pg";
import { AppError } from "../../../domain/errors.ts";
import type { Address } from "./address.ts";

interface Facts {
  readonly version: number;
  readonly encoding: string;
  readonly is_standby: boolean;
  readonly is_read_only: string;
  readonly synchronous: string;
  readonly database: string;
}

const factsWith = (
  system: string,
): string => `SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding,
  pg_is_in_recovery() AS is_standby, current_setting('transaction_read_only') AS is_read_only,
  current_setting('synchronous_commit') AS synchronous,
  ${system} || (SELECT oid FROM pg_database WHERE datname = current_database())::text AS database`;

const OLDEST_VERSION = 15;

/**
 * Throws `unavailable` for a server that would not keep the promises: too old, another encoding, a standby, or
 * commits that do not wait for the disk. Returns an identity of the database, by which a replaced one is noticed.
 */
export async function checkSession(client: ClientBase, address: Address): Promise<string> {
  const facts = await readFacts(client);
  const reason = facts === undefined ? "PostgreSQL told nothing of itself." : refusalOf(facts, address);
  if (facts === undefined || reason !== null)
    throw new AppError("unavailable", `${reason} Nothing was changed.`);
  return facts.database;
}

async function readFacts(client: ClientBase): Promise<Facts | undefined> {
  try {
    const system = "(SELECT system_identifier::text || '/' FROM pg_control_system())";
    return (await client.query<Facts>(factsWith(system))).rows[0];
  } catch {
    // Some hosted services do not show the server's identity.
    return (await client.query<Facts>(factsWith("''"))).rows[0];
  }
}

function refusalOf(facts: Facts, { host, database, setting }: Address): string | null {
  const major = Math.floor(facts.version / 10_000);
  if (major < OLDEST_VERSION)
    return `PostgreSQL at ${host} is version ${major}, and Posthorn needs ${OLDEST_VERSION} or newer. Update it, or name another in ${setting}.`;
  if (facts.encoding !== "UTF8")
    return `The database "${database}" at ${host} is encoded as ${facts.encoding}, which cannot hold every character. Make one with ENCODING 'UTF8' TEMPLATE template0, and name it in ${setting}.`;
  if (facts.is_standby) return `PostgreSQL at ${host} is a standby. Name the primary server in ${setting}.`;
  if (facts.is_read_only === "on")
    return `The database "${database}" at ${host} can only be read. Switch default_transaction_read_only off there, or correct ${setting}.`;
  if (facts.synchronous === "off")
    return `PostgreSQL at ${host} has synchronous_commit off: after a crash posts could go out twice. Set it to on for the database "${database}".`;
  return null;
}
