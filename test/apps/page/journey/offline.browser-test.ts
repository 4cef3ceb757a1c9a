import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { picture } from "../../../support/looks.ts";
import { startPageHost, type PageHost } from "../page-host.ts";

/* The device has no network: nothing is asked without end, nothing that was typed is lost, and it is said as it is. */

let host: PageHost;
let page: Page;
let calls: string[];
beforeAll(async () => {
  host = await startPageHost();
  const { account } = await host.call("connect_channel", { provider: "feed", name: "Blog" });
  await host.call("save_draft", {
    title: "Opening",
    caption: "Soon",
    targets: [{ accountId: account.id }],
    scheduledAt: "2026-12-16T09:00:00Z",
    submit: true,
  });
});
afterAll(() => host?.[Symbol.asyncDispose]());
afterEach(async () => {
  await page.context().close();
});

const ROOMS = ["Plan", "Write", "Review", "Trouble", "Results", "Channels", "Settings"];
const WINDOW_MS = 2_000;
/** A room asks for its parts once. What keeps the page fresh asks again every three seconds. */
const MOST_CALLS = 16;

async function open(path: string): Promise<void> {
  page = await host.open({ path, width: 1_440 });
  calls = [];
  page.on("requestfailed", (request) => void calls.push(new URL(request.url()).pathname));
}
const room = (name: string): Promise<void> => page.getByRole("heading", { name, level: 1 }).waitFor();
const goTo = (name: string): Promise<void> =>
  page
    .getByRole("navigation", { name: "Rooms" })
    .getByRole("link", { name, exact: name !== "Review" })
    .click();
const text = () => page.getByRole("textbox", { name: "Text", exact: true });
const cut = (isCut: boolean): Promise<void> => page.context().setOffline(isCut);
const told = () => page.getByRole("status").getByText("You are offline.");
const choose = (): Promise<void> => page.getByRole("checkbox", { name: /Blog/ }).press("Space");
/** How often each address was asked for in a while. */
async function countCalls(): Promise<number> {
  calls = [];
  await page.waitForTimeout(WINDOW_MS);
  return calls.length;
}

