import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { objectionsTo, picture, THEMES, WIDTHS } from "../../../support/looks.ts";
import { runTick } from "../../../support/publishing.ts";
import { startPageHost, type PageHost } from "../page-host.ts";

let host: PageHost;
beforeAll(async () => {
  host = await startPageHost("Europe/Berlin");
  await host.addFeed();
});
afterAll(() => host?.[Symbol.asyncDispose]());

const open = (options: Partial<Parameters<PageHost["open"]>[0]> = {}): Promise<Page> =>
  host.open({ path: "/app/plan", ...options });
const chip = (page: Page) => page.locator(".plan-grid [data-id]").first();
const greeting = (page: Page) => page.getByRole("region", { name: "Welcome to Posthorn" });

describe.each([WIDTHS[0], { name: "narrow", width: 360 }])("in a $name window", ({ name, width }) => {
  it("axe objects to nothing, in both themes", async () => {
    const page = await open({ width });
    await greeting(page).waitFor();
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      await picture(page, `welcome-${name}-${theme}`);
      expect(await objectionsTo(page), theme).toEqual([]);
    }
    await page.context().close();
  });
});

describe("the greeting", () => {
  it("posts at once, and shows the post when it is live", async () => {
    const page = await open();
    await greeting(page).getByLabel("Say hello").fill("Good morning");
    await greeting(page).getByRole("button", { name: "Post it now" }).click();
    await greeting(page).getByText("It waits: no publisher runs.").waitFor();
    await chip(page).waitFor();
    expect(await page.getByText("Nothing is planned").count()).toBe(0);
    await runTick(host.ctx);
    await greeting(page).getByText("It is live.").waitFor();
    const address = await greeting(page).getByRole("link", { name: "See your post" }).getAttribute("href");
    expect(await (await fetch(address ?? "")).text()).toContain("Good morning");
    await greeting(page).getByRole("heading", { name: "Post something (done)" }).waitFor();
    await page.getByRole("button", { name: /Good morning, Published/ }).waitFor();
    expect(await objectionsTo(page)).toEqual([]);
    await page.context().close();
  });

  it.each([
    { width: 1_440, height: 900 },
    { width: 390, height: 844 },
    { width: 360, height: 640 },
  ])("leaves room for what is planned in a window of $width × $height, also later", async (size) => {
    const page = await open(size);
    const today = page.locator(".plan-grid .today");
    await today.waitFor();
    await greeting(page).waitFor();
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      await picture(page, `welcome-begun-${size.width}-${theme}`);
      expect(await objectionsTo(page), theme).toEqual([]);
    }
    const { y, height } = (await today.boundingBox()) ?? { y: size.height, height: 0 };
    expect(y + height).toBeLessThan(size.height);
    expect(await greeting(page).getByLabel("Say hello").count()).toBe(0);
    await page.context().close();
  });

  it("leads to the platforms, without a second press", async () => {
    const page = await open();
    await greeting(page).getByRole("link", { name: "Connect a channel" }).click();
    await page.getByRole("heading", { name: "Connect a channel", level: 1 }).waitFor();
    await page.getByRole("searchbox", { name: "Search a platform" }).waitFor();
    await page.context().close();
  });

  it("leads to the assistants", async () => {
    const page = await open();
    await greeting(page).getByRole("link", { name: "Connect an assistant" }).click();
    await page.getByRole("heading", { name: "Assistants" }).waitFor();
    expect(await greeting(page).count()).toBe(0);
    await page.context().close();
  });

  it("is not for who may only look", async () => {
    const page = await open({ permissions: ["read"] });
    await page.getByRole("heading", { name: "Plan", level: 1 }).waitFor();
    expect(await greeting(page).count()).toBe(0);
    await page.context().close();
  });

  it("is dismissed for good", async () => {
    const page = await open();
    await greeting(page).getByRole("button", { name: "Dismiss" }).focus();
    await Promise.all([
      page.waitForResponse((answer) => answer.url().endsWith("/app/api/welcome")),
      page.keyboard.press("Enter"),
    ]);
    expect(await greeting(page).count()).toBe(0);
    await page.reload();
    await page.getByRole("heading", { name: "Plan", level: 1 }).waitFor();
    expect(await greeting(page).count()).toBe(0);
    await page.context().close();
  });
});
