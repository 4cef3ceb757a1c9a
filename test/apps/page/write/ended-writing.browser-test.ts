import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { startPageHost, type PageHost } from "../page-host.ts";

/* What was left while an answer was under way, and entered again. */

let host: PageHost;
let page: Page;
let accountId: string;
beforeAll(async () => {
  host = await startPageHost();
  accountId = await host.addFeed();
});
afterEach(() => page?.context().close());
afterAll(() => host?.[Symbol.asyncDispose]());

const inDays = (days: number): string => new Date(host.clock.now() + days * 86_400_000).toISOString();
const text = () => page.getByLabel("Text", { exact: true });
const button = (name: string) => page.getByRole("button", { name, exact: true });
const room = async (name: string): Promise<void> => {
  await page.getByRole("navigation").getByRole("link", { name }).first().click();
  await page.getByRole("heading", { name, level: 1 }).waitFor();
};
/** Holds a tool's answer back. The result lets it go. */
async function hold(tool: string): Promise<() => void> {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(`**/app/api/tools/${tool}`, async (route) => {
    await released;
    await route.continue();
  });
  return release;
}

it("is no form of a draft any more that was scheduled meanwhile", async () => {
  const { draft } = await host.call("save_draft", {
    caption: "On time",
    targets: [{ accountId }],
    scheduledAt: inDays(2),
  });
  page = await host.open({ path: `/app/write?draft=${draft.id}` });
  await expect.poll(() => text().inputValue()).toBe("On time");
  const release = await hold("decide_draft");
  await button("Schedule").click();
  await room("Plan");
  await page.goBack();
  await expect.poll(() => text().inputValue()).toBe("On time");
  release();
  await page.getByText("This draft was scheduled. Change its posts in the plan.").waitFor();
  expect(await button("Schedule").count()).toBe(0);
});

it("is no form of a draft that others scheduled, once that is found out", async () => {
  const { draft } = await host.call("save_draft", {
    caption: "By others",
    targets: [{ accountId }],
    scheduledAt: inDays(2),
  });
  page = await host.open({ path: `/app/write?draft=${draft.id}` });
  await expect.poll(() => text().inputValue()).toBe("By others");
  await host.call("decide_draft", { id: draft.id, revision: draft.revision, decision: "approve" });
  await button("Schedule").click();
  await page.getByText("This draft was scheduled. Change its posts in the plan.").waitFor();
});

it("keeps the day that it was opened for where one goes on with a draft", async () => {
  const at = inDays(9);
  page = await host.open({ path: "/app/write" });
  await text().fill("Go on");
  await page.getByText(/^Saved /).waitFor();
  await page.goto(`${host.address}/app/write?at=${encodeURIComponent(at)}`);
  await page.getByRole("link", { name: /^Go on with “Go on”, for / }).click();
  await expect.poll(() => text().inputValue()).toBe("Go on");
  const saved = async (): Promise<string> =>
    (await host.call("list_drafts", { state: ["open"] })).drafts[0].scheduledAt;
  await expect.poll(saved).toBe(at);
  expect(page.url()).not.toContain("at=");
});

it("offers what was typed last, also while the server has it older", async () => {
  const [draft] = (await host.call("list_drafts", { state: ["open"] })).drafts;
  page = await host.open({ path: `/app/write?draft=${draft.id}` });
  await expect.poll(() => text().inputValue()).toBe("Go on");
  await page.route("**/app/api/tools/save_draft", (route) => route.abort());
  await text().fill("Typed last");
  await page.getByText(/^Kept in this browser, not saved yet: /).waitFor();
  await page.goto(`${host.address}/app/write`);
  await page.getByRole("link", { name: "Go on with “Typed last”?" }).click();
  await expect.poll(() => text().inputValue()).toBe("Typed last");
});
