import { readFileSync } from "node:fs";

/** Idle connections cost some 20 kB each. */
const MOST = 4_000;
/** What systems give a process at the least, where it cannot be read. */
const USUAL_DESCRIPTORS = 1_000;

/**
 * How many connections the server may have at once: a third of the descriptors that this process may open.
 * The database, files and what publishing opens must always find some.
 */
export function maxConnections(): number {
  return Math.min(MOST, Math.floor(readMaxDescriptors() / 3));
}

/** The soft limit, which Node has raised as far as it may. */
function readMaxDescriptors(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return soft === undefined ? USUAL_DESCRIPTORS : Number(soft);
  } catch {
    return USUAL_DESCRIPTORS;
  }
}
