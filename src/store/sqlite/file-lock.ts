import { keepOpen } from "./held-locks.ts";
import { lock } from "./worker-lock.ts";

/**
 * Takes the lock that is a file, as workers take theirs: the kernel gives it up when the process ends.
 * Answers the function that releases it; null where somebody has it, in this process or another.
 */
export function takeFileLock(file: string): (() => void) | null {
  const database = lock(file, { needsDisk: false });
  return database === null ? null : keepOpen(database);
}
