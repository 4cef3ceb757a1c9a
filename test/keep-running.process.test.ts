import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { SETTINGS } from "../src/app/settings.ts";
import { runCli } from "./support/cli.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

const ROOT = join(import.meta.dirname, "..");
const PAGE = readFileSync(join(ROOT, "docs", "keep-running.md"), "utf8");
const ANALYZE = "/usr/bin/systemd-analyze";

const blocks = (language: string): string[] =>
  [...PAGE.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, "g"))].map(([, block = ""]) => block);

/** Lines of a shell, as words; what a variable or a quote holds stays one. */
const lines = blocks("sh").flatMap((block) =>
  block
    .trim()
    .split("\n")
    .map((line) => line.split(/ (?=(?:[^"]*"[^"]*")*[^"]*$)/)),
);

/** What `posthorn` is called with in a line, on its own or in the container; null: it is not called there. */
function callOf(words: readonly string[]): readonly string[] | null {
  const after = words.slice(words.indexOf("posthorn") + 1);
  if (words[0] === "posthorn") return after;
  if (words[0] === "sudo") return words[3]?.startsWith("POSTHORN_DATA_DIR=") ? words.slice(5) : null;
  if (words[2] === "exec") return after[0] === "posthorn" ? after.slice(1) : null;
  return words[2] === "run" && !words.includes("--entrypoint") ? after : null;
}

const calls = lines.map(callOf).filter((call) => call !== null);

describe("the page on keeping it running", () => {
  it("has commands and options that there are", async () => {
    expect(calls.length).toBeGreaterThan(8);
    for (const call of calls) {
      const commands = call[0] === "service" ? call.slice(0, 2) : call.slice(0, 1);
      const { status, stdout } = await runCli([...commands, "--help"]);
      expect([call, status]).toEqual([call, 0]);
      expect(stdout).toContain(`posthorn ${commands.join(" ")}`);
      for (const option of call.filter((word) => word.startsWith("--"))) expect(stdout).toContain(option);
    }
  });

  it("has commands of a shell, for the service that the compose file has", async () => {
    for (const block of blocks("sh")) await promisify(execFile)("bash", ["-n", "-c", block]);
    const compose = parse(readFileSync(join(ROOT, "compose.yaml"), "utf8")) as { services: object };
    const services = lines
      .filter((words) => words[1] === "compose" && /^(exec|run|cp)$/.test(words[2] ?? ""))
      .map((words) => words.find((word) => /^posthorn(:|$)/.test(word))?.split(":")[0]);
    expect(new Set(services)).toEqual(new Set(Object.keys(compose.services)));
    const [client] = blocks("json").map((block) => JSON.parse(block) as { args: string[] });
    expect(client?.args.slice(-3)).toEqual(["posthorn", "posthorn", "stdio"]);
  });

  it("names settings that there are", () => {
    const known = SETTINGS.map(({ name }) => name);
    const named = [...PAGE.matchAll(/\bPOSTHORN_[A-Z_]+/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThan(4);
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });

  it.runIf(existsSync(ANALYZE))("has a unit for the machine that systemd finds in order", async () => {
    using folder = temporaryFolder();
    const [unit = ""] = blocks("ini");
    expect(unit).toContain("User=posthorn");
    const file = join(folder.path, "posthorn.service");
    // The user and the command that the steps before make are not there.
    writeFileSync(file, unit.replace("User=posthorn", "User=root"));
    const verified = await promisify(execFile)(ANALYZE, ["verify", "--man=no", file]);
    expect(verified).toEqual({ stdout: "", stderr: "" });
  });

  it("moves everything to another machine", async () => {
    using old = temporaryFolder();
    using other = temporaryFolder();
    const at = (folder: typeof old, name: string): string => join(folder.path, "data", name);
    const file = join(other.path, "posthorn.tar");
    const caption = "Waits for the other machine";
    const { stdout } = await runCli(["call", "list_accounts"], old);
    const [{ id }] = (JSON.parse(stdout) as { accounts: [{ id: string }] }).accounts;
    const post = JSON.stringify({ accountId: id, caption, scheduledAt: "2099-01-01T00:00:00Z" });
    expect((await runCli(["call", "schedule_post", post], old)).status).toBe(0);
    const backup = lines.find((words) => words[0] === "posthorn" && words[1] === "backup");
    expect((await runCli([...backup!.slice(1, -1), file], old)).status).toBe(0);
    mkdirSync(join(other.path, "data"), { mode: 0o700 });
    copyFileSync(at(old, "secret.key"), at(other, "secret.key"));
    const restore = lines.find((words) => words[0] === "posthorn" && words[1] === "restore");
    expect(await runCli([...restore!.slice(1, -1), file], other)).toMatchObject({ status: 0 });
    expect((await runCli(["doctor"], other)).status).toBe(0);
    expect((await runCli(["call", "list_posts"], other)).stdout).toContain(caption);
  }, 120_000);
});
