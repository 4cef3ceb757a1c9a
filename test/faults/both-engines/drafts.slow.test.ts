import { expect, inject, it } from "vitest";
import { raceForDrafts } from "../draft-race.ts";
import { times, TIMEOUT_MS } from "../report.ts";
import { createSharedDatabase } from "../shared-database.ts";

it(
  "approves each draft once, by several callers at 3 processes on one database, with kills",
  async () => {
    await using database = await createSharedDatabase();
    const drafts = times({ short: 60, long: 500 });
    const race = { program: inject("program"), env: database.env, processes: 3, drafts, kills: 5 };
    const { approved, repeating, ...rest } = await raceForDrafts(race);
    expect(rest).toEqual({ unapproved: 0, swapped: 0, kills: 5 });
    // A post on each of three channels, and of a series fourteen of them.
    expect(Object.keys(approved)).toEqual(["3"]);
    expect(Object.keys(repeating)).toEqual(["42"]);
  },
  TIMEOUT_MS,
);
