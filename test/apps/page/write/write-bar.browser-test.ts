import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { addAccount } from "../../../support/post-rows.ts";
import { startPageHost, type PageHost } from "../page-host.ts";

let host: PageHost;
let page: Page;
beforeEach(async () => {
  host = await startPageHost();
  await addAccount(host.ctx.store, { id: "acc_sky", name: "Alpine Club", provider: "bluesky" });
  await addAccount(host.ctx.store, { id: "acc_x", name: "Alpine Ex", provider: "x" });
});
afterEach(() => host?.[Symbol.asyncDispose]());

const text = () => page.getByLabel("Text", { exact: true });
const button = (name: string) => page.getByRole("button", { name, exact: true });
const channel = (name: string) => page.getByRole("checkbox", { name });
const files = () => page.locator('input[type="file"]').first();
const bar = () => page.locator(".action-bar");
const boxOf = async (css: string) => (await page.locator(css).boundingBox())!;
const isApart = async (one: string, other: string): Promise<boolean> => {
  const [a, b] = [await boxOf(one), await boxOf(other)];
  return a.y + a.height <= b.y || b.y + b.height <= a.y || a.x + a.width <= b.x || b.x + b.width <= a.x;
};
const NOTE = { name: "f.txt", mimeType: "text/plain", buffer: Buffer.from("x") };
const complaint = () => page.getByText("f.txt is no picture, video, audio file or PDF, so it was not added.");

describe.each([
  [360, 640],
  [390, 844],
  [1_440, 900],
])("the bar, in a window of %i × %i pixels", (width, height) => {
  it("leaves room for what is written, with all there is to press", async () => {
    page = await host.open({ path: "/app/write", width, height });
    for (const name of ["Alpine Club", "Alpine Ex"]) await channel(name).press("Space");
    for (const name of ["Save", "Ask for approval", "Schedule"])
      expect((await button(name).boundingBox())?.width).toBeGreaterThanOrEqual(40);
    expect(await isApart('textarea[aria-label="Text"]', ".action-bar")).toBe(true);
    await text().fill("x".repeat(400));
    await page.getByText("as the platform counts them").waitFor();
    await button("Schedule").click();
    await page.getByText("something to mend for 2 channels").waitFor();
    expect((await boxOf(".action-bar")).height).toBeLessThan(height / 4);
    await page.getByRole("radio", { name: "Repeat" }).press("Space");
    const { x, width: wide } = (await button("Start the series").boundingBox())!;
    expect(x + wide).toBeLessThanOrEqual(width);
  });

  it("is covered by no message, which goes with what it is about", async () => {
    page = await host.open({ path: "/app/write?account=acc_sky", width, height });
    await files().setInputFiles([NOTE]);
    await complaint().waitFor();
    expect(await isApart(".toast", ".action-bar")).toBe(true);
    if (width > 800) expect(await isApart(".toast", '.side a[href="/app/settings"]')).toBe(true);
    // Another file is added: that is mended.
    await files().setInputFiles([{ ...NOTE, name: "g.txt" }]);
    await complaint().waitFor({ state: "detached" });
    await page.getByText(/^g\.txt is no picture/).waitFor();
    await text().fill("Scheduled");
    await button("Schedule").click();
    await page.getByText(/^Scheduled for/).waitFor();
    await expect.poll(() => page.getByText(/^g\.txt is no picture/).count()).toBe(0);
    await page.waitForURL(/\/app\/plan(?:\?day=|$)/);
    await page.locator("#grid .cell").first().waitFor();
    expect(await isApart(".toast", "#grid")).toBe(true);
    if (width < 800) {
      await button("More").click();
      await page.getByRole("dialog", { name: "More" }).waitFor();
      expect(await isApart(".toast", ".side")).toBe(true);
      await page.keyboard.press("Escape");
    }
    // So it goes with the room, too.
    await page.goto(`${host.address}/app/write`);
    await files().setInputFiles([NOTE]);
    await complaint().waitFor();
    await page.getByRole("navigation").getByRole("link", { name: "Plan", exact: true }).click();
    await complaint().waitFor({ state: "detached" });
  });
});

