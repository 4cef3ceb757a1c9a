import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { addPosts } from "../../../support/post-rows.ts";
import { startPageHost, type PageHost } from "../page-host.ts";

let host: PageHost;
let blog: string;
let news: string;
let page: Page;

beforeAll(async () => {
  host = await startPageHost("Europe/Berlin");
  blog = (await host.call("connect_channel", { provider: "feed", name: "Blog" })).account.id;
  news = (await host.call("connect_channel", { provider: "feed", name: "News" })).account.id;
  await addPosts(host.ctx.store, [
    { id: "post_1", accountId: blog, caption: "Hello world", scheduledAt: "2026-11-24T08:00:00Z" },
    { id: "post_2", accountId: news, caption: "Late show", scheduledAt: "2026-11-25T17:30:00Z" },
    {
      id: "post_3",
      accountId: blog,
      caption: "It failed",
      scheduledAt: "2026-11-19T08:00:00Z",
      status: "failed",
    },
  ]);
  await host.call("schedule_post", {
    accountId: blog,
    caption: "Snow is here",
    scheduledAt: "2026-11-26T08:00:00Z",
    labels: ["winter"],
  });
  await host.call("save_draft", {
    title: "Spring opening",
    caption: "Soon",
    targets: [{ accountId: blog }],
    scheduledAt: "2026-11-27T09:00:00Z",
    submit: true,
  });
  await host.call("update_account", {
    accountId: news,
    schedule: { timezone: "Europe/Berlin", slots: [{ days: ["sat"], times: ["12:00"] }] },
  });
});
afterAll(() => host?.[Symbol.asyncDispose]());

const open = async (path: string, width = 1_280): Promise<void> => {
  page = await host.open({ path, width });
};
afterEach(() => page.context().close());

const cell = (key: string) => page.locator(`[data-key="cell:${key}"]`);
const chip = (day: string, name: RegExp) => cell(day).getByRole("button", { name });
const tile = (name: RegExp) => page.locator(".plan-tile").filter({ hasText: name });
const timeOf = async (id: string): Promise<string> => (await host.call("get_post", { id })).post.scheduledAt;
const isFocused = (element: any): boolean => element === element.ownerDocument.activeElement;
const heading = (name: string) => page.getByRole("heading", { name, level: 2 });
const idsInGrid = (): Promise<string[]> =>
  page.locator(".plan-grid [data-id]").evaluateAll((all: any[]) => all.map((one) => one.dataset.id).sort());

describe("the month", () => {
  it("shows posts, drafts and free times, and opens each where a person goes on", async () => {
    await open("/app/plan");
    await chip("2026-11-24", /^09:00, Blog, Hello world, Scheduled, Blog/).waitFor();
    await chip("2026-11-19", /It failed, Failed/).waitFor();
    await chip("2026-11-28", /^12:00 News, free on News/).click();
    await page.waitForURL(/\/app\/write\?account=acc_.*at=2026-11-28T11%3A00%3A00\.000Z/);
    await page.goBack();
    await chip("2026-11-27", /Spring opening, Waits for you/).click();
    await page.waitForURL(/\/app\/review\?draft=dft_/);
    await page.goBack();
    await chip("2026-11-24", /Hello world/).click();
    await page.waitForURL(/post=post_1/);
    await page.getByRole("dialog").getByText("Hello world").waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  });

  it("opens a day with all that it holds", async () => {
    await open("/app/plan");
    await cell("2026-11-24").click({ position: { x: 20, y: 90 } });
    const day = page.getByRole("dialog", { name: /Tuesday,? 24 November 2026/ });
    await day.getByRole("button", { name: /Hello world/ }).waitFor();
    await day.getByRole("link", { name: "Write a post for this day" }).waitFor();
  });

  it("goes to other months, by buttons, links and back", async () => {
    await open("/app/plan?day=2026-12-05");
    await heading("December 2026").waitFor();
    await heading("Nothing is planned in this month").waitFor();
    await page.getByRole("button", { name: "Previous month" }).click();
    await heading("November 2026").waitFor();
    await page.waitForURL(/day=2026-11-05/);
    await page.getByRole("button", { name: "Week" }).click();
    await heading("2 – 8 Nov 2026").waitFor();
    await page.getByRole("button", { name: "Today" }).click();
    await heading("16 – 22 Nov 2026").waitFor();
    await page.reload();
    await heading("16 – 22 Nov 2026").waitFor();
  });

  it("takes a post to another day by mouse, and back by Undo", async () => {
    await open("/app/plan");
    await chip("2026-11-24", /Hello world/).dragTo(cell("2026-11-30"));
    await page.getByText(/Moved to Monday,? 30 November 2026, 09:00/).waitFor();
    expect(await timeOf("post_1")).toBe("2026-11-30T08:00:00.000Z");
    await page.getByRole("button", { name: "Undo" }).click();
    await chip("2026-11-24", /Hello world/).waitFor();
    await expect.poll(() => timeOf("post_1")).toBe("2026-11-24T08:00:00.000Z");
  });

  it("says why a post may not go where it was dropped, and leaves it", async () => {
    await open("/app/plan");
    await chip("2026-11-24", /Hello world/).dragTo(cell("2026-11-03"));
    await page
      .getByText(/^That time has passed\. The post stays at Tuesday,? 24 November 2026, 09:00\.$/)
      .waitFor();
    await chip("2026-11-24", /Hello world/).waitFor();
    expect(await timeOf("post_1")).toBe("2026-11-24T08:00:00.000Z");
  });
});

