import type { ConfigurablePlatform } from "../domain/accounts/platform-settings.ts";
import type { AnyPlatform } from "../ports/platform.ts";
import { settingsOf } from "../ports/platform-setup.ts";
import type { AnyTool } from "../toolkit/define-tool.ts";
import { loadFolder } from "../toolkit/load-folder.ts";

/** Everything that is added by adding a file. */
export interface Catalog {
  readonly tools: readonly AnyTool[];
  readonly platforms: readonly AnyPlatform[];
}

export const TOOLS = new URL("../../tools/", import.meta.url);
export const PLATFORMS = new URL("../platforms/", import.meta.url);

export async function loadCatalog(): Promise<Catalog> {
  const [tools, platforms] = await Promise.all([
    loadFolder<AnyTool>(TOOLS),
    loadFolder<AnyPlatform>(PLATFORMS),
  ]);
  return { tools, platforms };
}

/** The settings of each platform. */
export async function listPlatformSettings(): Promise<readonly ConfigurablePlatform[]> {
  const platforms = await loadFolder<AnyPlatform>(PLATFORMS);
  return platforms.map((platform) => ({ name: platform.name, settings: settingsOf(platform) }));
}
