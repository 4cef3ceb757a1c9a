import type { Locator, Page } from "playwright-core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { addAccount, addPosts } from "../../support/post-rows.ts";
import { type PageHost, startPageHost } from "./page-host.ts";

/*
 * A person presses twice, before the page has shown that the first press was heard. It is done once.
 */

let host: PageHost;
let page: Page;
beforeEach(async () => {
  host = await startPageHost();
  await addAccount(host.ctx.store, { id: "acc_sky", name: "Alpine Club", provider: "bluesky" });
});
afterEach(() => host?.[Symbol.asyncDispose]());

/** How often the page asks for it. */
async function countRequests(target: string): Promise<() => number> {
  let count = 0;
  await page.route(`**${target}`, async (route) => {
    if (route.request().method() === "POST") count += 1;
    await route.continue();
  });
  return () => count;
}

const pressTwice = (button: Locator): Promise<void> =>
  button.evaluate((element: { click(): void }) => {
    element.click();
    element.click();
  });
const button = (name: string): Locator => page.getByRole("button", { name, exact: true });

it("a draft is scheduled once, by button and by key", async () => {
  page = await host.open({ path: "/app/write?account=acc_sky" });
  await page.getByLabel("Text", { exact: true }).fill("Snow");
  await page.getByText(/^Saved /).waitFor();
  const calls = await countRequests("/app/api/tools/decide_draft");
  await button("Schedule").evaluate((element: any) => {
    const { document, KeyboardEvent } = globalThis as any;
    element.click();
    document.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true }));
  });
  await page.getByText(/^Scheduled for/).waitFor();
  expect(calls()).toBe(1);
});

it("a key is made once", async () => {
  page = await host.open({ path: "/app/settings" });
  await page.getByRole("button", { name: /^Claude Code/ }).click();
  const calls = await countRequests("/app/api/keys");
  await pressTwice(page.getByRole("dialog").getByRole("button", { name: "Make the key" }));
  await page.getByRole("dialog").locator("pre").waitFor();
  expect(calls()).toBe(1);
});

it("a post is sent again once", async () => {
  await addPosts(host.ctx.store, [
    { id: "post_a", accountId: "acc_sky", provider: "bluesky", caption: "Ice", status: "failed" },
  ]);
  page = await host.open({ path: "/app/trouble" });
  const calls = await countRequests("/app/api/tools/retry_post");
  await pressTwice(page.getByRole("button", { name: /^Send again/ }).first());
  await pressTwice(page.getByRole("button", { name: "Send it now" }));
  await expect.poll(calls).toBe(1);
  await page.getByText("Ice").first().waitFor({ state: "detached" });
  expect(calls()).toBe(1);
});
