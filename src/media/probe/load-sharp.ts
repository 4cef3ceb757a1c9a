import { createRequire } from "node:module";
import type sharp from "sharp";

const require = createRequire(import.meta.url);

type Sharp = typeof sharp;

/**
 * The picture library, or null where npm did not install it: it is native code, and optional. Looked up when
 * it is needed, because an import would stop the whole program without it.
 */
export function loadSharp(): Sharp | null {
  try {
    return require("sharp") as Sharp;
  } catch {
    return null;
  }
}
