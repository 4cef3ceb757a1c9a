import { createServer } from "node:http";
import { describe, expect, it } from "vitest";
import { runCli } from "../../support/cli.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { listen } from "../../support/listen.ts";

describe("posthorn connect", () => {
  it("connects at once what asks for nothing", async () => {
    using folder = temporaryFolder();
    const run = await runCli(["connect", "feed", "--name", "News"], folder);
    expect(run).toMatchObject({ status: 0, stderr: "", questions: [] });
    expect(JSON.parse(run.stdout)).toMatchObject({ provider: "feed", name: "News", status: "connected" });
  });

  it("asks for the secrets, hides them while they are typed, and shows a notice apart from the result", async () => {
    using folder = temporaryFolder();
    await using receiver = await startReceiver();
    const env = { ...folder.env, ...receiver.env };
    const run = await runCli(["connect", "webhook"], { env, answers: [receiver.url, ""] });
    expect(run.status).toBe(0);
    expect(JSON.parse(run.stdout)).toMatchObject({ provider: "webhook", status: "connected" });
    expect(run.questions.map(({ isHidden }) => isHidden)).toContain(true);
    expect(run.stderr).toContain("whsec_");
    expect(run.stdout).not.toContain("whsec_");
  });

  it("knows the platform of the channel that is reconnected, and keeps what is left empty", async () => {
    using folder = temporaryFolder();
    await using receiver = await startReceiver();
    const env = { ...folder.env, ...receiver.env };
    const first = await runCli(["connect", "webhook"], { env, answers: [receiver.url, ""] });
    const { id } = JSON.parse(first.stdout);
    const again = await runCli(["connect", "--account", id], { env, answers: ["", ""] });
    expect(JSON.parse(again.stdout)).toMatchObject({ id, provider: "webhook", status: "connected" });
    expect(again.questions.map(({ question }) => question.includes("(empty to skip)"))).toEqual([true, true]);
  });

  it("prints the steps, and what is to be copied", async () => {
    using folder = temporaryFolder();
    const run = await runCli(["connect", "slack"], { ...folder, answers: ["", ""] });
    expect(run.stderr).toContain("1. Open https://api.slack.com/apps");
    expect(run.stderr).toContain("      - chat:write\n");
  });

  it("lists the platforms where none is named", async () => {
    using folder = temporaryFolder();
    const run = await runCli(["connect"], folder);
    expect(run).toMatchObject({ status: 0, stderr: expect.stringContaining("posthorn connect PLATFORM") });
    expect(JSON.parse(run.stdout).platforms.map(({ provider }: { provider: string }) => provider)).toContain(
      "bluesky",
    );
    expect((await runCli(["connect"], { ...folder, columns: 80 })).stdout).toMatch(/^PLATFORM .*\nbluesky /);
  });

  it("reads them from standard input for scripts", async () => {
    using folder = temporaryFolder();
    await using receiver = await startReceiver();
    const input = JSON.stringify({ url: receiver.url });
    const run = await runCli(["connect", "webhook", "--secrets-stdin"], {
      env: { ...folder.env, ...receiver.env },
      input,
    });
    expect(JSON.parse(run.stdout)).toMatchObject({ provider: "webhook" });
  });

  it("warns of a second channel of one name, which no post can name by it any more", async () => {
    using folder = temporaryFolder();
    const run = await runCli(["connect", "feed", "--name", "My feed"], folder);
    const [, called = ""] = /Say --on "([^"]*)"/.exec(run.stderr) ?? [];
    expect([run.status, run.stderr]).toEqual([
      0,
      expect.stringContaining('Another channel is called "My feed"'),
    ]);
    const post = await runCli(["post", "Hello", "--on", called, "--at", "2150-01-31"], folder);
    expect(JSON.parse(post.stdout).posts[0].accountId).toBe(JSON.parse(run.stdout).id);
    expect((await runCli(["connect", "feed", "--name", "News"], folder)).stderr).toBe("");
  });

  it.each([
    [["connect", "webhook"], "", "--secrets-stdin"],
    [
      ["connect", "webhook", "--secrets-stdin"],
      "appPassword: s3cret",
      '--secrets-stdin: this is not JSON. Give one JSON object of strings on standard input: {"url":"…"}.\n',
    ],
    [
      ["connect", "webhook", "--secrets-stdin"],
      '["s3cret"]',
      "--secrets-stdin: this is not an object of strings. Give one JSON object",
    ],
    [["connect", "webhook", "--secrets-stdin"], "{}", "url: is required"],
    [
      ["connect", "mastodon", "--instance", "https://social.example", "--secrets-stdin"],
      '{"accessToken":"s3cret"}',
      '--secrets-stdin: the way "oauth" of Mastodon takes no secrets: you agree in a browser. Leave it out, or add --way token.\n',
    ],
    [["connect", "feed", "--secrets-stdin"], "{}", 'the way "feed" of Feed takes no secrets. Leave it out.'],
    [["connect", "webhook", "--secrets-stdin"], '{"url":"http://127.0.0.1/"}', "url"],
    [["connect", "mastodon", "--instance", "", "--way", ""], "", "--instance: is required"],
    [["connect", "myspace"], "", '"myspace" is not a known platform'],
    [["connect", "feed", "--account", "acc_none"], "", "acc_none"],
  ])("refuses %j with %j", async (args, input, sentence) => {
    using folder = temporaryFolder();
    const run = await runCli(args, { ...folder, input });
    expect(run).toMatchObject({ status: 1, stdout: "" });
    expect(run.stderr).toContain(sentence);
  });
});

/** Takes whatever is sent; the settings allow its private address. */
async function startReceiver(): Promise<{ url: string; env: Record<string, string> } & AsyncDisposable> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(204).end();
  });
  const listening = await listen(server);
  const host = `127.0.0.1:${listening.port}`;
  return {
    url: `http://${host}/posts`,
    env: { POSTHORN_ALLOWED_HOSTS: host },
    [Symbol.asyncDispose]: listening[Symbol.asyncDispose],
  };
}
