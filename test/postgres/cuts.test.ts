import { describe, expect, it } from "vitest";
import { CommitUnanswered, readingAgain } from "../../src/store/engine/unanswered.ts";
import { insertMeta, readMeta } from "../../src/store/queries/meta.ts";
import { startCuttingProxy, type Cut } from "../support/cutting-proxy.ts";
import { queryOf } from "../support/handles.ts";
import { createDatabase, openTestConnections, serverAddress } from "../support/postgres.ts";
import type { Connections } from "../../src/store/postgres/connect/connections.ts";

/** Reads past the proxy. */
async function readKeys(url: string, prefix: string): Promise<string[]> {
  await using direct = await openTestConnections(url);
  const rows = await queryOf(direct).selectFrom("meta").select("key").execute();
  return rows.map(({ key }) => key).filter((key) => key.startsWith(prefix));
}

/** Writes a row whose name tells which of its runs wrote it; answers the name that it was told is there. */
async function writeMark(door: Connections, name: string): Promise<string> {
  let runs = 0;
  return await door.write(async (tx) => {
    runs += 1;
    await insertMeta(tx, `${name}.${runs}`, "");
    return `${name}.${runs}`;
  });
}

describe("a connection that is cut", () => {
  const times: readonly Cut[] = ["before", "during", "after"];

  it(
    "in a COMMIT tells that it may have been done, and the rows tell whether it was",
    { timeout: 120_000 },
    async () => {
      await using database = await createDatabase();
      await using proxy = await startCuttingProxy(serverAddress().port);
      const url = database.url.replace(`:${serverAddress().port}/`, `:${proxy.port}/`);
      await using connections = await openTestConnections(url);
      const door = connections;
      for (let cut = 0; cut < 30; cut += 1) {
        proxy.cutAt("COMMIT\0", times[cut % times.length] ?? "after");
        const error = await writeMark(door, `mark.${cut}`).catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(CommitUnanswered);
        expect(door.writeTrouble()).toBe(error);
        expect(proxy.cuts).toBe(cut + 1);
      }
      const kept = await readKeys(database.url, "mark.");
      // Those whose words never arrived are not there, those that were cut after are. No write ran twice.
      expect(kept).toEqual(kept.filter((key) => key.endsWith(".1")));
      for (let cut = 0; cut < 30; cut += 3) expect(kept).not.toContain(`mark.${cut}.1`);
      for (let cut = 2; cut < 30; cut += 3) expect(kept).toContain(`mark.${cut}.1`);
      expect(await writeMark(door, "more")).toBe("more.1");
      expect(door.writeTrouble()).toBeNull();
    },
  );

  it("in a COMMIT is read again once the server answers", async () => {
    await using database = await createDatabase();
    await using proxy = await startCuttingProxy(serverAddress().port);
    const url = database.url.replace(`:${serverAddress().port}/`, `:${proxy.port}/`);
    await using connections = await openTestConnections(url, { limits: { statementMs: 200, silentMs: 200 } });
    const door = connections;
    for (const cut of [...times, "silence"] as const) {
      proxy.cutAt("COMMIT\0", cut);
      let runs = 0;
      const write = (): Promise<void> =>
        door.write(async (tx) => {
          runs += 1;
          if ((await readMeta(tx, `once.${cut}`)) === null) await insertMeta(tx, `once.${cut}`, String(runs));
        });
      if (cut === "after") proxy.shutWithNextCut();
      setTimeout(() => proxy.open(), 500);
      await readingAgain(write);
      expect(runs).toBeGreaterThan(1);
    }
    expect((await readKeys(database.url, "once.")).sort()).toEqual(
      [...times, "silence"].map((cut) => `once.${cut}`).sort(),
    );
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
        told.push(await writeMark(connections, `mark.${words[0]}.${cut}`));
      }
    }
    expect(proxy.cuts).toBe(6);
    expect((await readKeys(database.url, "mark.")).sort()).toEqual(told.sort());
  });
});
