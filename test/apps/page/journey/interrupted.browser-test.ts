import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { objectionsTo, picture, THEMES } from "../../../support/looks.ts";
import { startPageHost, type PageHost } from "../page-host.ts";

let host: PageHost;
let page: Page;
let faults: string[];
beforeAll(async () => {
  host = await startPageHost();
  await host.addFeed();
});
afterAll(() => host?.[Symbol.asyncDispose]());
beforeEach(() => {
  faults = [];
});
afterEach(async () => {
  await page?.context().close();
  expect(faults).toEqual([]);
});

async function open(path: string, width = 1_280): Promise<void> {
  page = await host.open({ path, width });
  page.on("pageerror", (error) => faults.push(error.message));
}
const room = (name: string): Promise<void> => page.getByRole("heading", { name, level: 1 }).waitFor();
const saved = (): Promise<void> => page.getByText(/^Saved /).waitFor();
const text = () => page.getByRole("textbox", { name: "Text", exact: true });
const drafts = async (): Promise<any[]> => (await host.call("list_drafts", {})).drafts;
const out = () => page.getByText("Posthorn does not answer.").first();

describe("a server that does not answer", () => {
  it("is said, nothing breaks, and it goes on by itself", async () => {
    await open("/app/plan");
    await room("Plan");
    await page.getByText("Nothing goes out: no publisher runs").waitFor();
    await page.context().setOffline(true);
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.getByRole("status").getByText("What you see may be old.").waitFor();
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      await picture(page, `offline-${theme}`);
      expect(await objectionsTo(page)).toEqual([]);
    }
    // This room was never opened before.
    await page.getByRole("link", { name: "Channels" }).click();
    await page.context().setOffline(false);
    await room("Channels");
    await page.getByText("Feed of default").first().waitFor();
    await out().waitFor({ state: "detached" });
  });

  it("is waited for where the page is opened meanwhile", async () => {
    await open("/app/plan");
    await room("Plan");
    await page.route("**/app/api/**", (route) => route.abort());
    await page.reload();
    await page.getByRole("alert").getByText("Posthorn does not answer.").waitFor();
    await page.unroute("**/app/api/**");
    await room("Plan");
  });

  it("shows the shape of what comes while it is slow", async () => {
    await open("/app/trouble");
    await room("Trouble");
    let answer = (): void => {};
    const answered = new Promise<void>((resolve) => (answer = resolve));
    await page.route("**/app/api/tools/**", async (route) => {
      await answered;
      await route.continue();
    });
    for (const name of ["Channels", "Review", "Results", "Trouble", "Plan"]) {
      await page.goto(`${host.address}/app/${name.toLowerCase()}`);
      await room(name);
      await page
        .getByRole("status", { name: /loading/i })
        .first()
        .waitFor();
      await picture(page, `slow-${name}`);
      expect([name, await objectionsTo(page)]).toEqual([name, []]);
    }
    answer();
    await page
      .getByRole("status", { name: /loading/i })
      .first()
      .waitFor({ state: "detached" });
  });
});

describe("a session that ends while something is written", () => {
  it.each([1_280, 360])("keeps what was typed, in a window of %i pixels", async (width) => {
    await open("/app/write", width);
    await page.getByRole("checkbox", { name: /Feed of default/ }).check({ force: true });
    await text().fill("Before");
    await saved();
    await page.context().clearCookies();
    await text().fill("Before, and after");
    const again = page.getByRole("dialog", { name: "Sign in" });
    await again.getByText("What you were doing is still here.").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      await picture(page, `again-${width}-${theme}`);
      expect(await objectionsTo(page)).toEqual([]);
    }
    await again.getByLabel("Or paste an API key").fill(await host.keyFor("default", { name: "Anna" }));
    await page.keyboard.press("Enter");
    await again.waitFor({ state: "detached" });
    expect(await text().inputValue()).toBe("Before, and after");
    await saved();
    await expect.poll(async () => (await drafts())[0].caption).toBe("Before, and after");
    expect(await text().evaluate((element: any) => element === element.ownerDocument.activeElement)).toBe(
      true,
    );
  });

  it("shows nothing of it to one with other rights", async () => {
    await open("/app/write");
    await text().fill("Only for Anna");
    await page.context().clearCookies();
    const again = page.getByRole("dialog", { name: "Sign in" });
    await again.waitFor();
    const key = await host.keyFor("default", { name: "Ben", permissions: ["read"] });
    await again.getByLabel("Or paste an API key").fill(key);
    await page.keyboard.press("Enter");
    await page.getByText("You can look, and not write").waitFor();
    expect(await page.getByText("Only for Anna").count()).toBe(0);
  });
});
