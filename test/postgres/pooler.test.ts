import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { readMeta, setMeta } from "../../src/store/tables/meta.ts";
import { queryOf } from "../support/handles.ts";
import { createDatabase, openTestConnections, refusalOf, serverAddress } from "../support/postgres.ts";
import { startPooler } from "../support/transaction-pooler.ts";

describe("a pooler", () => {
  it("that gives each transaction another session is refused where it is all there is", async () => {
    await using database = await createDatabase();
    await using pooler = await startPooler(database.url, "transaction");
    const url = database.url.replace(`:${serverAddress().port}/`, `:${pooler.port}/`);
    expect(await refusalOf(url)).toMatchObject({
      kind: "unavailable",
      message: `DATABASE_URL leads through a pooler (127.0.0.1:${pooler.port}) that gives each transaction another session, which loses Posthorn's locks. Name the server itself in DATABASE_DIRECT_URL. Nothing was changed.`,
    });
    expect((await refusalOf(database.url, { directUrl: url })).message).toContain(
      "DATABASE_DIRECT_URL leads through a pooler",
    );
  });

  it("is gone through where the server itself is named too, with the limits of each transaction", async () => {
    await using database = await createDatabase();
    await using pooler = await startPooler(database.url, "transaction");
    const url = database.url.replace(`:${serverAddress().port}/`, `:${pooler.port}/`);
    await using connections = await openTestConnections(url, { directUrl: database.url });
    const door = connections.application;
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        door.write((tx) => setMeta(tx, `key.${index}`, String(index))),
      ),
    );
    expect(await readMeta(door, "key.7")).toBe("7");
    const limits = await door.write(async (tx) => {
      const result = await sql`SELECT current_setting('statement_timeout') AS statement`.execute(queryOf(tx));
      return result.rows;
    });
    expect(limits).toEqual([{ statement: "15s" }]);
  });

  it("that keeps sessions is as good as the server", async () => {
    await using database = await createDatabase();
    await using pooler = await startPooler(database.url, "session");
    const url = database.url.replace(`:${serverAddress().port}/`, `:${pooler.port}/`);
    await using connections = await openTestConnections(url);
    await connections.application.write((tx) => setMeta(tx, "key", "1"));
    expect(await readMeta(connections.application, "key")).toBe("1");
  });
});
