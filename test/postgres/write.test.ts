import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Connections } from "../../src/store/postgres/connect/connections.ts";
import { insertMeta, readMeta, setMeta } from "../../src/store/queries/meta.ts";
import { queryOf } from "../support/handles.ts";
import type { TestDatabase } from "../support/postgres-server.ts";
import { createDatabase, openTestConnections } from "../support/postgres.ts";
import { gate } from "../support/gate.ts";

let database: TestDatabase;
let connections: Connections;
let door: Connections;

beforeAll(async () => {
  database = await createDatabase();
  connections = await openTestConnections(database.url, { limits: { statementMs: 2_000 } });
  door = connections;
});

afterAll(async () => {
  await connections[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

describe("a write on PostgreSQL", () => {
  it("gives numbers as SQLite does, and what no number holds as a BigInt", async () => {
    const { rows } = await sql`SELECT 5::int8 AS small, 9007199254740993::int8 AS large, sum(n) AS sum
      FROM (VALUES (1::int8), (2::int8)) v (n)`.execute(queryOf(door));
    expect(rows).toEqual([{ small: 5, large: 9007199254740993n, sum: 3 }]);
  });

  it("is not written where a statement failed and its error was ignored", async () => {
    const ignoring = door.write(async (tx) => {
      await insertMeta(tx, "ignored", "1");
      await sql`SELECT 1 / 0`.execute(queryOf(tx)).catch(() => {});
    });
    await expect(ignoring).rejects.toThrow("A statement failed in a transaction, which went on.");
    expect(await readMeta(door, "ignored")).toBeNull();
  });

  it("runs again after a deadlock, until both are done", async () => {
    await door.write(async (tx) => {
      await setMeta(tx, "a", "0");
      await setMeta(tx, "b", "0");
    });
    let runs = 0;
    const bothHold = gate();
    const both = [
      ["a", "b"],
      ["b", "a"],
    ].map(([first = "", second = ""]) =>
      door.write(async (tx) => {
        await setMeta(tx, first, "1");
        runs += 1;
        if (runs === 2) bothHold.open();
        await bothHold.opened;
        await setMeta(tx, second, "1");
      }),
    );
    await Promise.all(both);
    expect(runs).toBeGreaterThan(2);
  });

  it("waits for no lock for ever, and says what it met", async () => {
    let runs = 0;
    const held = gate();
    const isHeld = gate();
    const holding = connections.write(async (tx) => {
      await setMeta(tx, "held", "1");
      isHeld.open();
      await held.opened;
    });
    await isHeld.opened;
    await using hasty = await openTestConnections(database.url, { limits: { lockMs: 50 } });
    const waiting = hasty.write(async (tx) => {
      runs += 1;
      await setMeta(tx, "held", "2");
    });
    await expect(waiting).rejects.toMatchObject({
      kind: "unavailable",
      message: "Others write the same at this moment. Try again. Nothing was changed.",
    });
    expect(runs).toBe(6);
    held.open();
    await holding;
    expect(await readMeta(door, "held")).toBe("1");
  });

  it("is ended where a statement takes too long", async () => {
    await expect(sql`SELECT pg_sleep(5)`.execute(queryOf(door))).rejects.toMatchObject({
      kind: "unavailable",
      message:
        "PostgreSQL took too long for this. Try again, and ask for less where it stays so. Nothing was changed.",
    });
  });

  it("is READ COMMITTED and has its limits, whatever the database's default is", async () => {
    const rows = await door.write(async (tx) => {
      const result = await sql`SELECT current_setting('transaction_isolation') AS isolation,
        current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock`.execute(
        queryOf(tx),
      );
      return result.rows;
    });
    expect(rows).toEqual([{ isolation: "read committed", statement: "2s", lock: "5s" }]);
  });
});
