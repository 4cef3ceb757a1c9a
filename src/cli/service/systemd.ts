import { join } from "node:path";
import { AppError } from "../../domain/errors.ts";
import type { Machine, Ran } from "../machine.ts";
import { assertPlainPath, readProperties, type ServiceManager, type ServiceState } from "./manager.ts";

const UNIT = "posthorn.service";

/** By which `readFolder` knows a unit of ours. */
const MARK = '# Written by "posthorn service install"';

/**
 * The service manager of a person, without root's help. Throws `unavailable` with the way on where it does
 * not answer.
 */
export async function openSystemd(machine: Machine): Promise<ServiceManager> {
  const { home, name } = machine.user;
  const ask = (...args: string[]) => machine.run("systemctl", ["--user", ...args]);
  await assertAnswering(machine);
  return {
    name: "systemd",
    file: join(home, ".config", "systemd", "user", UNIT),
    restart: "systemctl --user restart posthorn",
    // Where nothing keeps journals over a restart, those of users are part of the system's: not "--user".
    logCommand: ({ lines, follow }) => [
      "journalctl",
      "--quiet",
      "--no-pager",
      `--user-unit=${UNIT}`,
      `--lines=${lines}`,
      ...(follow ? ["--follow"] : []),
    ],
    render: renderUnit,
    readFolder,
    look: async () => describeState((await ask("show", UNIT, `--property=${PROPERTIES.join(",")}`)).stdout),
    async start(steps) {
      await steps.do("systemctl", "--user", "daemon-reload");
      await steps.do("systemctl", "--user", "enable", UNIT);
      // What failed too often would not be started any more.
      await steps.try("systemctl", "--user", "reset-failed", UNIT);
      await steps.do("systemctl", "--user", "restart", UNIT);
    },
    stop: (steps) => steps.do("systemctl", "--user", "disable", "--now", UNIT),
    forget: (steps) => steps.do("systemctl", "--user", "daemon-reload"),
    async describeAbsence(steps) {
      const lingers = async (): Promise<boolean> =>
        (await machine.run("loginctl", ["show-user", name, "--property=Linger"])).stdout.trim() ===
        "Linger=yes";
      if (!(await lingers())) await steps?.try("loginctl", "enable-linger", name);
      return (await lingers())
        ? "from the start of the machine on, signed in or not (loginctl enable-linger)"
        : `only while ${name} is signed in (to change that: sudo loginctl enable-linger ${name})`;
    },
  };
}

const askForVersion = (machine: Machine): Promise<Ran> =>
  machine.run("systemctl", ["--user", "show", "--property=Version"]);

/** Whether it answers this user. */
export async function isSystemdThere(machine: Machine): Promise<boolean> {
  return (await askForVersion(machine)).status === 0;
}

async function assertAnswering(machine: Machine): Promise<void> {
  const { status } = await askForVersion(machine);
  if (status === 0) return;
  const how =
    status === null
      ? 'This machine has no systemd. Let its own way of starting programs run "posthorn serve" at the start of the machine, or run it in a container. docs/keep-running.md has both.'
      : machine.enclosure === "wsl"
        ? 'systemd is not switched on here. Write "[boot]" and, below it, "systemd=true" into /etc/wsl.conf, run "wsl --shutdown" in Windows, and come back.'
        : `systemd does not answer for ${machine.user.name}. Sign in as that user (not with su or sudo), for example with "ssh ${machine.user.name}@localhost" or "sudo machinectl shell ${machine.user.name}@", and run this again. Where systemd does not run at all, run "posthorn serve" in a container (docs/keep-running.md).`;
  throw new AppError("unavailable", how);
}

/**
 * - Only what a person's own manager may do without root; what drops capabilities would fail there.
 * - The first start prints an API key; what is printed goes nowhere, the log has its own way.
 * - The process that reads media may run out of memory by a hostile file and is started anew by itself.
 * - Not PrivateTmp: nothing would start where the data folder lies below /tmp.
 * - A data folder that is not there (a disk not mounted) must not be begun anew.
 */
function renderUnit({ version, node, program, folder }: Parameters<ServiceManager["render"]>[0]): string {
  for (const path of [node, program, folder]) assertPlainPath(path);
  return `${MARK}, Posthorn ${version}.
# Settings belong into posthorn.env in the data folder, lines of your own into "systemctl --user edit posthorn".
[Unit]
Description=Posthorn, which publishes posts at their time
AssertPathIsDirectory=${escapeSpecifiers(folder)}
StartLimitIntervalSec=10min
StartLimitBurst=20

[Service]
Type=exec
ExecStart=${quoteValue(node)} ${quoteArgument(program)} serve
Environment=${quoteValue(`POSTHORN_DATA_DIR=${folder}`)}
StandardOutput=null
Restart=on-failure
RestartSec=10
KillMode=mixed
TimeoutStopSec=30
OOMPolicy=continue
UMask=0077
NoNewPrivileges=yes
ProtectSystem=strict
ReadWritePaths=${quoteValue(folder)} -/tmp -/var/tmp
LockPersonality=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native

[Install]
WantedBy=default.target
`;
}

/** `%` begins a specifier. */
function escapeSpecifiers(text: string): string {
  return text.replaceAll("%", "%%");
}

function quoteValue(text: string): string {
  return `"${escapeSpecifiers(text).replaceAll(/["\\]/g, "\\$&")}"`;
}

/** Of a command line, in which `$` begins a variable, but for the command itself. */
function quoteArgument(text: string): string {
  return quoteValue(text).replaceAll("$", "$$$$");
}

function readFolder(text: string): string | null {
  const quoted = /^Environment="POSTHORN_DATA_DIR=(.*)"$/m.exec(text)?.[1];
  if (!text.startsWith(MARK) || quoted === undefined) return null;
  return quoted.replaceAll(/\\(["\\])/g, "$1").replaceAll("%%", "%");
}

const PROPERTIES = [
  "ActiveState",
  "SubState",
  "ActiveEnterTimestamp",
  "MainPID",
  "ExecMainStatus",
  "NRestarts",
  "Result",
  "UnitFileState",
] as const;

function describeState(shown: string): ServiceState {
  const properties = readProperties(shown);
  const of = (name: (typeof PROPERTIES)[number]): string => properties.get(name) ?? "";
  const isRunning = of("ActiveState") === "active";
  const restarts = of("NRestarts") === "0" ? "" : `, restarts: ${of("NRestarts")}`;
  const end = `${of("Result")}, ${of("ExecMainStatus")}`;
  return {
    isRunning,
    isEnabled: of("UnitFileState") === "enabled",
    text: isRunning
      ? `running since ${of("ActiveEnterTimestamp")} (process ${of("MainPID")}${restarts})`
      : of("SubState") === "auto-restart"
        ? `not running: it ended (${end}) and is started again shortly${restarts}`
        : of("ActiveState") === "failed"
          ? `not running: it failed (${end}) and is not started again by itself`
          : `not running (${of("ActiveState") || "unknown to systemd"})`,
  };
}
