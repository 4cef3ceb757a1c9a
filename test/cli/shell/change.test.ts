import { once } from "node:events";
import { copyFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli, type CliRun } from "../../support/cli.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { listen } from "../../support/listen.ts";

const PHOTO = join(import.meta.dirname, "..", "..", "fixtures", "photo.jpg");

type Options = Parameters<typeof runCli>[1];
type Run = Awaited<ReturnType<typeof runCli>>;

function open() {
  const folder = temporaryFolder();
  const env = { ...folder.env, POSTHORN_TIMEZONE: "Europe/Berlin" };
  const run = (args: readonly string[], options: Options = {}): Promise<Run> =>
    runCli(args, { ...options, env: { ...env, ...options.env } });
  const json = (done: CliRun): any => {
    expect(done).toMatchObject({ status: 0 });
    return JSON.parse(done.stdout);
  };
  return {
    run,
    path: folder.path,
    read: async (...args: readonly string[]): Promise<any> => json(await run(args)),
    plan: async (text: string, at = "2100-06-01 9:00"): Promise<string> =>
      json(await run(["post", text, "--on", "feed", "--at", at])).posts[0].id,
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

describe("a waiting post", () => {
  it("is shown, moved, changed and cancelled by the end of its id", async () => {
    using shell = open();
    const id = await shell.plan("Hello");
    const end = id.slice(-6);
    expect(await shell.read("show", end)).toMatchObject({ post: { id, status: "scheduled" }, history: [] });
    const moved = await shell.read("move", end, "2100-07-01", "18:30");
    expect(moved.post).toMatchObject({ id, scheduledAt: "2100-07-01T16:30:00.000Z", caption: "Hello" });
    const edited = await shell.read("edit", end, "--caption", "Better", "--media", PHOTO, "--alt", "A lake");
    expect(edited.post).toMatchObject({ caption: "Better", metadata: { altText: "A lake" } });
    expect(edited.post.mediaUrl).toMatch(/^r2:/);
    expect((await shell.read("edit", id, "--set", "altText=null")).post.metadata).toBeNull();
    expect((await shell.run(["move", end, "soon"])).stderr).toMatch(/^when: "soon" is not a time\./);
    expect((await shell.read("cancel", end)).post).toMatchObject({ id, status: "cancelled" });
  });

  it("is moved to a day with others, each at its time, after a yes", async () => {
    using shell = open();
    const ids = [await shell.plan("One", "2100-06-01 9:00"), await shell.plan("Two", "2100-06-02 18:30")];
    const moved = await shell.read("move", ...ids, "--to-day", "2100-06-07");
    expect(moved.changed.map((post: any) => post.scheduledAt)).toEqual([
      "2100-06-07T07:00:00.000Z",
      "2100-06-07T16:30:00.000Z",
    ]);
    const no = await shell.run(["move", ids[0]!, "--to-day", "8.6.2100"], { answers: ["n"] });
    expect(no.questions[0]?.question).toMatch(/^Move 1 waiting post\? “One” on My feed, .* \(y\/N\) $/);
    expect((await shell.run(["move", ids[0]!, "--to-day", "soon"])).stderr).toMatch(
      /^--to-day: "soon" is not a day\. Give for example monday/,
    );
    expect((await shell.run(["move", ids[0]!])).stderr).toMatch(/^when: "" is not a time\./);
    expect((await shell.read("show", ids[0]!)).post.scheduledAt).toBe("2100-06-07T07:00:00.000Z");
  });

  it("is asked about at a terminal before it is cancelled", async () => {
    using shell = open();
    const id = await shell.plan("Hello");
    const no = await shell.run(["cancel", id], { answers: ["n"] });
    expect(no).toMatchObject({ status: 1, stderr: "Nothing was done.\n" });
    expect(no.questions[0]?.question).toMatch(/^Cancel the post “Hello” on My feed\? .* \(y\/N\) $/);
    expect((await shell.read("show", id)).post.status).toBe("scheduled");
    expect(await shell.run(["cancel", id, "--yes"], { answers: [] })).toMatchObject({
      status: 0,
      questions: [],
    });
  });

  it("is only cancelled by a script without a question unless that is always asked", async () => {
    using shell = open();
    const id = await shell.plan("Hello");
    const always = { env: { POSTHORN_CONFIRM: "always" } };
    expect(await shell.run(["cancel", id], always)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^Nothing was done: .*a person must say yes/),
    });
    expect(await shell.run(["cancel", id, "--yes"], always)).toMatchObject({ status: 0 });
  });

  it("leaves no file behind where the change is refused", async () => {
    using shell = open();
    const id = await shell.plan("Hello");
    const refused = await shell.run(["edit", id, "--media", PHOTO, "--set", "colour=red"]);
    expect(refused).toMatchObject({ status: 1, stdout: "" });
    expect(await shell.read("call", "list_files")).toMatchObject({ files: [] });
  });
});

