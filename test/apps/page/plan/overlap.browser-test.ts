import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { picture } from "../../../support/looks.ts";
import { addAccount, addPosts } from "../../../support/post-rows.ts";
import { startPageHost, type PageHost } from "../page-host.ts";

/* Channels whose handles differ in something long, by a clock of twelve hours, with pictures and without. */

const DOT = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);
const SLOTS = { timezone: "Europe/Berlin", slots: [{ days: ["sat"], times: ["22:30"] }] };

let host: PageHost;
beforeAll(async () => {
  host = await startPageHost("Europe/Berlin");
  for (const [id, port] of [
    ["acc_one", "5171"],
    ["acc_two", "5172"],
  ] as const) {
    const handle = `fjord@127.0.0.1:${port}`;
    await addAccount(host.ctx.store, { id, provider: "mastodon", name: "Fjord Bakery", handle });
    await host.call("update_account", { accountId: id, schedule: SLOTS });
  }
  const post = (id: string, accountId: string, scheduledAt: string, mediaUrl = "") => ({
    id,
    accountId,
    provider: "mastodon",
    caption: "Fresh bread at the harbour",
    mediaUrl,
    scheduledAt,
    status: "published" as const,
  });
  await addPosts(host.ctx.store, [
    post("post_lone", "acc_one", "2026-11-23T11:28:00Z"),
    post("post_pictured", "acc_one", "2026-11-24T11:28:00Z", "https://media.example/a.png"),
    post("post_first", "acc_one", "2026-11-25T11:28:00Z", "https://media.example/a.png"),
    post("post_second", "acc_two", "2026-11-25T11:30:00Z"),
  ]);
  await host.call("save_draft", {
    caption: "Not sure of it",
    targets: [{ accountId: "acc_two" }],
    scheduledAt: "2026-11-26T11:45:00Z",
  });
});
afterAll(() => host?.[Symbol.asyncDispose]());

/** Which words of a chip lie over each other, or beyond it. */
const CLASHES = `[...document.querySelectorAll(".plan-grid .chip, .plan-grid .slot")].flatMap((chip) => {
  const parts = [...chip.querySelectorAll(":scope > .sign, :scope > .time, :scope > .place, :scope > .title, :scope > .mark")];
  const boxes = parts.map((part) => ({ name: part.className, box: part.getBoundingClientRect() }))
    .filter(({ box }) => box.width > 0);
  const edge = chip.getBoundingClientRect();
  const beyond = boxes.filter(({ box }) => box.left < edge.left - 1 || box.right > edge.right + 1);
  const over = boxes.flatMap((one, at) => boxes.slice(at + 1).filter(({ box }) =>
    Math.min(one.box.right, box.right) - Math.max(one.box.left, box.left) > 1 &&
    Math.min(one.box.bottom, box.bottom) - Math.max(one.box.top, box.top) > 4
  ).map(({ name }) => one.name + " and " + name));
  return [...beyond.map(({ name }) => name + " beyond"), ...over].map((what) => chip.title + ": " + what);
})`;

async function open(view: string, width: number): Promise<Page> {
  const page = await host.open({ path: "/app/trouble", width, height: 900 });
  await page.addInitScript("Object.defineProperty(navigator, 'language', { get: () => 'en-US' })");
  await page.route("**/app/api/pictures?*", (route) =>
    route.fulfill({ contentType: "image/png", body: DOT }),
  );
  await page.goto(`${host.address}/app/plan?view=${view}&day=2026-11-25`);
  return page;
}

describe("words in the calendar", () => {
  it.each([
    ["month", 1_440],
    ["week", 1_440],
    ["month", 1_024],
    ["week", 1_024],
  ] as const)("lie beside each other in the %s at %d px", async (view, width) => {
    const page = await open(view, width);
    await page.locator("[data-id='post_second'] .place").waitFor({ state: "attached" });
    await page.locator(".plan-grid .slot").first().waitFor({ state: "attached" });
    expect(await page.locator("[data-id='post_second'] .time").textContent()).toMatch(/^12:30.PM$/);
    expect(await page.evaluate(CLASHES)).toEqual([]);
    await picture(page, `overlap-${view}-${width}`);
    await page.context().close();
  });
});
