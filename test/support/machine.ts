import type { Machine, Ran } from "../../src/cli/host.ts";

/** A machine of strings. `commands`: all that changed something or was asked, as one line each. */
export interface FakeMachine extends Machine {
  readonly commands: string[];
  readonly files: Map<string, string>;
  /** What `probe` answers. */
  health: "ready" | "unready" | "none";
  waitedMs: number;
}

interface Options extends Partial<Machine> {
  /** The answer to a command; default: it succeeds and says nothing. */
  readonly answer?: (line: string, machine: FakeMachine) => Partial<Ran> | null | undefined;
}

/** A command that is not there. */
export const ABSENT: Ran = { status: null, stdout: "", stderr: "" };

export function createFakeMachine({ answer, ...parts }: Options = {}): FakeMachine {
  const commands: string[] = [];
  const files = new Map<string, string>();
  const machine: FakeMachine = {
    commands,
    files,
    health: "none",
    waitedMs: 0,
    platform: "linux",
    user: { id: 1000, name: "alice", home: "/home/alice" },
    dataFolder: "/home/alice/.local/share/posthorn",
    makeDataFolder: async () => {},
    readAddress: async () => ({ address: "http://127.0.0.1:4747", publicUrl: "http://localhost:4747" }),
    probe: async () => machine.health,
    async run(command, args) {
      const line = [command, ...args].join(" ");
      commands.push(line);
      return { status: 0, stdout: "", stderr: "", ...answer?.(line, machine) };
    },
    async follow(command, args) {
      commands.push([command, ...args].join(" "));
      return 0;
    },
    read: async (file) => files.get(file) ?? null,
    async write(file, text) {
      commands.push(`write ${file}`);
      files.set(file, text);
    },
    async remove(file) {
      commands.push(`remove ${file}`);
      files.delete(file);
    },
    async sleep(ms) {
      machine.waitedMs += ms;
    },
    ...parts,
  };
  return machine;
}

/** A machine on which systemd runs a unit once it was started, as `systemctl show` tells it. */
export function createSystemdMachine(options: Options = {}): FakeMachine {
  let [isActive, lingers] = [false, false];
  return createFakeMachine({
    ...options,
    answer(line, machine) {
      const own = options.answer?.(line, machine);
      if (own !== undefined && own !== null) return own;
      if (line.startsWith("systemctl --user restart")) isActive = true;
      if (line.startsWith("systemctl --user disable --now")) isActive = false;
      if (line.startsWith("loginctl enable-linger")) lingers = true;
      machine.health = isActive ? "ready" : "none";
      if (line.startsWith("loginctl show-user")) return { stdout: `Linger=${lingers ? "yes" : "no"}\n` };
      if (!line.startsWith("systemctl --user show posthorn.service")) return null;
      return {
        stdout: [
          `ActiveState=${isActive ? "active" : "inactive"}`,
          `ActiveEnterTimestamp=${isActive ? "Sun 2026-11-22 13:29:09 UTC" : ""}`,
          "ExecMainStatus=0",
          "Result=success",
        ].join("\n"),
      };
    },
  });
}

/** A Mac on which launchd knows the agent between `bootstrap` and some moments after `bootout`. */
export function createMac(options: Options = {}): FakeMachine {
  let [isLoaded, linger] = [false, 0];
  return createFakeMachine({
    platform: "darwin",
    user: { id: 501, name: "alice", home: "/Users/alice" },
    ...options,
    answer(line, machine) {
      const own = options.answer?.(line, machine);
      if (own !== undefined && own !== null) return own;
      const isAsked = line === "launchctl print gui/501/posthorn";
      if (line.startsWith("launchctl bootstrap") && (isLoaded || linger > 0))
        return { status: 5, stderr: "Bootstrap failed: 5: Input/output error\n" };
      if (line.startsWith("launchctl bootstrap")) isLoaded = true;
      if (line.startsWith("launchctl bootout")) [isLoaded, linger] = [false, 3];
      machine.health = isLoaded ? "ready" : "none";
      if (!isAsked) return null;
      linger = Math.max(0, linger - 1);
      if (!isLoaded && linger === 0) return { status: 113, stderr: "Could not find service" };
      return { stdout: "gui/501/posthorn = {\n\tstate = running\n\tpid = 77\n}\n" };
    },
  });
}
