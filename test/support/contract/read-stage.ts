import type { PlatformFixture } from "./stage.ts";

/** The stage of a platform, by its name: every platform has one. */
export async function readStage(name: string): Promise<PlatformFixture> {
  const file: { default: PlatformFixture } = await import(`../../platforms/${name}/stage.ts`);
  return file.default;
}
