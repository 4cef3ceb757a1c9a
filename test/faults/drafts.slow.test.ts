import { expect, inject, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { raceForDrafts } from "./draft-race.ts";
import { TIMEOUT_MS } from "./report.ts";

it(
  "approves each draft once, by several callers at 3 processes on one folder, with kills",
  async () => {
    using folder = temporaryFolder();
    const program = inject("program");
    const race = { program, env: folder.env, processes: 3, drafts: 50, kills: 5 };
    const { approved, repeating, ...rest } = await raceForDrafts(race);
    expect(rest).toEqual({ unapproved: 0, swapped: 0, kills: 5 });
    // A post on each of three channels, and of a series fourteen of them.
    expect(Object.keys(approved)).toEqual(["3"]);
    expect(Object.keys(repeating)).toEqual(["42"]);
  },
  TIMEOUT_MS,
);
