import { expect, it } from "vitest";
import { isAllowed, ROLE_NAMES, ROLES } from "../../src/domain/permissions.ts";
import { instructionsFor, WHILE_OPEN } from "../../src/mcp/instructions.ts";
import { loadCatalog } from "../../src/app/setup.ts";
import { FakeClock } from "../support/clock.ts";

const clock = new FakeClock("2026-11-23T11:30:00Z");
const { tools } = await loadCatalog();
const toldTo = (names: readonly string[]): string =>
  instructionsFor({ clock, settings: { timezone: "America/Argentina/ComodRivadavia" } }, names);
const told = toldTo(tools.map(({ name }) => name));

it.each(ROLE_NAMES)("tells a %s in few words how the tools belong together, of those that it has", (role) => {
  const mine = tools.filter(({ permission }) => isAllowed({ permissions: ROLES[role] }, permission));
  const names = mine.map(({ name }) => name);
  const text = toldTo(names);
  expect((text + WHILE_OPEN).length).toBeLessThanOrEqual(2_000);
  const mentioned: readonly string[] = text.match(/\b[a-z]+_[a-z_]+\b/g) ?? [];
  expect(mentioned.filter((name) => !names.includes(name))).toEqual([]);
  expect(mentioned).toContain("list_accounts");
  expect(mentioned.includes("schedule_post")).toBe(names.includes("schedule_post"));
  expect(text).toContain(
    {
      viewer: "Here you only read",
      writer: "Here you write drafts",
      publisher: "Plan a post",
      admin: "Connect",
    }[role],
  );
});

it("names no tool where there is none", () => {
  expect(toldTo([])).not.toMatch(/[a-z]_[a-z]/);
});

it("says what time it is where the person lives, and asks for none", () => {
  expect(told).toContain("It was Monday 23 November 2026, 08:30 (America/Argentina/ComodRivadavia)");
  expect(told).toContain("leave the offset out");
  expect(told).not.toContain("Ask for the person's time zone");
});
