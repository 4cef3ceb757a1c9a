import type { Page } from "playwright-core";
import { startPageHost, type PageHost } from "../test/apps/page/page-host.ts";
import { closeBrowser } from "../test/support/browser.ts";
import { addPosts } from "../test/support/post-rows.ts";
import { percentile, print } from "./support/report.ts";

/**
 * `npx tsx bench/page.ts [posts = 1000]`: the page in a browser on this machine. How long it takes until the plan
 * can be used, how long a month of so many posts takes to be drawn anew, and the longest frame while a list is
 * scrolled. The floor is a page with a button for each post, which does nothing else.
 */
const [posts = "1000"] = process.argv.slice(2);
const count = Number(posts);
const ROUNDS = 7;

async function fill(host: PageHost): Promise<void> {
  const blog = await host.addFeed();
  const from = Date.parse("2026-11-01T00:30:00Z");
  const apart = (29.9 * 86_400_000) / count;
  await addPosts(
    host.ctx.store,
    Array.from({ length: count }, (_, at) => ({
      id: `post_${at}`,
      accountId: blog,
      caption: `Post number ${at}\nwith more to say`,
      scheduledAt: Math.round(from + at * apart),
    })),
  );
}

async function median(measure: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) times.push(await measure());
  return percentile(times, 50);
}

const PLAN = "/app/plan?day=2026-11-24";

/** From nothing to the first tile, in a browser that has nothing of it yet. */
async function load(host: PageHost): Promise<number> {
  const page = await host.open({ path: "/app/manifest.webmanifest" });
  const began = performance.now();
  await page.goto(`${host.address}${PLAN}`);
  await page.locator(".plan-grid [data-id]").first().waitFor();
  const took = performance.now() - began;
  await page.context().close();
  return took;
}

/** Each arrow draws all of it anew. */
function drawing(page: Page): Promise<number> {
  return page.evaluate(`(() => {
    const began = performance.now();
    document.querySelector('.plan-grid .cell[tabindex="0"]').dispatchEvent(new KeyboardEvent("keydown", { key: began % 2 < 1 ? "ArrowRight" : "ArrowLeft", bubbles: true }));
    document.querySelector(".plan-grid").offsetHeight;
    return performance.now() - began;
  })()`);
}

function floor(page: Page): Promise<number> {
  return page.evaluate(`(() => {
    const began = performance.now();
    const list = document.createElement("div");
    list.append(...Array.from({ length: ${count} }, (_, at) => {
      const button = document.createElement("button");
      button.textContent = "Post number " + at;
      return button;
    }));
    document.body.append(list);
    list.offsetHeight;
    const took = performance.now() - began;
    list.remove();
    return took;
  })()`);
}

/** The longest of the frames of a second, while the list goes by. */
function scrolling(page: Page): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    const began = performance.now();
    let last = began;
    let longest = 0;
    const step = (now) => {
      longest = Math.max(longest, now - last);
      last = now;
      scrollBy(0, 60);
      if (now - began < 1000) requestAnimationFrame(step);
      else resolve(longest);
    };
    requestAnimationFrame(step);
  })`);
}

await using host = await startPageHost();
await fill(host);
const usable = await median(() => load(host));
const month = await host.open({ path: PLAN });
await month.locator(".plan-grid [data-id]").first().waitFor();
const drawn = await median(() => drawing(month));
const least = await median(() => floor(month));
const list = await host.open({ path: "/app/plan?view=list&order=latest" });
await list.locator(".plan-tile").nth(99).waitFor({ state: "attached" });
const frame = await median(() => scrolling(list));
await closeBrowser();
const ms = (value: number): string => `${value.toFixed(0)} ms`;
print(
  ["what", "reached", "goal"],
  [
    ["usable, nothing cached", ms(usable), "1,000 ms"],
    [
      `a month of ${count} posts drawn anew`,
      `${ms(drawn)} (${(drawn / least).toFixed(1)} × the floor)`,
      "150 ms",
    ],
    ["the longest frame while the list is scrolled", ms(frame), "two frames"],
  ],
);
