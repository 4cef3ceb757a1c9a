import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { startPageHost, type PageHost } from "../page-host.ts";

let host: PageHost;
let page: Page;
let accountId: string;
beforeAll(async () => {
  host = await startPageHost("Europe/Berlin");
  accountId = (await host.call("connect_channel", { provider: "feed", name: "Blog" })).account.id;
});
afterAll(() => host?.[Symbol.asyncDispose]());
afterEach(() => page?.context().close());

const cell = (day: string) => page.locator(`[data-key="cell:${day}"]`);
const isSeenAgain = (): Promise<unknown> =>
  page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');

async function change(id: string, args: object): Promise<void> {
  host.clock.advance(1_000);
  await host.call("update_post", { id, ...args });
}

it("an open plan and an open post show what others changed, and keep what is typed", async () => {
  const scheduledAt = "2026-12-09T09:00:00.000Z";
  const { post } = await host.call("schedule_post", { accountId, caption: "Old text", scheduledAt });
  page = await host.open({ path: `/app/plan?day=2026-12-09&post=${post.id}` });
  const panel = page.getByRole("dialog");
  await panel.getByText("Old text").first().waitFor();
  await cell("2026-12-09").getByText("Old text").waitFor();
  await change(post.id, { caption: "New text", scheduledAt: "2026-12-10T09:00:00.000Z" });
  await isSeenAgain();
  await panel.getByText("New text").first().waitFor();
  await cell("2026-12-10").getByText("New text").waitFor();
  const time = panel.getByLabel("Time", { exact: true });
  await expect.poll(() => time.inputValue()).toBe("2026-12-10T10:00");
  await time.fill("2026-12-11T10:00");
  await change(post.id, { scheduledAt: "2026-12-12T09:00:00.000Z" });
  await isSeenAgain();
  await panel.getByText(/It was moved elsewhere meanwhile, to /).waitFor();
  expect(await time.inputValue()).toBe("2026-12-11T10:00");
});

it("back leads to the month before, and the 31st is the 31st again", async () => {
  page = await host.open({ path: "/app/plan?day=2027-01-31" });
  const title = (name: string) => page.getByRole("heading", { name, exact: true });
  const day = (): string | null => new URL(page.url()).searchParams.get("day");
  await title("January 2027").waitFor();
  await page.getByRole("button", { name: "Next month" }).click();
  await title("February 2027").waitFor();
  await expect.poll(day).toBe("2027-02-28");
  await page.getByRole("button", { name: "Previous month" }).click();
  await expect.poll(day).toBe("2027-01-31");
  await page.goBack();
  await title("February 2027").waitFor();
  await page.goBack();
  await title("January 2027").waitFor();
});

it("a search finds while one types", async () => {
  const scheduledAt = "2026-12-15T09:00:00.000Z";
  await host.call("schedule_post", { accountId, caption: "Rye bread", scheduledAt });
  await host.call("schedule_post", { accountId, caption: "Blue cheese", scheduledAt });
  page = await host.open({ path: "/app/plan?view=list" });
  await page.getByText("Blue cheese").waitFor();
  await page.getByRole("searchbox", { name: "Search posts" }).pressSequentially("rye ");
  await page.getByText("Blue cheese").waitFor({ state: "detached" });
  await page.getByText("Rye bread").waitFor();
  expect(await page.getByRole("searchbox", { name: "Search posts" }).inputValue()).toBe("rye ");
});
