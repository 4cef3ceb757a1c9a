import { lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse } from "jsonc-parser";
import { describe, expect, it } from "vitest";
import { CLIENTS, type Launch } from "../../../src/cli/install/clients.ts";
import { planEntry } from "../../../src/cli/install/config-file.ts";
import type { Ran } from "../../../src/cli/host.ts";
import { runCli } from "../../support/cli.ts";
import { ABSENT, createFakeMachine, type FakeMachine } from "../../support/machine.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Somebody's machine, and what they have for Cursor there. */
function machine(text: string | null = null) {
  const folder = temporaryFolder();
  const file = join(folder.path, ".cursor", "mcp.json");
  mkdirSync(dirname(file));
  if (text !== null) writeFileSync(file, text, { mode: 0o640 });
  const env = { HOME: folder.path, PATH: "/nowhere" };
  return {
    file,
    read: () => readFileSync(file, "utf8"),
    run: (args: string[], rest: { answers?: string[]; env?: Record<string, string> } = {}) =>
      runCli(["install", ...args], { ...rest, env: { ...env, ...rest.env } }),
    path: folder.path,
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

const OTHERS = '{\n    // mine\n    "mcpServers": { "other": { "command": "true" } }\n}\n';

describe("posthorn install", () => {
  it("shows the change, asks, writes absolute paths, and keeps what was there", async () => {
    using here = machine(OTHERS);
    const { status, stdout, stderr, questions } = await here.run(["cursor"], { answers: ["", "y"] });
    expect({ status, asked: questions.map(({ question }) => question) }).toEqual({
      status: 0,
      asked: ["A number or a name [1] ", "Write this? [y/N] "],
    });
    expect(stderr).toMatch(/^What may the agent do\?\n {2}1 writer /);
    expect(stdout).toContain(`This is written into ${here.file}:\n`);
    expect(stdout).toMatch(/^ +"posthorn": \{$/m);
    expect(stderr).toContain("posthorn service install");
    expect(here.read()).toContain("// mine");
    const { posthorn, other } = JSON.parse(here.read().replace("// mine", "")).mcpServers;
    expect(other).toEqual({ command: "true" });
    expect(posthorn).toEqual({
      command: process.execPath,
      args: [join(import.meta.dirname, "..", "..", "..", "dist", "posthorn.js"), "stdio", "--role", "writer"],
    });
    expect(readFileSync(`${here.file}.before-posthorn`, "utf8")).toBe(OTHERS);
    expect(statSync(here.file).mode & 0o777).toBe(0o640);
    const again = await here.run(["cursor", "--role", "writer"]);
    expect(again).toMatchObject({ status: 0, stdout: expect.stringContaining("Nothing to change") });
  });

  it.each([
    ["2", ["stdio", "--role", "publisher"]],
    ["Viewer", ["stdio", "--role", "viewer"]],
  ])("takes the number or the name of a role: %s", async (answer, args) => {
    using here = machine();
    expect(await here.run(["cursor"], { answers: [answer, "yes"] })).toMatchObject({ status: 0 });
    expect(JSON.parse(here.read()).mcpServers.posthorn.args.slice(1)).toEqual(args);
  });

  it("changes nothing after another answer, and asks for no role where nobody is there or one was told", async () => {
    using here = machine(OTHERS);
    const wrong = await here.run(["cursor"], { answers: ["boss", "y"] });
    expect(wrong).toMatchObject({ status: 1, stderr: expect.stringContaining('"boss" is none of writer, ') });
    expect(here.read()).toBe(OTHERS);
    const told = await here.run(["cursor", "--permissions", "read"], { answers: ["y"] });
    expect(told.questions).toHaveLength(1);
    await here.run(["cursor", "--yes"]);
    expect(here.read()).toMatch(/posthorn\.js",\s+"stdio"\s*\]/);
  });

  it("writes nothing after a no, without anybody to ask, or with --dry-run", async () => {
    using here = machine(OTHERS);
    expect(await here.run(["cursor"], { answers: [""] })).toMatchObject({ status: 1 });
    const alone = await here.run(["cursor"]);
    expect(alone).toMatchObject({ status: 1, stderr: expect.stringContaining("--yes") });
    expect(await here.run(["cursor", "--dry-run"])).toMatchObject({ status: 0 });
    expect(here.read()).toBe(OTHERS);
  });

  it("takes it out again", async () => {
    using here = machine(OTHERS);
    await here.run(["cursor", "--yes"]);
    expect(await here.run(["cursor", "--yes", "--remove"])).toMatchObject({ status: 0 });
    expect(here.read()).not.toContain("posthorn");
    const again = await here.run(["cursor", "--yes", "--remove"]);
    expect(again.stdout).toContain("does not have Posthorn");
  });

  it("keeps what was there before the first change", async () => {
    const mine = '{\n  "theme": "dark"\n}\n';
    using here = machine(mine);
    await here.run(["cursor", "--yes"]);
    await here.run(["cursor", "--yes", "--role", "viewer"]);
    expect(readFileSync(`${here.file}.before-posthorn`, "utf8")).toBe(mine);
    expect(JSON.parse(here.read()).mcpServers.posthorn.args.slice(1)).toEqual(["stdio", "--role", "viewer"]);
    await here.run(["cursor", "--yes", "--remove"]);
    expect(JSON.parse(here.read())).toEqual({ theme: "dark", mcpServers: {} });
  });

  it("names the data folder where others would not find it, and what the agent may do", async () => {
    using here = machine();
    const env = { POSTHORN_DATA_DIR: join(here.path, "posts") };
    await here.run(["cursor", "--yes", "--permissions", "read"], { env });
    expect(JSON.parse(here.read()).mcpServers.posthorn).toMatchObject({
      args: [expect.any(String), "stdio", "--permissions", "read"],
      env,
    });
    expect(statSync(here.file).mode & 0o777).toBe(0o600);
    expect(await here.run(["cursor", "--permissions", "all"])).toMatchObject({ status: 1 });
  });

  it("leaves a file alone that it cannot read", async () => {
    using here = machine('{ "mcpServers": ');
    const { status, stderr } = await here.run(["cursor", "--yes"]);
    expect({ status, text: here.read() }).toEqual({ status: 1, text: '{ "mcpServers": ' });
    expect(stderr).toMatch(/^The configuration of Cursor cannot be read, and was left as it is\./);
  });

  it("follows a link instead of taking its place", async () => {
    using here = machine();
    const kept = join(here.path, "dotfiles.json");
    writeFileSync(kept, OTHERS);
    symlinkSync(kept, here.file);
    await here.run(["cursor", "--yes"]);
    expect(lstatSync(here.file).isSymbolicLink()).toBe(true);
    expect(readFileSync(kept, "utf8")).toContain("posthorn");
  });

  it("lists the clients and which are set up, and knows no others", async () => {
    using here = machine();
    await here.run(["vscode", "--yes"]);
    const { stdout } = await here.run([]);
    expect(stdout).toMatch(/^claude-desktop +Claude Desktop +not set up$/m);
    expect(stdout).toMatch(/^vscode +VS Code +set up$/m);
    const unknown = await here.run(["emacs"]);
    expect(unknown).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/no client "emacs".*opencode/),
    });
  });
});

describe("a client with a command of its own", () => {
  const fake = (answer: (line: string) => Partial<Ran> | null) => createFakeMachine({ answer });
  const run = (machine: FakeMachine, ...args: string[]) =>
    runCli(["install", ...args], { machine, env: { HOME: "/nowhere", PATH: "/nowhere" } });

  it("is given Posthorn by it, in the place of what is there, after it was shown", async () => {
    const machine = fake(() => null);
    const { status, stdout } = await run(machine, "codex", "--yes", "--role", "viewer");
    expect(status).toBe(0);
    const [remove, add] = machine.commands;
    expect(remove).toBe("codex mcp remove posthorn");
    expect(add).toMatch(/^codex mcp add posthorn -- \S+ \S+posthorn\.js stdio --role viewer$/);
    expect(stdout).toContain(`  ${add}\n`);
    expect(stdout).toContain("Codex starts Posthorn from now on.");
  });

  it.each([
    ["claude-code", /^claude mcp add-json --scope user posthorn \{"type":"stdio","command":/],
    ["gemini-cli", /^gemini mcp add --scope user posthorn \S+ \S+posthorn\.js stdio$/],
  ])("has it for every folder of the person: %s", async (name, line) => {
    const machine = fake(() => null);
    expect(await run(machine, name, "--yes")).toMatchObject({ status: 0 });
    expect(machine.commands.at(-1)).toMatch(line);
    await run(machine, name, "--yes", "--remove");
    expect(machine.commands.at(-1)).toMatch(/^\w+ mcp remove --scope user posthorn$/);
  });

  it("is not asked for with --dry-run, and says what is wrong", async () => {
    const machine = fake(() => ABSENT);
    expect(await run(machine, "codex", "--dry-run")).toMatchObject({ status: 0 });
    expect(machine.commands).toEqual([]);
    expect((await run(machine, "codex", "--yes")).stderr).toContain(
      "The command codex of Codex is not found",
    );
    const refusing = fake((line) => (line.includes(" add ") ? { status: 2, stderr: "no\nroom." } : null));
    expect((await run(refusing, "codex", "--yes")).stderr).toContain("Codex did not do it: no room.");
  });
});

describe("the text of a configuration", () => {
  const LAUNCH: Launch = { command: "/opt/node", args: ["/opt/posthorn.js", "stdio"], env: {} };
  const MOVED: Launch = { ...LAUNCH, env: { POSTHORN_DATA_DIR: 'C:\\Users\\"Ada"\\posthorn' } };
  const written = CLIENTS.filter(({ own }) => own === undefined);
  const cursor = CLIENTS.find(({ name }) => name === "cursor")!;
  const read = (text: string): any => parse(text, [], { allowTrailingComma: true });

  it.each(written.map((client) => [client.name, client] as const))(
    "of %s gets Posthorn once, and loses it again",
    (_name, client) => {
      for (const launch of [LAUNCH, MOVED]) {
        const once = planEntry(client, "", launch);
        expect(read(once)[client.section]).toEqual({ posthorn: client.entry(launch) });
        expect(planEntry(client, once, launch)).toBe(once);
        expect(read(planEntry(client, once, null))[client.section]).toEqual({});
      }
    },
  );

  const COMMENTED = `// Mine
{
\t"editor": "vim", // as ever
\t"mcpServers": {
\t\t/* at work */
\t\t"other": { "command": "true", "args": [1, 2,3] },
\t},
}
`;

  it.each([
    ["with comments", COMMENTED],
    ["with the line ends of Windows", COMMENTED.replaceAll("\n", "\r\n")],
    ["in one line", '{"mcpServers":{"other":{"command":"true"}},"a":1}'],
  ])("keeps what somebody wrote: %s", (_what, text) => {
    const planned = planEntry(cursor, text, LAUNCH);
    const { posthorn, ...others } = read(planned).mcpServers;
    expect(posthorn).toEqual(cursor.entry(LAUNCH));
    expect(others).toEqual(read(text).mcpServers);
    for (const comment of text.match(/\/\/ .*|\/\* .* \*\//g) ?? []) expect(planned).toContain(comment);
    if (text.includes("\r\n")) expect(planned.replaceAll("\r\n", "")).not.toContain("\n");
  });

  it("keeps other fields of the entry, and the comments in it", () => {
    const planned = planEntry(
      cursor,
      '{"mcpServers":{"posthorn":{"command":"old",/* mine */"env":{"POSTHORN_TIMEZONE":"Europe/Berlin"},"disabled":true}}}',
      MOVED,
    );
    expect(planned).toContain("/* mine */");
    expect(read(planned).mcpServers.posthorn).toEqual({
      ...cursor.entry(LAUNCH),
      disabled: true,
      env: { POSTHORN_TIMEZONE: "Europe/Berlin", ...MOVED.env },
    });
  });

  it.each(['{\n  "mcpServers": {\n    "a": \n}', "[]", '{ "mcpServers": [] }'])(
    "is refused where it cannot be read: %s",
    (text) => {
      expect(() => planEntry(cursor, text, LAUNCH)).toThrow(/^The configuration of Cursor cannot be read/);
    },
  );
});

describe("the file of each client", () => {
  const filesOn = (platform: NodeJS.Platform, home: string, env: Record<string, string> = {}) =>
    Object.fromEntries(CLIENTS.map((client) => [client.name, client.files({ platform, home, env }).at(-1)]));

  it("is where it looks on Linux, macOS and Windows", () => {
    expect(filesOn("linux", "/home/ada")).toEqual({
      "claude-desktop": "/home/ada/.config/Claude/claude_desktop_config.json",
      "claude-code": "/home/ada/.claude.json",
      codex: "/home/ada/.codex/config.toml",
      cursor: "/home/ada/.cursor/mcp.json",
      vscode: "/home/ada/.config/Code/User/mcp.json",
      "gemini-cli": "/home/ada/.gemini/settings.json",
      opencode: "/home/ada/.config/opencode/opencode.json",
    });
    expect(filesOn("darwin", "/Users/ada")).toMatchObject({
      "claude-desktop": "/Users/ada/Library/Application Support/Claude/claude_desktop_config.json",
      vscode: "/Users/ada/Library/Application Support/Code/User/mcp.json",
      opencode: "/Users/ada/.config/opencode/opencode.json",
    });
    const roaming = "C:\\Users\\ada\\AppData\\Roaming";
    expect(filesOn("win32", "C:\\Users\\ada", { APPDATA: roaming })).toMatchObject({
      "claude-desktop": `${roaming}\\Claude\\claude_desktop_config.json`,
      "claude-code": "C:\\Users\\ada\\.claude.json",
      codex: "C:\\Users\\ada\\.codex\\config.toml",
      vscode: `${roaming}\\Code\\User\\mcp.json`,
    });
  });

  it("is where the person moved it", () => {
    expect(
      filesOn("linux", "/home/ada", { CLAUDE_CONFIG_DIR: "/c", CODEX_HOME: "/x", XDG_CONFIG_HOME: "/s" }),
    ).toMatchObject({
      "claude-code": "/c/.claude.json",
      codex: "/x/config.toml",
      vscode: "/s/Code/User/mcp.json",
      opencode: "/s/opencode/opencode.json",
    });
  });
});
