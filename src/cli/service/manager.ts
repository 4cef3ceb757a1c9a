import { AppError } from "../../domain/errors.ts";
import { join } from "node:path";
import type { Machine } from "../host.ts";
import { SECOND } from "../../domain/time.ts";

export interface ServiceSpec {
  readonly node: string;
  readonly program: string;
  readonly folder: string;
}

export type CommandLine = readonly string[];

/** Runs a command that changes the system, and shows it. Throws `unavailable` where one fails that may not. */
export type RunStep = (command: CommandLine, options?: { readonly mayFail: boolean }) => Promise<void>;

/** What keeps a person's programs running on one kind of system. */
export interface ServiceManager {
  readonly name: string;
  readonly file: string;
  /** Succeeds where it works for this user, and the sentence where it does not. */
  readonly isThere: CommandLine;
  readonly absence: string;
  readonly restart: string;
  /** What shows the log, with the options that journalctl and tail have in common. */
  logs(options: readonly string[]): CommandLine;
  /** Throws `invalid` for a path that the file cannot hold. */
  render(spec: ServiceSpec): string;
  /** Starts what the file says, in the place of what may run. */
  start(run: RunStep): Promise<void>;
  /** Ends it for good; the file is still there. */
  stop(run: RunStep): Promise<void>;
  look(): Promise<{ readonly isRunning: boolean; readonly text: string }>;
  /** Whether it runs while this person is signed out, in words. */
  whenItRuns(): Promise<string>;
}

/** By which a file of ours is known. */
export const MARK = 'Written by "posthorn service install"';

/** Throws `invalid` for what no line of a unit or property list can hold. */
export function assertPlainPath(path: string): void {
  if (!/[\p{Cc}\p{Cs}]|\s$|\\$/u.test(path)) return;
  throw new AppError(
    "invalid",
    `The path ${JSON.stringify(path)} has a character that a service's file cannot hold (a control character, or a space or backslash at its end). Move it to another name.`,
  );
}

const UNIT = "posthorn.service";
const USER = ["systemctl", "--user"] as const;

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

const LABEL = "posthorn";

/** What launchd gives the program to end, and how long it takes to notice. */
const EXIT_TIMEOUT_S = 30;
const POLL_MS = SECOND / 2;
const MAX_POLLS = 2 * (EXIT_TIMEOUT_S + 5);

/** A LaunchAgent of a person who is signed in at the Mac's own screen. */
export function openLaunchd(machine: Machine): ServiceManager {
  const { home, id } = machine.user;
  const [domain, target] = [`gui/${id}`, `gui/${id}/${LABEL}`];
  const log = join(home, "Library", "Logs", "posthorn.log");
  const file = join(home, "Library", "LaunchAgents", `${LABEL}.plist`);
  const ask = () => machine.run("launchctl", ["print", target]);
  const stop = async (run: RunStep): Promise<void> => {
    if ((await ask()).status !== 0) return;
    await run(["launchctl", "bootout", target]);
    // It answers before the program has ended, and until then refuses to load another one.
    for (let polls = 0; polls < MAX_POLLS && (await ask()).status === 0; polls += 1)
      await machine.sleep(POLL_MS);
  };
  return {
    name: "launchd",
    file,
    isThere: ["launchctl", "print", domain],
    absence:
      "launchd starts programs of people who are signed in at the Mac's screen, and this user is not. Sign in there and run this again in its Terminal.",
    restart: `launchctl kickstart -k ${target}`,
    logs: (options) => ["tail", ...options, log],
    render: (spec) => renderPlist(spec, log),
    async start(run) {
      await stop(run);
      // "launchctl disable" outlives the file.
      await run(["launchctl", "enable", target], { mayFail: true });
      await run(["launchctl", "bootstrap", domain, file]);
    },
    stop,
    async look() {
      const { stdout } = await ask();
      const pid = /^[ \t]*pid = (\d+)$/m.exec(stdout)?.[1];
      const exit = /^[ \t]*last exit code = (.+)$/m.exec(stdout)?.[1];
      if (pid !== undefined) return { isRunning: true, text: `running (process ${pid})` };
      return {
        isRunning: false,
        text: `not running${exit === undefined ? "" : ` (it ended last with status ${exit})`}`,
      };
    },
    whenItRuns: async () => "from the moment on that you sign in at this Mac, while it is awake",
  };
}

/** The first start prints an API key; what is printed goes nowhere, the log has its own way. */
function renderPlist({ node, program, folder }: ServiceSpec, log: string): string {
  for (const path of [node, program, folder, log]) assertPlainPath(path);
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ${MARK}. Settings belong into posthorn.env in the data folder. -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
    <string>${escapeXml(node)}</string>
    <string>${escapeXml(program)}</string>
    <string>serve</string>
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>POSTHORN_DATA_DIR</key>
    <string>${escapeXml(folder)}</string>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ExitTimeOut</key>
  <integer>${EXIT_TIMEOUT_S}</integer>
  <key>Umask</key>
  <integer>${0o077}</integer>
  <key>StandardErrorPath</key>
  <string>${escapeXml(log)}</string>
</dict>
</plist>
`;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
