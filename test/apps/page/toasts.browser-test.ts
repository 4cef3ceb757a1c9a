import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Post } from "../../../src/domain/posts/post.ts";
import { picture } from "../../support/looks.ts";
import { drawMessage } from "./drawn-message.ts";
import { startPageHost, type PageHost } from "./page-host.ts";

let host: PageHost;
beforeAll(async () => {
  host = await startPageHost();
});
afterAll(() => host?.[Symbol.asyncDispose]());

/** How much of the window a long failure hides, whether it can be read to its end, and whether it lies over the rooms. */
const LOOK = `(() => {
  const toasts = document.querySelector(".toasts");
  toasts.innerHTML = '<div class="toast bad"><span></span><div class="toast-foot"><button class="button small">See problems</button></div></div>';
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

const NAMES = {
  a: "Fjord Bakery on Mastodon (fjord@127.0.0.1:5144)",
  b: "Fjord Bakery on Mastodon (fjord@social.harbour-town.example)",
  c: `${"Long".repeat(20)} on Mastodon`,
};
const REFUSED =
  'The server refused the request. Mastodon says: "Validation failed: Text contains a banned word"';

const sent = (accountId: string, status: Post["status"], error: string | null = null) => ({
  id: `post_${accountId}`,
  accountId,
  status,
  scheduledAt: "2026-11-21T09:00:00.000Z",
  platformUrl: status === "published" ? `https://social.example/${accountId}` : null,
  error,
});
const OUTCOMES = {
  "one live": [sent("a", "published")],
  "all live": [sent("a", "published"), sent("b", "published"), sent("c", "published")],
  "one live, one cancelled": [sent("a", "published"), sent("b", "cancelled")],
  "one refused": [sent("a", "failed", REFUSED)],
  "one live, one refused": [sent("a", "published"), sent("b", "failed", REFUSED)],
  "two live, one refused": [sent("a", "published"), sent("c", "published"), sent("b", "failed", REFUSED)],
  "one waits": [sent("a", "publishing", `Mastodon asks to slow down. ${REFUSED}`), sent("b", "publishing")],
  unknown: [sent("c", "failed", "outcome unknown: The connection broke."), sent("b", "published")],
};

/** What of a message is outside the window or too narrow, how much it hides, and whether it is read to its end. */
const MESSAGE = `(() => {
  const toast = document.querySelector("[data-drawn] .toast");
  const box = toast.getBoundingClientRect();
  const isIn = (one) => {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    return left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight;
  };
  const ways = toast.querySelector(".toast-ways");
  const outside = [toast, ...toast.querySelectorAll("span, .toast-foot, .toast-ways, button")];
  const wide = [...ways.querySelectorAll(".button")].filter(
    (one) => one.getBoundingClientRect().right > innerWidth || one.scrollWidth > one.clientWidth,
  );
  const span = toast.querySelector("span");
  span.scrollTop = span.scrollHeight;
  const { clientHeight, scrollHeight, scrollTop } = span;
  const close = toast.querySelector("[aria-label='Close this message']");
  const at = close.getBoundingClientRect();
  return {
    outside: outside.filter((one) => !isIn(one)).map((one) => one.className || one.tagName),
    wide: wide.map((one) => one.textContent),
    isCut: scrollTop + clientHeight < scrollHeight - 1 || getComputedStyle(span).webkitLineClamp !== "none",
    isClosable: close.contains(document.elementFromPoint(at.x + at.width / 2, at.y + at.height / 2)),
    isTooTall: box.height > innerHeight / 2,
  };
})()`;

describe.each([
  [360, 640],
  [390, 844],
  [1_440, 900],
])("at %i × %i, what became of posts", (width, height) => {
  it.each(Object.keys(OUTCOMES) as (keyof typeof OUTCOMES)[])(
    "is in sight, and can be closed: %s",
    async (of) => {
      const page = await host.open({ path: "/app/plan", width, height });
      await page.locator(".toasts").waitFor({ state: "attached" });
      await drawMessage(page, OUTCOMES[of], NAMES);
      await picture(page, `message-${of}-${width}`);
      expect(await page.evaluate(MESSAGE)).toEqual({
        outside: [],
        wide: [],
        isCut: false,
        isClosable: true,
        isTooTall: false,
      });
      await page.context().close();
    },
  );
});
