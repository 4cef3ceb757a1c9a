import { afterAll, beforeAll, expect, it } from "vitest";
import { startPageHost, type PageHost } from "./page-host.ts";

let host: PageHost;
beforeAll(async () => {
  host = await startPageHost();
});
afterAll(() => host?.[Symbol.asyncDispose]());

/** How much of the window a long failure hides, whether it can be read to its end, and whether it lies over the rooms. */
const LOOK = `(() => {
  const toasts = document.querySelector(".toasts");
  toasts.innerHTML = '<div class="toast bad"><span></span><button class="button small">See problems</button></div>';
  const span = toasts.querySelector("span");
  span.textContent = "It did not go out on 1 of 2 channels. Fjord Bakery on Mastodon: ".repeat(9);
  span.scrollTop = span.scrollHeight;
  const box = toasts.getBoundingClientRect();
  const covers = [...document.querySelectorAll(".rooms > a")].some((link) => {
    const one = link.getBoundingClientRect();
    return one.width > 0 && one.top < box.bottom && one.bottom > box.top;
  });
  const isRead = span.scrollTop + span.clientHeight >= span.scrollHeight - 1;
  return { share: box.height / innerHeight, isRead, covers, isIn: box.top >= 0 && box.right <= innerWidth };
})()`;

it.each([
  [320, 640],
  [390, 844],
  [800, 800],
  [1_024, 800],
  [1_440, 900],
])("a failure is read to its end, and hides little, at %i × %i", async (width, height) => {
  const page = await host.open({ path: "/app/plan", width, height });
  await page.locator(".toasts").waitFor({ state: "attached" });
  const { share, ...rest } = (await page.evaluate(LOOK)) as { share: number };
  expect(rest).toEqual({ isRead: true, covers: false, isIn: true });
  expect(share).toBeLessThanOrEqual(0.25);
  await page.context().close();
});
