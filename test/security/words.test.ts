import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { ReadStream, WriteStream } from "node:tty";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTerminal } from "../../src/app/terminal.ts";
import { AppError, MAX_SENTENCE_CHARS, saidOf } from "../../src/domain/errors.ts";
import { visibleText } from "../../src/domain/text/plain-text.ts";
import { runCli } from "../support/cli.ts";
import { startService, type Service } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let service: Service;
let accountId: string;

beforeAll(async () => {
  service = await startService();
  accountId = await service.addFeed();
});
afterAll(() => service[Symbol.asyncDispose]());

const HALF = "\ud800";

/**
 * What a terminal obeys: ESC and other C0, DEL, C1, the marks that turn directions, line ends of other
 * systems.
 */
const OBEYED =
  "\0\u0007\b\u000b\r\u001b\u007f\u009b\u009d\u061c\u200e\u200f\u2028\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069";
// oxlint-disable-next-line no-control-regex
const RAW = /[\0-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

const post = (body: string): ReturnType<Service["ask"]> =>
  service.ask("POST /api/v1/posts", { headers: { "Content-Type": "application/json" }, body });

describe("sentences", () => {
  it("are bounded where they are made, and end with how much is left out", () => {
    const error = new AppError("invalid", `caption: ${"🎉".repeat(5_000)}`);
    expect(error.message.length).toBeLessThanOrEqual(MAX_SENTENCE_CHARS);
    expect(error.message).toMatch(/🎉.?… and \d+ more characters$/u);
    expect(String(saidOf(error))).not.toMatch(/\p{Cs}/u);
    expect(new AppError("invalid", "x".repeat(MAX_SENTENCE_CHARS)).message).toHaveLength(MAX_SENTENCE_CHARS);
    expect(new AppError("invalid", `half: ${HALF}`).message).toBe("half: \ufffd");
  });

  const manyKeys = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`k${at}`, 1]));
  const longKeys = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [`${at}${"k".repeat(20_000)}`, 1]),
  );

  it.each([
    ["60,000 unknown metadata keys", { metadata: manyKeys }],
    ["unknown metadata keys of 20,000 letters", { metadata: longKeys }],
    ["60,000 unknown fields", manyKeys],
    ["unknown fields of 20,000 letters", longKeys],
    ["a long wrong time", { scheduledAt: "9".repeat(100_000) }],
    ["a long wrong address", { mediaUrl: `https://${"x".repeat(100_000)}` }],
    ["a long account", { accountId: "a".repeat(100_000) }],
  ])("tell of %s in 2,000 characters, alone and in a batch", async (_case, fields) => {
    const body = { accountId, caption: "x", scheduledAt: "2027-01-01T00:00:00Z", ...fields };
    const { status, text } = await post(JSON.stringify(body));
    expect([400, 404]).toContain(status);
    const { error } = JSON.parse(text) as { error: string };
    expect(error.length).toBeLessThanOrEqual(MAX_SENTENCE_CHARS);
    const batch = await service.call("schedule_posts", { posts: [body] }).then(
      ({ results }) => results[0].error as string,
      (thrown: unknown) => String(saidOf(thrown)),
    );
    expect(batch.length).toBeLessThanOrEqual(MAX_SENTENCE_CHARS);
  });
});

describe("texts that are no texts", () => {
  it.each([
    ["a caption", `{"caption":"a\\ud800b"}`],
    ["NUL in a caption", `{"caption":"a\\u0000b"}`],
    ["a value deep inside", `{"metadata":{"a":[{"b":"\\udc00"}]}}`],
    ["a name of a field", `{"\\ud800":1}`],
    ["a name deep inside", `{"metadata":{"a":{"x\\udfff":1}}}`],
  ])("are refused in %s", async (_case, json) => {
    const body = JSON.stringify({ accountId, caption: "x", scheduledAt: "2027-01-01T00:00:00Z" });
    const { status, text } = await post(`${body.slice(0, -1)},${json.slice(1)}`);
    expect(status).toBe(400);
    expect(text).not.toMatch(/\p{Cs}/u);
    expect(text).toMatch(/half of a surrogate pair|NUL/);
  });

  it("are refused on the command line, secrets too", async () => {
    using folder = temporaryFolder();
    expect(await runCli(["call", "list_posts", '{"search":"\\ud800"}'], folder)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("half of a surrogate pair"),
    });
    const secrets = { ...folder, input: '{"url":"https://x.example/\\ud800"}' };
    expect(await runCli(["connect", "webhook", "--secrets-stdin"], secrets)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("half of a surrogate pair"),
    });
  });
});

