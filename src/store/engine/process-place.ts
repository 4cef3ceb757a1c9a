import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { kill } from "node:process";
import { codeOf } from "../../domain/errors.ts";

/*
 * Where a process id means one process. Names of hosts are no proof: containers with one name have process ids of
 * their own. Linux names each start of a machine, and each of its rooms of process ids, uniquely.
 */

/** As /proc shows it. */
const BOOT_ID = "/proc/sys/kernel/random/boot_id";
const PID_NAMESPACE = "/proc/self/ns/pid";

const certain = readCertain();

/** Of this process; on other systems only a name, by which no other process is proven gone. */
export const PROCESS_PLACE: string = certain ?? hostname();

function readCertain(): string | null {
  try {
    return `${readFileSync(BOOT_ID, "utf8").trim()} ${readlinkSync(PID_NAMESPACE)}`;
  } catch {
    return null;
  }
}

/** True only when it is certain that the process has ended. An id that was given anew counts as alive. */
export function hasEnded({ place, pid }: { readonly place: string; readonly pid: number }): boolean {
  if (certain === null || place !== certain) return false;
  try {
    kill(pid, 0);
    return false;
  } catch (error) {
    return codeOf(error) === "ESRCH";
  }
}
