import type { AnyPlatform } from "./ports/platform.ts";
import type { AnyTool } from "./toolkit/define-tool.ts";
import { loadFolder } from "./toolkit/load-folder.ts";

/** Everything that is added by adding a file. */
export interface Catalog {
  readonly tools: readonly AnyTool[];
  readonly platforms: readonly AnyPlatform[];
}

/** In the one-file bundle `scripts/build.ts` puts static imports in the place of this module. */
export async function loadCatalog(): Promise<Catalog> {
  const [tools, platforms] = await Promise.all([
    loadFolder<AnyTool>(new URL("../tools/", import.meta.url)),
    loadFolder<AnyPlatform>(new URL("./platforms/", import.meta.url)),
  ]);
  return { tools, platforms };
}
