import { existsSync } from "node:fs";
import { describe, it } from "vitest";
import { loadCatalog } from "../../../src/app/setup.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import type { PlatformFixture } from "./stage.ts";

/** The stage of a platform, by its name: every platform has one. */
export async function readStage(name: string): Promise<PlatformFixture> {
  if (!existsSync(new URL(`../../platforms/${name}/stage.ts`, import.meta.url)))
    throw new Error(`${name} has no stage: write test/platforms/${name}/stage.ts.`);
  const file: { default: PlatformFixture } = await import(`../../platforms/${name}/stage.ts`);
  return file.default;
}

/** Tests for each platform that `isMeant`. One whose stage cannot be read fails alone. */
export async function describeStages(
  what: string,
  tests: (platform: AnyPlatform, fixture: PlatformFixture) => void,
  isMeant: (fixture: PlatformFixture) => boolean = () => true,
): Promise<void> {
  const { platforms } = await loadCatalog();
  for (const platform of platforms) {
    const fixture = await readStage(platform.name).catch((error: Error) => error);
    if (!(fixture instanceof Error) && !isMeant(fixture)) continue;
    describe(`${platform.name}, ${what}`, () => {
      if (!(fixture instanceof Error)) return tests(platform, fixture);
      it("has a stage", () => Promise.reject(fixture));
    });
  }
}
