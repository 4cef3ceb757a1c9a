import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runCli } from "../../support/cli.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => void (folder = temporaryFolder()));
afterEach(() => folder[Symbol.dispose]());

const CSV =
  "accountId,scheduledAt,caption\nMy feed,2150-01-31T09:00:00Z,Hello\nMy feed,2150-02-28T09:00:00Z,=Two\n";

function write(csv: string): string {
  const file = join(folder.path, "posts.csv");
  writeFileSync(file, csv);
  return file;
}

const waiting = async (): Promise<string[]> => {
  const { stdout } = await runCli(["list", "--json"], folder);
  return JSON.parse(stdout).posts.map((post: { caption: string }) => post.caption);
};

it("shows the table, asks, and makes the posts, once", async () => {
  const file = write(CSV);
  const no = await runCli(["import", file], { ...folder, answers: ["n"], columns: 100 });
  expect(no).toMatchObject({ status: 1, stderr: expect.stringContaining("Nothing was done") });
  expect(no.stdout).toMatch(/2 +2150-01-31 \d\d:\d\d +My feed +Hello +new/);
  expect(no.questions).toEqual([{ question: "Import 2 posts? (y/N) ", isHidden: false }]);
  expect(await waiting()).toEqual([]);
  const yes = await runCli(["import", file], { ...folder, answers: ["y"], columns: 100 });
  expect(yes).toMatchObject({ status: 0 });
  expect(yes.stdout.trimEnd().endsWith("2 rows: 2 made, 0 there already, 0 bad.")).toBe(true);
  expect(await waiting()).toEqual(["Hello", "=Two"]);
  const again = await runCli(["import", file, "--yes"], { ...folder, columns: 100 });
  expect(again.stdout).toContain("2 rows: 0 made, 2 there already, 0 bad.");
  expect(await waiting()).toHaveLength(2);
});

it("only shows what would be made with --dry-run, and where nobody can be asked", async () => {
  const file = write(CSV);
  const dry = await runCli(["import", file, "--dry-run", "--yes"], folder);
  expect(JSON.parse(dry.stdout)).toMatchObject({ dryRun: true, counts: { new: 2 } });
  const alone = await runCli(["import", file], folder);
  expect(alone).toMatchObject({ status: 1, stderr: expect.stringContaining("Give --yes") });
  expect(await waiting()).toEqual([]);
  const done = await runCli(["import", "-", "--yes"], { ...folder, input: CSV });
  expect(JSON.parse(done.stdout)).toMatchObject({ dryRun: false, imported: 2 });
});

it("tells every bad row, and ends with status 1", async () => {
  const file = write(`${CSV}nobody,2150-01-31T09:00:00Z,x\nMy feed,31.13.2150 09:00,x\n`);
  const run = await runCli(["import", file, "--yes"], { ...folder, columns: 100 });
  expect(run).toMatchObject({ status: 1, stderr: expect.stringContaining("Nothing was imported") });
  expect(run.stdout).toMatch(/^Line 4: accountId: there is no channel "nobody"/m);
  expect(run.stdout).toMatch(
    /^Line 5: scheduledAt: "31.13.2150 09:00" is not .*Write it as 2031-01-30 09:00/m,
  );
  expect(await waiting()).toEqual([]);
  expect(await runCli(["import", join(folder.path, "none.csv")], folder)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("cannot be read"),
  });
});

it("takes a table of Hootsuite with a channel and a zone, and what export --csv wrote", async () => {
  const file = write("01/31/2150 09:00,Hello,\n");
  const run = await runCli(["import", file, "--on", "My feed", "--timezone", "Europe/Berlin", "--yes"], {
    ...folder,
    columns: 100,
  });
  expect(run.stdout).toContain("It is a table of Hootsuite.");
  const table = join(folder.path, "out.csv");
  const exported = await runCli(["export", "--csv", table], folder);
  expect(exported.stderr).toContain("1 post was written to");
  const { stdout } = await runCli(["export", "--csv"], folder);
  expect(stdout).toMatch(
    /^sep=,\naccountId,scheduledAt,mediaUrl,caption\nMy feed,2150-01-31T08:00:00.000Z,,Hello\n$/,
  );
  const again = await runCli(["import", table, "--yes"], folder);
  expect(JSON.parse(again.stdout)).toMatchObject({ counts: { rows: 1, new: 0, existing: 1 } });
});

