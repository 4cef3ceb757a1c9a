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

const EMPTY_FORM = emptyForm(Date.parse("2026-11-21T09:00:00Z"), createZone("Europe/Berlin"));

const room = async (name: string): Promise<void> => {
  await page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
  await page.getByRole("heading", { name, level: 1 }).waitFor();
};

it("each of two texts that were written offline becomes a draft, also after the page was loaded anew", async () => {
  page = await host.open({ path: "/app/write" });
  for (const [id, caption] of [
    ["new:1-a", "Written on a ship"],
    ["new:2-b", "Written on a bus"],
  ] as const)
    await page.evaluate("([name, kept]) => localStorage.setItem(name, kept)", [
      JSON.stringify(["posthorn.edit", "Anna", id]),
      JSON.stringify({ base: "0", change: { ...EMPTY_FORM, caption } }),
    ]);
  await page.reload();
  await expect.poll(() => page.getByLabel("Text", { exact: true }).inputValue()).toBe("Written on a bus");
  await page.getByText(/^A text that you wrote before/).waitFor();
  const texts = async (): Promise<string[]> =>
    (await host.call("list_drafts", { state: ["open"] })).drafts.map(({ caption }: any) => caption).sort();
  await expect.poll(texts).toEqual(["Written on a bus", "Written on a ship"]);
  await host
    .call("list_drafts", { state: ["open"] })
    .then(({ drafts }: any) =>
      Promise.all(
        drafts.map(({ id, revision }: any) =>
          host.call("decide_draft", { id, revision, decision: "discard" }),
        ),
      ),
    );
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
