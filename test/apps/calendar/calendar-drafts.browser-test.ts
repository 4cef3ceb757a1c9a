import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { objectionsTo, picture, THEMES, WIDTHS } from "../../support/looks.ts";
import { addAccount, addPosts } from "../../support/post-rows.ts";
import { showApp, startHostSide, type HostSide, type ShownApp } from "../shared/app-host.ts";

const WEEK = { from: "2026-11-23", to: "2026-11-29" };

let host: HostSide;

beforeAll(async () => {
  host = await startHostSide("Europe/Berlin");
  await addAccount(host.ctx.store, { id: "acc_1", name: "Blog" });
  await addPosts(host.ctx.store, [{ id: "post_1", caption: "Hello", scheduledAt: "2026-11-24T08:00:00Z" }]);
  const save = (args: object) =>
    host.client.callTool({ name: "save_draft", arguments: { targets: [{ accountId: "acc_1" }], ...args } });
  await save({ title: "Opening", caption: "We open", scheduledAt: "2026-11-24T09:30:00Z", submit: true });
  await save({ caption: "Half written\n\nand more", scheduledAt: "2026-11-25T09:30:00Z" });
});
afterAll(() => host?.[Symbol.asyncDispose]());

async function show(args: Record<string, string>, width = 760): Promise<ShownApp> {
  const calendar: any = (await host.client.callTool({ name: "show_calendar", arguments: args }))
    .structuredContent;
  const { drafts }: any = (await host.client.callTool({ name: "list_drafts", arguments: {} }))
    .structuredContent;
  const freeSlots = ["2026-11-26T08:00:00.000Z", "2026-11-26T08:00:00.000Z", "2026-11-27T15:00:00.000Z"].map(
    (at, index) => ({ accountId: `acc_${1 + (index % 2)}`, at }),
  );
  const structuredContent = { ...calendar, drafts, freeSlots };
  const shown = await showApp(host, { args, width, result: { content: [], structuredContent } });
  await shown.view.locator("#grid [role=grid]").waitFor();
  return shown;
}

describe("the calendar", () => {
  it("shows drafts as what they are, and how much is free on a day", async () => {
    await using shown = await show({});
    const cell = (day: string) => shown.view.locator(`[data-key="cell:${day}"]`);
    expect(await cell("2026-11-24").locator(".unseen").textContent()).toMatch(/, 1 post, 1 draft$/);
    await cell("2026-11-25")
      .getByRole("button", { name: "10:30, Half written, Draft, Blog", exact: true })
      .waitFor();
    expect(await cell("2026-11-26").locator(".unseen").textContent()).toMatch(/, no posts, 2 free$/);
    expect(await cell("2026-11-26").innerText()).toContain("2 free");
    expect(await shown.view.locator("#legend").innerText()).toMatch(
      /1 scheduled\s+\?\s*1 waiting for you\s+✎\s*1 draft/,
    );
    await cell("2026-11-24")
      .getByRole("button", { name: "10:30, Opening, Waits for you, Blog", exact: true })
      .click();
    const panel = shown.view.getByRole("dialog", { name: /^Tuesday,? 24 November 2026, 10:30$/ });
    expect(await panel.innerText()).toMatch(
      /Waits for you\s+10:30 · Blog\s+Opening\s+We open\s+To decide about it/,
    );
    await shown.page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    expect(shown.faults).toEqual([]);
  });

  it("lists a day's drafts before its posts, and moves none of them", async () => {
    await using shown = await show({});
    await shown.view.locator('[data-key="cell:2026-11-24"]').click({ position: { x: 5, y: 5 } });
    expect(await shown.view.getByRole("dialog").getByRole("heading", { level: 3 }).allInnerTexts()).toEqual([
      "Opening",
      "Hello",
    ]);
    await shown.page.keyboard.press("Escape");
    const opening = shown.view.locator(".chip").filter({ hasText: "Opening" });
    await opening.dragTo(shown.view.locator('[data-key="cell:2026-11-27"]'));
    expect(shown.calls).toEqual([]);
    expect(await opening.count()).toBe(1);
  });

  it("marks free times in a week", async () => {
    await using shown = await show(WEEK);
    expect(await shown.view.locator('[data-key="cell:2026-11-26T9"] .slot').innerText()).toMatch(
      /^09:00\s+2 free$/,
    );
    expect(await shown.view.locator('[data-key="cell:2026-11-27T16"] .slot').innerText()).toMatch(
      /^16:00\s+free$/,
    );
    await shown.view
      .locator('[data-key="cell:2026-11-24T10"]')
      .getByRole("button", { name: /Opening/ })
      .waitFor();
  });

  describe.each(WIDTHS)("in a $name window", ({ name, width }) => {
    it.each([
      ["month", {}],
      ["week", WEEK],
    ])("(%s) has nothing that axe objects to, and fits", async (view, args) => {
      await using shown = await show(args, width);
      for (const theme of THEMES) {
        await shown.page.evaluate(`window.bridge.sendHostContextChange({ theme: "${theme}" })`);
        await expect
          .poll(() => shown.frame().evaluate("document.documentElement.style.colorScheme"))
          .toBe(theme);
        await picture(shown.page, `calendar-drafts-${view}-${name}-${theme}`);
        expect([theme, await objectionsTo(shown.frame())]).toEqual([theme, []]);
      }
    });
  });
});
