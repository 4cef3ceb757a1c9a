import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { objectionsTo, picture, THEMES } from "../../../support/looks.ts";
import { addAccount, addPosts } from "../../../support/post-rows.ts";
import { startPageHost, type PageHost } from "../page-host.ts";

/* Two channels of one platform and one name. */

const NAMES = [
  "Fjord Bakery on Mastodon (fjord@baking.example)",
  "Fjord Bakery on Mastodon (fjordbuns@baking.example)",
];
const SLOTS = { timezone: "Europe/Berlin", slots: [{ days: ["sat"], times: ["09:00"] }] };

let host: PageHost;
beforeAll(async () => {
  host = await startPageHost("Europe/Berlin");
  for (const [id, user] of [
    ["acc_one", "fjord"],
    ["acc_two", "fjordbuns"],
  ] as const) {
    const handle = `${user}@baking.example`;
    await addAccount(host.ctx.store, { id, provider: "mastodon", name: "Fjord Bakery", handle });
    await host.call("update_account", { accountId: id, schedule: SLOTS });
  }
  // Today, from midnight on in Berlin: what is over came first.
  const today = "2026-11-21T";
  const statuses = ["published", "published", "published", "scheduled", "failed"] as const;
  await addPosts(
    host.ctx.store,
    statuses.map((status, at) => ({
      id: `post_${at}`,
      accountId: at % 2 === 0 ? "acc_one" : "acc_two",
      provider: "mastodon",
      caption: `Bread ${at}`,
      scheduledAt: `${today}${status === "scheduled" ? "20" : `0${at}`}:30:00Z`,
      status,
    })),
  );
  await addPosts(
    host.ctx.store,
    ["acc_one", "acc_two"].map((accountId) => ({
      id: `post_${accountId}`,
      accountId,
      provider: "mastodon",
      caption: "Rye",
      scheduledAt: "2026-11-25T08:00:00Z",
      status: "published" as const,
    })),
  );
  await host.call("save_draft", {
    caption: "Buns for both",
    targets: [{ accountId: "acc_one" }, { accountId: "acc_two" }],
    scheduledAt: "2026-11-26T08:00:00Z",
  });
});
afterAll(() => host?.[Symbol.asyncDispose]());

const pictures = async (page: Page, name: string): Promise<void> => {
  for (const colorScheme of THEMES) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await picture(page, `alike-${name}-${colorScheme}`);
  }
};
/** What of an element is cut off, in pixels. */
const cutOff = (one: any): number => one.scrollWidth - one.clientWidth;

