import { describe, expect, inject, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { TIMEOUT_MS } from "./report.ts";
import { raceForSlots } from "./slot-race.ts";

describe("50 callers at 5 processes on one folder", () => {
  it.each([0, 6])(
    "get 10,000 slots, none twice and none left out, with %i kills",
    async (kills) => {
      using folder = temporaryFolder();
      const requests = 10_000;
      const race = {
        program: inject("program"),
        env: folder.env,
        processes: 5,
        callers: 50,
        requests,
        kills,
      };
      // A caller that was killed with its answer gets it again.
      expect(await raceForSlots(race)).toEqual({
        posts: requests,
        times: requests,
        lost: [],
        gaps: 0,
        kills,
      });
    },
    TIMEOUT_MS,
  );
});
