import { fork, spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";

const MAIN = join(import.meta.dirname, "..", "..", "src", "main.ts");

/** For a file that is looked at for as long as it takes. */
export const NEVER = new AbortController().signal;

/** The real process that reads media, from the sources. */
export function startReader(): ChildProcess {
  return fork(MAIN, ["--media-reader"], {
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    execArgv: ["--import", "tsx"],
  });
}

/** One that does this with each message that it gets. */
export function startScript(work: string, options: readonly string[] = []): ChildProcess {
  const script = `process.on("message", (message) => { ${work} }); process.send({ type: "ready" });`;
  return spawn(process.execPath, [...options, "-e", script], {
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
}