describe("without a network", () => {
  it("the platform of a channel that was just chosen is asked for once", async () => {
    await open("/app/write");
    await room("Write");
    await page.route("**/app/api/tools/list_platforms", (route) => route.abort());
    await choose();
    await cut(true);
    await text().pressSequentially("Buns");
    await told().waitFor();
    expect(await countCalls()).toBeLessThan(MOST_CALLS);
    expect(await page.getByText("Write something to see what will go out.").count()).toBe(0);
    await page.getByText("What will go out is shown here as soon as this is saved.").waitFor();
    await page.unroute("**/app/api/tools/list_platforms");
    await cut(false);
    await page.getByRole("article", { name: "Blog" }).getByText("Buns").waitFor();
    await page.getByText("You are offline.").first().waitFor({ state: "detached" });
  });

  it("says that nothing is known, also where the network went before the first answer", async () => {
    await open("/app/plan");
    await page.route("**/app/api/tools/get_status", (route) => route.abort());
    await page.reload();
    await page.getByText("Not known now whether publishing is on").waitFor();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
  });

  it.each(["seen before", "never seen"])(
    "every room has its title and a way to try again: %s",
    async (seen) => {
      await open("/app/plan");
      await room("Plan");
      if (seen === "seen before")
        for (const name of ROOMS) {
          await goTo(name);
          await room(name);
        }
      await cut(true);
      await told().waitFor();
      await page.getByText("Not known now whether publishing is on").waitFor();
      for (const name of ROOMS.slice(1)) {
        await goTo(name);
        await room(name);
        // What the page has anyway is shown. Nothing waits without a word.
        if (seen === "never seen") await page.getByRole("button", { name: "Try again" }).first().waitFor();
        await expect.poll(() => page.getByRole("status", { name: /loading/i }).count()).toBe(0);
        expect([name, (await countCalls()) < MOST_CALLS]).toEqual([name, true]);
      }
      await cut(false);
      await told().waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Try again" }).first().waitFor({ state: "detached" });
    },
  );

  it("a new text is there again, and is saved as soon as that is possible", async () => {
    await open("/app/write");
    await room("Write");
    await goTo("Plan");
    await room("Plan");
    await goTo("Write");
    await room("Write");
    await cut(true);
    await text().fill("Typed in the train");
    await page.getByText("Kept in this browser, not saved yet: You are offline.").waitFor();
    await goTo("Plan");
    await room("Plan");
    await goTo("Write");
    await expect.poll(() => text().inputValue()).toBe("Typed in the train");
    await page.getByText("This is what you had written and not saved.").waitFor();
    await cut(false);
    await page.getByText(/^Saved /).waitFor();
    await page.getByText("This is what you had written and not saved.").waitFor({ state: "detached" });
    const { drafts } = await host.call("list_drafts", { state: ["open"] });
    expect(drafts.map(({ caption }: any) => caption)).toContain("Typed in the train");
    await page.goto(`${host.address}/app/write`);
    await page.getByText("Go on with").waitFor();
    expect(await text().inputValue()).toBe("");
  });

  it("a draft that was saved before is not lost, and is said to open later", async () => {
    await open("/app/write");
    await room("Write");
    await text().fill("First sentence");
    await page.getByText(/^Saved /).waitFor();
    await goTo("Plan");
    await room("Plan");
    await cut(true);
    await goTo("Write");
    await page.getByText("Drafts that you saved before open when you are online.").waitFor();
    await cut(false);
    await page.getByRole("link", { name: "Go on with “First sentence”?" }).click();
    await expect.poll(() => text().inputValue()).toBe("First sentence");
    await cut(true);
    await text().fill("First sentence, and more\nAnd a second");
    await page.getByText("Kept in this browser, not saved yet: You are offline.").waitFor();
    await goTo("Plan");
    await room("Plan");
    await goTo("Write");
    await page.getByText("“First sentence, and more” is kept, and opens when you are online.").waitFor();
    await cut(false);
    await page.getByRole("link", { name: /Go on with/ }).click();
    await expect.poll(() => text().inputValue()).toBe("First sentence, and more\nAnd a second");
  });

  it("a refusal is one sentence, and goes when it is over", async () => {
    await open("/app/write");
    await room("Write");
    await choose();
    await text().fill("Every week");
    await page.getByText(/^Saved /).waitFor();
    await page.getByRole("radio", { name: "Repeat" }).press("Space");
    await cut(true);
    await text().fill("Every week, fresh");
    await page.getByRole("button", { name: "Start the series" }).click();
    await page.getByRole("alert").getByText("You are offline.").waitFor();
    expect(await page.getByRole("alert").count()).toBe(1);
    await cut(false);
    await page.getByText(/^Saved /).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  it.each([360, 1_440])("each press says that it did nothing, in a window of %i pixels", async (width) => {
    await open("/app/write");
    await page.setViewportSize({ width, height: 800 });
    await room("Write");
    await choose();
    await text().fill("Buns");
    await page.getByText(/^Saved /).waitFor();
    await page.getByRole("article", { name: "Blog" }).getByText("Buns").waitFor();
    await cut(true);
    await text().fill("Buns, and cakes");
    await page.getByText(/^What is shown and counted here is an earlier text\./).waitFor();
    expect(await page.locator(".counter").count()).toBe(0);
    const told = (what: string) =>
      page.locator(".toast").getByText(`${what}: You are offline. Connect this device to its network`);
    for (const [name, what] of [
      ["Schedule", "Not scheduled"],
      ["Ask for approval", "Not asked for approval"],
      ["Save", "Not saved"],
    ] as const)
      for (const _ of [1, 2]) {
        await page.getByRole("button", { name, exact: true }).click();
        await told(what).waitFor();
        await picture(page, `not-done-${width}-${name}`);
        await page.getByRole("button", { name: "Close this message" }).click();
        await told(what).waitFor({ state: "detached" });
      }
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await cut(false);
    await page.getByText(/^Saved /).waitFor();
    await page.locator(".toast").waitFor({ state: "detached" });
    await page.getByText(/^What is shown and counted here/).waitFor({ state: "detached" });
    await page.locator(".counter").waitFor();
  });

  it("a decision that did not get through is not told of for longer than that", async () => {
    await open("/app/review");
    await room("Review");
    await page.getByRole("button", { name: /Approve/ }).waitFor();
    await cut(true);
    await told().waitFor();
    await page.getByRole("button", { name: /Approve/ }).click();
    await page.getByRole("alert").getByText("You are offline.").waitFor();
    await cut(false);
    await page.getByRole("alert").waitFor({ state: "detached" });
    await page.getByRole("button", { name: /Approve/ }).waitFor();
  });
});
