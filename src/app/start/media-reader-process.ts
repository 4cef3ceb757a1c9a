import { fork, type ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { Worker } from "node:worker_threads";
import { IS_BUILT } from "../is-built.ts";

/** What asks a process to end. */
export const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The argument of the process that reads media; nobody else can give it, as nobody else has a channel. */
export const MEDIA_READER = "--media-reader";

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

/** Starts `file`, this program, to run `runMediaReaderProcess`. */
export function startMediaReader(file: string): ChildProcess {
  const { PATH, LD_LIBRARY_PATH, SystemRoot } = process.env;
  return fork(file, [MEDIA_READER], {
    serialization: "advanced",
    // Standard output belongs to MCP, and what libraries say of hostile files to nobody.
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    // No secrets. Fewer arenas: what glibc keeps of them for each thread would count against the limit.
    env: { PATH, LD_LIBRARY_PATH, SystemRoot, MALLOC_ARENA_MAX: "2" },
    execArgv: [...(IS_BUILT ? [] : process.execArgv), `--max-old-space-size=${READER_MEMORY.heapMiB}`],
  });
}

export async function runMediaReaderProcess(send: (message: unknown) => void): Promise<void> {
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
  const { runMediaReader } = await import("../../media/probe/run-media-reader.ts");
  runMediaReader({ send, onMessage: (listener) => void process.on("message", listener) });
}
