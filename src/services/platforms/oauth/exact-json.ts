import { z } from "zod";
import type { JsonObject } from "../../../ports/platform-io.ts";

const JsonText = z.record(z.string(), z.json());

/** Texts, which are left alone, or whole numbers of 16 digits and more. */
const LONG_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g;

/**
 * A JSON object with whole numbers beyond 2^53 as texts: ids would be rounded to those of somebody else. Null
 * for what is none.
 */
export function parseExactJson(text: string): JsonObject | null {
  const exact = text.replace(LONG_NUMBER, (found) =>
    found.startsWith('"') || Number.isSafeInteger(Number(found)) ? found : `"${found}"`,
  );
  try {
    return JsonText.safeParse(JSON.parse(exact)).data ?? null;
  } catch {
    return null;
  }
}
