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
    return prepared(require("sharp") as Sharp);
  } catch {
    return null;
  }
}

function prepared(sharp: Sharp): Sharp {
  // Nothing is worked on twice, so nothing is kept.
  sharp.cache(false);
  // libvips sniffs for itself: what is not listed here it must not even try (SVG, PDF, …).
  sharp.block({ operation: ["VipsForeignLoad"] });
  sharp.unblock({
    operation: ["Jpeg", "Png", "Nsgif", "Webp", "Heif", "Tiff"].map((name) => `VipsForeignLoad${name}`),
  });
  return sharp;
}
