import { mkdtemp, rm } from "node:fs/promises";
import { platform, tmpdir } from "node:os";
import { join } from "node:path";
import type { Host, Terminal } from "../cli/host.ts";
import { findCommand, homeOf, locateLaunch, locateProgram } from "./machine.ts";
import { readSandboxSetup, readSetup, type Settings, type Setup } from "./setup.ts";
import type { Environment } from "./data-folder.ts";
import type { ThisProcess } from "../publishing/running-publisher.ts";
import type { StdioStreams } from "./start-stdio.ts";
import { VERSION } from "../domain/version.ts";

interface HostOptions {
  readonly env: Environment;
  readonly terminal: Terminal;
  readonly self: ThisProcess;
  readonly startMediaReader?: Settings["startMediaReader"];
  readonly stopSignal: AbortSignal;
  /** The path of the Node that runs this. */
  readonly node: string;
  readonly stdio: StdioStreams;
}

/**
 * The real host of the command line. Parts are loaded when a command needs them: an agent waits for `stdio`
 * to start.
 */
export function createHost(options: HostOptions): Host {
  const { env, terminal, self, stopSignal } = options;
  const tell = (sentence: string): void => terminal.tell(`${sentence}\n`);
  const reader = options.startMediaReader && { startMediaReader: options.startMediaReader };
  return {
    version: VERSION,
    terminal,
    stopSignal,
    place: { platform: platform(), home: homeOf(env), env },
    locateProgram: () => locateProgram(env, options.node),
    locateLaunch: () => locateLaunch(env, options.node),
    findCommand: () => findCommand(env),
    async openSession({ isRegistered = false } = {}) {
      const { startSession } = await import("./start-session.ts");
      return startSession({ ...quiet(await readSetup(env), env), ...reader }, self, { isRegistered, tell });
    },
    async startServer({ role, half, sandbox, tools, host, port }) {
      const { startServer } = await import("./start-server.ts");
      const setup =
        sandbox === undefined
          ? await readSetup({
              ...withTools(env, tools),
              ...(host === undefined ? {} : { POSTHORN_HOST: host }),
              ...(port === undefined ? {} : { POSTHORN_PORT: port }),
            })
          : await readSandboxSetup(sandbox);
      return startServer({ setup: { ...setup, ...reader }, self, role, half });
    },
    async runStdio({ permissions, tools }) {
      const { runStdio } = await import("./start-stdio.ts");
      await runStdio({
        setup: { ...(await readSetup(withTools(env, tools))), ...reader },
        self,
        permissions,
        streams: options.stdio,
        stopSignal,
      });
    },
    makeTemporaryFolder: () => mkdtemp(join(tmpdir(), "posthorn-demo-")),
    removeFolder: (path) => rm(path, { recursive: true, force: true }),
    async examine(platform) {
      const { examine } = await import("./operations/doctor.ts");
      return examine(env, platform);
    },
    async examineAgents(url) {
      const { examineAgents } = await import("./operations/doctor.ts");
      return examineAgents(env, url);
    },
    async backup({ file, isForced }) {
      const { backUp } = await import("./operations/backup.ts");
      return backUp(quiet(await readSetup(env), env), { file, isForced, signal: stopSignal, tell });
    },
    async restore(restoring) {
      const { restoreBackup } = await import("./operations/restore-backup.ts");
      return restoreBackup({ env, ...restoring });
    },
    async rotateSecret({ oldKeyFile }) {
      const { rotateSecret } = await import("./operations/rotate-secret.ts");
      return rotateSecret({ env, oldKeyFile, tell });
    },
    async migrateDatabase(progress) {
      const { migrateDatabase } = await import("./operations/migrate-database.ts");
      return migrateDatabase({ env, signal: stopSignal, progress, tell });
    },
    async openMachine() {
      const { openMachine } = await import("./machine.ts");
      return openMachine(env, stopSignal);
    },
    async explainFailure(error) {
      const { explainFailure } = await import("./operations/failures.ts");
      return explainFailure(error);
    },
    async logFailure(error) {
      const { createLogger, flushLog } = await import("./log.ts");
      const logFormat = env["POSTHORN_LOG_FORMAT"] === "json" ? "json" : null;
      createLogger({ logLevel: "error", logFormat }).error({ err: error }, "a command failed");
      await flushLog();
    },
  };
}

function withTools(env: HostOptions["env"], tools: string | undefined): HostOptions["env"] {
  return tools === undefined ? env : { ...env, POSTHORN_TOOLS: tools };
}

/** A single command tells what matters itself; its log is for those who ask for it. */
function quiet(setup: Setup, env: HostOptions["env"]): Setup {
  const isAskedFor = (env["POSTHORN_LOG_LEVEL"] ?? "") !== "";
  return isAskedFor ? setup : { ...setup, config: { ...setup.config, logLevel: "error" } };
}
