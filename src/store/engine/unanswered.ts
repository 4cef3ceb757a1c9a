import { setTimeout as pause } from "node:timers/promises";
import { deadline } from "../../domain/time.ts";
import { TIME_LIMITS } from "../../domain/time-limits.ts";
import { AppError } from "../../domain/errors.ts";

/**
 * The connection was lost while COMMIT was under way: the transaction stands or does not. Only the rows tell.
 * SQLite never throws it.
 */
export class CommitUnanswered extends AppError {
  constructor(cause: unknown) {
    super(
      "unavailable",
      "The connection to the database was lost at the very moment of writing: it may have been done. Look before you try again.",
      { cause },
    );
  }
}

/** A worker that hears nothing from its database for so long has lost its posts to others before. */
const READ_AGAIN_MS = TIME_LIMITS.readAgain;
const PAUSE_MS = 250;

/**
 * Runs `work`. Where its COMMIT gets no answer, runs `again`, which looks at the rows first, until the database
 * answers or 20 s have passed. `again` locks the rows that it looks at: the lost transaction may still be under way.
 */
export async function readingAgain<T>(work: () => Promise<T>, again: () => Promise<T> = work): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CommitUnanswered)) throw error;
  }
  for (const late = deadline(READ_AGAIN_MS); ; await pause(PAUSE_MS)) {
    try {
      return await again();
    } catch (error) {
      if (late.aborted || !(error instanceof AppError) || error.kind !== "unavailable") throw error;
    }
  }
}
