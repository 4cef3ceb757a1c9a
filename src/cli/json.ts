import { AppError } from "../domain/errors.ts";

/** How results look on standard output. */
export function toJsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Reads JSON that somebody typed; throws `invalid` that names where it came from. */
export function parseJson(source: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.slice(0, 120) : "";
    throw new AppError(
      "invalid",
      `${source}: this is not JSON (${reason}). Write it in single quotes, for example '{"limit":5}'.`,
      {
        cause,
      },
    );
  }
}
