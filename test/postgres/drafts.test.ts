import { expect, inject, it } from "vitest";
import { raceForDrafts } from "../faults/draft-race.ts";
import { times, TIMEOUT_MS } from "../faults/report.ts";
import { createDatabase } from "../support/postgres.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

it(
  "approves each draft once, by several callers at 3 processes on one database, with kills",
  async () => {
    await using database = await createDatabase();
    using folder = temporaryFolder();
    const env = { ...folder.env, DATABASE_URL: database.url, POSTHORN_FILES: "folder" };
    const drafts = times({ short: 60, long: 500 });
    const race = { program: inject("program"), env, processes: 3, drafts, kills: 4 };
    const { approved, repeating, ...rest } = await raceForDrafts(race);
    expect(rest).toEqual({ unapproved: 0, swapped: 0, kills: 4 });
    expect(Object.keys(approved)).toEqual(["3"]);
    expect(Object.keys(repeating)).toEqual(["42"]);
  },
  TIMEOUT_MS,
);
