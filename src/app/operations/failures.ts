import { AppError, saidOf, codeOf } from "../../domain/errors.ts";
import { problem, type Finding } from "../../domain/health/findings.ts";
import { reasonOf } from "../../store/backup/durable.ts";
import { explained } from "../../store/local/sentences.ts";

/** The finding for an attempt that failed. */
export function problemOf(topic: string, error: unknown): Finding {
  return problem(topic, String(saidOf(error instanceof AppError ? error : explainFailure(error))));
}

/** The sentence for trouble of the machine: a disk, a database, a file in a folder's place. Null for a bug. */
export function explainFailure(error: unknown): AppError | null {
  const known = explained(error);
  if (known instanceof AppError) return known;
  if (!(error instanceof Error)) return null;
  // Out of a thread an error comes as a copy, without its class.
  if (error.name === "AppError") return new AppError("unavailable", error.message, { cause: error });
  if (!("syscall" in error) || !("path" in error) || typeof error.path !== "string" || codeOf(error) === "")
    return null;
  return new AppError(
    "unavailable",
    `${error.path} cannot be used: ${reasonOf(error)}. Mend that, then try again. "posthorn doctor" looks at the whole folder.`,
    { cause: error },
  );
}
