import { systemClock } from "../../src/app/system-clock.ts";
import { describe, expect, it } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { readMeta, setMeta } from "../../src/store/queries/meta.ts";
import { createDatabase } from "../support/postgres.ts";

describe("a store on PostgreSQL", () => {
  it("is opened by its address, twice at once, and keeps what was written", async () => {
    await using database = await createDatabase({ isEmpty: true });
    const [one, other] = await Promise.all(
      [1, 2].map(() => openStore({ url: database.url, clock: systemClock })),
    );
    await one!.write((tx) => setMeta(tx, "key", "value"));
    expect(await readMeta(other!, "key")).toBe("value");
    expect(one!.name).toBe("PostgreSQL");
    expect(one!.isPresent()).toBe(true);
    expect(one!.writeTrouble()).toBeNull();
    await one!.tidy();
    expect(one!.file).toBeNull();
    await one![Symbol.asyncDispose]();
    expect(await readMeta(other!, "key")).toBe("value");
    await other![Symbol.asyncDispose]();
  });
});
