import { join } from "node:path";
import type { Machine } from "../machine.ts";
import { assertPlainPath, MARK, type ServiceManager, type ServiceSpec } from "./manager.ts";

const UNIT = "posthorn.service";
const USER = ["systemctl", "--user"] as const;

/** The service manager of a person, which needs no root. */
export function openSystemd(machine: Machine): ServiceManager {
  const { home, name } = machine.user;
  return {
    name: "systemd",
    file: join(home, ".config", "systemd", "user", UNIT),
    isThere: [...USER, "show", "--property=Version"],
    absence: `systemd does not answer for ${name}. Sign in as that user (not with su or sudo) and run this again. Where systemd does not run, let the system's own way run "posthorn serve", or run it in a container. docs/keep-running.md has both.`,
    restart: "systemctl --user restart posthorn",
    // Where nothing keeps journals over a restart, those of users are part of the system's: not "--user".
    logs: (options) => ["journalctl", "--quiet", "--no-pager", `--user-unit=${UNIT}`, ...options],
    render: renderUnit,
    start: async (run) => {
      await run([...USER, "daemon-reload"]);
      await run([...USER, "enable", UNIT]);
      // What failed too often would not be started any more.
      await run([...USER, "reset-failed", UNIT], { mayFail: true });
      await run([...USER, "restart", UNIT]);
      await run(["loginctl", "enable-linger", name], { mayFail: true });
    },
    stop: (run) => run([...USER, "disable", "--now", UNIT]),
    async look() {
      const properties = "--property=ActiveState,ActiveEnterTimestamp,Result,ExecMainStatus";
      const { stdout } = await machine.run("systemctl", ["--user", "show", UNIT, properties]);
      const lines = stdout.split("\n");
      const of = (property: string): string =>
        lines.find((line) => line.startsWith(`${property}=`))?.slice(property.length + 1) ?? "";
      return of("ActiveState") === "active"
        ? { isRunning: true, text: `running since ${of("ActiveEnterTimestamp")}` }
        : {
            isRunning: false,
            text: `not running (${of("ActiveState")}, ${of("Result")}, status ${of("ExecMainStatus")})`,
          };
    },
    async whenItRuns() {
      const { stdout } = await machine.run("loginctl", ["show-user", name, "--property=Linger"]);
      return stdout.trim() === "Linger=yes"
        ? "from the start of the machine on, signed in or not"
        : `only while ${name} is signed in (to change that: sudo loginctl enable-linger ${name})`;
    },
  };
}

/**
 * - Only what a person's own manager may do without root; what drops capabilities would fail there.
 * - The first start prints an API key; what is printed goes nowhere, the log has its own way.
 * - The process that reads media may run out of memory by a hostile file and is started anew by itself.
 * - Not PrivateTmp: nothing would start where the data folder lies below /tmp.
 * - A data folder that is not there (a disk not mounted) must not be begun anew.
 */
function renderUnit({ node, program, folder }: ServiceSpec): string {
  for (const path of [node, program, folder]) assertPlainPath(path);
  return `# ${MARK}.
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
