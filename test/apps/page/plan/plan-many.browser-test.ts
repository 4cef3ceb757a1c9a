import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addPosts } from "../../../support/post-rows.ts";
import { watchConsole } from "../address/walk.ts";
import { startPageHost, type PageHost } from "../page-host.ts";

const MANY = 1_000;
const STATUSES = ["scheduled", "published", "failed", "cancelled", "uploaded"] as const;

let host: PageHost;
beforeAll(async () => {
  host = await startPageHost("Europe/Berlin");
  const blog = (await host.call("connect_channel", { provider: "feed", name: "Blog" })).account.id;
  const news = (await host.call("connect_channel", { provider: "feed", name: "News" })).account.id;
  const from = Date.parse("2026-11-01T00:30:00Z");
  const apart = (29.9 * 86_400_000) / MANY;
  await addPosts(
    host.ctx.store,
    Array.from({ length: MANY }, (_, at) => ({
      id: `post_${at}`,
      accountId: at % 2 === 0 ? blog : news,
      caption: `Post number ${at}\nwith more to say`,
      scheduledAt: Math.round(from + at * apart),
      status: STATUSES[at % STATUSES.length] ?? "scheduled",
    })),
  );
});
afterAll(() => host?.[Symbol.asyncDispose]());

describe(`${MANY} posts in a month`, () => {
  it("are all counted, and a day opens with its own", async () => {
    const page = await host.open({ path: "/app/plan?day=2026-11-24" });
    await page.locator("#legend").getByText("200 failed").waitFor();
    const seen = watchConsole(page);
    await page.reload();
    await page.locator("#legend").getByText("200 failed").waitFor();
    expect(seen).toEqual([]);
    const cell = page.locator('[data-key="cell:2026-11-10"]');
    await cell.click({ position: { x: 20, y: 12 } });
    expect(await page.getByRole("dialog").locator(".plan-tile").count()).toBeGreaterThan(30);
    await page.context().close();
  });

  it("come as one scrolls down the list", async () => {
    const page = await host.open({ path: "/app/plan?view=list&order=latest" });
    const tiles = page.locator(".plan-tile");
    await tiles.nth(99).waitFor({ state: "attached" });
    expect(await tiles.count()).toBe(100);
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
    await tiles.nth(199).waitFor({ state: "attached" });
    await page.context().close();
  });
});
