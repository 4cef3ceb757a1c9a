import { once } from "node:events";
import { copyFileSync, mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli, type CliRun } from "../../support/cli.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { listen } from "../../support/listen.ts";

const PHOTO = join(import.meta.dirname, "..", "..", "fixtures", "photo.jpg");

interface Printed {
  readonly posts: { id: string; status: string; [key: string]: unknown }[];
  readonly warnings: string[];
  readonly previews?: object[];
}

function open() {
  const folder = temporaryFolder();
  const env = { ...folder.env, POSTHORN_TIMEZONE: "Europe/Berlin" };
  const run = (args: readonly string[], options: Parameters<typeof runCli>[1] = {}): Promise<CliRun> =>
    runCli(args, { ...options, env: { ...env, ...options.env } });
  return {
    run,
    path: folder.path,
    read: async (args: readonly string[]): Promise<any> => JSON.parse((await run(args)).stdout),
    post: async (...args: readonly string[]): Promise<Printed> => {
      const done = await run(["post", ...args]);
      expect(done).toMatchObject({ status: 0 });
      return JSON.parse(done.stdout);
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

describe("posthorn post", () => {
  it("publishes at once where nothing else runs, and tells what came of it", async () => {
    using shell = open();
    const { posts, warnings } = await shell.post("Hello", "--on", "my feed");
    expect(posts).toMatchObject([{ status: "published", caption: "Hello", error: null, attempts: 1 }]);
    expect(warnings).toEqual([]);
    const { post } = await shell.read(["call", "get_post", JSON.stringify({ id: posts[0]!.id })]);
    expect(post).toEqual(posts[0]);
  });

  it("plans for later on several channels, with files of any folder", async () => {
    using shell = open();
    await shell.run(["connect", "feed", "--name", "News"]);
    const photo = join(shell.path, "elsewhere", "lake.jpg");
    mkdirSync(join(shell.path, "elsewhere"));
    copyFileSync(PHOTO, photo);
    const given = ["--on", "news", "--on", "My feed", "--at", "2100-06-01 9:00", "--title", "Lake"];
    const media = ["--media", photo, "--alt", "A lake", "--media", "https://example.com/b.jpg", "--alt", "B"];
    const { posts, warnings } = await shell.post("Look", ...given, ...media, "--set", 'tags=["a","b"]');
    expect(posts).toHaveLength(2);
    const [first] = (await shell.read(["call", "list_files"])).files;
    for (const post of posts) {
      expect(post).toMatchObject({
        status: "scheduled",
        scheduledAt: "2100-06-01T07:00:00.000Z",
        mediaUrl: first.url,
        metadata: {
          title: "Lake",
          tags: ["a", "b"],
          altText: "A lake",
          moreMedia: [{ url: "https://example.com/b.jpg", altText: "B" }],
        },
      });
    }
    expect(warnings).toContainEqual(
      expect.stringMatching(/^No Posthorn server is running.*posthorn service install/),
    );
    expect(warnings.filter((warning) => warning.includes("no offset"))).toEqual([]);
  });

  it("says what it took where the clocks change", async () => {
    using shell = open();
    const { warnings } = await shell.post("Night", "--on", "feed", "--at", "2027-03-28 2:30");
    expect(warnings).toContainEqual(
      expect.stringMatching(/no 2027-03-28T02:30 in Europe\/Berlin.*2027-03-28T03:30\+02:00/),
    );
  });

  it("leaves nothing behind of a dry run, or of what was refused", async () => {
    using shell = open();
    const dry = await shell.post("Look", "--on", "feed", "--media", PHOTO, "--dry-run");
    expect(dry.posts).toMatchObject([{ status: "scheduled", caption: "Look" }]);
    expect(dry.previews).toMatchObject([{ text: "Look", media: [{ type: "image", change: null }] }]);
    const run = await shell.run(["post", "Look\nhere", "--on", "feed", "--title", "T", "--dry-run"], {
      columns: 80,
    });
    expect(run.stdout).toContain("feed shows (9 of 10000 characters):\n  T\n  \n  Look\n  here\n");
    const refused = await shell.run([
      "post",
      "Look",
      "--on",
      "feed",
      "--media",
      PHOTO,
      "--set",
      "colour=red",
    ]);
    expect(refused).toMatchObject({ status: 1, stdout: "" });
    expect(refused.stderr).toMatch(/^metadata: "colour" is not a known field/);
    expect(await shell.read(["call", "list_files"])).toMatchObject({ files: [] });
    expect(await shell.read(["list", "all"])).toEqual({ posts: [] });
  });

  it("reads its text from standard input", async () => {
    using shell = open();
    const run = await shell.run(["post", "-", "--on", "feed", "--at", "in 2 hours"], {
      input: "Two\nlines\n",
    });
    expect(JSON.parse(run.stdout).posts).toMatchObject([{ caption: "Two\nlines", status: "scheduled" }]);
  });

  it.each([
    [[], "There is nothing to post."],
    [["x"], '--on: say which channel. The channels are "My feed" (feed, acc_'],
    [["x", "--on", "nope"], '--on: there is no channel "nope". The channels are "My feed"'],
    [["x", "--on", "feed", "--at", "soon"], '--at: "soon" is not a time.'],
    [["x", "--on", "feed", "--at", ""], '--at: "" is not a time.'],
    [["x", "--on", "feed", "--media", ""], 'path: the file "" has no name'],
    [["x", "--on", "feed", "--at", "2020-01-01 9:00"], "--at: 2020-01-01T09:00+01:00 is in the past"],
    [["x", "--on", "feed", "--media", "nope.jpg"], 'path: the file "nope.jpg" is not there.'],
    [["x", "--on", "feed", "--media", import.meta.dirname], "is no plain file"],
    [["x", "--on", "feed", "--media", import.meta.filename], "This is plain text"],
    [["x", "--on", "feed", "--alt", "A lake"], "--alt: 1 text stands for 0 files."],
    [["x", "--on", "feed", "--set", "title"], '--set: "title" is not key=value.'],
    [["x", "--on", "feed", "--set", "tags=[a]"], "--set tags: this is not JSON"],
  ])("refuses %j", async (args, sentence) => {
    using shell = open();
    const run = await shell.run(["post", ...args]);
    expect(run).toMatchObject({ status: 1, stdout: "" });
    expect(run.stderr).toContain(sentence);
  });

  it("plans on all channels or on none, and says the reason once", async () => {
    using shell = open();
    await shell.run(["connect", "feed", "--name", "News"]);
    const args = ["--on", "news", "--on", "my feed", "--at", "in 1 hour", "--set", "language=12"];
    const run = await shell.run(["post", "x", ...args]);
    expect(run.status).toBe(1);
    expect(run.stderr.trimEnd().split("\n")).toEqual([expect.stringContaining("language")]);
    expect(await shell.read(["list"])).toEqual({ posts: [] });
  });

  it("wants a yes where POSTHORN_CONFIRM is always", async () => {
    using shell = open();
    const always = { env: { POSTHORN_CONFIRM: "always" } };
    const args = ["post", "x", "--on", "feed"];
    expect(await shell.run(args, always)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^Nothing was done: .*a person must say yes/),
    });
    expect(await shell.run(args, { ...always, answers: ["n"] })).toMatchObject({ status: 1 });
    expect(await shell.run(args, { ...always, answers: ["y"] })).toMatchObject({ status: 0 });
    expect((await shell.read(["list", "all"])).posts).toMatchObject([{ status: "published" }]);
  });

  it("ends with 1 and the reason where a post is refused", async () => {
    using shell = open();
    await using receiver = await startReceiver();
    await connectReceiver(shell, receiver);
    receiver.answer(400);
    const run = await shell.run(["post", "x", "--on", "hook"], receiver);
    expect(run.status).toBe(1);
    expect(JSON.parse(run.stdout).posts).toMatchObject([{ status: "failed", attempts: 1 }]);
    expect(run.stderr).toMatch(/^post_\w{26} failed\. .*400/);
  });

  it("waits for a few tries, not for a server that is down", async () => {
    using shell = open();
    await using receiver = await startReceiver();
    await connectReceiver(shell, receiver);
    receiver.answer(503);
    const run = await shell.run(["post", "x", "--on", "hook"], receiver);
    expect(run.status).toBe(1);
    expect(JSON.parse(run.stdout).posts).toMatchObject([{ status: "publishing" }]);
    expect(run.stderr).toMatch(
      /^post_\w{26} is under way\.(?: It was sent, and it is not known yet whether it is out\. It is sent again, marked as the same post, .*)? It goes out while a Posthorn runs/,
    );
  });

  it("tells how far it has come when it is stopped", async () => {
    using shell = open();
    await using receiver = await startReceiver();
    await connectReceiver(shell, receiver);
    receiver.answer(503);
    const run = await shell.run(["post", "x", "--on", "hook"], {
      ...receiver,
      answers: [],
      onOutput: (output, stop) => {
        if (output.includes("Publishing")) receiver.onPost(stop);
      },
    });
    expect(run.status).toBe(130);
    expect(JSON.parse(run.stdout).posts).toMatchObject([{ caption: "x" }]);
  });
});

async function connectReceiver(shell: ReturnType<typeof open>, { url, env }: Receiver): Promise<void> {
  const input = JSON.stringify({ url });
  const run = await shell.run(["connect", "webhook", "--name", "Hook", "--secrets-stdin"], { env, input });
  expect(run).toMatchObject({ status: 0 });
}

type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** Takes the test of connecting, and answers posts as it is told. */
async function startReceiver() {
  let status = 204;
  let onPost = (): void => {};
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(status).end();
    if (status !== 204) onPost();
  });
  const { port } = await listen(server);
  const host = `127.0.0.1:${port}`;
  return {
    url: `http://${host}/`,
    env: { POSTHORN_ALLOWED_HOSTS: host },
    answer: (code: number) => (status = code),
    onPost: (listener: () => void) => (onPost = listener),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await once(server.close(), "close");
    },
  };
}

