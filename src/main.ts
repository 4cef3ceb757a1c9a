#!/usr/bin/env node
import { fork, type ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { constants, hostname, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

/** Whether this is the built program, and not its sources. */
const IS_BUILT = import.meta.url.endsWith(".js");

/*
 * Everything else is loaded when the release of Node has been looked at: an older one does not know what the
 * others import, and ends with a stack before the first line runs.
 */

/** As `engines` in package.json says. */
const NEEDED = { major: 20, minor: 19 };

/**
 * What still runs this long after a command's end was forgotten by somebody; the process must not hang on it.
 */
const LINGER_MS = 1_000;

const INTERRUPTED = 130;

/** What asks a process to end. */
const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The argument of the process that reads media; nobody else can give it, as nobody else has a channel. */
const MEDIA_READER = "--media-reader";

/**
 * What the process that reads media may need: its JavaScript, and all of it. A picture that is unpacked whole
 * takes 256 MiB and what is made of it; the index of a film of ten hours, 64.
 */
const READER_MEMORY = { heapMiB: 192, maxBytes: 512 * 1024 * 1024 };

/**
 * Ends its process when that takes too much memory, hangs, or outlives the one that started it. In a thread
 * of its own, because a hostile file keeps the first one busy. SIGABRT, as of a heap that is full, is the
 * file's fault; SIGKILL may be the kernel's doing.
 */
const WATCH = `
  const { parentPort, workerData } = require("node:worker_threads");
  let silentMs = 0;
  parentPort.on("message", () => { silentMs = 0; });
  setInterval(() => {
    silentMs += workerData.everyMs;
    const { maxBytes, maxSilentMs, parentId } = workerData;
    if (process.memoryUsage.rss() > maxBytes) process.kill(process.pid, "SIGABRT");
    if (silentMs > maxSilentMs || process.ppid !== parentId) process.kill(process.pid, "SIGKILL");
  }, workerData.everyMs);`;
const WATCHED = { everyMs: 25, beatMs: 5_000, maxSilentMs: 60_000 };

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < NEEDED.major || (major === NEEDED.major && minor < NEEDED.minor)) {
  process.stderr.write(
    `Posthorn needs Node.js ${NEEDED.major}.${NEEDED.minor} or newer, and this is ${process.versions.node}. Install a newer one from https://nodejs.org, then start Posthorn again.\n`,
  );
  process.exit(1);
}

// Stacks name the sources, by the maps beside a build.
process.setSourceMapsEnabled(true);
keepQuietAboutSqlite();

const send = process.argv[2] === MEDIA_READER ? process.send?.bind(process) : undefined;
if (send !== undefined) await runMediaReaderProcess(send);
else await runProcess();

/**
 * Node 22 and 24 warn that node:sqlite may change. We test with each of them, and nobody who reads the line
 * can do anything about it.
 */
function keepQuietAboutSqlite(): void {
  const { emitWarning } = process;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (String(warning).startsWith("SQLite is an experimental feature")) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
}

function startMediaReader(): ChildProcess {
  const { PATH, LD_LIBRARY_PATH, SystemRoot, HOME = "/" } = process.env;
  return fork(fileURLToPath(import.meta.url), [MEDIA_READER], {
    serialization: "advanced",
    // Standard output belongs to MCP, and what libraries say of hostile files to nobody.
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    // No secrets. Without HOME a container's nameless user has no home, which libraries ask for as they are
    // loaded. Fewer arenas: what glibc keeps of them for each thread would count against the limit.
    env: { PATH, LD_LIBRARY_PATH, SystemRoot, HOME, MALLOC_ARENA_MAX: "2" },
    execArgv: [...(IS_BUILT ? [] : process.execArgv), `--max-old-space-size=${READER_MEMORY.heapMiB}`],
  });
}

async function runMediaReaderProcess(send: (message: unknown) => void): Promise<void> {
  const parentId = process.ppid;
  try {
    // Whoever publishes comes first, for the processor and when memory runs short.
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
    writeFileSync("/proc/self/oom_score_adj", "1000");
  } catch {
    // Other systems have no such file, or do not let it.
  }
  // They are meant for the process that started this one, which tells it.
  for (const signal of STOP_SIGNALS) process.on(signal, () => {});
  process.on("disconnect", () => process.exit());
  const data = { ...WATCHED, parentId, maxBytes: READER_MEMORY.maxBytes };
  const watch = new Worker(WATCH, { eval: true, workerData: data, execArgv: [] });
  setInterval(() => watch.postMessage("alive"), WATCHED.beatMs);
  const { runMediaReader } = await import("./media/probe/run-media-reader.ts");
  runMediaReader({ send, onMessage: (listener) => void process.on("message", listener) });
}

async function runProcess(): Promise<void> {
  // Database, files and keys are this user's alone, whoever creates them.
  process.umask(0o077);

  const stop = new AbortController();
  for (const signal of STOP_SIGNALS) {
    process.on(signal, () => {
      // Whoever asks a second time does not want to wait.
      if (stop.signal.aborted) process.exit(INTERRUPTED);
      stop.abort(new Error(`The process was asked to end (${signal}).`));
    });
  }
  for (const stream of [process.stdout, process.stderr]) {
    // The reader went away (EPIPE); nobody is left to be told.
    stream.on("error", (error) => stop.abort(error));
  }

  const [{ runCommandLine }, { createHost }, { createTerminal }] = await Promise.all([
    import("./cli/program.ts"),
    import("./app/host.ts"),
    import("./app/terminal.ts"),
  ]);
  const host = createHost({
    env: process.env,
    terminal: createTerminal(process),
    machine: { host: hostname(), pid: process.pid },
    // From the sources, and where Claude Desktop runs a bundle inside of Electron, which starts no other process
    // as Node, media is read in this process.
    ...(IS_BUILT && process.versions["electron"] === undefined && { startMediaReader }),
    stopSignal: stop.signal,
    installation: {
      node: process.execPath,
      program: IS_BUILT ? fileURLToPath(import.meta.url) : null,
    },
    stdio: { stdin: process.stdin, stdout: process.stdout, readParentId: () => process.ppid },
  });

  process.on("uncaughtException", (error) => {
    void host.logFailure(error).finally(() => process.exit(1));
  });

  process.exitCode = await runCommandLine(process.argv.slice(2), host);
  setTimeout(() => process.exit(), LINGER_MS).unref();
}
