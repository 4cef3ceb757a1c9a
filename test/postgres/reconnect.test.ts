import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { insertMeta, readMeta } from "../../src/store/queries/meta.ts";
import { queryOf } from "../support/handles.ts";
import { administer, createDatabaseOn, startPostgres } from "../support/postgres-server.ts";
import { createDatabase, openTestConnections, serverAddress } from "../support/postgres.ts";
import { gate } from "../support/gate.ts";

describe("connections", () => {
  it("that the server ends come back by themselves", async () => {
    await using database = await createDatabase();
    await using connections = await openTestConnections(database.url);
    const door = connections;
    for (let round = 0; round < 5; round += 1) {
      // Some of them idle, one of them in a transaction that does nothing, one of them at work.
      await Promise.all(Array.from({ length: 5 }, () => readMeta(door, "x")));
      const begun = gate();
      const going = gate();
      const idle = door.write(async (tx) => {
        await insertMeta(tx, `idle.${round}`, "");
        begun.open();
        await going.opened;
        return await readMeta(tx, `idle.${round}`);
      });
      const busy = door.write((tx) => sql`SELECT pg_sleep(0.2)`.execute(queryOf(tx)));
      await begun.opened;
      await administer(
        serverAddress(),
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database.name}'`,
      );
      going.open();
      expect(await idle).toBe("");
      await busy;
    }
    const { count } = await queryOf(door)
      .selectFrom("meta")
      .select((build) => build.fn.countAll().as("count"))
      .executeTakeFirstOrThrow();
    expect(count).toBe(5);
  });

  it(
    "come back after a restart of the server, and tell what is the matter meanwhile",
    { timeout: 60_000 },
    async () => {
      await using server = await startPostgres();
      await using database = await createDatabaseOn(server.address);
      await using connections = await openTestConnections(database.url);
      const door = connections;
      await door.write((tx) => insertMeta(tx, "before", "1"));
      await server.stop();
      await expect(door.write((tx) => insertMeta(tx, "meanwhile", "1"))).rejects.toMatchObject({
        kind: "unavailable",
        message: `No PostgreSQL listens at 127.0.0.1:${server.address.port}. Start it, or correct DATABASE_URL. Nothing was changed.`,
      });
      expect(door.writeTrouble()).not.toBeNull();
      await expect(readMeta(door, "before")).rejects.toMatchObject({ kind: "unavailable" });
      await server.start();
      await door.write((tx) => insertMeta(tx, "after", "1"));
      expect(door.writeTrouble()).toBeNull();
      expect(await readMeta(door, "before")).toBe("1");
      expect(connections.lost.aborted).toBe(false);
    },
  );

  it("are waited for where all are busy, and then refused", async () => {
    await using database = await createDatabase();
    await using connections = await openTestConnections(database.url, {
      size: 1,
      limits: { connectMs: 2_000 },
    });
    const door = connections;
    const [isHeld, held] = [gate(), gate()];
    const holding = door.write(async (tx) => {
      await readMeta(tx, "x");
      isHeld.open();
      await held.opened;
    });
    await isHeld.opened;
    await expect(readMeta(door, "x")).rejects.toMatchObject({
      kind: "unavailable",
      message:
        "All connections to PostgreSQL were busy for too long. Try again in a moment. Nothing was changed.",
    });
    held.open();
    await holding;
    expect(await readMeta(door, "x")).toBeNull();
  });

  it("are lost once another database stands in the place of theirs", async () => {
    await using database = await createDatabase();
    await using connections = await openTestConnections(database.url);
    const door = connections;
    await door.write((tx) => insertMeta(tx, "mine", "1"));
    await administer(serverAddress(), `DROP DATABASE ${database.name} WITH (FORCE)`);
    await administer(serverAddress(), `CREATE DATABASE ${database.name} TEMPLATE posthorn_template`);
    const sentence =
      "Another database answers at DATABASE_URL than the one that was opened. Start Posthorn again once it is the right one.";
    await expect(door.write((tx) => insertMeta(tx, "yours", "1"))).rejects.toMatchObject({
      message: sentence,
    });
    expect(connections.lost.reason).toMatchObject({ kind: "unavailable", message: sentence });
    await expect(readMeta(door, "mine")).rejects.toMatchObject({ message: sentence });
  });
});
