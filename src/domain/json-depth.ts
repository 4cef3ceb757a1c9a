import { AppError } from "./errors.ts";

/**
 * Far more than any platform's fields need, far less than what exhausts the stack of whatever walks the
 * value.
 */
const MAX_JSON_DEPTH = 64;

/** Throws `invalid` for a value with more levels than that. */
export function requireShallow(value: unknown): void {
  if (isDeeper(value, MAX_JSON_DEPTH)) {
    throw new AppError(
      "invalid",
      `The arguments are nested deeper than ${MAX_JSON_DEPTH} levels. Flatten them.`,
    );
  }
}

/** Whether the value has more levels than that. Does not recurse itself. */
export function isDeeper(value: unknown, levels: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
  }
  return false;
}
