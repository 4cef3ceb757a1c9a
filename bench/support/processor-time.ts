import { readdirSync, readFileSync } from "node:fs";

/** Milliseconds that the process has computed, all its threads, by Linux's count (in steps of 10). */
export function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  // `utime` and `stime`, in hundredths of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The same of all processes that it has started and that run. */
export function childrensProcessorMs(pid: number): number {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").trim().split(" ").filter(Boolean),
  );
  return children.map((child) => processorMs(Number(child))).reduce((sum, ms) => sum + ms, 0);
}
