import type { ConfigurablePlatform } from "../domain/accounts/platform-settings.ts";
import type { AnyPlatform } from "../ports/platform.ts";
import { settingsOf } from "../ports/platform-setup.ts";
import type { AnyTool } from "../toolkit/define-tool.ts";
import { loadFolder } from "../toolkit/load-folder.ts";
import type { ToolListing } from "../toolkit/toolbox.ts";

// In the bundle `scripts/static-catalog.ts` puts lists made at build in the place of this module.

/** Everything that is added by adding a file. */
export interface Catalog {
  readonly tools: readonly AnyTool[];
  readonly platforms: readonly AnyPlatform[];
}

const TOOLS = new URL("../../tools/", import.meta.url);
const PLATFORMS = new URL("../platforms/", import.meta.url);

export async function loadCatalog(): Promise<Catalog> {
  const [tools, platforms] = await Promise.all([
    loadFolder<AnyTool>(TOOLS),
    loadFolder<AnyPlatform>(PLATFORMS),
  ]);
  return { tools, platforms };
}

/** The settings of each platform; in the bundle without loading any. */
export async function listPlatformSettings(): Promise<readonly ConfigurablePlatform[]> {
  const platforms = await loadFolder<AnyPlatform>(PLATFORMS);
  return platforms.map((platform) => ({ name: platform.name, settings: settingsOf(platform) }));
}

/**
 * What `describeTools` says by default, so that tools can be listed before they are loaded; null in a
 * checkout, where they change.
 */
export async function readListings(): Promise<readonly ToolListing[] | null> {
  return null;
}
