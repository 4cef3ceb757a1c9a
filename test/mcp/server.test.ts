import { expect, it } from "vitest";
import { instructionsFor } from "../../src/mcp/instructions.ts";
import { loadFolder } from "../../src/toolkit/load-folder.ts";
import { FakeClock } from "../support/clock.ts";

const clock = new FakeClock("2026-11-23T11:30:00Z");
const told = instructionsFor({ clock, settings: { timezone: "America/Argentina/ComodRivadavia" } });

it("says how the tools belong together, in few words and with names that exist", async () => {
  expect(told.length).toBeLessThanOrEqual(1_500);
  const tools = await loadFolder(new URL("../../tools/", import.meta.url));
  const names = new Set(tools.map((tool) => tool.name));
  const mentioned = told.match(/\b[a-z]+_[a-z_]+\b/g) ?? [];
  expect(mentioned.filter((name) => !names.has(name))).toEqual([]);
});

it("says what time it is where the person lives, and asks for none", () => {
  expect(told).toContain("It was Monday 23 November 2026, 08:30 (America/Argentina/ComodRivadavia)");
  expect(told).toContain("leave the offset out");
  expect(told).not.toContain("Ask for the person's time zone");
});
