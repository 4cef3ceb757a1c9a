import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { addAccount } from "../../../support/post-rows.ts";
import { type PageHost, startPageHost } from "../page-host.ts";

let host: PageHost;
let page: Page;
beforeAll(async () => {
  host = await startPageHost();
  await addAccount(host.ctx.store, { id: "acc_sky", name: "Alpine Club", provider: "bluesky" });
});
afterAll(() => host?.[Symbol.asyncDispose]());

const room = async (name: string): Promise<void> => {
  await page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
  await page.getByRole("heading", { name, level: 1 }).waitFor();
};

it("a text that is written offline, left and gone on with is one draft", async () => {
  page = await host.open({ path: "/app/review" });
  // Offline, a room is there that was there before.
  await room("Write");
  await page.getByRole("checkbox", { name: "Alpine Club" }).waitFor();
  await page.context().setOffline(true);
  await page.getByRole("checkbox", { name: "Alpine Club" }).press("Space");
  await page.getByLabel("Text", { exact: true }).fill("Written on a train");
  await page.getByText(/^Kept in this browser, not saved yet: /).waitFor();
  await room("Review");
  await room("Write");
  await expect.poll(() => page.getByLabel("Text", { exact: true }).inputValue()).toBe("Written on a train");
  await page.context().setOffline(false);
  const texts = async (): Promise<string[]> =>
    (await host.call("list_drafts", { state: ["open"] })).drafts.map(({ caption }: any) => caption);
  await expect.poll(texts, { timeout: 20_000 }).toEqual(["Written on a train"]);
  // What was left is tried again after five seconds.
  await page.waitForTimeout(7_000);
  expect(await texts()).toEqual(["Written on a train"]);
});
