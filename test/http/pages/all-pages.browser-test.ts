import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newContext } from "../../support/browser.ts";
import { newWindow, objectionsTo, picture, THEMES, WIDTHS } from "../../support/looks.ts";
import { PAGES, startWorld, type World } from "./all-pages.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.[Symbol.asyncDispose]());

describe.each(WIDTHS)("in a $name window", (look) => {
  it.each(PAGES)("$name has nothing that axe objects to, and fits", async ({ name, open }) => {
    const context = await newWindow(look);
    const page = await context.newPage();
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error" && !/status of 4\d\d/.test(message.text())) faults.push(message.text());
    });
    await open(page, world);
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      await picture(page, `${name}-${look.name}-${theme}`);
      expect([theme, await objectionsTo(page), faults]).toEqual([theme, [], []]);
    }
    await context.close();
  });
});

describe("a secret that is shown once", () => {
  it("is copied by its button, also where the browser gives the page no clipboard", async () => {
    for (const isSecure of [true, false]) {
      const context = await newContext({
        permissions: isSecure ? ["clipboard-read", "clipboard-write"] : [],
      });
      const page = await context.newPage();
      if (!isSecure)
        await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
      await PAGES.find(({ name }) => name === "connected")?.open(page, world);
      const secret = await page.locator("pre").innerText();
      await page.getByRole("button", { name: "Copy" }).click();
      await page.getByRole("button", { name: "Copied" }).waitFor();
      const pasted = await context.newPage();
      await pasted.setContent("<textarea></textarea>");
      await pasted.locator("textarea").focus();
      await pasted.keyboard.press("Control+V");
      expect(await pasted.locator("textarea").inputValue()).toBe(secret);
      await context.close();
    }
  });
});
