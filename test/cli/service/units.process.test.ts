import { execFile } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { SaxesParser } from "saxes";
import { describe, expect, it } from "vitest";
import { openLaunchd, openSystemd } from "../../../src/cli/service/manager.ts";
import { createMac, createSystemdMachine } from "../../support/machine.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const ANALYZE = "/usr/bin/systemd-analyze";

const NASTY = `/srv/a b/100% $HOME/"q" 'x' \\n & <p> é ]]>`;

const path = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 40 })
  .map((text) => `/${text}`)
  .filter((text) => !/[\p{Cc}\p{Cs}]|\s$|\\$/u.test(text));

const specOf = (folder: string, program = "/usr/lib/posthorn.js") => ({
  node: "/usr/bin/node",
  program,
  folder,
});

describe("the unit of systemd", () => {
  it("runs the server with the data folder, hardened, and with limits to starting it anew", () => {
    const unit = openSystemd(createSystemdMachine()).render(specOf("/home/alice/data"));
    const lines = unit.split("\n");
    for (const line of [
      'ExecStart="/usr/bin/node" "/usr/lib/posthorn.js" serve',
      'Environment="POSTHORN_DATA_DIR=/home/alice/data"',
      'ReadWritePaths="/home/alice/data" -/tmp -/var/tmp',
      "NoNewPrivileges=yes",
      "ProtectSystem=strict",
      "Restart=on-failure",
      "StartLimitBurst=20",
      "TimeoutStopSec=30",
      "StandardOutput=null",
      "WantedBy=default.target",
    ])
      expect(lines).toContain(line);
    expect(lines.filter((line) => line.startsWith("Environment"))).toHaveLength(1);
  });

  it("holds any path that a line can", () => {
    const { render } = openSystemd(createSystemdMachine());
    expect(render(specOf(NASTY))).toContain(
      `Environment="POSTHORN_DATA_DIR=/srv/a b/100%% $HOME/\\"q\\" 'x' \\\\n & <p> é ]]>"`,
    );
    expect(render(specOf("/d", "/a$b/p.js"))).toContain('"/a$$b/p.js" serve');
    for (const bad of ["/a\nExecStartPre=/bin/x", "/a\u0000", "/a ", "/a\\"])
      expect(() => render(specOf(bad))).toThrow(/a service's file cannot hold/);
  });

  it.runIf(existsSync(ANALYZE))("is one that systemd itself finds in order", async () => {
    using folder = temporaryFolder();
    const program = join(folder.path, 'a b "%" $x', "posthorn.js");
    mkdirSync(join(program, ".."));
    writeFileSync(program, "");
    const { render } = openSystemd(createSystemdMachine());
    const file = join(folder.path, "posthorn.service");
    writeFileSync(file, render({ ...specOf(NASTY, program), node: process.execPath }));
    const verified = await promisify(execFile)(ANALYZE, ["verify", "--user", file], {
      env: { ...process.env, XDG_RUNTIME_DIR: folder.path },
    });
    expect(verified).toEqual({ stdout: "", stderr: "" });
  });
});

describe("the property list of launchd", () => {
  it("is XML that says the same, whatever the paths are", () => {
    const { render } = openLaunchd(createMac());
    fc.assert(
      fc.property(path, (folder) => {
        return readStrings(render(specOf(folder, folder))).filter((text) => text === folder).length === 2;
      }),
    );
    expect(readStrings(render(specOf(NASTY)))).toEqual([
      "posthorn",
      "/usr/bin/node",
      "/usr/lib/posthorn.js",
      "serve",
      NASTY,
      "/Users/alice/Library/Logs/posthorn.log",
    ]);
    expect(() => render(specOf("/a\u0001"))).toThrow(/a service's file cannot hold/);
  });
});

/** The text of every `<string>`; throws for what is not well-formed. */
function readStrings(xml: string): string[] {
  const strings: string[] = [];
  const open: string[] = [];
  const parser = new SaxesParser();
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ name }) => {
    open.push(name);
    if (name === "string") strings.push("");
  });
  parser.on("text", (text) => {
    if (open.at(-1) === "string") strings.push(`${strings.pop() ?? ""}${text}`);
  });
  parser.on("closetag", () => void open.pop());
  parser.write(xml).close();
  return strings;
}
