import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  askOutcome,
  SERVER_LIFE,
  type Begun,
  type ServerLife,
} from "../../src/store/postgres/connect/commit-outcome.ts";
import { administer, urlOf, type TestDatabase } from "../support/postgres-server.ts";
import { createDatabase, serverAddress } from "../support/postgres.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});

afterAll(() => database[Symbol.asyncDispose]());

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url });
  client.on("error", () => {});
  await client.connect();
  return client;
}

describe("a transaction that is asked for", () => {
  const ask = (transaction: Begun, withinMs = 5_000) => askOutcome(transaction, { connect, withinMs });

  async function begin(client: pg.Client): Promise<Begun> {
    await client.query("BEGIN");
    const { rows } = await client.query<{ xid: string }>("SELECT pg_current_xact_id()::text AS xid");
    const lives = await client.query<ServerLife>(`SELECT ${SERVER_LIFE}`);
    return { xid: rows[0]!.xid, server: lives.rows[0]! };
  }

  it("was committed, or was not", async () => {
    const client = await connect();
    const kept = await begin(client);
    await client.query("COMMIT");
    const thrown = await begin(client);
    await client.query("ROLLBACK");
    await client.end();
    expect(await ask(kept)).toBe("committed");
    expect(await ask(thrown)).toBe("aborted");
  });

  it("is not known by another server, after a restart, or after a crash of the server's processes", async () => {
    const client = await connect();
    const { xid, server } = await begin(client);
    await client.query("COMMIT");
    await client.end();
    expect(server.processes.length).toBeGreaterThan(2);
    expect(await ask({ xid, server: { ...server, since: "2020-01-01 00:00:00+00" } })).toBe("unknown");
    expect(await ask({ xid, server: { ...server, processes: [1] } })).toBe("unknown");
  });

  it("is asked for as well by who may see little of the server", async () => {
    await administer(serverAddress(), "DROP ROLE IF EXISTS plain");
    await administer(serverAddress(), "CREATE ROLE plain LOGIN PASSWORD 's3cret'");
    const client = new pg.Client({
      connectionString: urlOf({ ...serverAddress(), user: "plain" }, database.name),
    });
    await client.connect();
    const { server } = await begin(client);
    await client.end();
    const owner = await connect();
    const { server: seen } = await begin(owner);
    await owner.end();
    expect(server.since).toBe(seen.since);
    expect(server.processes.filter((pid) => seen.processes.includes(pid)).length).toBeGreaterThan(2);
  });

  it("is ended where it waits for a word that never comes", async () => {
    const client = await connect();
    const idle = await begin(client);
    expect(await ask(idle)).toBe("aborted");
    await expect(client.query("COMMIT")).rejects.toThrow();
  });

  it("is waited for where it is at work, for as long as is given", async () => {
    const client = await connect();
    const busy = await begin(client);
    const working = client.query("SELECT pg_sleep(0.5); COMMIT");
    expect(await ask(busy, 100)).toBe("unknown");
    expect(await ask(busy)).toBe("committed");
    await working;
    await client.end();
  });
});
