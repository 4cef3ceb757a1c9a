import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { objectionsTo, picture, THEMES, WIDTHS } from "../../../support/looks.ts";
import { addPosts } from "../../../support/post-rows.ts";
import { startPageHost, type PageHost } from "../page-host.ts";

const POSTS = 60;
const STATUSES = ["scheduled", "published", "failed", "cancelled", "uploaded"] as const;

let host: PageHost;
beforeAll(async () => {
  host = await startPageHost("Europe/Berlin");
  const blog = (await host.call("connect_channel", { provider: "feed", name: "Blog" })).account.id;
  const news = (await host.call("connect_channel", { provider: "feed", name: "News" })).account.id;
  const from = Date.parse("2026-11-01T00:30:00Z");
  const apart = (29.9 * 86_400_000) / POSTS;
  await addPosts(
    host.ctx.store,
    Array.from({ length: POSTS }, (_, at) => ({
      id: `post_${at}`,
      accountId: at % 2 === 0 ? blog : news,
      caption: `Post number ${at}\nwith more to say`,
      scheduledAt: Math.round(from + at * apart),
      status: STATUSES[at % STATUSES.length] ?? "scheduled",
    })),
  );
  await host.call("save_draft", {
    title: "Spring opening",
    caption: "Soon",
    targets: [{ accountId: blog }],
    scheduledAt: "2026-11-27T09:00:00Z",
    submit: true,
  });
  await host.call("update_account", {
    accountId: news,
    schedule: { timezone: "Europe/Berlin", slots: [{ days: ["sat", "tue"], times: ["12:00"] }] },
  });
});
afterAll(() => host?.[Symbol.asyncDispose]());

const views = {
  month: ["/app/plan", ".plan-grid [data-day='2026-11-24']"],
  week: ["/app/plan?view=week&day=2026-11-24", ".plan-grid [data-hour], .plan-tile"],
  list: ["/app/plan?view=list", ".plan-tile"],
  empty: ["/app/plan?day=2027-03-01", ".state"],
  unfit: ["/app/plan?label=nowhere", ".state"],
} as const;

describe("how the plan looks", () => {
  const cases = [WIDTHS[0], { name: "small", width: 360 }].flatMap((window) =>
    Object.entries(views).map(([view, [path, ready]]) => ({ ...window, view, path, ready })),
  );
  it.each(cases)(
    "has nothing to object to: $view in a $name window",
    async ({ name, width, view, path, ready }) => {
      const page = await host.open({ path, width });
      await page.locator(ready).filter({ visible: true }).first().waitFor();
      for (const colorScheme of THEMES) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        expect(await objectionsTo(page), colorScheme).toEqual([]);
        await picture(page, `plan-${view}-${name}-${colorScheme}`);
      }
      await page.context().close();
    },
  );
});
