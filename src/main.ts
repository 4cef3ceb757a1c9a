#!/usr/bin/env node
import { fork, type ChildProcess } from "node:child_process";
import nodeModule from "node:module";
import { constants, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker } from "node:worker_threads";

/** Whether this is the built program, and not its sources. */
const IS_BUILT = import.meta.url.endsWith(".js");

/*
 * Everything else is loaded when the release of Node has been looked at: an older one does not know what the
 * others import, and ends with a stack before the first line runs.
 */

/** As `engines` in package.json says. */
const NEEDED = { major: 20, minor: 19 };

/** What still runs this long after a command's end was forgotten; the process must not hang on it. */
const LINGER_MS = 1_000;

const INTERRUPTED = 130;

/** What asks a process to end. */
const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** How soon the end of npm's shell is noticed. */
const PARENT_POLL_MS = 500;

/** The argument of the process that reads media. A person cannot give it: their process has no channel. */
const MEDIA_READER = "--media-reader";

/** What its JavaScript may need: the index of a film of ten hours takes 64 MiB. */
const READER_HEAP_MIB = 192;

/** With more memory than this, what a file left behind is collected before the next one comes. */
const READER_MUCH_BYTES = 128 * 1024 ** 2;

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < NEEDED.major || (major === NEEDED.major && minor < NEEDED.minor)) {
  process.stderr.write(
    `Posthorn needs Node.js ${NEEDED.major}.${NEEDED.minor} or newer, and this is ${process.versions.node}. Install a newer one from https://nodejs.org, then start Posthorn again.\n`,
  );
  process.exit(1);
}

keepQuietAboutSqlite();
if (IS_BUILT) await keepCompiledCode();

if (!isMainThread) await runMediaReaderThread();
else if (process.argv[2] === MEDIA_READER && process.send !== undefined) superviseMediaReader();
else await runProcess();

/** From Node 22 on, each start takes over what the one before has compiled. */
async function keepCompiledCode(): Promise<void> {
  if (!("enableCompileCache" in nodeModule) || typeof nodeModule.enableCompileCache !== "function") return;
  const { default: envPaths } = await import("env-paths");
  nodeModule.enableCompileCache(envPaths("posthorn", { suffix: "" }).cache);
}

/**
 * Node 22 and 24 warn that node:sqlite may change. We test with each of them, and a reader of the line
 * cannot do anything about it.
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
    // Standard output belongs to MCP, and what libraries say of hostile files is dropped.
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    // No secrets. Without HOME a container's nameless user has no home, which libraries ask for as they are
    // loaded.
    env: { PATH, LD_LIBRARY_PATH, SystemRoot, HOME },
    execArgv: [...(IS_BUILT ? [] : process.execArgv), "--expose-gc"],
  });
}

/** Media is read in a thread, so that this one hears of its parent's end while a file keeps that busy for ever. */
function superviseMediaReader(): void {
  // Publishing comes first.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  // Signals are meant for the process that started this one, which tells it.
  for (const signal of STOP_SIGNALS) process.on(signal, () => {});
  // An exit would wait for what the thread does in native code.
  process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
  const thread = new Worker(fileURLToPath(import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: READER_HEAP_MIB },
  });
  // It ended by what it read: for want of memory, or by a bug.
  thread.on("error", () => process.exit(1));
  thread.on("message", (message) => process.send?.(message));
  process.on("message", (message) => thread.postMessage(message));
}

async function runMediaReaderThread(): Promise<void> {
  const { runMediaReader } = await import("./media/probe/run-media-reader.ts");
  runMediaReader({
    send(message) {
      parentPort?.postMessage(message);
      if (message.type !== "read" && process.memoryUsage.rss() > READER_MUCH_BYTES) globalThis.gc?.();
    },
    onMessage: (listener) => void parentPort?.on("message", listener),
  });
}

async function runProcess(): Promise<void> {
  // Database, files and keys are only for this user.
  process.umask(0o077);

  const stop = new AbortController();
  for (const signal of STOP_SIGNALS) {
    process.on(signal, () => {
      // A person who asks a second time does not want to wait.
      if (stop.signal.aborted) process.exit(INTERRUPTED);
      stop.abort(new Error(`The process was asked to end (${signal}).`));
    });
  }
  for (const stream of [process.stdout, process.stderr]) {
    // The reader went away (EPIPE), and cannot be told.
    stream.on("error", (error) => stop.abort(error));
  }

  if (isRunByNpm(process.env)) endWithParent(stop);

  const [{ runCommandLine }, { createHost }, { createTerminal }, { PROCESS_PLACE }] = await Promise.all([
    import("./cli/program.ts"),
    import("./app/host.ts"),
    import("./app/terminal.ts"),
    import("./store/engine/process-place.ts"),
  ]);
  const host = createHost({
    env: process.env,
    terminal: createTerminal(process, stop.signal),
    self: { host: PROCESS_PLACE, pid: process.pid },
    // From the sources, and where Claude Desktop runs a bundle inside of Electron, which starts no other process
    // as Node, media is read in this process.
    ...(IS_BUILT && process.versions["electron"] === undefined && { startMediaReader }),
    stopSignal: stop.signal,
    node: process.execPath,
    stdio: { stdin: process.stdin, stdout: process.stdout, readParentId: () => process.ppid },
  });

  process.on("uncaughtException", (error) => {
    void host.logFailure(error).finally(() => process.exit(1));
  });

  process.exitCode = await runCommandLine(process.argv.slice(2), host);
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

/** `npm start` in a checkout, `npm run demo`, or npx. Scripts of others may mean to leave it running. */
function isRunByNpm({ npm_lifecycle_event: event, npm_package_name: name }: NodeJS.ProcessEnv): boolean {
  return event === "npx" || (event !== undefined && name === "posthorn");
}

/** npm runs it in a shell, which ends by a signal and does not pass it on. */
function endWithParent(stop: AbortController): void {
  const parentId = process.ppid;
  const look = (): void => {
    if (process.ppid !== parentId) stop.abort(new Error("The process that started this one ended."));
  };
  setInterval(look, PARENT_POLL_MS).unref();
}
