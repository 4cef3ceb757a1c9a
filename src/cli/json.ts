import { AppError } from "../domain/errors.ts";
import { requireWholeTexts } from "../domain/whole-text.ts";
import type { Host } from "./host.ts";

/** How results look on standard output. */
export function toJsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** A sentence for whoever reads a terminal; JSON for programs, and for people who ask for it. */
export function printResult(
  { terminal }: Host,
  { json, sentence, result }: { readonly json: boolean; readonly sentence: string; readonly result: unknown },
): void {
  terminal.print(terminal.isScreen && !json ? `${sentence}\n` : toJsonText(result));
}

interface Typed {
  /** What it came by: an option or argument. */
  readonly source: string;
  readonly text: string;
  /** What to write instead, as a sentence. */
  readonly advice: string;
  /** The parser's reason quotes what it met, which must not show. */
  readonly isSecret?: boolean;
}

/**
 * Reads JSON that somebody typed; throws `invalid` that names where it came from, or a text that is not
 * whole.
 */
export function parseJson({ source, text, advice, isSecret = false }: Typed): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error && !isSecret ? ` (${cause.message.slice(0, 120)})` : "";
    throw new AppError("invalid", `${source}: this is not JSON${reason}. ${advice}`, { cause });
  }
  requireWholeTexts(value);
  return value;
}
