import { readFile } from "node:fs/promises";

/** The skill that the plugins carry. `scripts/build.ts` puts its text in the place of this module. */
export const readSkillText = (): Promise<string> =>
  readFile(new URL("../../../skills/posthorn/SKILL.md", import.meta.url), "utf8");
