import { AppError } from "../domain/errors.ts";
import { requireShallow } from "../domain/json-depth.ts";
import { requireWholeTexts } from "../domain/whole-text.ts";

/** How results look on standard output. */
export function toJsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/**
 * Reads JSON that somebody typed; throws `invalid` that names where it came from, or a text that is not
 * whole.
 */
export function parseJson(source: string, text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
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
  requireShallow(value);
  requireWholeTexts(value);
  return value;
}
