import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/cli/program.ts";
import { runCli } from "../support/cli.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

describe("posthorn", () => {
  it.each([
    "demo",
    "serve",
    "stdio",
    "connect",
    "accounts",
    "post",
    "list",
    "tools",
    "call",
    "keys",
    "doctor",
    "service",
    "backup",
    "restore",
    "export",
  ])("explains %s", async (command) => {
    const all = await runCli(["--help"]);
    expect(all).toMatchObject({ status: 0, stderr: "" });
    expect(all.stdout).toMatch(new RegExp(`^  ${command}\\b`, "m"));
    const one = await runCli([command, "--help"]);
    expect(one).toMatchObject({ status: 0, stderr: "" });
    expect(one.stdout).toContain(`posthorn ${command}`);
  });

  it("tells its version", async () => {
    expect(await runCli(["--version"])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  });

  it("knows the commands there are", async () => {
    expect(await runCli(["serv"])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('no command "serv"'),
    });
    expect(await runCli(["call"])).toMatchObject({ status: 1, stderr: expect.stringContaining("tool") });
    expect(await runCli(["keys", "create", "--nmae", "x"])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("--name"),
    });
  });

  it.each(Object.values(COMMANDS).flat())("says where $name tells what it takes", async ({ name, run }) => {
    if (run === null) return;
    expect(await runCli([...name.split(" "), "--no-such"])).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(
        new RegExp(`'--no-such'\n.*posthorn ${name} --help shows what it takes\\.\n`, "s"),
      ),
    });
  });

  it("names all bad settings at once, and starts nothing", async () => {
    using folder = temporaryFolder();
    const env = {
      ...folder.env,
      POSTHORN_PORT: "http",
      POSTHORN_TIMEZONE: "Mars",
      POSTHORN_PROT: "1",
      POSTHORN_API_KEY: "short",
    };
    for (const command of [["serve"], ["stdio"], ["call", "list_accounts"]]) {
      const run = await runCli(command, { env });
      expect(run.status).toBe(1);
      for (const name of ["POSTHORN_PORT", "POSTHORN_TIMEZONE", "POSTHORN_PROT", "POSTHORN_API_KEY"])
        expect(run.stderr).toContain(name);
    }
    // The first of them loads every platform.
  }, 30_000);

  it("takes an agent's permissions, and knows no others", async () => {
    using folder = temporaryFolder();
    expect(await runCli(["stdio", "--permissions", "raed"], folder)).toMatchObject({
      status: 1,
      stderr:
        '--permissions: "raed" is not a permission. The permissions are read, draft, publish, accounts, files, admin.\n',
    });
  });
});
