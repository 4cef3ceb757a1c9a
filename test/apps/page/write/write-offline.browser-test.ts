import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { emptyForm } from "../../../../apps/page/rooms/write/form.ts";
import { createZone } from "../../../../apps/shared/zone.ts";
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

it("each of two texts that were written offline becomes a draft, also after the page was loaded anew", async () => {
  page = await host.open({ path: "/app/review" });
  const like = emptyForm(host.clock.now(), createZone("Europe/Berlin"));
  // As a window that was closed offline leaves them.
  const kept = ["Written on a ship", "Written on a bus"].map((caption, at) => [
    JSON.stringify(["posthorn.edit", "Anna", `new:${at}-a`]),
    JSON.stringify({ base: "0", change: { ...like, caption } }),
  ]);
  await page.evaluate((all) => {
    const { localStorage } = globalThis as any;
    for (const [name, value] of all) localStorage.setItem(name, value);
  }, kept);
  await page.goto(`${host.address}/app/write`);
  await expect.poll(() => page.getByLabel("Text", { exact: true }).inputValue()).toBe("Written on a bus");
  await page.getByText(/^A text that you wrote before/).waitFor();
  const texts = async (): Promise<string[]> =>
    (await host.call("list_drafts", { state: ["open"] })).drafts.map(({ caption }: any) => caption).sort();
  await expect.poll(texts).toEqual(["Written on a bus", "Written on a ship"]);
  const { drafts } = await host.call("list_drafts", { state: ["open"] });
  for (const { id, revision } of drafts)
    await host.call("decide_draft", { id, revision, decision: "discard" });
  await page.context().close();
});

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