it.each([
  [1_280, 720, 216],
  [1_920, 1_080, 320],
])(
  "a message, in a window of %i × %i pixels, is beside all there is to press",
  async (width, height, wide) => {
    page = await host.open({ path: "/app/write?account=acc_sky", width, height });
    await files().setInputFiles([NOTE]);
    await complaint().waitFor();
    expect((await boxOf(".toast")).width).toBe(wide);
    for (const pressed of [".compose-desk", ".action-bar", '.side a[href="/app/settings"]'])
      expect([pressed, await isApart(".toast", pressed)]).toEqual([pressed, true]);
    await text().fill("Scheduled");
    await button("Schedule").click();
    await page.getByText(/^Scheduled for/).waitFor();
    await page.locator("#grid .cell").first().waitFor();
    expect(await isApart(".toast", "#grid")).toBe(true);
  },
);

it("says what is under way on a slow line, and is pressed once", async () => {
  page = await host.open({ path: "/app/write?account=acc_sky" });
  await text().fill("Slow");
  await page.getByText(/^Saved /).waitFor();
  let calls = 0;
  let answer = (): void => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  await page.route("**/app/api/tools/decide_draft", async (route) => {
    calls += 1;
    await answered;
    await route.continue();
  });
  await button("Schedule").click();
  await bar().getByRole("status").getByText("Scheduling…").waitFor();
  expect(await button("Schedule").getAttribute("aria-busy")).toBe("true");
  await page.keyboard.press("Control+Enter");
  answer();
  await page.getByText(/^Scheduled for/).waitFor();
  expect(calls).toBe(1);
});

it("finds out what became of it, where the answer was lost", async () => {
  page = await host.open({ path: "/app/write?account=acc_sky" });
  await text().fill("In a tunnel");
  await page.getByText(/^Saved /).waitFor();
  await page.route("**/app/api/tools/decide_draft", async (route) => {
    await route.fetch();
    await route.abort();
  });
  await button("Schedule").click();
  await page.getByRole("alert").getByText("Posthorn does not answer.").waitFor();
  await page.getByText("It was scheduled.").waitFor();
  await page.waitForURL(/\/app\/plan\?day=/);
});

describe("what was taken away", () => {
  it("is there again when it is wanted again: a channel's own text, and the channel", async () => {
    page = await host.open({ path: "/app/write?account=acc_sky" });
    await text().fill("For all");
    await button("Customize").click();
    const own = () => page.getByLabel("Text for Alpine Club");
    await page.getByLabel("Another text").check();
    await own().fill("For the club");
    await page.getByLabel("Another text").uncheck();
    await page.getByLabel("Another text").check();
    expect(await own().inputValue()).toBe("For the club");
    await button("Same as the others").click();
    await own().waitFor({ state: "detached" });
    await button("Customize").click();
    expect(await own().inputValue()).toBe("For the club");
    await channel("Alpine Club").press("Space");
    await own().waitFor({ state: "detached" });
    await channel("Alpine Club").press("Space");
    expect(await own().inputValue()).toBe("For the club");
  });

  it("is there again by Undo: a part of a thread", async () => {
    page = await host.open({ path: "/app/write?account=acc_sky" });
    await text().fill("One");
    for (const number of [2, 3]) {
      await button("Thread part").click();
      await page.getByLabel(`Text of part ${number}`).fill(`Part ${number}`);
    }
    await button("Remove part 2").click();
    expect(await page.getByLabel("Text of part 2").inputValue()).toBe("Part 3");
    await button("Undo").click();
    await expect.poll(() => page.getByLabel("Text of part 2").inputValue()).toBe("Part 2");
  });
});

it("says of a damaged file that it is damaged, and no more that it is being sent", async () => {
  page = await host.open({ path: "/app/write?account=acc_sky" });
  await text().fill("With a picture");
  const buffer = Buffer.from(Array.from({ length: 4_000 }, (_, at) => (at * 7 + 13) % 251));
  await files().setInputFiles([{ name: "g.heic", mimeType: "", buffer }]);
  await page
    .locator(".upload")
    .getByText(/The file is damaged/)
    .waitFor();
  expect(await page.getByText("Give one of").count()).toBe(0);
  await button("Schedule").click();
  await bar()
    .getByText(/^g\.heic was not stored: The file is damaged/)
    .waitFor();
});
