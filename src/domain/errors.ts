/**
 * What went wrong, in the caller's terms. Each face maps a kind to its own code (HTTP: `src/http/errors.ts`).
 */
const ERROR_KINDS = [
  "invalid",
  "unauthenticated",
  "forbidden",
  "not_found",
  "conflict",
  "too_large",
  "rate_limited",
  "unavailable",
] as const;

export type ErrorKind = (typeof ERROR_KINDS)[number];

/**
 * The one error that reaches a caller. `message` is a whole sentence of ours: the field, the reason, the next
 * step. A platform's raw words belong in `cause`, which only the log sees.
 */
export class AppError extends Error {
  readonly kind: ErrorKind;

  constructor(kind: ErrorKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "AppError";
    this.kind = kind;
  }
}

/** Whether it is an error of the system with one of these codes (`ENOSPC`, …). */
export function hasCode(error: unknown, codes: readonly string[]): boolean {
  return (
    error instanceof Error && "code" in error && typeof error.code === "string" && codes.includes(error.code)
  );
}

/** The sentence for a bug of ours: the details are in the log, under the request's id. */
export const INTERNAL_ERROR_SENTENCE =
  "Something went wrong on our side. Nothing was lost; try again, and if it stays, look in the server's log.";

/** The sentence a caller may see for anything that was thrown. */
export function sentenceOf(error: unknown): string {
  return error instanceof AppError ? error.message : INTERNAL_ERROR_SENTENCE;
}
