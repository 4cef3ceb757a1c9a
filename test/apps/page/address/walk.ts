import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

/** Notes every change of the address, by the page or by the browser's own steps. */
const NOTE_CHANGES = `(() => {
  const seen = (window.addresses = []);
  for (const name of ["pushState", "replaceState"]) {
    const change = history[name];
    history[name] = function (state, title, url) {
      seen.push(String(url));
      return change.call(this, state, title, url);
    };
  }
  addEventListener("popstate", () => seen.push(location.pathname + location.search));
})()`;

/** Makes a window tell of its changes, from the next page on. */
export async function watchAddress(page: Page): Promise<void> {
  await page.addInitScript(NOTE_CHANGES);
}

/** The changes since this was asked last. Answers only where the page is alive. */
export async function changesOf(page: Page): Promise<readonly string[]> {
  const seen: any = await page.evaluate("window.addresses.splice(0)");
  return seen;
}

export const title = (page: Page, name: string): Locator => page.getByRole("heading", { name, level: 1 });

/** Long enough for what would write once more: a call that fails, its sentence, and two drawings. */
const AFTER_MS = 400;

/** Where a step led to: in one change of the address, which stays. `to`: the path with what follows it. */
export async function expectOneChange(page: Page, to: RegExp, heading: string | null): Promise<void> {
  if (heading !== null) await title(page, heading).waitFor();
  else await page.waitForURL(to);
  await page.waitForTimeout(AFTER_MS);
  const changes = await changesOf(page);
  expect([changes, page.url()]).toEqual([[expect.stringMatching(to)], expect.stringMatching(to)]);
}

/** Everything that a browser's console would show in red or yellow, and every answer that refuses. */
export function watchConsole(page: Page): readonly string[] {
  const seen: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) seen.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => seen.push(`error: ${error.message}`));
  page.on("response", (answer) => {
    if (answer.status() >= 400)
      seen.push(`${answer.status()} ${answer.url()} ${answer.request().postData()}`);
  });
  return seen;
}
