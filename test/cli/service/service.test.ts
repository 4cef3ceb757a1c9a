import { describe, expect, it } from "vitest";
import { runCli } from "../../support/cli.ts";
import {
  ABSENT,
  createFakeMachine,
  createMac,
  createSystemdMachine,
  type FakeMachine,
} from "../../support/machine.ts";

const UNIT = "/home/alice/.config/systemd/user/posthorn.service";
const PLIST = "/Users/alice/Library/LaunchAgents/posthorn.plist";

const run = (machine: FakeMachine, ...args: string[]) => runCli(["service", ...args], { machine });

/** What changed something. */
const changes = ({ commands }: FakeMachine): string[] =>
  commands.splice(0).filter((line) => !/ (show|show-user|print) |^ps /.test(line));

describe("posthorn service on Linux", () => {
  it("writes the unit, starts it, has it started with the machine, and shows all of that", async () => {
    const machine = createSystemdMachine();
    const { status, stdout } = await run(machine, "install");
    expect(status).toBe(0);
    expect(changes(machine)).toEqual([
      `write ${UNIT}`,
      "systemctl --user daemon-reload",
      "systemctl --user enable posthorn.service",
      "systemctl --user reset-failed posthorn.service",
      "systemctl --user restart posthorn.service",
      "loginctl enable-linger alice",
    ]);
    expect(stdout).toContain(machine.files.get(UNIT));
    for (const part of ["$ loginctl enable-linger alice", "http://localhost:4747", "posthorn.env", "api.key"])
      expect(stdout).toContain(part);
  });

  it("changes nothing the second time, and starts anew what was changed", async () => {
    const machine = createSystemdMachine();
    await run(machine, "install");
    changes(machine);
    const again = await run(machine, "install");
    expect([again.status, changes(machine)]).toEqual([0, []]);
    expect(again.stdout).toContain("Nothing to change");
    const rebuilt = await run({ ...machine, builtAt: "2026-11-23T13:00:00.000Z" }, "install");
    expect([rebuilt.status, changes(machine).at(-1)]).toEqual([
      0,
      "systemctl --user restart posthorn.service",
    ]);
    const moved = { ...machine, node: "/home/alice/.nvm/versions/node/v22.13.0/bin/node" };
    const third = await run(moved, "install");
    expect(third.status).toBe(0);
    expect(changes(machine)).toContain("systemctl --user restart posthorn.service");
    expect(machine.files.get(UNIT)).toContain("v22.13.0");
    expect(third.stdout).toMatch(/nvm keeps Node .* run posthorn service install again/s);
  });

  it("shows what it would write, and does nothing", async () => {
    const machine = createSystemdMachine();
    for (const option of ["--print", "--dry-run"]) {
      const { stdout } = await run(machine, "install", option);
      expect(stdout).toContain("[Service]");
    }
    expect([changes(machine), machine.files.size]).toEqual([[], 0]);
  });

  it("goes on where lingering may not be switched on, and says what to do", async () => {
    const machine = createSystemdMachine({
      answer: (line) => (line.startsWith("loginctl enable-linger") ? { status: 1, stderr: "denied" } : null),
    });
    const { status, stdout } = await run(machine, "install");
    expect(status).toBe(0);
    expect(stdout).toContain(
      "only while alice is signed in (to change that: sudo loginctl enable-linger alice",
    );
  });

  it("tells in plain words whether it runs, since when and where", async () => {
    const machine = createSystemdMachine();
    expect(await run(machine, "status")).toMatchObject({
      status: 1,
      stderr: 'No service is installed. "posthorn service install" installs it.\n',
    });
    await run(machine, "install");
    const { status, stdout } = await run(machine, "status");
    expect(status).toBe(0);
    expect(stdout).toContain("running since Sun 2026-11-22 13:29:09 UTC (process 77), kept by systemd");
    expect(stdout).toContain("http://localhost:4747, ready");
    const unready = await run({ ...machine, probe: async () => "unready" }, "status");
    expect(unready).toMatchObject({
      status: 1,
      stdout: expect.stringContaining("answers, but is not ready"),
    });
    const updated = await run({ ...machine, program: "/opt/posthorn/dist/posthorn.js" }, "status");
    expect(updated.stdout).toContain("posthorn service install brings it up to date");
  });

  it("says why it is not running", async () => {
    const shown = (lines: string[]): FakeMachine => {
      const machine = createSystemdMachine({
        answer: (line) =>
          line.startsWith("systemctl --user show posthorn") ? { stdout: lines.join("\n") } : null,
      });
      return machine;
    };
    const installed = createSystemdMachine();
    await run(installed, "install");
    const see = async (...lines: string[]): Promise<string> => {
      const machine = shown(lines);
      machine.files.set(UNIT, installed.files.get(UNIT)!);
      return (await run(machine, "status")).stdout;
    };
    expect(
      await see(
        "ActiveState=activating",
        "SubState=auto-restart",
        "Result=exit-code",
        "ExecMainStatus=1",
        "NRestarts=4",
      ),
    ).toContain("not running: it ended (exit-code, 1) and is started again shortly, restarts: 4");
    expect(await see("ActiveState=failed", "Result=exit-code", "ExecMainStatus=1", "NRestarts=20")).toContain(
      "not running: it failed (exit-code, 1)",
    );
  });

  it("waits until it is ready, and says so if it never is", async () => {
    const machine = createSystemdMachine({ probe: async () => "none" });
    const { status, stderr } = await run(machine, "install");
    expect(status).toBe(1);
    expect(stderr).toMatch(/was started and is not ready: running since .* "posthorn service logs"/);
    expect(machine.waitedMs).toBeGreaterThanOrEqual(60_000);
  });

  it("begins no data folder anew that is gone", async () => {
    const machine = createSystemdMachine();
    await run(machine, "install");
    const opened: string[] = [];
    const bare: FakeMachine = {
      ...machine,
      isFolder: () => false,
      openInstance: (folder) => (opened.push(folder), machine.openInstance(folder)),
    };
    for (const action of ["status", "install"])
      expect((await run(bare, action)).stderr).toMatch(
        /^The service's data folder .* is not there.* run: systemctl --user restart posthorn\n$/,
      );
    expect(opened).toEqual([]);
  });

  it("shows the log, and follows it", async () => {
    const machine = createSystemdMachine();
    await run(machine, "install");
    machine.commands.splice(0);
    expect((await run(machine, "logs", "--lines", "7", "--follow")).status).toBe(0);
    expect(machine.commands.at(-1)).toBe(
      "journalctl --quiet --no-pager --user-unit=posthorn.service --lines=7 --follow",
    );
    expect((await run(machine, "logs", "--lines", "-1")).stderr).toContain("a whole number from 1 to 999999");
  });

  it("removes the service and leaves the data", async () => {
    const machine = createSystemdMachine();
    await run(machine, "install");
    changes(machine);
    const { status, stdout } = await run(machine, "uninstall");
    expect([status, changes(machine)]).toEqual([
      0,
      ["systemctl --user disable --now posthorn.service", `remove ${UNIT}`, "systemctl --user daemon-reload"],
    ]);
    expect(stdout).toContain("Everything stays in /home/alice/.local/share/posthorn");
    expect(await run(machine, "uninstall")).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("There is no service to remove"),
    });
  });

  it("passes on what a command says of its failure", async () => {
    const machine = createSystemdMachine({
      answer: (line) =>
        line.startsWith("systemctl --user enable")
          ? { status: 1, stderr: "Failed to enable unit: denied\n" }
          : null,
    });
    expect((await run(machine, "install")).stderr).toBe(
      '"systemctl --user enable posthorn.service" failed: Failed to enable unit: denied. Mend that and run it again.\n',
    );
  });
});

