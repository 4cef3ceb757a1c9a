import { fork, spawn, type ChildProcess } from "node:child_process";

/** For a file that is looked at for as long as it takes. */
export const NEVER = new AbortController().signal;

/** The real process that reads media, of the built program. */
export function startReader(program: string): ChildProcess {
  return fork(program, ["--media-reader"], {
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    execArgv: ["--expose-gc"],
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
