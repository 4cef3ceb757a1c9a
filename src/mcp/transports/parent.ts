import { SECOND } from "../../domain/time.ts";
import type { AppContext } from "../../services/context.ts";

const POLL_MS = SECOND;

/**
 * Resolves when the parent process has died: the operating system then gives its children to another one. Its
 * pipes need not end with it, somebody else may hold them open. Rejects with the signal's reason.
 */
export async function untilOrphaned(
  readParentId: () => number,
  clock: AppContext["clock"],
  signal: AbortSignal,
): Promise<void> {
  const parentId = readParentId();
  while (readParentId() === parentId) await clock.sleep(POLL_MS, signal);
}