describe("channels that differ only in their handles", () => {
  it.each([360, 390, 1_440])("are told apart where one writes, at %d px", async (width) => {
    const page = await host.open({ path: "/app/write", width });
    const chips = page.locator(".chip-name");
    await expect.poll(() => chips.allTextContents()).toEqual(NAMES);
    expect(
      await chips.evaluateAll((all: any[]) => all.map((one) => one.scrollWidth - one.clientWidth)),
    ).toEqual([0, 0]);
    await pictures(page, `write-${width}`);
    await page.context().close();
  });

  it.each([1_000, 1_440])("have the names in the week that one sees, at %d px", async (width) => {
    const page = await host.open({ path: "/app/plan?view=week&day=2026-11-25", width });
    await page.locator("[data-id^='post_acc'] .place").first().waitFor();
    expect(await objectionsTo(page)).toEqual([]);
    await pictures(page, `names-${width}`);
    await page.context().close();
  });

  it.each(["month", "week"])("are all on the tile of their draft, in the %s", async (view) => {
    const page = await host.open({ path: `/app/plan?view=${view}&day=2026-11-26`, width: 1_440 });
    const chip = page.getByRole("button", { name: /Buns for both/ });
    const name = ["09:00", "fjord +1", "Buns for both", "Draft", ...NAMES].join(", ");
    await expect.poll(() => chip.getAttribute("title")).toBe(name);
    expect(await page.getByRole("button", { name, exact: true }).count()).toBe(1);
    await pictures(page, `draft-${view}`);
    await page.context().close();
  });

  it.each(["month", "week"])("are told apart in the %s, posts and free slots", async (view) => {
    const page = await host.open({ path: `/app/plan?view=${view}&day=2026-11-25`, width: 1_440 });
    const places = page.locator("[data-id^='post_acc'] .place");
    await expect.poll(() => places.allTextContents()).toEqual(["fjord", "fjordbuns"]);
    const free = page.locator("[data-day='2026-11-28'] .slot");
    await expect.poll(() => free.locator(".place").allTextContents()).toEqual(["fjord", "fjordbuns"]);
    // As much of the longer one is seen as tells it from the other.
    for (const row of [places.nth(1), free.nth(1), free.nth(1).locator(".place > :last-child")])
      expect(await row.evaluate(cutOff)).toBe(0);
    await pictures(page, view);
    await page.context().close();
  });

  it("have what needs a person, and what comes next, first in a day's cell", async () => {
    const page = await host.open({ path: "/app/plan", width: 1_440 });
    const titles = page.locator("[data-day='2026-11-21'] .chip .title");
    await expect.poll(() => titles.allTextContents()).toEqual(["Bread 4", "Bread 3", "Bread 0"]);
    await page.context().close();
    const phone = await host.open({ path: "/app/plan", width: 360 });
    const dots = phone.locator("[data-day='2026-11-21'] .dots i");
    await expect
      .poll(() => dots.evaluateAll((all: any[]) => all.map((one) => one.className)))
      .toEqual(["failed", "scheduled", "published"]);
    await pictures(phone, "month-360");
    await phone.context().close();
  });

  it("say when the next free slot is, before and after, and the plan shows that day", async () => {
    const page = await host.open({ path: "/app/write?at=2027-01-16T08:00:00.000Z", width: 1_440 });
    await page.getByText(/^Saturday,? 16 January 2027, 09:00$/).waitFor();
    for (const name of NAMES) await page.getByRole("checkbox", { name }).press("Space");
    await page.getByLabel("Text", { exact: true }).fill("Buns");
    await page.getByRole("radio", { name: "Next free slot" }).press("Space");
    const next = page.locator(".next-slots li");
    await expect
      .poll(() => next.allTextContents())
      .toEqual(NAMES.map((name) => `Sat 28 Nov, 09:00 on ${name}`));
    await pictures(page, "next-slot");
    await page.getByRole("radio", { name: "At a time" }).press("Space");
    await page.getByRole("button", { name: "Schedule", exact: true }).click();
    await page.getByText(`Scheduled for Sat, 16 Jan 2027, 09:00 on ${NAMES.join(" and ")}.`).waitFor();
    await page.getByRole("heading", { name: "January 2027" }).waitFor();
    await page.locator("[data-day='2027-01-16'] .chip").first().waitFor();
    await pictures(page, "january");
    await page.context().close();
  });

  it("are followed in their message while the server says what they wait for", async () => {
    const page = await host.open({ path: "/app/write?account=acc_one", width: 1_440 });
    let error: string | null = null;
    await page.route("**/app/api/tools/get_post", async (route) => {
      const answer = await route.fetch();
      const { result }: any = await answer.json();
      const post = { ...result.post, status: "publishing", error };
      const sentences = error === null ? {} : { "/post/error": [{ field: null, what: error, next: [] }] };
      await route.fulfill({ response: answer, json: { result: { ...result, post }, sentences } });
    });
    await page.getByLabel("Text", { exact: true }).fill("Now");
    await page.getByRole("radio", { name: "Now" }).press("Space");
    await page.getByRole("button", { name: "Publish now" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Publish now" }).click();
    await page.getByText(/^On its way to /).waitFor();
    error =
      "Mastodon asks to slow down. The next try is on Saturday 21 November 2026, 10:04 (Europe/Berlin).";
    await page.getByText(/The next try is on Sat 21 Nov, 10:04\. Still on its way to /).waitFor();
    expect(await page.getByRole("link", { name: "Show in plan" }).count()).toBe(0);
    await pictures(page, "held");
    await page.context().close();
  });
});
