import { describe, expect, it } from "vitest";
import { runCli, type CliRun } from "../../support/cli.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

function open() {
  const folder = temporaryFolder();
  const env = { ...folder.env, POSTHORN_TIMEZONE: "Europe/Berlin" };
  const run = (...args: readonly string[]): Promise<CliRun> => runCli(args, { env });
  return {
    run,
    ask: (answers: readonly string[], ...args: readonly string[]) =>
      runCli(args, { env, answers, columns: 100 }),
    async read(...args: readonly string[]): Promise<any> {
      const done = await run(...args);
      expect(done).toMatchObject({ status: 0 });
      return JSON.parse(done.stdout);
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

const WEEK = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

describe("slots", () => {
  it("are set, shown, used by a post, and taken away", async () => {
    using shell = open();
    const slots = [
      { days: ["mon", "tue", "wed", "thu", "fri"], times: ["09:30", "17:00"] },
      { days: ["sat", "sun"], times: ["11:00"] },
    ];
    const set = await shell.read("slots", "feed", "mon-fri 17:00,9:30", "Sunday,sat 11:00", "--gap", "30");
    const schedule = { timezone: "Europe/Berlin", slots, minGapMinutes: 30, paused: false };
    expect(set).toMatchObject({ account: { name: "My feed", schedule }, moved: [] });
    expect((await shell.read("slots", "feed")).account.schedule).toEqual(schedule);
    const { posts } = await shell.read("post", "Hello", "--on", "feed", "--at", "next slot");
    expect(posts[0].scheduledAt).toMatch(/T(?:07:30|08:30|15:00|16:00|09:00|10:00):00\.000Z$/);
    expect(Date.parse(posts[0].scheduledAt)).toBeGreaterThan(Date.now());
    const shown = await shell.read("slots", "feed", "daily 12:34", "--move", "--dry-run");
    expect(shown.moved).toMatchObject([{ id: posts[0].id }]);
    const moved = await shell.read("slots", "feed", "daily 12:34", "--move", "--timezone", "UTC");
    expect(moved.moved[0].scheduledAt).toMatch(/T12:34:00\.000Z$/);
    expect(moved.account.schedule).toMatchObject({
      timezone: "UTC",
      slots: [{ days: WEEK, times: ["12:34"] }],
    });
    expect((await shell.read("slots", "feed", "--none")).account.schedule).toBeNull();
    expect(await shell.run("post", "Hello", "--on", "feed", "--at", "next slot")).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^--at: the channel My feed on Feed has no slots\./),
    });
  });

  it.each(["mon", "9:30", "mon 25:00", "mo-fr 9:30", "mon-fri-sun 9:30", "mon 9.30", ""])(
    "are refused with examples: %j",
    async (text) => {
      using shell = open();
      expect(await shell.run("slots", "feed", text)).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(
          /^slots: .* is not days and times\. Write them like "mon-fri 09:30,17:00"/,
        ),
      });
    },
  );

  it("go over the end of the week", async () => {
    using shell = open();
    const { account } = await shell.read("slots", "feed", "fri-mon 9:00");
    expect(account.schedule.slots[0].days).toEqual(["mon", "fri", "sat", "sun"]);
  });
});

describe("pause and resume", () => {
  it("hold one channel, or all, and let them go on", async () => {
    using shell = open();
    await shell.read("connect", "feed", "--name", "Other");
    const pausedOnes = async (): Promise<string[]> =>
      (await shell.read("call", "get_status")).accountsPaused.map((account: any) => account.name);
    expect((await shell.read("pause", "Other")).accounts).toMatchObject([
      { name: "Other", schedule: { paused: true } },
    ]);
    expect(await pausedOnes()).toEqual(["Other"]);
    expect((await shell.read("pause")).accounts).toHaveLength(2);
    expect(await pausedOnes()).toEqual(["My feed", "Other"]);
    // Due while it is paused: the shell says that it goes out.
    const call = (tool: string, args: object) => shell.read("call", tool, JSON.stringify(args));
    const { draft } = await call("save_draft", { caption: "Kept back", targets: [{ accountId: "My feed" }] });
    await call("decide_draft", { id: draft.id, revision: draft.revision, decision: "approve" });
    // At a terminal a person is asked first, and the channel stays paused without a yes.
    const no = await shell.ask(["n"], "resume", "My feed");
    expect(no).toMatchObject({ status: 1, stderr: expect.stringContaining("Nothing was done") });
    expect(no.questions[0]?.question).toMatch(/^Resume My feed.*\? 1 post goes out at once\. .*“Kept back”/);
    expect(await pausedOnes()).toEqual(["My feed", "Other"]);
    expect((await shell.read("pause", "My feed")).warnings).toEqual([
      expect.stringMatching(
        /^1 post waits for this channel\. A post may go out up to 1 hour late\. .*It, “Kept back”/,
      ),
    ]);
    expect((await shell.read("resume", "My feed")).warnings).toEqual([
      expect.stringMatching(/^1 post goes out now: “Kept back”, which was due on /),
    ]);
    expect(await pausedOnes()).toEqual(["Other"]);
    await shell.read("resume");
    expect(await pausedOnes()).toEqual([]);
    expect((await shell.run("pause", "nobody")).stderr).toMatch(/^channel: there is no channel "nobody"/);
  });
});