it("shows times in the zone of the import, and each duplicate of the table as one", async () => {
  const rows = ["One", "Two", "One", "Three"].map((text) => `My feed,2150-01-31 9:00,${text}\n`);
  const file = write(`channel,date,text\n${rows.join("")}`);
  const env = { ...folder.env, POSTHORN_TIMEZONE: "America/New_York" };
  const args = ["import", file, "--timezone", "Europe/Berlin", "--dry-run"];
  const { stdout, status } = await runCli(args, { env, columns: 100 });
  expect([status, stdout]).toEqual([0, expect.stringMatching(/^2 +2150-01-31 09:00 .*One +new$/m)]);
  expect(stdout).toContain("Times are in Europe/Berlin.\n");
  expect(stdout).toContain("\nLine 4 is the same as line 2, so one post is made of both.");
  expect(stdout).not.toContain("… and");
  expect(stdout).toContain("4 rows: 3 would be made, 0 there already, 1 twice in the table, 0 bad.");
  const one = await runCli(["import", "-", "--dry-run"], {
    ...folder,
    input: `channel,date,text\n${rows[0]}`,
    columns: 80,
  });
  expect(one.stdout).toContain("1 row: 1 would be made");
});

it("says what was done with --yes, whatever came of it", async () => {
  const bad = await runCli(["import", "-", "--yes"], {
    ...folder,
    input: `${CSV}nobody,2150-01-31T09:00:00Z,x\n`,
  });
  expect([bad.status, JSON.parse(bad.stdout)]).toMatchObject([1, { dryRun: false, imported: 0 }]);
  await runCli(["import", "-", "--yes"], { ...folder, input: CSV });
  const again = await runCli(["import", "-", "--yes"], { ...folder, input: CSV });
  expect([again.status, JSON.parse(again.stdout)]).toMatchObject([0, { dryRun: false, imported: 0 }]);
});

it.each([
  [
    "scheduledAt,caption\n2150-01-31T09:00:00Z,x\n",
    /has no column accountId \(or channel\).* or give --on for all rows/,
  ],
  ["chanel,date,text\n", /"chanel" is not a known column\. Did you mean channel\?/],
  [
    "channel,date,text,colour\n",
    /Rename it, or delete the column\. The columns are channel, date, time, text, image, link/,
  ],
])("tells a person what to do about the columns of %j", async (input, sentence) => {
  const run = await runCli(["import", "-"], { ...folder, input });
  expect([run.status, run.stderr]).toEqual([1, expect.stringMatching(sentence)]);
});

it("takes in another folder what export --csv wrote, also of channels of one name", async () => {
  const feeds = (where: typeof folder) => runCli(["connect", "feed", "--name", "News"], where);
  await feeds(folder);
  for (const [on, text] of [
    ["News", "To news"],
    ["My feed", "=To mine"],
  ] as const)
    await runCli(["post", text, "--on", on, "--at", "2150-01-31T09:00:00Z"], folder);
  const { stdout: table } = await runCli(["export", "--csv"], folder);
  expect(table).not.toContain("acc_");
  using other = temporaryFolder();
  await feeds(other);
  const there = await runCli(["import", "-", "--yes"], { ...other, input: table });
  expect(JSON.parse(there.stdout)).toMatchObject({ imported: 2 });
  expect((await runCli(["export", "--csv"], other)).stdout).toBe(table);
  const here = await runCli(["import", "-", "--yes"], { ...folder, input: table });
  expect(JSON.parse(here.stdout)).toMatchObject({ imported: 0, counts: { existing: 2 } });
});

it("says of own files in a table how they are taken along, and where it is imported what to do", async () => {
  const picture = join(import.meta.dirname, "..", "..", "fixtures", "photo.jpg");
  const at = ["--on", "My feed", "--at", "2150-01-31T09:00:00Z"];
  await runCli(["post", "The lake", ...at, "--media", picture], folder);
  await runCli(["post", "No picture, only the word r2://", ...at], folder);
  const { stdout: table, stderr } = await runCli(["export", "--csv"], folder);
  expect(stderr).toMatch(
    /^1 post has files that are stored here .* posthorn backup .* \(posthorn upload FILE\)/,
  );
  using other = temporaryFolder();
  const there = await runCli(["import", "-", "--yes"], { ...other, input: table, columns: 200 });
  expect(there.status).toBe(1);
  expect(there.stdout).toMatch(/there is no file "r2:.*" here\. .*posthorn upload brings one in\./);
  expect(there.stdout).not.toContain("upload_file");
});
