import { parse as parseJson } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { describe, expect, it } from "vitest";
import { CLIENTS, type Launch } from "../../../src/cli/install/clients.ts";
import { isSetUp, planEntry, planRemoval } from "../../../src/cli/install/plan.ts";

const LAUNCH: Launch = { command: "/opt/node", args: ["/opt/posthorn.js", "stdio"], env: {} };
const MOVED: Launch = { ...LAUNCH, env: { POSTHORN_DATA_DIR: 'C:\\Users\\"Ada"\\posthorn' } };

const clientOf = (name: string) => CLIENTS.find((client) => client.name === name)!;
const cursor = clientOf("cursor");
const codex = clientOf("codex");

/** As the client itself reads it. */
function read(name: string, text: string): any {
  const plain = text.replace(/^\ufeff/, "");
  return clientOf(name).format === "toml"
    ? parseToml(plain)
    : parseJson(plain, [], { allowTrailingComma: true });
}

describe.each(CLIENTS.map((client) => [client.name, client] as const))(
  "the configuration of %s",
  (name, client) => {
    it.each([
      ["a new file", LAUNCH],
      ["one that needs its data folder named", MOVED],
    ])("gets Posthorn, once, and loses it again: %s", (_what, launch) => {
      const once = planEntry(client, "", launch);
      expect(read(name, once)[client.section]).toEqual({ posthorn: client.entry(launch) });
      expect(isSetUp(client, once)).toBe(true);
      expect(planEntry(client, once, launch)).toBe(once);
      const gone = planRemoval(client, once, launch);
      expect(isSetUp(client, gone)).toBe(false);
      expect(planRemoval(client, gone, launch)).toBe(gone);
    });
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

const TABLES = `# Mine
model = "o9" # as ever
notes = """
[mcp_servers.posthorn]
command = "not this one"
"""

[mcp_servers.other] # at work
command = 'C:\\bin\\other.exe'
args = [
  "one", # first
]

# About what follows
[profiles."a.b"]
model = 'x'`;

describe("what somebody wrote", () => {
  it.each([
    ["JSON with comments", cursor, COMMENTED],
    [
      "JSON with the line ends of Windows and its mark",
      cursor,
      `\ufeff${COMMENTED.replaceAll("\n", "\r\n")}`,
    ],
    ["JSON in one line", cursor, '{"mcpServers":{"other":{"command":"true"}},"a":1}'],
    ["TOML", codex, TABLES],
    ["TOML with the line ends of Windows", codex, TABLES.replaceAll("\n", "\r\n")],
  ])("stays, character for character: %s", (_what, client, text) => {
    const planned = planEntry(client, text, LAUNCH);
    const { posthorn, ...others } = read(client.name, planned)[client.section];
    expect(posthorn).toEqual(client.entry(LAUNCH));
    expect(others).toEqual(read(client.name, text)[client.section]);
    if (client.format === "json") expect(planRemoval(client, planned, LAUNCH)).toBe(text);
    else expect(planRemoval(client, planned, LAUNCH).trimEnd()).toBe(text);
    expect(planned.includes("\r\n")).toBe(text.includes("\r\n"));
    if (text.includes("\r\n")) expect(planned.replaceAll("\r\n", "")).not.toContain("\n");
    expect(read(client.name, planRemoval(client, planned, LAUNCH))).toEqual(read(client.name, text));
  });

  it("stays in the entry itself, comments and other fields among it", () => {
    const json = planEntry(
      cursor,
      '{"mcpServers":{"posthorn":{"command":"old",/* mine */"env":{"POSTHORN_TIMEZONE":"Europe/Berlin"},"disabled":true}}}',
      MOVED,
    );
    expect(json).toContain("/* mine */");
    expect(read("cursor", json).mcpServers.posthorn).toEqual({
      ...cursor.entry(LAUNCH),
      disabled: true,
      env: { POSTHORN_TIMEZONE: "Europe/Berlin", ...MOVED.env },
    });
    const own = `[mcp_servers.posthorn]\n# mine\ncommand = 'old'\nstartup_timeout_sec = 20\n\n[mcp_servers.posthorn.env]\nPOSTHORN_TIMEZONE = "Europe/Berlin"\n\n# Next\n[tui]\ntheme = "x"\n`;
    const toml = planEntry(codex, own, MOVED);
    expect(toml).toContain("# mine");
    expect(toml).toContain("\n\n# Next\n[tui]\n");
    expect(read("codex", toml)).toEqual({
      mcp_servers: {
        posthorn: {
          ...codex.entry(LAUNCH),
          startup_timeout_sec: 20,
          env: { POSTHORN_TIMEZONE: "Europe/Berlin", ...MOVED.env },
        },
      },
      tui: { theme: "x" },
    });
    const bare = planEntry(codex, "[mcp_servers.posthorn]\ncommand = 'old'\n[tui]\n", MOVED);
    expect(read("codex", bare).mcp_servers.posthorn).toEqual(codex.entry(MOVED));
    expect(planRemoval(codex, toml, LAUNCH)).toBe('\n# Next\n[tui]\ntheme = "x"\n');
  });

  it.each([
    ["no JSON", cursor, '{\n  "mcpServers": {\n    "a": \n}'],
    ["a list", cursor, "[]"],
    ["servers that are a list", cursor, '{ "mcpServers": [] }'],
    ["servers twice", cursor, '{ "mcpServers": {}, "mcpServers": { "a": {} } }'],
    ["a text without an end", codex, 'notes = """\n[mcp_servers.posthorn]\n'],
    ["servers in one line", codex, 'mcp_servers = { other = { command = "true" } }\n'],
    ["a dotted name", codex, 'mcp_servers.other.command = "true"\n'],
    ["an entry in one line", codex, '[mcp_servers]\nposthorn = { command = "true" }\n'],
    ["arguments over several lines", codex, '[mcp_servers.posthorn]\nargs = [\n  "x",\n]\n'],
  ])("is refused where it cannot be changed safely, with what to write: %s", (_what, client, text) => {
    expect(() => planEntry(client, text, LAUNCH)).toThrow(
      /^The configuration of \w+ was left as it is: .+ write this into it yourself:\n[^]*\/opt\/posthorn\.js/,
    );
  });
});
