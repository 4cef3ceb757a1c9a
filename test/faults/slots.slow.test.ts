import { describe, expect, inject, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { times, TIMEOUT_MS } from "./report.ts";
import { raceForSlots } from "./slot-race.ts";

describe("50 callers at 5 processes on one folder", () => {
  it.each([
    [times({ short: 1_000, long: 10_000 }), 0],
    [times({ short: 300, long: 2_000 }), 4],
  ])(
    "get %i slots, none twice and none left out, with %i kills",
    async (requests, kills) => {
      using folder = temporaryFolder();
      const race = {
        program: inject("program"),
        env: folder.env,
        processes: 5,
        callers: 50,
        requests,
        kills,
      };
      // A caller whose process was killed with the answer gets it again.
      expect(await raceForSlots(race)).toEqual({
        posts: requests,
        times: requests,
        lost: [],
        gaps: 0,
        kills,
      });
    },
    // Others may use the machine, too.
    3 * TIMEOUT_MS,
  );
});