describe("posthorn service on a Mac", () => {
  it("writes the property list and loads it, once", async () => {
    const machine = createMac();
    const { status } = await run(machine, "install");
    expect([status, changes(machine)]).toEqual([
      0,
      [`write ${PLIST}`, "launchctl enable gui/501/posthorn", `launchctl bootstrap gui/501 ${PLIST}`],
    ]);
    expect([(await run(machine, "install")).status, changes(machine)]).toEqual([0, []]);
    const { stdout } = await run(machine, "status");
    expect(stdout).toContain("running since Sun Nov 22 13:29:09 2026 (process 77), kept by launchd");
  });

  it("waits until the old one has gone before it loads the new one", async () => {
    const machine = createMac();
    await run(machine, "install");
    changes(machine);
    const { status } = await run({ ...machine, dataFolder: "/Users/alice/Posthorn & Co" }, "install");
    expect([status, changes(machine)]).toEqual([
      0,
      [
        `write ${PLIST}`,
        "launchctl bootout gui/501/posthorn",
        "launchctl enable gui/501/posthorn",
        `launchctl bootstrap gui/501 ${PLIST}`,
      ],
    ]);
    expect(machine.files.get(PLIST)).toContain("Posthorn &amp; Co");
  });

  it("shows the log's file, and removes it all but the data", async () => {
    const machine = createMac();
    await run(machine, "install");
    await run(machine, "logs", "--follow");
    expect(machine.commands.at(-1)).toBe("tail -n 100 -F /Users/alice/Library/Logs/posthorn.log");
    changes(machine);
    await run(machine, "uninstall");
    expect(changes(machine)).toEqual(["launchctl bootout gui/501/posthorn", `remove ${PLIST}`]);
  });

  it("says to sign in at the screen", async () => {
    const machine = createMac({ answer: (line) => (line.endsWith("gui/501") ? { status: 125 } : null) });
    expect((await run(machine, "install")).stderr).toMatch(
      /^launchd starts programs of people who are signed in/,
    );
  });
});

