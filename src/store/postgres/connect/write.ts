import { setTimeout as pause } from "node:timers/promises";
import { deadline } from "../../../domain/time.ts";
import type { AppError } from "../../../domain/errors.ts";
import { HANDLE, type Handle, type Store } from "../../engine/store.ts";
import { CommitUnanswered } from "../../engine/unanswered.ts";
import { Passing, ServerTrouble } from "./sentences.ts";

const MAX_REPEATS = 5;
/** No run begins so long after the first that failed: each may wait for a lock or for the network. */
const REPEAT_MS = 10_000;
const FIRST_PAUSE_MS = 20;

export interface Writer {
  readonly write: Store["write"];
  readonly writeTrouble: Store["writeTrouble"];
}

/** Transactions that run again from the start where they met others, or lost their connection before COMMIT. */
export function createWriter(handle: Handle): Writer {
  let trouble: AppError | null = null;
  const write: Store["write"] = async (work) => {
    let late: AbortSignal | null = null;
    for (let repeats = 0; ; repeats += 1) {
      try {
        const result = await handle.query
          .transaction()
          .execute((query) => work({ [HANDLE]: { ...handle, query } }));
        trouble = null;
        return result;
      } catch (error) {
        late ??= deadline(REPEAT_MS);
        if (repeats === MAX_REPEATS || late.aborted || !(error instanceof Passing)) {
          trouble = error instanceof ServerTrouble || error instanceof CommitUnanswered ? error : null;
          throw error;
        }
        // Jitter: those that met each other do not meet again.
        await pause(FIRST_PAUSE_MS * 2 ** repeats * (0.5 + Math.random()));
      }
    }
  };
  return { write, writeTrouble: () => trouble };
}
