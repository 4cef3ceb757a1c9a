import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launchBrowser, showCalendar, startHostSide } from "./calendar-app-host.ts";
import { addAccount, addPosts } from "../support/post-rows.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

describe("the calendar page", () => {
  it("shows a month", async () => {
    await using host = await startHostSide("Europe/Berlin");
    await addAccount(host.ctx.db, { id: "acc_1" });
    await addPosts(host.ctx.db, [
      { id: "post_1", caption: "Hello world", scheduledAt: "2026-11-24T08:00:00Z" },
      { id: "post_2", caption: "Autumn sale starts\nmore", scheduledAt: "2026-11-24T09:30:00Z", status: "failed" },
      { id: "post_3", caption: "Third", scheduledAt: "2026-11-24T12:30:00Z" },
      { id: "post_4", caption: "Live one", scheduledAt: "2026-11-10T12:30:00Z", status: "published" },
    ]);
    await using shown = await showCalendar(browser, host);
    await shown.view.getByRole("grid").waitFor();
    await shown.page.screenshot({ path: "/tmp/cal-month.png" });
    expect(shown.faults).toEqual([]);
    expect(shown.strays).toEqual([]);
  });
});
