import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { objectionsTo, picture, THEMES, WIDTHS } from "../../support/looks.ts";
import { addAccount, addPosts } from "../../support/post-rows.ts";
import { queryOf } from "../../support/handles.ts";
import { showApp, startHostSide, type HostSide, type ShownApp } from "../shared/app-host.ts";

const NAME = "A very long name of a channel, Donaudampfschifffahrtsgesellschaftskapitänsmütze";
const HEBREW = "חדשות היום: סיפור על קרן יער";

let host: HostSide;

beforeAll(async () => {
  host = await startHostSide("Europe/Berlin");
  const { store } = host.ctx;
  await addAccount(store, { id: "acc_1" });
  await addAccount(store, { id: "acc_2", provider: "bluesky" });
  await queryOf(store).updateTable("accounts").set({ name: NAME }).where("id", "=", "acc_2").execute();
  await addPosts(store, [
    { id: "post_1", caption: `Hello\n\n${"A long text. ".repeat(30)}`, scheduledAt: "2026-11-24T08:00:00Z" },
    { id: "post_2", caption: HEBREW, accountId: "acc_2", scheduledAt: "2026-11-24T09:00:00Z" },
    { id: "post_3", caption: "x".repeat(80), scheduledAt: "2026-11-24T09:30:00Z" },
    {
      id: "post_4",
      caption: "Lost",
      accountId: "acc_2",
      status: "failed",
      scheduledAt: "2026-11-23T08:00:00Z",
    },
    { id: "post_5", caption: "Out", status: "published", scheduledAt: "2026-11-21T08:00:00Z" },
    { id: "post_6", caption: "Gone", status: "cancelled", scheduledAt: "2026-11-25T08:00:00Z" },
    { id: "post_7", caption: "Up", status: "uploaded", scheduledAt: "2026-11-26T08:00:00Z" },
    ...Array.from({ length: 15 }, (_one, at) => ({
      id: `post_many_${at}`,
      caption: `Morning ${at}`,
      accountId: at % 2 === 0 ? "acc_1" : "acc_2",
      scheduledAt: `2026-11-12T0${at % 10}:00:00Z`,
    })),
    { id: "post_8", caption: "Now", status: "publishing", scheduledAt: "2026-11-27T08:00:00Z" },
  ]);
  await queryOf(store)
    .updateTable("posts")
    .set({
      error: "The channel must be reconnected: its access was withdrawn. Reconnect it, then send it again.",
    })
    .where("status", "=", "failed")
    .execute();
});
afterAll(() => host?.[Symbol.asyncDispose]());

const day = (shown: ShownApp, date: string) => shown.view.locator(`[data-day="${date}"]`).first();

const STATES: Readonly<Record<string, (shown: ShownApp) => Promise<void>>> = {
  month: async () => {},
  day: (shown) => day(shown, "2026-11-24").click({ position: { x: 5, y: 5 } }),
  question: async (shown) => {
    await day(shown, "2026-11-24").click({ position: { x: 5, y: 5 } });
    await shown.view.getByRole("button", { name: "Cancel post: Hello" }).click();
  },
  takeDown: async (shown) => {
    await day(shown, "2026-11-21").click({ position: { x: 5, y: 5 } });
    await shown.view.getByRole("button", { name: "Take down: Out" }).click();
  },
  writing: async (shown) => {
    await shown.view.getByRole("button", { name: "1 failed" }).click();
    await shown.view.getByRole("button", { name: "Edit text: Lost" }).click();
    await shown.view.getByRole("textbox", { name: "Text" }).waitFor();
  },
  failed: (shown) => shown.view.getByRole("button", { name: "1 failed" }).click(),
  complaint: async (shown) => {
    await day(shown, "2026-11-24").click({ position: { x: 5, y: 5 } });
    await shown.view.getByLabel(/New time of Hello/).fill("2020-01-01T08:00");
    await shown.view.getByRole("button", { name: "Move: Hello" }).click();
    await shown.view.getByRole("alert").waitFor();
  },
  week: async (shown) => {
    await shown.view.getByRole("button", { name: "Week", exact: true }).click();
    await shown.view.getByRole("grid", { name: "Week by hours" }).waitFor();
  },
  empty: async (shown) => {
    for (let month = 0; month < 2; month++)
      await shown.view.getByRole("button", { name: "Next month" }).click();
    await shown.view.getByText("No posts in this month.").waitFor();
  },
};

describe.each(WIDTHS)("the calendar in a $name window", ({ name, width }) => {
  it.each([...Object.keys(STATES), "text"])(
    "(%s) has nothing that axe objects to, and fits",
    async (state) => {
      const room = state === "text" ? { containerDimensions: { maxHeight: 160, width } } : {};
      await using shown = await showApp(host, { width, context: room });
      await shown.view.locator("#grid :is([role=grid], .brief)").waitFor();
      await STATES[state]?.(shown);
      const frame = shown.frame();
      for (const theme of THEMES) {
        await shown.page.evaluate(`window.bridge.sendHostContextChange({ theme: "${theme}" })`);
        await expect.poll(() => frame.evaluate("document.documentElement.style.colorScheme")).toBe(theme);
        await picture(shown.page, `calendar-${state}-${name}-${theme}`);
        // The frame's own document says what it is; a host titles and colours what is around it.
        expect([theme, await objectionsTo(frame)]).toEqual([theme, []]);
      }
    },
  );
});
