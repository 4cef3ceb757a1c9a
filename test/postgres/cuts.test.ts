import pg from "pg";
import { describe, expect, it } from "vitest";
import { Passing } from "../../src/store/postgres/connect/sentences.ts";
import { insertMeta } from "../../src/store/tables/meta.ts";
import { startCuttingProxy, type Cut, type CuttingProxy } from "../support/cutting-proxy.ts";
import { queryOf } from "../support/handles.ts";
import { startPostgres, createDatabaseOn } from "../support/postgres-server.ts";
import { createDatabase, openTestConnections, serverAddress } from "../support/postgres.ts";
import type { Door } from "../../src/store/postgres/connect/connections.ts";

/** Reads past the proxy. */
async function readKeys(url: string, prefix: string): Promise<string[]> {
  await using direct = await openTestConnections(url);
  const rows = await queryOf(direct.application).selectFrom("meta").select("key").execute();
  return rows.map(({ key }) => key).filter((key) => key.startsWith(prefix));
}

/** Writes a row whose name tells which of its runs wrote it; answers the name that it was told is there. */
async function writeMark(door: Door, name: string): Promise<string> {
  let runs = 0;
  return await door.write(async (tx) => {
    runs += 1;
    await insertMeta(tx, `${name}.${runs}`, "");
    return `${name}.${runs}`;
  });
}

describe("a connection that is cut", () => {
  const times: readonly Cut[] = ["before", "during", "after"];

  it("in a COMMIT is asked what became of it, and writes once", { timeout: 120_000 }, async () => {
    await using database = await createDatabase();
    await using proxy = await startCuttingProxy(serverAddress().port);
    const url = database.url.replace(`:${serverAddress().port}/`, `:${proxy.port}/`);
    await using connections = await openTestConnections(url);
    const told: string[] = [];
    for (let cut = 0; cut < 60; cut += 1) {
      proxy.cutAt("COMMIT\0", times[cut % times.length] ?? "after");
      told.push(await writeMark(connections.application, `mark.${cut}`));
      expect(proxy.cuts).toBe(cut + 1);
    }
    // Each exactly once, by the run that was told of.
    expect((await readKeys(database.url, "mark.")).sort()).toEqual(told.sort());
    // Those whose words never arrived ran again, those that were cut after did not.
    expect(told.filter((key) => key.endsWith(".2")).length).toBeGreaterThanOrEqual(20);
    expect(told.filter((key) => key.endsWith(".1")).length).toBeGreaterThanOrEqual(20);
    expect(connections.application.writeTrouble()).toBeNull();
  });

  it("before its COMMIT runs again, wherever it was", async () => {
    await using database = await createDatabase();
    await using proxy = await startCuttingProxy(serverAddress().port);
    const url = database.url.replace(`:${serverAddress().port}/`, `:${proxy.port}/`);
    await using connections = await openTestConnections(url);
    const told: string[] = [];
    for (const words of ["BEGIN", "insert into"]) {
      for (const cut of times) {
        proxy.cutAt(words, cut);
        told.push(await writeMark(connections.application, `mark.${words[0]}.${cut}`));
      }
    }
    expect(proxy.cuts).toBe(6);
    expect((await readKeys(database.url, "mark.")).sort()).toEqual(told.sort());
  });

  it("without a word is given up, and asked for", async () => {
    await using database = await createDatabase();
    await using proxy = await startCuttingProxy(serverAddress().port);
    const url = database.url.replace(`:${serverAddress().port}/`, `:${proxy.port}/`);
    await using connections = await openTestConnections(url, { limits: { statementMs: 200, silentMs: 200 } });
    proxy.cutAt("COMMIT\0", "silence");
    const told = await writeMark(connections.application, "mark");
    expect(told).toBe("mark.1");
    expect(await readKeys(database.url, "mark")).toEqual(["mark.1"]);
  });

  it("for good tells that it may have been done", async () => {
    await using database = await createDatabase();
    await using proxy = await startCuttingProxy(serverAddress().port);
    const url = database.url.replace(`:${serverAddress().port}/`, `:${proxy.port}/`);
    await using connections = await openTestConnections(url, { askMs: 300 });
    proxy.cutAt("COMMIT\0", "after");
    proxy.shutWithNextCut();
    const error = await writeMark(connections.application, "mark").catch((reason: unknown) => reason);
    proxy.open();
    expect(error).not.toBeInstanceOf(Passing);
    expect(error).toMatchObject({
      kind: "unavailable",
      message:
        "The connection to PostgreSQL was lost at the very moment of writing: it may have been done. Look before you try again.",
    });
    expect(connections.application.writeTrouble()).toBe(error);
    expect(await writeMark(connections.application, "more")).toBe("more.1");
    expect(connections.application.writeTrouble()).toBeNull();
  });

  it("by a crash of the server tells that nobody can know", { timeout: 60_000 }, async () => {
    await using server = await startPostgres();
    await using database = await createDatabaseOn(server.address);
    await using early = await startCuttingProxy(server.address.port);
    await using late = await startCuttingProxy(server.address.port);
    const write = async (proxy: CuttingProxy, cut: Cut): Promise<unknown> => {
      const url = database.url.replace(`:${server.address.port}/`, `:${proxy.port}/`);
      await using connections = await openTestConnections(url);
      proxy.cutAt("COMMIT\0", cut);
      proxy.shutWithNextCut();
      return await writeMark(connections.application, `mark.${cut}`).catch((error: unknown) => error);
    };
    const writing = Promise.all([write(early, "before"), write(late, "after")]);
    await expect.poll(() => early.cuts + late.cuts).toBe(2);
    await server.crash();
    await server.start();
    early.open();
    late.open();
    const unknown = { kind: "unavailable", message: expect.stringContaining("it may have been done") };
    expect(await writing).toMatchObject([unknown, unknown]);
    expect(await readKeys(database.url, "mark.")).toEqual(["mark.after.1"]);
  });

  it("by a crash of one of the server's processes tells so, too", { timeout: 60_000 }, async () => {
    await using server = await startPostgres();
    await using database = await createDatabaseOn(server.address);
    await using proxy = await startCuttingProxy(server.address.port);
    const url = database.url.replace(`:${server.address.port}/`, `:${proxy.port}/`);
    await using connections = await openTestConnections(url);
    proxy.cutAt("COMMIT\0", "after");
    proxy.shutWithNextCut();
    const writing = writeMark(connections.application, "mark").catch((error: unknown) => error);
    await expect.poll(() => proxy.cuts).toBe(1);
    const other = new pg.Client({ connectionString: database.url });
    other.on("error", () => {});
    await other.connect();
    const { rows } = await other.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    process.kill(rows[0]!.pid, "SIGKILL");
    await new Promise((resolve) => void other.once("end", resolve));
    proxy.open();
    expect(await writing).toMatchObject({ message: expect.stringContaining("it may have been done") });
    expect(await writeMark(connections.application, "more")).toBe("more.1");
  });
});
