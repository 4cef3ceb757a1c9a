import { expect, it } from "vitest";
import { runCli } from "../../support/cli.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

it("tells a person whether posts go out, what waits and what is paused; programs get JSON", async () => {
  using folder = temporaryFolder();
  const { env } = folder;
  await runCli(["call", "list_accounts"], { env });
  await runCli(["post", "Hello", "--on", "My feed", "--at", "2099-01-01T10:00:00Z"], { env });
  await runCli(["pause", "My feed"], { env });
  await runCli(["draft", "Soon", "--on", "My feed", "--submit"], { env });
  const { status, stdout } = await runCli(["status"], {
    env: { ...env, POSTHORN_TIMEZONE: "UTC" },
    columns: 80,
  });
  expect([status, stdout.split("\n")]).toEqual([
    0,
    [
      'Posts go out  no: nothing publishes. "posthorn serve" does',
      "Server        none runs",
      expect.stringMatching(/^Planned +1(, the next at 2099-01-01 10:00 \(UTC\))?$/),
      'Drafts        1 waiting for a decision ("posthorn drafts waiting" shows them)',
      "Paused        My feed (Feed)",
      "",
    ],
  ]);
  const piped = await runCli(["status"], { env });
  expect(JSON.parse(piped.stdout)).toMatchObject({ publisher: { running: false }, counts: { scheduled: 1 } });
});

it("names a channel's platform once, and tells of one that was disconnected", async () => {
  using folder = temporaryFolder();
  const { env } = folder;
  for (const name of ["News", "News"]) await runCli(["connect", "feed", "--name", name], { env });
  const { accounts } = JSON.parse((await runCli(["accounts"], { env })).stdout);
  const { id } = accounts.find(({ name }: { name: string }) => name === "News");
  await runCli(["post", "Hello", "--on", id, "--at", "2099-01-01T10:00:00Z"], { env });
  await runCli(["disconnect", id, "--yes"], { env });
  const { stdout } = await runCli(["status"], { env, columns: 80 });
  expect(stdout).toMatch(/^Reconnect +News on Feed \(\w{6}\), which was disconnected$/m);
  expect((await runCli(["pause", "News"], { env })).stderr).not.toMatch(/ on Feed \(\w+\)"? \(feed/);
});
