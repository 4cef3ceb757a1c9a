import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { startPageHost, type PageHost } from "../page-host.ts";

/* Posts of a series are made some days ahead. Until then, days are not said to be empty. */

let host: PageHost;
let page: Page;
let series: string;
beforeAll(async () => {
  host = await startPageHost("Europe/Berlin");
  const { account } = await host.call("connect_channel", { provider: "feed", name: "Blog" });
  const { draft } = await host.call("save_draft", {
    title: "Sunday bread",
    caption: "Fresh",
    targets: [{ accountId: account.id }],
    repeat: {
      every: 1,
      unit: "month",
      time: "10:00",
      timezone: "Europe/Berlin",
      from: "2026-12-31",
    },
  });
  series = draft.id;
  await host.call("decide_draft", { id: series, revision: draft.revision, decision: "approve" });
});
afterAll(() => host?.[Symbol.asyncDispose]());
afterEach(() => page?.context().close());

const open = async (path: string, width = 1_280): Promise<void> => {
  page = await host.open({ path, width });
};
const told = () => page.getByText(/10:00 from the series/);

it("a day of the month has a mark, is named so, and lists what comes, with a way to the series", async () => {
  await open("/app/plan?day=2027-01-12");
  const cell = page.locator('[data-key="cell:2027-01-31"]');
  await cell.locator(".coming").waitFor();
  await cell.getByText(/no posts, 1 from series, not made yet/).waitFor();
  await cell.locator(".number").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(/10:00 from the series/).waitFor();
  expect(await dialog.getByText("Nothing is planned").count()).toBe(0);
  await dialog.getByRole("link", { name: "Sunday bread" }).click();
  await page.waitForURL(`**/app/review?show=decided&draft=${series}`);
});

it("a month of which no post is made says so once", async () => {
  await open("/app/plan?day=2027-02-12");
  await page.getByRole("heading", { name: "No post is made yet in this month" }).waitFor();
  expect(await page.getByText("No posts in this month").count()).toBe(0);
  expect(await page.getByText(/from the series/).count()).toBe(1);
});

it.each([
  ["month", 390],
  ["week", 390],
  ["week", 1_280],
] as const)("the %s at %i pixels tells it, too", async (view, width) => {
  await open(`/app/plan?view=${view}&day=2027-01-31`, width);
  if (width < 800) {
    await told().first().waitFor();
    const day = page.locator(".plan-day").filter({ has: told() });
    expect(await day.getByText("Nothing is planned").count()).toBe(0);
  } else await page.locator('[data-key="cell:2027-01-31T10"] .coming').waitFor();
});

it("the list names the series at its end", async () => {
  await open("/app/plan?view=list", 390);
  await page.getByText(/from the series/).waitFor();
  await page.getByRole("link", { name: "Sunday bread" }).waitFor();
});

it("a post of a series says that it is one, leads to it, and can end it", async () => {
  const { posts } = await host.call("list_posts", {});
  await open(`/app/plan?post=${posts[0].id}`);
  const panel = page.getByRole("dialog");
  await panel.getByText(/This is a post of the series/).waitFor();
  await panel.getByRole("link", { name: "Sunday bread" }).waitFor();
  await panel.getByRole("button", { name: "End the series" }).click();
  await page.getByRole("button", { name: "End the series" }).last().click();
  await page.getByText("The series is ended.").waitFor();
  await panel.getByText(/which is ended\./).waitFor();
  const { drafts } = await host.call("list_drafts", { id: series });
  expect(drafts).toMatchObject([{ state: "ended" }]);
});