describe("by keyboard alone", () => {
  it("walks to a post, carries it to another day, takes that back and opens it", async () => {
    await open("/app/plan?day=2026-11-24");
    await chip("2026-11-24", /Hello world/).waitFor();
    await cell("2026-11-24").focus();
    await page.keyboard.press("Tab");
    expect(await chip("2026-11-24", /Hello world/).evaluate(isFocused)).toBe(true);
    for (const key of ["m", "ArrowRight", "ArrowRight", "ArrowRight", "Enter"])
      await page.keyboard.press(key);
    await page.getByText(/Moved to Friday,? 27 November 2026, 09:00/).waitFor();
    expect(await chip("2026-11-27", /Hello world/).evaluate(isFocused)).toBe(true);
    await page.getByRole("button", { name: "Undo" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => timeOf("post_1")).toBe("2026-11-24T08:00:00.000Z");
    await chip("2026-11-24", /Hello world/).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByText("Hello world").waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    expect(await chip("2026-11-24", /Hello world/).evaluate(isFocused)).toBe(true);
  });
});

describe("a post that is carried by keys", () => {
  it("shows what to press, goes on into the next month, and comes back by Escape", async () => {
    await open("/app/plan?day=2026-11-24");
    await chip("2026-11-24", /Hello world/).focus();
    await page.keyboard.press("m");
    const keys = page.locator(".carrying");
    await keys.getByText("puts it there").waitFor();
    await keys.getByText(/Tuesday,? 24 November 2026/).waitFor();
    for (const _ of [1, 2, 3, 4]) await page.keyboard.press("ArrowDown");
    await page.getByRole("heading", { name: "December 2026" }).waitFor();
    await keys.getByText(/Tuesday,? 22 December 2026/).waitFor();
    await expect.poll(() => chip("2026-12-22", /Hello world/).evaluate(isFocused)).toBe(true);
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "November 2026" }).waitFor();
    await keys.waitFor({ state: "detached" });
    await expect.poll(() => chip("2026-11-24", /Hello world/).evaluate(isFocused)).toBe(true);
    expect(await timeOf("post_1")).toBe("2026-11-24T08:00:00.000Z");
    await page.keyboard.press("m");
    for (const _ of [1, 2, 3, 4]) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByText(/^Moved to Tuesday,? 22 December 2026/).waitFor();
    await expect.poll(() => timeOf("post_1")).toBe("2026-12-22T08:00:00.000Z");
    // The message about it lies beside the days, so that it hides none.
    const [grid, toast] = [
      await page.locator("#grid").boundingBox(),
      await page.locator(".toast").boundingBox(),
    ];
    expect(toast!.x + toast!.width).toBeLessThanOrEqual(grid!.x);
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(() => timeOf("post_1")).toBe("2026-11-24T08:00:00.000Z");
  });
});

describe("the filters", () => {
  it("leave a channel, a state or a label, and stand in the address", async () => {
    await open("/app/plan");
    await chip("2026-11-25", /Late show/).waitFor();
    await page.getByText("Channels", { exact: true }).last().click();
    await page.getByRole("checkbox", { name: /News/ }).check();
    await expect.poll(idsInGrid).toEqual(["post_2"]);
    await page.waitForURL(/channel=acc_/);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Show all" }).click();
    await expect.poll(async () => (await idsInGrid()).length).toBe(5);
    await page.getByText("State", { exact: true }).click();
    await page.getByRole("checkbox", { name: "Failed" }).check();
    await expect.poll(idsInGrid).toEqual(["post_3"]);
    await page.reload();
    await chip("2026-11-19", /It failed/).waitFor();
    expect(await idsInGrid()).toEqual(["post_3"]);
    await page.getByRole("button", { name: "Show all" }).click();
    await page.getByRole("combobox", { name: "Label" }).fill("winter");
    await page.keyboard.press("Enter");
    await expect.poll(idsInGrid).toHaveLength(1);
    await chip("2026-11-26", /Snow is here/).waitFor();
    await page.getByRole("combobox", { name: "Label" }).fill("nowhere");
    await page.keyboard.press("Enter");
    await heading("Nothing fits in this month").waitFor();
  });
});

