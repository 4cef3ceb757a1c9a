#!/usr/bin/env node
import { write } from "node:fs";
import { hostname } from "node:os";
import { fileURLToPath } from "node:url";
import { parentPort, Worker, workerData, type MessagePort } from "node:worker_threads";
import { runCommandLine } from "./cli/program.ts";
import { createHost } from "./app/host.ts";
import { flushLog } from "./app/log.ts";
import { IS_BUILT } from "./app/is-built.ts";
import type { ThreadData } from "./app/publishing/publisher-thread.ts";
import { createTerminal } from "./app/terminal.ts";
import type { StartThread, Threads } from "./app/threads.ts";
import {
  MEDIA_READER,
  runMediaReaderProcess,
  startMediaReader,
  STOP_SIGNALS,
} from "./app/start/media-reader-process.ts";
import type { WatchdogData } from "./app/start/watchdog.ts";

/**
 * What still runs this long after a command's end was forgotten by somebody; the process must not hang on it.
 */
const LINGER_MS = 2_000;

const INTERRUPTED = 130;

// In a thread, its own end.
process.on("exit", flushLog);

const send = process.argv[2] === MEDIA_READER ? process.send?.bind(process) : undefined;
if (parentPort !== null) await runThread(parentPort, workerData as ThreadJob);
else if (send !== undefined) await runMediaReaderProcess(send);
else await runProcess();

type ThreadJob =
  | { readonly name: "publisher"; readonly data: ThreadData }
  | { readonly name: "watchdog"; readonly data: WatchdogData };

async function runThread(port: MessagePort, job: ThreadJob): Promise<void> {
  if (job.name === "watchdog") {
    const { runWatchdog } = await import("./app/start/watchdog.ts");
    return runWatchdog(job.data, {
      readParentId: () => process.ppid,
      // Not by the stream, which a thread writes through the very loop that stands still.
      tell: (line) => write(2, line, () => {}),
      kill: () => process.kill(process.pid, "SIGKILL"),
    });
  }
  const { runPublisherThread } = await import("./app/publishing/publisher-thread.ts");
  await runPublisherThread(port, job.data, createThreads());
}

function createThreads(): Threads {
  const file = new URL(import.meta.url);
  const starter = (name: ThreadJob["name"]): StartThread | null =>
    IS_BUILT ? (data) => new Worker(file, { workerData: { name, data }, name }) : null;
  return {
    startPublisher: starter("publisher"),
    startWatchdog: starter("watchdog"),
    startMediaReader: () => startMediaReader(fileURLToPath(file)),
  };
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

  const host = createHost({
    env: process.env,
    terminal: createTerminal(process),
    machine: { host: hostname(), pid: process.pid },
    // Node cannot start a thread from TypeScript on all releases we run on; from the sources, everything
    // shares one.
    ...(IS_BUILT && { threads: createThreads() }),
    stopSignal: stop.signal,
    stdio: { stdin: process.stdin, stdout: process.stdout, readParentId: () => process.ppid },
  });

  process.on("uncaughtException", (error) => {
    void host.logFailure(error).finally(() => process.exit(1));
  });

  process.exitCode = await runCommandLine(process.argv.slice(2), host);
  setTimeout(() => process.exit(), LINGER_MS).unref();
}
