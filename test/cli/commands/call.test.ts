import { describe, expect, it } from "vitest";
import { runCli } from "../../support/cli.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

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
      scheduledAt: "2100-01-01T00:00:00Z",
      idempotencyKey: "k1",
    });
    const first = await runCli(["call", "schedule_post", args], folder);
    const second = await runCli(["call", "schedule_post", args], folder);
    expect(first.status).toBe(0);
    expect(second.stdout).toBe(first.stdout);
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