describe("the list", () => {
  it("has the next posts by day, finds by words, and turns round", async () => {
    await open("/app/plan?view=list");
    await heading("Tuesday 24 November 2026").or(heading("Tuesday, 24 November 2026")).waitFor();
    await expect.poll(() => page.locator(".plan-tile").first().innerText()).toContain("Hello world");
    expect(await tile(/It failed/).count()).toBe(0);
    const drafts = page.getByText("Only posts are listed here.").getByRole("link");
    expect(await drafts.getAttribute("href")).toBe("/app/review?show=written");
    await page.getByRole("combobox", { name: "Order" }).selectOption("latest");
    await tile(/It failed/).waitFor();
    await expect.poll(() => page.locator(".plan-tile").first().innerText()).toContain("Snow is here");
    await page.getByRole("searchbox", { name: "Search posts" }).fill("late");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator(".plan-tile").count()).toBe(1);
    await page.waitForURL(/search=late/);
    await tile(/Late show/).click();
    await page.getByRole("dialog").getByText("Late show").waitFor();
  });
});

describe("on a phone", () => {
  it("has dots in the month, and the chosen day below it", async () => {
    await open("/app/plan", 360);
    await cell("2026-11-24").click();
    await tile(/Hello world/).waitFor();
    expect(await page.locator(".plan-grid [data-id]").count()).toBe(0);
    expect(await cell("2026-11-24").locator(".dots i").count()).toBe(1);
    await page.getByRole("button", { name: "Week" }).click();
    await heading("Wed 25 Nov").or(heading("Wed, 25 Nov")).waitFor();
    await tile(/Late show/).click();
    await page.getByRole("dialog").getByText("Late show").waitFor();
  });

  it("begins a post for the day that is chosen, with posts or without, and comes back to it", async () => {
    await open("/app/plan", 360);
    const write = page.getByRole("link", { name: "Write a post for this day" });
    await cell("2026-11-24").click();
    await tile(/Hello world/).waitFor();
    await page.waitForURL(/day=2026-11-24/);
    await write.waitFor();
    for (const month of ["December 2026", "January 2027"]) {
      await page.getByRole("button", { name: "Next month" }).click();
      await heading(month).waitFor();
    }
    await cell("2027-01-14").click();
    await page.waitForURL(/day=2027-01-14/);
    await write.click();
    await page.getByText(/^Thursday,? 14 January 2027, 09:00$/).waitFor();
    await page.goBack();
    await heading("January 2027").waitFor();
    expect(await cell("2027-01-14").getAttribute("tabindex")).toBe("0");
    // What is over is not written for.
    await page.goto(`${host.address}/app/plan?day=2026-11-19`);
    await tile(/It failed/).waitFor();
    expect(await write.count()).toBe(0);
  });
});

describe("one who may only look", () => {
  beforeEach(async () => {
    page = await host.open({ path: "/app/plan?post=post_1", permissions: ["read"] });
  });

  it("moves nothing and has no button for it", async () => {
    const post = page.getByRole("dialog");
    await post.getByText("Hello world").waitFor();
    for (const name of ["Move", "Send now", "Cancel post", "Edit", "Duplicate"])
      expect(await post.getByText(name, { exact: true }).count()).toBe(0);
    await page.keyboard.press("Escape");
    await chip("2026-11-24", /Hello world/).dragTo(cell("2026-11-30"));
    expect(await timeOf("post_1")).toBe("2026-11-24T08:00:00.000Z");
  });
});

describe("a filter that is being typed", () => {
  it.each(["/app/plan", "/app/plan?view=list"])("stays while the plan at %s is drawn anew", async (path) => {
    await open(path);
    await page.locator("[data-id]").first().waitFor();
    const field = page.getByRole("combobox", { name: "Label" });
    await field.fill("half a lab");
    const caption = `Added beside ${path}`;
    await host.call("schedule_post", { accountId: blog, caption, scheduledAt: "2026-11-29T09:00:00Z" });
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.getByText(caption).first().waitFor();
    expect(await field.inputValue()).toBe("half a lab");
  });
});
