import { describe, expect, it } from "vitest";
import { runCli } from "../../support/cli.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

describe("posthorn draft, drafts and approve", () => {
  it("write, list, send back, and schedule what a person agrees to", async () => {
    using folder = temporaryFolder();
    const at = ["--on", "My feed", "--at", "2099-01-01T09:00:00Z"];
    const written = await runCli(
      ["draft", "We open on Friday", ...at, "--label", "opening", "--submit"],
      folder,
    );
    expect(written).toMatchObject({ status: 0 });
    const { draft } = JSON.parse(written.stdout);
    expect(draft).toMatchObject({
      state: "waiting",
      labels: ["opening"],
      scheduledAt: "2099-01-01T09:00:00.000Z",
    });

    const end = draft.id.slice(-6);
    const table = await runCli(["drafts", "waiting"], { ...folder, columns: 100 });
    expect(table.stdout).toMatch(/^WHEN +STATE +CHANNELS +TEXT +ID/);
    expect(table.stdout).toMatch(
      new RegExp(`^2099-01-01 \\d\\d:00 +waiting +My feed +We open on Friday +${end}$`, "m"),
    );

    const back = await runCli(["approve", end, "--changes", "Shorter"], { ...folder, columns: 100 });
    expect(back.stdout).toContain("  The command line: Shorter");
    expect(JSON.parse((await runCli(["list", "all"], folder)).stdout).posts).toEqual([]);

    const approved = await runCli(["approve", end, "--yes"], folder);
    expect(JSON.parse(approved.stdout).draft).toMatchObject({ state: "scheduled", outcome: "waiting" });
    expect(JSON.parse((await runCli(["list", "all"], folder)).stdout).posts).toHaveLength(1);
    expect((await runCli(["drafts", "waiting"], { ...folder, columns: 100 })).stdout).toBe("None.\n");
  });

  it("show what waits for a decision first, then what is open, and decided ones when asked for", async () => {
    using folder = temporaryFolder();
    const at = ["--on", "My feed", "--at", "2099-01-01T09:00:00Z"];
    const screen = { ...folder, columns: 100 };
    expect((await runCli(["drafts"], screen)).stdout).toBe(
      "No draft waits for a decision, and none is open.\n",
    );
    const first = await runCli(["draft", "Settled", ...at, "--submit"], folder);
    await runCli(["draft", "Asked", ...at, "--submit"], folder);
    await runCli(["draft", "Begun", ...at], folder);
    await runCli(["approve", JSON.parse(first.stdout).draft.id, "--yes"], folder);

    const { stdout } = await runCli(["drafts"], screen);
    const order = ["Waiting for a decision", "Asked", "Open", "Begun", "1 decided: posthorn drafts --all"];
    expect(order.map((text) => stdout.indexOf(text))).toEqual(
      order.map((text) => stdout.indexOf(text)).toSorted((a, b) => a - b),
    );
    for (const text of order) expect(stdout).toContain(text);
    expect(stdout).not.toContain("Settled");
    const all = (await runCli(["drafts", "--all"], screen)).stdout;
    expect(all.indexOf("Settled")).toBeGreaterThan(all.indexOf("Decided"));
    expect(all).not.toContain("--all");
    // Programs get all of them, as before.
    expect(JSON.parse((await runCli(["drafts"], folder)).stdout).drafts).toHaveLength(3);
  });

  it("tell below the list of posts how a series goes on after the posts that are made", async () => {
    using folder = temporaryFolder();
    const screen = { ...folder, columns: 100 };
    for (const [text, end] of [
      ["Weekend", {}],
      ["Three days", { times: 3 }],
    ] as const) {
      const repeat = { unit: "day", time: "07:00", ...end };
      const draft = { caption: text, targets: [{ accountId: "My feed" }], repeat };
      const saved = await runCli(["call", "save_draft", JSON.stringify(draft)], folder);
      await runCli(["approve", JSON.parse(saved.stdout).draft.id, "--yes"], folder);
    }
    const { stdout } = await runCli(["list", "--limit", "3"], screen);
    expect(stdout).toMatch(
      /And so on: Every day at 07:00 .*, without an end \(Weekend\)\. Its posts are made 14 days ahead, now until \d{4}-/,
    );
    expect(stdout.match(/And so on/g)).toHaveLength(1);
    expect((await runCli(["list", "failed"], screen)).stdout).not.toContain("And so on");
    // What the window holds is there already.
    expect((await runCli(["list", "--to", "tomorrow"], screen)).stdout).not.toContain("And so on");
    const far = await runCli(["list", "--from", "2098-01-01", "--to", "2098-01-31"], screen);
    expect(far.stdout).toMatch(/^No post matches\.\nAnd so on: Every day/);
  });

  it.each(["", " ", "…", "abc"])("decides about none where %j may be any", async (id) => {
    using folder = temporaryFolder();
    await runCli(["draft", "One", "--on", "My feed", "--at", "2099-01-01T09:00:00Z", "--submit"], folder);
    const { status, stderr } = await runCli(["approve", id, "--yes"], folder);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `id: ${JSON.stringify(id)} is too short. Give at least 4 characters of it.\n`,
    });
    expect(JSON.parse((await runCli(["drafts", "waiting"], folder)).stdout).drafts).toHaveLength(1);
  });

  it("decides about several at once", async () => {
    using folder = temporaryFolder();
    const made = [];
    for (const text of ["One", "Two"]) {
      const wrote = await runCli(
        ["draft", text, "--on", "My feed", "--at", "2099-01-01T09:00:00Z", "--submit"],
        folder,
      );
      made.push(JSON.parse(wrote.stdout).draft);
    }
    const ids = made.map(({ id }) => id);
    const { stdout } = await runCli(["approve", ...ids, "--yes"], folder);
    expect(JSON.parse(stdout).results).toMatchObject(
      ids.map((id) => ({ id, draft: { state: "scheduled" } })),
    );
    const again = await runCli(["approve", ...ids, "--yes"], { ...folder, columns: 100 });
    expect(again.status).toBe(1);
    expect(again.stdout).toContain(`${ids[0]!.slice(-6)}: The draft was approved already, and is scheduled`);
    expect(again.stderr).toContain("Nothing was done about 2 of 2.");
  });

  it("waits for what goes out once it is approved", async () => {
    using folder = temporaryFolder();
    const written = await runCli(["draft", "We are open", "--on", "My feed", "--submit"], folder);
    const { draft } = JSON.parse(written.stdout);
    const approved = await runCli(["approve", draft.id, "--yes"], folder);
    expect(approved).toMatchObject({ status: 0 });
    expect(JSON.parse(approved.stdout).draft).toMatchObject({
      outcome: "published",
      posts: [{ status: "published" }],
    });
  });

  it.each([
    [["drafts", "late"], /^state: "late" is none\. The states are open, waiting/],
    [["approve", "zzzzzz"], /^id: there is no draft "zzzzzz"/],
    [["approve", "x", "--discard", "--stop"], /give one of them/],
    [["draft", "Hello", "--on", "My feed", "--at", "whenever"], /when/],
  ])("refuse %j with a sentence", async (args, sentence) => {
    using folder = temporaryFolder();
    await runCli(["draft", "Hello", "--on", "My feed"], folder);
    expect(await runCli(args, folder)).toMatchObject({ status: 1, stderr: expect.stringMatching(sentence) });
  });

  it("names fields as people do where something is in the way of a draft", async () => {
    using folder = temporaryFolder();
    const parts = ["--on", "My feed", "--set", "title=1", "--set", 'moreMedia=[{"url":""}]'];
    await runCli(["draft", "Hello", ...parts], folder);
    const { stdout } = await runCli(["drafts"], { ...folder, columns: 100 });
    expect(stdout).toMatch(/^ {2}My feed: \S/m);
    expect(stdout).not.toContain("metadata");
  });
});