describe("posthorn list and posthorn accounts", () => {
  it("show short tables on a terminal, and JSON to everybody else", async () => {
    using shell = open();
    for (const day of ["03", "01", "02"])
      await shell.post(`Post of day ${day} 日本語`, "--on", "feed", "--at", `2100-12-${day} 9:00`);
    const planned = await shell.run(["list", "--limit", "2"], { columns: 80 });
    const lines = planned.stdout.split("\n");
    expect(lines[0]).toMatch(/^WHEN +CHANNEL +TEXT +ID$/);
    expect(lines.slice(1, 3)).toEqual([
      expect.stringMatching(/^2100-12-01 09:00 {2}My feed {2}Post of day 01 日本語 {2}\w{6}$/),
      expect.stringMatching(/^2100-12-02 09:00 /),
    ]);
    expect(planned.stdout).toContain("Times are in Europe/Berlin.\nThere are more.");
    const days = ({ posts }: Printed) => posts.map(({ scheduledAt }) => String(scheduledAt).slice(8, 10));
    expect(days(await shell.read(["list"]))).toEqual(["01", "02", "03"]);
    expect(days(await shell.read(["list", "all", "--search", "day 02"]))).toEqual(["02"]);
    expect(days(await shell.read(["list", "--from", "2100-12-02", "--on", "my feed"]))).toEqual(["02", "03"]);

    const accounts = await shell.run(["accounts"], { columns: 80 });
    expect(accounts.stdout).toMatch(
      /^NAME +PLATFORM +HANDLE +STATUS +ID\nMy feed +feed +connected +acc_\w{26}\n$/,
    );
    for (const args of [["accounts"], ["call", "list_accounts"], ["call", "list_accounts", "--json"]])
      expect(await shell.read(args)).toMatchObject({ accounts: [{ name: "My feed" }] });
    const { stdout } = await shell.run(["accounts", "--json"], { columns: 80 });
    expect(JSON.parse(stdout)).toMatchObject({ accounts: [{ name: "My feed" }] });
    const empty = await shell.run(["list", "failed"], { columns: 80 });
    expect(empty.stdout).toMatch(/^No post has failed\.$/m);
  });

  it.each([
    [["list", "soon"], "Allowed choices are upcoming, failed, published, cancelled, all."],
    [["list", "--limit", "many"], "It must be a whole number from 1 to 500."],
    [["list", "--on", "nope"], '--on: there is no channel "nope".'],
    [["list", "--from", "soon"], '--from: "soon" is not a time. Give for example'],
  ])("refuse %j", async (args, sentence) => {
    using shell = open();
    expect(await shell.run(args)).toMatchObject({
      status: 1,
      stdout: "",
      stderr: expect.stringContaining(sentence),
    });
  });
});
