import { expect, it } from "vitest";
import { INSTRUCTIONS } from "../../src/mcp/instructions.ts";
import { loadFolder } from "../../src/toolkit/load-folder.ts";

it("says how the tools belong together, in few words and with names that exist", async () => {
  expect(INSTRUCTIONS.length).toBeLessThanOrEqual(1_500);
  const tools = await loadFolder(new URL("../../tools/", import.meta.url));
  const names = new Set(tools.map((tool) => tool.name));
  const mentioned = INSTRUCTIONS.match(/\b[a-z]+_[a-z_]+\b/g) ?? [];
  expect(mentioned.filter((name) => !names.has(name))).toEqual([]);
});
