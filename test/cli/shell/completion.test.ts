import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runCli } from "../../support/cli.ts";

const hasBash = existsSync("/bin/bash");

/** What bash offers after these words. */
function complete(script: string, words: readonly string[]): string[] {
  const line = `${script}
COMP_WORDS=(posthorn "$@"); COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 )); _posthorn; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const args = ["--norc", "-c", line, "bash", ...words];
  return execFileSync("/bin/bash", args, { encoding: "utf8" }).trim().split("\n");
}

describe("posthorn completion", () => {
  const scriptFor = async (shell: string): Promise<string> => {
    const run = await runCli(["completion", shell]);
    expect(run).toMatchObject({ status: 0, stderr: "" });
    return run.stdout;
  };

  it.runIf(hasBash).each([
    [["pos"], ["post"]],
    [["post", "--me"], ["--media"]],
    // Words that a command takes are passed over.
    [["post", "Hello", "--on", "feed", "--dr"], ["--dry-run"]],
    [["list", "fai"], ["failed"]],
    [["keys", "ro"], ["rotate-secret"]],
    [["keys", "create", "--pe"], ["--permissions"]],
    [
      ["completion", ""],
      ["bash", "zsh", "fish", "--help"],
    ],
    // Nothing of ours: bash completes files.
    [["backup", "./"], [""]],
  ])("completes %j with bash", async (words, offered) => {
    expect(complete(await scriptFor("bash"), words)).toEqual(offered);
  });

  it("knows every command in every shell", async () => {
    const help = (await runCli(["--help"])).stdout;
    const commands = [...help.matchAll(/^ {2}([a-z-]+) .*$/gm)].map(([, name]) => name);
    expect(commands).toEqual(expect.arrayContaining(["post", "serve", "completion"]));
    for (const shell of ["bash", "zsh", "fish"]) {
      const script = await scriptFor(shell);
      for (const command of ["post", "list", "accounts", "serve", "keys create", "restore"])
        for (const word of command.split(" ")) expect(script).toMatch(new RegExp(`\\b${word}\\b`));
    }
  });

  it.each(["zsh", "fish"])("writes what %s can read, where it is installed", async (shell) => {
    const script = await scriptFor(shell);
    const checked = spawnSync(shell, ["-n"], { input: script, encoding: "utf8" });
    if (checked.error === undefined) expect(checked).toMatchObject({ status: 0, stderr: "" });
    // What stands in quotes ends there.
    for (const line of script.split("\n")) expect((line.match(/'/g) ?? []).length % 2).toBe(0);
  });

  it("names the shells it knows", async () => {
    expect(await runCli(["completion", "tcsh"])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("Allowed choices are bash, zsh, fish."),
    });
  });
});
