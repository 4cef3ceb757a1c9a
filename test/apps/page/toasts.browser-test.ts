import { afterAll, beforeAll, expect, it } from "vitest";
import { startPageHost, type PageHost } from "./page-host.ts";

let host: PageHost;
beforeAll(async () => {
  host = await startPageHost();
});
afterAll(() => host?.[Symbol.asyncDispose]());

/** How much of a failure is out of sight. */
const CUT = `(() => {
  const toasts = document.querySelector(".toasts");
  toasts.innerHTML = '<div class="toast bad"><span></span></div>';
  const span = toasts.querySelector("span");
  span.textContent = "It did not go out on 1 of 2 channels. Fjord Bakery on Mastodon: ".repeat(6);
  const { top, bottom, right } = span.getBoundingClientRect();
  const isBeyond = top < 0 || bottom > innerHeight || right > innerWidth;
  return isBeyond ? "beyond the window" : span.scrollHeight - Math.ceil(span.getBoundingClientRect().height);
})()`;

it.each([320, 390, 800, 1_024, 1_440])("a failure is read to its end at %i pixels", async (width) => {
  const page = await host.open({ path: "/app/plan", width });
  await page.locator(".toasts").waitFor({ state: "attached" });
  expect(await page.evaluate(CUT)).toBe(0);
  await page.context().close();
});
