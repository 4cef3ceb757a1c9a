import { describe, expect, inject, it } from "vitest";
import { times, TIMEOUT_MS } from "../report.ts";
import { createSharedDatabase } from "../shared-database.ts";
import { raceForSlots } from "../slot-race.ts";

describe("50 callers at 5 processes on one database", () => {
  it.each([
    [times({ short: 1_000, long: 10_000 }), 0],
    [times({ short: 300, long: 10_000 }), 4],
  ])(
    "get %i slots, none twice and none left out, with %i kills",
    async (requests, kills) => {
      await using database = await createSharedDatabase();
      const { env } = database;
      const race = { program: inject("program"), env, processes: 5, callers: 50, requests, kills };
      // A caller whose process was killed with the answer gets it again.
      const all = { posts: requests, times: requests, lost: [], gaps: 0, kills };
      expect(await raceForSlots(race)).toEqual(all);
    },
    // Others may use the machine, too.
    3 * TIMEOUT_MS,
  );
});
