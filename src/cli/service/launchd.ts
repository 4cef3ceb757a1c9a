import { join } from "node:path";
import { SECOND } from "../../domain/time.ts";
import type { Machine } from "../machine.ts";
import { assertPlainPath, MARK, type RunStep, type ServiceManager, type ServiceSpec } from "./manager.ts";

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
