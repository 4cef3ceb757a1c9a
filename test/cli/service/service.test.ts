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
  commands.splice(0).filter((line) => !/ (show|show-user|print) /.test(line));

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

  it("writes and starts it anew the second time", async () => {
    const machine = createSystemdMachine();
    await run(machine, "install");
    changes(machine);
    const again = await run({ ...machine, dataFolder: "/srv/posthorn" }, "install");
    expect(again.status).toBe(0);
    expect(changes(machine)).toContain("systemctl --user restart posthorn.service");
    expect(machine.files.get(UNIT)).toContain("/srv/posthorn");
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
    expect(stdout).toContain("running since Sun 2026-11-22 13:29:09 UTC, kept by systemd");
    expect(stdout).toContain("http://localhost:4747, ready");
    const unready = await run({ ...machine, probe: async () => "unready" }, "status");
    expect(unready).toMatchObject({
      status: 1,
      stdout: expect.stringContaining("answers, but is not ready"),
    });
  });

  it("says why it is not running", async () => {
    const installed = createSystemdMachine();
    await run(installed, "install");
    const machine = createSystemdMachine({
      answer: (line) =>
        line.startsWith("systemctl --user show posthorn")
          ? { stdout: "ActiveState=failed\nResult=exit-code\nExecMainStatus=1" }
          : null,
    });
    machine.files.set(UNIT, installed.files.get(UNIT)!);
    expect((await run(machine, "status")).stdout).toContain("not running (failed, exit-code, status 1)");
  });

  it("waits until it is ready, and says so if it never is", async () => {
    const machine = createSystemdMachine({ probe: async () => "none" });
    const { status, stderr } = await run(machine, "install");
    expect(status).toBe(1);
    expect(stderr).toMatch(/was started and is not ready: running since .* "posthorn service logs"/);
    expect(machine.waitedMs).toBeGreaterThanOrEqual(60_000);
  });

  it("shows the log, and follows it", async () => {
    const machine = createSystemdMachine();
    await run(machine, "install");
    machine.commands.splice(0);
    expect((await run(machine, "logs", "--lines", "7", "--follow")).status).toBe(0);
    expect(machine.commands.at(-1)).toBe(
      "journalctl --quiet --no-pager --user-unit=posthorn.service -n 7 -f",
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
      ["systemctl --user disable --now posthorn.service", `remove ${UNIT}`],
    ]);
    expect(stdout).toContain("Everything stays in /home/alice/.local/share/posthorn");
    expect(await run(machine, "uninstall")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("No service is installed"),
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
    const { stdout } = await run(machine, "status");
    expect(stdout).toContain("running (process 77), kept by launchd");
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
    expect(machine.commands.at(-1)).toBe("tail -n 100 -f /Users/alice/Library/Logs/posthorn.log");
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
    ["no systemd", createFakeMachine({ answer: () => ABSENT }), /^systemd does not answer for alice/],
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

  it("prints the file to whoever asks, also to root and where nothing would start it", async () => {
    const { user } = createSystemdMachine();
    for (const machine of [
      createSystemdMachine({ user: { ...user, id: 0, name: "root" } }),
      createFakeMachine({ answer: () => ABSENT }),
    ]) {
      const { status, stdout } = await run(machine, "install", "--print");
      expect([status, stdout]).toEqual([0, expect.stringContaining("[Service]")]);
      expect([machine.commands, machine.files.size]).toEqual([[], 0]);
    }
  });

  it("touches no file that it did not write", async () => {
    const machine = createSystemdMachine();
    machine.files.set(UNIT, "[Service]\nExecStart=/bin/true\n");
    for (const action of ["install", "uninstall", "status", "logs"])
      expect((await run(machine, action)).stderr).toContain("was not written by Posthorn");
    expect(changes(machine)).toEqual([]);
  });
});
