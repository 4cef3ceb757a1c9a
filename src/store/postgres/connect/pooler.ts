import type { Client } from "pg";
import { AppError } from "../../../domain/errors.ts";
import type { Address } from "./address.ts";

const ROUNDS = 3;

/**
 * Throws `unavailable` where an address leads through a pooler that gives each transaction another session:
 * the locks by which processes know that others live end there with the transaction.
 */
export async function refusePooler(address: Address, connect: () => Promise<Client>): Promise<void> {
  if (!(await isTransactionPooled(connect))) return;
  throw new AppError(
    "unavailable",
    `${address.setting} leads through a pooler (${address.host}) that gives each transaction another session, which loses Posthorn's locks. Name the server itself in DATABASE_DIRECT_URL. Nothing was changed.`,
  );
}

async function isTransactionPooled(connect: () => Promise<Client>): Promise<boolean> {
  const client = await connect();
  try {
    const session = await pidOf(client);
    // A pooler makes up the number that it greets with; everything else passes the server's own on.
    if ("processID" in client && client.processID === session) return false;
    for (let round = 0; round < ROUNDS; round += 1) {
      const other = await pidInTransaction(connect);
      if (other === null || other === session || (await pidOf(client)) !== session) return true;
    }
    return false;
  } finally {
    await client.end();
  }
}

/** Of another connection, in a transaction; null where it may have none, but single statements alone. */
async function pidInTransaction(connect: () => Promise<Client>): Promise<number | null> {
  const other = await connect();
  try {
    await other.query("BEGIN");
    return await pidOf(other);
  } catch {
    return null;
  } finally {
    await other.end();
  }
}

async function pidOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return rows[0]?.pid ?? 0;
}
