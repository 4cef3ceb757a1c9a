import { describe, expect, inject, it } from "vitest";
import { createDatabase } from "../support/postgres.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { raceForSlots } from "../faults/slot-race.ts";
import { times, TIMEOUT_MS } from "../faults/report.ts";

describe("50 callers at 5 processes on one database", () => {
  it(
    "get slots of one channel, none twice and none left out, with kills",
    async () => {
      await using database = await createDatabase();
      using folder = temporaryFolder();
      const requests = times({ short: 300, long: 10_000 });
      const env = { ...folder.env, DATABASE_URL: database.url, POSTHORN_FILES: "folder" };
      const race = { program: inject("program"), env, processes: 5, callers: 50, requests, kills: 4 };
      expect(await raceForSlots(race)).toEqual({
        posts: requests,
        times: requests,
        lost: [],
        gaps: 0,
        kills: 4,
      });
    },
    TIMEOUT_MS,
  );
});