describe("a terminal", () => {
  it("is given nothing that it obeys, and JSON that says the same", () => {
    const json = JSON.stringify({ caption: `a${OBEYED}\n\té👩‍👩‍👧` }, null, 2);
    expect(visibleText(json)).not.toMatch(RAW);
    expect(JSON.parse(visibleText(json))).toEqual(JSON.parse(json));
    expect(visibleText("one\n\ttwo é👩‍👩‍👧")).toBe("one\n\ttwo é👩‍👩‍👧");
    expect(visibleText("\u001b[31mred")).toBe("\\u001b[31mred");
  });

  it("is guarded at its edge, questions too", async () => {
    const written = { stdout: "", stderr: "" };
    const output = (name: "stdout" | "stderr"): WriteStream =>
      Object.assign(
        new PassThrough().on("data", (chunk: Buffer) => (written[name] += chunk.toString())),
        { isTTY: true, columns: 80 },
      ) as unknown as WriteStream;
    const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
    const streams = { stdout: output("stdout"), stderr: output("stderr") };
    const terminal = createTerminal({ stdin: stdin as unknown as ReadStream, ...streams });
    terminal.print(`${OBEYED}\n`);
    terminal.tell(`${OBEYED}\n`);
    const asked = terminal.ask(OBEYED, { isHidden: true, signal: new AbortController().signal });
    stdin.write("x\r");
    await asked;
    expect(written.stdout).not.toMatch(RAW);
    expect(written.stderr).not.toMatch(RAW);
  });

  it.each([
    ["a mistyped command", ["\u001b[31mred"]],
    ["an unknown option", ["serve", "--\u001b[31m"]],
    ["too many arguments", ["doctor", "\u001b[31m"]],
    ["a file that is not there", ["restore", "/nowhere/\u001b[31m\u202e.tar"]],
    ["a tool", ["call", "\u009b31m"]],
    ["a platform", ["connect", "\u001b[31m"]],
    ["a key", ["keys", "revoke", "\u001b[31m"]],
    ["an owner", ["keys", "revoke", "x", "--owner", "\u202eecila"]],
    ["JSON", ["call", "list_posts", '{"search":"\u202e\u009b']],
  ])("is shown %s without obeying it", async (_case, args) => {
    using folder = temporaryFolder();
    const { status, stdout, stderr } = await runCli(args, folder);
    expect(status).toBe(1);
    expect(stdout + stderr).not.toMatch(RAW);
    expect(stderr).not.toBe("");
  });

  it("is shown what others wrote, whole and harmless", async () => {
    using folder = temporaryFolder();
    const name = "Eve\u202e\u2066\u200f";
    const created = await runCli(
      ["call", "connect_channel", JSON.stringify({ provider: "feed", name })],
      folder,
    );
    expect(created.stdout).not.toMatch(RAW);
    const caption = "see\u202egnp.exe\u009b31m";
    const { account } = JSON.parse(created.stdout);
    const scheduledAt = "2099-01-01T00:00:00Z";
    const args = JSON.stringify({ accountId: account.id, caption, scheduledAt });
    const scheduled = await runCli(["call", "schedule_post", args], folder);
    expect(scheduled.stdout).not.toMatch(RAW);
    expect(JSON.parse(scheduled.stdout).post.caption).toBe(caption);
    const exported = await runCli(["export"], folder);
    expect(exported.stdout).not.toMatch(RAW);
    expect(exported.stdout).toContain("\\u202egnp.exe");
  });

  it("is shown settings harmlessly", async () => {
    using folder = temporaryFolder();
    await runCli(["call", "list_accounts"], folder);
    writeFileSync(join(folder.path, "data", "posthorn.env"), "POSTHORN_TIMEZONE=\u001b[31m\u202e\n", {
      mode: 0o600,
    });
    const run = await runCli(["doctor"], folder);
    expect(run.stdout + run.stderr).not.toMatch(RAW);
  });
});
