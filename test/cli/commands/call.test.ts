import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../../support/cli.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const LATER = `${new Date().getUTCFullYear() + 1}-01-01T00:00:00Z`;

describe("posthorn call", () => {
  it("prints a tool's result as JSON", async () => {
    using folder = temporaryFolder();
    const run = await runCli(["call", "list_accounts"], folder);
    expect(run).toMatchObject({ status: 0, stderr: "" });
    expect(JSON.parse(run.stdout)).toMatchObject({ accounts: [{ provider: "feed", name: "My feed" }] });
  });

  it("says what was refused, and ends with 1", async () => {
    using folder = temporaryFolder();
    const run = await runCli(["call", "get_post", '{"id":"post_none"}'], folder);
    expect(run).toMatchObject({ status: 1, stdout: "" });
    expect(run.stderr).toContain("post_none");
  });

  it.each([
    ["{", "json: this is not JSON"],
    ["[1]", "must be an object"],
    ['{"limit":"many"}', "limit"],
    ['{"limt":5}', "limt"],
  ])("refuses the arguments %s", async (json, sentence) => {
    using folder = temporaryFolder();
    const run = await runCli(["call", "list_posts", json], folder);
    expect(run.status).toBe(1);
    expect(run.stderr).toContain(sentence);
  });

  it("reads arguments from standard input", async () => {
    using folder = temporaryFolder();
    const run = await runCli(["call", "list_posts", "-"], { ...folder, input: '{"limit":1}' });
    expect(JSON.parse(run.stdout)).toEqual({ posts: [], nextCursor: null });
  });

  it("does a call with an idempotency key once", async () => {
    using folder = temporaryFolder();
    const { accounts } = JSON.parse((await runCli(["call", "list_accounts"], folder)).stdout) as {
      accounts: { id: string }[];
    };
    const args = JSON.stringify({
      accountId: accounts[0]?.id,
      caption: "Once",
      scheduledAt: LATER,
      idempotencyKey: "k1",
    });
    const first = await runCli(["call", "schedule_post", args], folder);
    const second = await runCli(["call", "schedule_post", args], folder);
    expect(first.status).toBe(0);
    expect(second.stdout).toBe(first.stdout);
  });

  const idOf = async (folder: Parameters<typeof runCli>[1]): Promise<string> =>
    JSON.parse((await runCli(["call", "list_accounts"], folder)).stdout).accounts[0].id;

  it("publishes what is due at once where nothing else does, and prints what came of it", async () => {
    using folder = temporaryFolder();
    const accountId = await idOf(folder);
    const args = JSON.stringify({ accountId, caption: "Now", idempotencyKey: "k1" });
    const first = JSON.parse((await runCli(["call", "schedule_post", args], folder)).stdout);
    expect(first).toMatchObject({ post: { status: "published", attempts: 1 }, warnings: [] });
    // Sent again with its key, it is the same post, and as it is now.
    expect(JSON.parse((await runCli(["call", "schedule_post", args], folder)).stdout)).toEqual(first);
    const posts = [{ accountId, caption: "One" }, { accountId: "acc_none" }, { accountId, caption: "Two" }];
    const batch = await runCli(["call", "schedule_posts", JSON.stringify({ posts })], folder);
    expect(JSON.parse(batch.stdout).results).toMatchObject([
      { post: { status: "published", caption: "One" } },
      { post: null },
      { post: { status: "published", caption: "Two" } },
    ]);
    const dry = JSON.stringify({ accountId, caption: "Dry", dryRun: true });
    expect(JSON.parse((await runCli(["call", "schedule_post", dry], folder)).stdout)).toMatchObject({
      post: { status: "scheduled" },
    });
    const all = JSON.parse((await runCli(["call", "list_posts"], folder)).stdout).posts as {
      attempts: number;
    }[];
    expect(all.map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
  });

  it("leaves publishing to a server that runs, says nothing of it, and waits for it", async () => {
    using folder = temporaryFolder();
    const accountId = await idOf(folder);
    let end = (): void => {};
    const started = new Promise<void>((resolve) => {
      void runCli(["serve", "--port", "0"], {
        ...folder,
        onOutput: (output, stop) => {
          end = stop;
          if (output.includes("Data folder")) resolve();
        },
      }).then((run) => (ended = run.status));
    });
    let ended: number | null = null;
    await started;
    const now = JSON.stringify({ accountId, caption: "Now" });
    const later = JSON.stringify({ accountId, caption: "Later", scheduledAt: LATER });
    const { post, warnings } = JSON.parse((await runCli(["call", "schedule_post", now], folder)).stdout);
    expect([post.status, warnings]).toEqual(["published", []]);
    const planned = JSON.parse((await runCli(["call", "schedule_post", later], folder)).stdout);
    expect(planned.warnings).toEqual([]);
    const posted = await runCli(["post", "Hello", "--on", "feed"], folder);
    expect(JSON.parse(posted.stdout).posts).toMatchObject([{ status: "published", attempts: 1 }]);
    end();
    await expect.poll(() => ended).toBe(0);
  });

  it("tells of a post for later that nothing is running to send", async () => {
    using folder = temporaryFolder();
    const args = { accountId: await idOf(folder), caption: "Later", scheduledAt: LATER };
    const run = await runCli(["call", "schedule_post", JSON.stringify(args)], folder);
    expect(JSON.parse(run.stdout).warnings).toEqual([
      "No Posthorn server is running on this data folder, so this post goes out only if one, or an agent's client with Posthorn, is open at that time. `posthorn service install` keeps one running, `posthorn serve` does until it is stopped.",
    ]);
  });

  it("sends nothing twice when several publish at the same moment", async () => {
    using folder = temporaryFolder();
    const accountId = await idOf(folder);
    const runs = await Promise.all(
      ["A", "B", "C"].map((caption) =>
        runCli(["call", "schedule_post", JSON.stringify({ accountId, caption })], folder),
      ),
    );
    expect(runs.map(({ status }) => status)).toEqual([0, 0, 0]);
    const read = async (): Promise<unknown> =>
      JSON.parse((await runCli(["call", "list_posts"], folder)).stdout).posts.map(
        (post: { status: string; attempts: number }) => [post.status, post.attempts],
      );
    const once = ["published", 1];
    expect(await read()).toEqual([once, once, once]);
  });

  it("reads any file that the person may read, from where they are", async () => {
    using folder = temporaryFolder();
    const fixture = join(import.meta.dirname, "..", "..", "fixtures", "photo.jpg");
    for (const path of [fixture, relative(process.cwd(), fixture)]) {
      const run = await runCli(["call", "upload_file", JSON.stringify({ path })], folder);
      expect(JSON.parse(run.stdout)).toMatchObject({ file: { name: "photo.jpg", status: "ready" } });
    }
    for (const path of ["nope.jpg", "/dev/null", "a\0b"]) {
      const run = await runCli(["call", "upload_file", JSON.stringify({ path })], folder);
      expect(run.stderr).toMatch(/^path: /);
    }
  });

  it("shows a list as a table on a terminal, and everything else as JSON", async () => {
    using folder = temporaryFolder();
    const on = (args: readonly string[]) => runCli(args, { ...folder, columns: 80 });
    expect((await on(["call", "list_accounts"])).stdout).toMatch(/^NAME +PLATFORM .*\nMy feed /);
    expect((await on(["call", "list_platforms"])).stdout).toMatch(/^PLATFORM +TITLE +WAYS +STATE\nbluesky /);
    expect((await on(["call", "list_files"])).stdout).toBe("None.\n");
    const whole = await on(["call", "list_platforms", '{"provider":["feed"]}']);
    expect(JSON.parse(whole.stdout)).toMatchObject({ platforms: [{ provider: "feed" }] });
    expect(JSON.parse((await on(["call", "get_status"])).stdout)).toBeTypeOf("object");
    expect(JSON.parse((await on(["call", "list_accounts", "--json"])).stdout)).toHaveProperty("accounts");
    expect(JSON.parse((await on(["tools", "--json"])).stdout)).toHaveProperty("tools");
    expect((await on(["tools"])).stdout).toMatch(/^cancel_post +publish +/);
    expect((await on(["keys", "list"])).stdout).toBe("None.\n");
    await runCli(
      ["keys", "create", "--name", "Nightly", "--permissions", "read", "--expires", "90d"],
      folder,
    );
    expect((await on(["keys", "list"])).stdout).toMatch(
      /^NAME .*\nNightly +active +viewer +\d{4}-\d\d-\d\d +never +key_/,
    );
  });

  it("keeps one feed for all its starts, also when several begin at once", async () => {
    using folder = temporaryFolder();
    const runs = await Promise.all([1, 2, 3].map(() => runCli(["call", "list_accounts"], folder)));
    const ids = runs.map((run) =>
      (JSON.parse(run.stdout) as { accounts: { id: string }[] }).accounts.map(({ id }) => id),
    );
    expect(new Set(ids.flat()).size).toBe(1);
  });
});

describe("posthorn tools", () => {
  it("lists the tools as the API does", async () => {
    using folder = temporaryFolder();
    const { tools } = JSON.parse((await runCli(["tools"], folder)).stdout) as {
      tools: { name: string; inputSchema: { type: string } }[];
    };
    expect(tools.map(({ name }) => name)).toContain("schedule_post");
    expect(tools.every(({ inputSchema }) => inputSchema.type === "object")).toBe(true);
    const short = await runCli(["tools", "--short"], folder);
    expect(short.stdout.trim().split("\n")).toHaveLength(tools.length);
  });

  it("shows one, and knows no other", async () => {
    using folder = temporaryFolder();
    expect(JSON.parse((await runCli(["tools", "get_post"], folder)).stdout)).toMatchObject({
      name: "get_post",
      permission: "read",
    });
    expect(await runCli(["tools", "get_pots"], folder)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("get_post,"),
    });
  });
});
