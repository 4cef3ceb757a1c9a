import { join } from "node:path";
import { expect, it } from "vitest";
import { HOUR, SECOND } from "../../../src/domain/time.ts";
import { openStore } from "../../../src/store/open-store.ts";
import { runCli } from "../../support/cli.ts";
import { queryOf } from "../../support/handles.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/* A channel that its platform asked to wait: no command waits for it longer than a person does for an answer. */

type Folder = ReturnType<typeof temporaryFolder>;

async function change({ path }: Folder, table: "accounts" | "posts", set: object): Promise<void> {
  await using store = await openStore({ file: join(path, "data", "posthorn.db") });
  await queryOf(store).updateTable(table).set(set).execute();
}

/** The id of what the command made. */
async function made(folder: Folder, ...command: string[]): Promise<string> {
  const { stdout } = await runCli(command, folder);
  return /"id": ?"((?:post|dft)_\w+)"/.exec(stdout)![1]!;
}

const LATER = ["post", "Hello", "--on", "My feed", "--at", "2099-01-01T09:00:00Z"];

const COMMANDS: Readonly<Record<string, (folder: Folder) => Promise<string[]>>> = {
  post: async () => ["post", "Hello", "--on", "My feed"],
  call: async () => ["call", "schedule_post", '{"accountId":"My feed","caption":"Hello"}'],
  move: async (folder) => ["move", await made(folder, ...LATER), "now", "--yes"],
  edit: async (folder) => {
    const id = await made(folder, ...LATER);
    await change(folder, "posts", { scheduled_at: Date.now(), due_at: Date.now() });
    return ["edit", id, "--text", "Better", "--yes"];
  },
  retry: async (folder) => {
    const id = await made(folder, ...LATER);
    await change(folder, "posts", { status: "failed", error: "No." });
    return ["retry", id, "--yes"];
  },
  approve: async (folder) => [
    "approve",
    await made(folder, "draft", "Hello", "--on", "My feed", "--submit"),
    "--yes",
  ],
};

it.concurrent.each(Object.entries(COMMANDS))(
  "%s tells soon what waits, and until when",
  async (_, prepare) => {
    using folder = temporaryFolder();
    await runCli(["accounts"], folder);
    const command = await prepare(folder);
    await change(folder, "accounts", { next_allowed_at: Date.now() + HOUR, wait_cause: "rate_limit" });
    const start = performance.now();
    const { status, stdout, stderr } = await runCli(command, folder);
    expect(performance.now() - start).toBeLessThan(30 * SECOND);
    const told = `${stdout}${stderr}`;
    expect(told).toMatch(/takes no more posts from this channel for now\. This one waits until /);
    // One moment, not that of before the wait beside it.
    expect(told).not.toContain("at the earliest");
    if (!command.includes("call")) expect(status).not.toBe(0);
  },
);