describe("posthorn service elsewhere", () => {
  const noSystemd = (): Partial<FakeMachine> & { answer: () => typeof ABSENT } => ({ answer: () => ABSENT });
  it.each([
    [
      "root",
      createSystemdMachine({ user: { id: 0, name: "root", home: "/root" } }),
      /^root's service .* own\.\n$/,
    ],
    [
      "Windows",
      createFakeMachine({ platform: "win32" }),
      /Task Scheduler .*schtasks .*\\"\/usr\/bin\/node\\"/,
    ],
    [
      "a container",
      createFakeMachine({ ...noSystemd(), enclosure: "container" }),
      /^A container has no services/,
    ],
    [
      "WSL without systemd",
      createFakeMachine({ enclosure: "wsl", answer: () => ({ status: 1 }) }),
      /wsl\.conf/,
    ],
    ["Linux without systemd", createFakeMachine(noSystemd()), /^This machine has no systemd/],
    [
      "a shell by su",
      createFakeMachine({ answer: () => ({ status: 1 }) }),
      /Sign in as that user \(not with su or sudo\)/,
    ],
    ["FreeBSD", createFakeMachine({ platform: "freebsd" }), /no service manager of freebsd/],
    ["its sources", createSystemdMachine({ program: null }), /npm run build/],
    [
      "a cache",
      createSystemdMachine({ program: "/home/alice/.npm/_npx/ab12/node_modules/posthorn/dist/posthorn.js" }),
      /Install it to stay/,
    ],
    [
      "settings of this shell",
      createSystemdMachine({ listStraySettings: async () => ["POSTHORN_PORT"] }),
      /^POSTHORN_PORT: set only in this shell.*posthorn\.env/,
    ],
    [
      "a server in a terminal",
      createSystemdMachine({ probe: async () => "ready" }),
      /^Something that is not this service answers at http:\/\/127\.0\.0\.1:4747 already/,
    ],
  ])("says what to do: %s", async (_case, machine, sentence) => {
    const { status, stderr } = await run(machine, "install");
    expect(status).toBe(1);
    expect(stderr).toMatch(sentence);
    expect([
      changes(machine).filter((line) => !line.startsWith("systemctl --user show")),
      machine.files.size,
    ]).toEqual([[], 0]);
  });

  it("touches no file that it did not write", async () => {
    const machine = createSystemdMachine();
    machine.files.set(UNIT, "[Service]\nExecStart=/bin/true\n");
    for (const action of ["install", "uninstall", "status", "logs"])
      expect((await run(machine, action)).stderr).toContain("was not written by Posthorn");
    expect(changes(machine)).toEqual([]);
  });
});
