import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askOutcome, begun, PLACES, type Begun } from "../../src/store/postgres/connect/commit-outcome.ts";
import type { TestDatabase } from "../support/postgres-server.ts";
import { createDatabase } from "../support/postgres.ts";

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

describe.each(PLACES)("a transaction that is asked for (%s)", (place) => {
  const ask = (transaction: Begun, withinMs = 5_000) => askOutcome(transaction, { place, connect, withinMs });

  async function begin(client: pg.Client): Promise<Begun> {
    await client.query("BEGIN");
    const { rows } = await client.query<Begun>(begun(place));
    return rows[0]!;
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

  it("is not known on another timeline, or after another checkpoint", async () => {
    const client = await connect();
    const kept = await begin(client);
    await client.query("COMMIT");
    await client.end();
    expect(await ask({ ...kept, timeline: "0000000F" })).toBe("unknown");
    expect(await ask({ ...kept, checkpoint: "0/1" })).toBe("unknown");
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