describe("a failed post", () => {
  /** Of a channel that refuses what it says now, and takes everything else. */
  async function fail(shell: ReturnType<typeof open>) {
    const refused = "no";
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => response.writeHead(body.includes(`"${refused}"`) ? 400 : 204).end());
    });
    const { port } = await listen(server);
    const host = `127.0.0.1:${port}`;
    const env = { POSTHORN_ALLOWED_HOSTS: host };
    const input = JSON.stringify({ url: `http://${host}/` });
    await shell.run(["connect", "webhook", "--name", "Hook", "--secrets-stdin"], { env, input });
    const run = await shell.run(["post", "no", "--on", "hook"], { env });
    expect(run.status).toBe(1);
    const { id } = JSON.parse(run.stdout).posts[0];
    return {
      id: id as string,
      env,
      async [Symbol.asyncDispose]() {
        server.closeAllConnections();
        await once(server.close(), "close");
      },
    };
  }

  it("is sent again with another text, and waits until that is out", async () => {
    using shell = open();
    await using failed = await fail(shell);
    const same = await shell.run(["retry", failed.id], failed);
    expect(same).toMatchObject({ status: 1, stderr: expect.stringContaining("failed.") });
    const mended = await shell.run(["retry", failed.id, "--text", "yes"], failed);
    expect(mended).toMatchObject({ status: 0 });
    expect(JSON.parse(mended.stdout).post).toMatchObject({
      status: "published",
      caption: "yes",
      error: null,
    });
  });

  it("is dismissed", async () => {
    using shell = open();
    await using failed = await fail(shell);
    const away = await shell.run(["dismiss", failed.id], failed);
    expect(JSON.parse(away.stdout).post).toMatchObject({ status: "cancelled", error: expect.any(String) });
    expect(await shell.read("list", "failed")).toEqual({ posts: [] });
  });

  it("is planned for later", async () => {
    using shell = open();
    await using failed = await fail(shell);
    const later = await shell.run(["retry", failed.id, "--at", "2100-01-01 9:00"], failed);
    expect(JSON.parse(later.stdout).post).toMatchObject({
      status: "scheduled",
      scheduledAt: "2100-01-01T08:00:00.000Z",
    });
  });
});

describe("a live post", () => {
  it("is taken down where its platform can", async () => {
    using shell = open();
    const { posts } = await shell.read("post", "Hello", "--on", "feed");
    const refused = await shell.run(["cancel", posts[0].id]);
    expect(refused.status).toBe(1);
    const down = await shell.read("cancel", posts[0].id, "--from-platform", "--yes");
    expect(down.post).toMatchObject({ status: "cancelled" });
  });

  it("is changed where its platform can, and not its media", async () => {
    using shell = open();
    const { posts } = await shell.read("post", "Hello", "--on", "feed");
    const id: string = posts[0].id;
    expect((await shell.read("edit", id, "--text", "Corrected", "--yes")).post).toMatchObject({
      status: "published",
      caption: "Corrected",
    });
    const media = await shell.run(["edit", id, "--media", PHOTO]);
    expect(media.stderr).toMatch(/^--media: the media of a live post cannot be changed/);
    expect((await shell.run(["retry", id])).stderr).toMatch(/^The post is published already/);
  });

  it("is not said to be where nobody listens", async () => {
    using shell = open();
    const run = await shell.run(["post", "Hello", "--on", "feed"], { columns: 120 });
    expect(run.stdout).not.toContain("http://localhost");
    expect(run.stdout).toMatch(/"posthorn serve" shows it, on \/feed\/acc_/);
    const shown = await shell.run(["show", /(\w{6})\n/.exec(run.stdout)![1]!], { columns: 120 });
    expect(shown.stdout).toMatch(
      /^WHEN +\d{4}-.*\(Europe\/Berlin\)\nSTATUS +published\nCHANNEL +My feed \(feed\)\nTEXT +Hello\n/,
    );
    expect(shown.stdout).toMatch(/SEEN AT +"posthorn serve" shows it/);
    expect(shown.stdout).toMatch(/TRY 1 .*published/);
  });
});

