import { expect, it } from "vitest";
import { runCli } from "../../support/cli.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

it("prints a report as JSON, as a table for spreadsheets, and refuses what is no grouping", async () => {
  using folder = temporaryFolder();
  const run = (...args: readonly string[]) => runCli(["report", ...args], { env: folder.env });
  const shown = await run("--by", "weekdayHour", "--on", "feed", "--at", "7d");
  expect(shown).toMatchObject({ status: 0, stderr: "" });
  expect(JSON.parse(shown.stdout)).toMatchObject({
    rows: [],
    note: expect.stringMatching(/^Too few to say what works: 0 of 0 posts/),
    unavailable: [{ reason: "Feed does not offer it." }],
  });
  const csv = await run("--csv");
  expect(csv.stdout).toMatch(
    /^key,channel,text,publishedAt,platformUrl,posts,sampled,views\.median,.*,clicks\.posts\n$/,
  );
  expect(await run("--by", "moon")).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("weekdayHour"),
  });
  expect(await run("--label", "", "--from", "", "--to", "")).toMatchObject({ status: 0, stderr: "" });
  expect(await run("--label", "x".repeat(51))).toMatchObject({
    status: 1,
    stderr: "--label: must be at most 50 characters long.\n",
  });
  expect(await run("--limit", "501")).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("a whole number from 1 to 500"),
  });
});
