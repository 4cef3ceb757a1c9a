import type { Locator, Page, Route } from "playwright-core";
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

/** The page's own files by their addresses, which a server lets no one ask for without end. */
const files = new Map<string, Awaited<ReturnType<typeof readFile>>>();
const LINE_MS = 60;

async function readFile(route: Route) {
  const answer = await route.fetch();
  return { status: answer.status(), headers: answer.headers(), body: await answer.body() };
}

/** Each file of the page takes its time to come, as over a network; without one it does not come. */
export async function serveFiles(page: Page): Promise<void> {
  await page.route(/\/app\/[^/?]+\.(?:js|css)$/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, LINE_MS));
    if (offline.has(page)) return route.abort();
    const url = route.request().url();
    const file = files.get(url) ?? (await readFile(route));
    files.set(url, file);
    await route.fulfill(file);
  });
}

const offline = new Set<Page>();

export async function setOffline(page: Page, isOffline: boolean): Promise<void> {
  if (isOffline) offline.add(page);
  else offline.delete(page);
  await page.context().setOffline(isOffline);
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
