import { join } from "node:path";
import { AppError } from "../../domain/errors.ts";
import { SECOND } from "../../domain/time.ts";
import type { Machine } from "../machine.ts";
import {
  assertPlainPath,
  type ServiceManager,
  type ServiceSpec,
  type ServiceState,
  type Steps,
} from "./manager.ts";

const LABEL = "posthorn";

/** By which `readFolder` knows a property list of ours. */
const MARK = '<!-- Written by "posthorn service install"';

/** What launchd gives the program to end, and how long it takes to notice. */
const EXIT_TIMEOUT_S = 30;
const POLL_MS = SECOND / 2;
const MAX_POLLS = 2 * (EXIT_TIMEOUT_S + 5);

/**
 * A LaunchAgent of a person who is signed in at the Mac's own screen. Throws `unavailable` for one who is
 * not.
 */
export async function openLaunchd(machine: Machine): Promise<ServiceManager> {
  const { home, id } = machine.user;
  const [domain, target] = [`gui/${id}`, `gui/${id}/${LABEL}`];
  const log = join(home, "Library", "Logs", "posthorn.log");
  const file = join(home, "Library", "LaunchAgents", `${LABEL}.plist`);
  const isLoaded = async (): Promise<boolean> =>
    (await machine.run("launchctl", ["print", target])).status === 0;
  if ((await machine.run("launchctl", ["print", domain])).status !== 0) {
    throw new AppError(
      "unavailable",
      "launchd starts programs of people who are signed in at the Mac's screen, and this user is not. Sign in there and run this again in its Terminal.",
    );
  }
  const unload = async (steps: Steps): Promise<void> => {
    if (!(await isLoaded())) return;
    await steps.do("launchctl", "bootout", target);
    // It answers before the program has ended, and until then refuses to load another one.
    for (let polls = 0; polls < MAX_POLLS && (await isLoaded()); polls += 1) await machine.sleep(POLL_MS);
  };
  return {
    name: "launchd",
    file,
    restart: `launchctl kickstart -k ${target}`,
    logCommand: ({ lines, follow }) => ["tail", "-n", String(lines), ...(follow ? ["-F"] : []), log],
    render: (spec) => renderPlist(spec, log),
    readFolder,
    look: () => look(machine, target),
    async start(steps) {
      await unload(steps);
      // Somebody may have switched it off ("launchctl disable"), which outlives its file.
      await steps.try("launchctl", "enable", target);
      await steps.do("launchctl", "bootstrap", domain, file);
    },
    stop: unload,
    forget: async () => {},
    describeAbsence: async () => "from the moment on that you sign in at this Mac, while it is awake",
  };
}

async function look(machine: Machine, target: string): Promise<ServiceState> {
  const { status, stdout } = await machine.run("launchctl", ["print", target]);
  if (status !== 0)
    return { isRunning: false, isEnabled: false, text: "not running (launchd has not loaded it)" };
  const pid = /^[ \t]*pid = (\d+)$/m.exec(stdout)?.[1];
  if (pid === undefined) {
    const exit = /^[ \t]*last exit code = (.+)$/m.exec(stdout)?.[1] ?? "unknown";
    return { isRunning: false, isEnabled: true, text: `not running: it ended last with status ${exit}` };
  }
  const since = (await machine.run("ps", ["-o", "lstart=", "-p", pid])).stdout.trim();
  return { isRunning: true, isEnabled: true, text: `running since ${since} (process ${pid})` };
}

/** The first start prints an API key; what is printed goes nowhere, the log has its own way. */
function renderPlist({ version, node, program, folder }: ServiceSpec, log: string): string {
  for (const path of [node, program, folder, log]) assertPlainPath(path);
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
${MARK}, Posthorn ${version}. Settings belong into posthorn.env in the data folder. -->
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

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

function readFolder(text: string): string | null {
  const escaped = /<key>POSTHORN_DATA_DIR<\/key>\s*<string>([^<]*)<\/string>/.exec(text)?.[1];
  if (!text.includes(MARK) || escaped === undefined) return null;
  const characters = Object.fromEntries(
    Object.entries(ENTITIES).map(([character, entity]) => [entity, character]),
  );
  return escaped.replaceAll(/&\w+;/g, (entity) => characters[entity] ?? entity);
}
