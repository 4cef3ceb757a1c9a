import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launchBrowser } from "../../../support/browser.ts";
import { objectionsTo, picture, THEMES, WIDTHS } from "../../../support/looks.ts";
import { addAccount, addPosts, type TestPost } from "../../../support/post-rows.ts";
import { startPageHost, type PageHost } from "../page-host.ts";

let browser: Browser;
let host: PageHost;
beforeAll(async () => {
  [browser, host] = await Promise.all([launchBrowser(), startPageHost("Europe/Berlin")]);
  await addAccount(host.ctx.store, { id: "acc_1", name: "Blog" });
  await addAccount(host.ctx.store, { id: "acc_2", name: "Club", provider: "mastodon" });
});
afterAll(async () => {
  await browser?.close();
  await host?.[Symbol.asyncDispose]();
});

async function open(options: Partial<Parameters<PageHost["open"]>[1]> = {}): Promise<Page> {
  const page = await host.open(browser, { path: "/app/results", ...options });
  await page.getByRole("heading", { name: "Results", level: 1 }).waitFor();
  return page;
}

const live = (id: string, accountId: string, scheduledAt: string): TestPost => ({
  id,
  accountId,
  scheduledAt,
  status: "published",
});

describe("results", () => {
  it("says that there is nothing, where nothing went live", async () => {
    const page = await open();
    await page.getByText("Nothing went live yet").waitFor();
    expect(await objectionsTo(page)).toEqual([]);
    await page.context().close();
  });

  it("draws no pattern of few posts, and counts them by the server's days", async () => {
    // Past midnight in Berlin.
    await addPosts(host.ctx.store, [
      live("post_1", "acc_1", "2026-11-19T23:30:00Z"),
      live("post_2", "acc_2", "2026-11-20T08:00:00Z"),
      live("post_old", "acc_2", "2026-09-20T08:00:00Z"),
      { ...live("post_failed", "acc_2", "2026-11-20T09:00:00Z"), status: "failed" },
    ]);
    const page = await open();
    await page.getByText("Too few posts to say anything").waitFor();
    await page.getByText("2 posts on 2 channels").waitFor();
    await page.getByText("As a table").first().focus();
    await page.keyboard.press("Enter");
    const rows = page.getByRole("table").first().getByRole("row");
    expect(await rows.count()).toBe(2);
    expect(await rows.nth(1).innerText()).toMatch(/20 Nov\s+1\s+1\s+2/);
    await page.getByText("90 days").click();
    await page.getByText("3 posts on 2 channels").waitFor();
    await page.context().close();
  });

  it("draws when posts went live from 20 on", async () => {
    await addPosts(
      host.ctx.store,
      Array.from({ length: 20 }, (_, at) =>
        live(
          `post_more_${at}`,
          at % 3 === 0 ? "acc_2" : "acc_1",
          `2026-11-${String(10 + (at % 8))}T07:15:00Z`,
        ),
      ),
    );
    const page = await open();
    await page.getByRole("img", { name: /^All channels: 22 posts/ }).waitFor();
    await page.getByRole("img", { name: /^(Most went live|No hour stands out)/ }).waitFor();
    await page.getByText("As a table").nth(1).click();
    await page.getByRole("rowheader", { name: "08:00" }).waitFor();
    await page.context().close();
  });

  it("asks a platform only on request, and what is not known is no zero", async () => {
    const page = await open();
    await page.getByRole("button", { name: "Ask Mastodon about Club" }).click();
    await page.locator(".figures dd").first().waitFor();
    expect(await page.locator(".figures dd").first().innerText()).toContain("–");
    await page.context().close();
  });
});

describe.each([WIDTHS[0], { name: "narrow", width: 360 }])("in a $name window", ({ name, width }) => {
  it("axe objects to nothing, in both themes", async () => {
    const page = await open({ width });
    for (const table of await page.getByText("As a table").all()) await table.click();
    await page.getByRole("table").nth(1).waitFor();
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      await picture(page, `results-${name}-${theme}`);
      expect(await objectionsTo(page), theme).toEqual([]);
    }
    await page.context().close();
  });
});