it("shows ids short, in a list, and takes them so", async () => {
  using shell = open();
  const ids = [await shell.plan("One"), await shell.plan("Two", "2100-06-02 9:00")];
  const { stdout } = await shell.run(["list"], { columns: 80 });
  for (const id of ids) expect(stdout).toContain(`${id.slice(-6)}\n`);
  expect(stdout).not.toContain("post_");
  expect((await shell.run(["show", ids[0]!.slice(0, 10)])).stderr).toMatch(
    /^id: "post_\w+" may be any of \w{6}, \w{6}/,
  );
  expect((await shell.run(["show", "zzzzzzzz"])).stderr).toMatch(/^id: there is no post "zzzzzzzz"/);
  expect((await shell.run(["show", "zz"])).stderr).toMatch(/^id: "zz" is too short/);
});

it("stores a file, and forgets a channel", async () => {
  using shell = open();
  copyFileSync(PHOTO, join(shell.path, "lake.jpg"));
  const { file } = await shell.read("upload", join(shell.path, "lake.jpg"), "--alt", "A lake");
  expect(file).toMatchObject({ name: "lake.jpg", altText: "A lake", status: "ready" });
  expect((await shell.run(["disconnect", "nope"])).stderr).toMatch(
    /^channel: there is no channel "nope"\. The channels are "My feed"/,
  );
  const done = await shell.run(["disconnect", "my feed"], { columns: 80, answers: ["y"] });
  expect(done.questions[0]?.question).toMatch(/^Disconnect the channel My feed on Feed\?/);
  expect(done.stdout).toMatch(/^My feed is disconnected\./);
});

it("says what is not there in the words of what was asked for", async () => {
  using shell = open();
  await shell.run(["post", "Hello", "--on", "feed"]);
  const list = async (...args: string[]): Promise<string> =>
    (await shell.run(["list", ...args], { columns: 80 })).stdout;
  expect(await list()).toMatch(/^Nothing is planned\./);
  expect(await list("failed")).toBe("No post has failed.\n");
  expect(await list("--search", "nope")).toBe("No post matches.\n");
});

it("speaks in sentences at a terminal, and in JSON when asked", async () => {
  using shell = open();
  const screen = { columns: 80 };
  const connected = await shell.run(["connect", "feed", "--name", "News"], screen);
  expect(connected.stdout).toMatch(
    /^"News" \(feed\) is connected as acc_\w+\.\nPost there with posthorn post "Hello" --on "News"\.\n$/,
  );
  const key = await shell.run(["keys", "create", "--name", "Script"], screen);
  expect(key.stdout).toMatch(/^The key "Script" \(key_\w+\) is:\nphk_\w+\n$/);
  expect((await shell.run(["calendar-link"], screen)).stdout).toMatch(/^http:\/\/localhost:\d+\/\S+\n$/);
  const backup = await shell.run(["backup", join(shell.path, "a.tar")], screen);
  expect(backup.stdout).toMatch(
    /^The backup \S+a\.tar is written: the database and 0 stored files, [\d.]+ [KM]iB\.\n$/,
  );
  const json = await shell.run(["connect", "feed", "--name", "Two", "--json"], screen);
  expect(JSON.parse(json.stdout)).toMatchObject({ name: "Two" });
});

it("has no heading of the program's in the help of a group", async () => {
  const { stdout } = await runCli(["keys", "--help"]);
  expect(stdout).toContain("help [command]");
  expect(stdout).not.toContain("Look after it:");
  expect((await runCli(["--help"])).stdout).toMatch(/Look after it:[^]*help \[command\]/);
});
