import { afterEach, beforeEach, expect, it } from "vitest";
import { CHAT_TOKENS, type ChatServices, startChatServices } from "../../support/chat-services.ts";
import { runCli, type CliRun } from "../../support/cli.ts";
import { startMailServer } from "../../support/mail-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

let chats: ChatServices;
let folder: ReturnType<typeof temporaryFolder>;

beforeEach(async () => {
  chats = await startChatServices();
  folder = temporaryFolder();
});

afterEach(async () => {
  folder[Symbol.dispose]();
  await chats[Symbol.asyncDispose]();
});

const notify = (args: readonly string[], options: Parameters<typeof runCli>[1] = {}) =>
  runCli(["notify", ...args], {
    ...options,
    env: { ...folder.env, POSTHORN_ALLOWED_HOSTS: "127.0.0.1", ...options.env },
  });

function json(run: CliRun): any {
  expect(run).toMatchObject({ status: 0 });
  return JSON.parse(run.stdout);
}

it("adds a target that is typed unseen, tests it, lists it and removes it", async () => {
  const added = await notify(["add", "telegram"], { answers: [chats.targets.telegram], columns: 100 });
  expect(added).toMatchObject({ status: 0, questions: [{ isHidden: true }] });
  expect(added.stdout).toMatch(
    /^Messages go to telegram:\/\/…@-100987 from now on\. Try it: posthorn notify test whk_/,
  );
  const { webhooks } = json(await notify(["list"]));
  expect(webhooks).toMatchObject([{ format: "telegram", url: "telegram://…@-100987", accountIds: null }]);
  const table = await notify(["list"], { columns: 100 });
  expect(table.stdout).toMatch(
    /^FORMAT +ADDRESS +STATUS +ID\ntelegram +telegram:\/\/…@-100987 +active +whk_/,
  );
  const tested = await notify(["test", webhooks[0].id], { columns: 100 });
  expect(tested.stdout).toBe("telegram://…@-100987: The test got through.\n");
  expect(chats.seen).toMatchObject([{ service: "telegram" }]);
  const removed = await notify(["remove", webhooks[0].id], { columns: 100 });
  expect(removed.stdout).toBe("No more messages go to telegram://…@-100987.\n");
  expect(json(await notify(["list"]))).toEqual({ webhooks: [] });
  const everything = JSON.stringify([added, table, tested, removed, webhooks]);
  expect(everything).not.toContain(CHAT_TOKENS.telegram);
});

it("takes events and channels, and tests all at once", async () => {
  const more = ["--events", "post.failed, digest.daily", "--accounts", "feed"];
  const { webhook } = json(await notify(["add", "ntfy", chats.targets.ntfy, ...more]));
  expect(webhook).toMatchObject({
    format: "ntfy",
    events: ["post.failed", "digest.daily"],
    accountIds: [expect.stringMatching(/^acc_/)],
  });
  await notify(["add", "slack", chats.targets.slack]);
  expect(json(await notify(["test"])).tests).toHaveLength(2);
  chats.failures.push(403);
  const failed = await notify(["test"], { columns: 100 });
  expect(failed).toMatchObject({ status: 1, stderr: "1 of 2 tests did not get through.\n" });
  expect(failed.stdout).toContain("The service does not let it write there (HTTP 403).");
});

it("sends e-mail through the server of the settings", async () => {
  await using mail = await startMailServer();
  const env = { POSTHORN_SMTP_URL: mail.setting };
  json(await notify(["add", "email", "me@example.com"], { env }));
  json(await notify(["test"], { env }));
  expect(mail.mails).toMatchObject([{ from: "posthorn@example.com", to: ["me@example.com"] }]);
});

it.each([
  [["add", "telegram"], "target: give the address"],
  [
    ["add", "slack", "nonsense"],
    "url: this is not an http(s) address. Give the address of an incoming webhook",
  ],
  [["add", "email", "me@example.com"], "POSTHORN_SMTP_URL"],
  [["add", "ntfy", "https://127.0.0.1/t", "--events", "post.lost"], "events"],
  [["test"], "posthorn notify add"],
  [["remove", "whk_missing"], "there is no webhook"],
])("says what is missing: %j", async (args, sentence) => {
  const run = await notify(args);
  expect([run.status, run.stderr]).toEqual([1, expect.stringContaining(sentence)]);
});

it("refuses settings that cannot be meant, without their secrets", async () => {
  const env = { POSTHORN_SMTP_URL: "smtp://me:canary@mail.example.com", POSTHORN_HEARTBEAT_URL: "canary" };
  const run = await notify(["list"], { env });
  expect(run.status).toBe(1);
  expect(run.stderr).toContain("POSTHORN_SMTP_URL: must say who sends");
  expect(run.stderr).toContain("POSTHORN_HEARTBEAT_URL: must be an http(s) address");
  expect(run.stderr).not.toContain("canary");
});
