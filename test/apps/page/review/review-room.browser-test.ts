import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { objectionsTo, picture, THEMES } from "../../../support/looks.ts";
import { startPageHost, type PageHost } from "../page-host.ts";

let host: PageHost;
let feed: string;

beforeEach(async () => {
  host = await startPageHost();
  feed = await host.addFeed();
});
afterEach(() => host?.[Symbol.asyncDispose]());

const HOUR = 60 * 60_000;

function inHours(hours: number): string {
  return new Date(host.clock.now() + hours * HOUR).toISOString();
}

async function submit(more: object): Promise<{ id: string; revision: number }> {
  const { draft } = await host.call("save_draft", { targets: [{ accountId: feed }], submit: true, ...more });
  return draft;
}

async function read(id: string): Promise<any> {
  return (await host.call("list_drafts", { id })).drafts[0];
}

const title = (page: Page, name: string): Promise<void> =>
  page.getByRole("heading", { name, level: 2, exact: true }).waitFor();

describe("review", () => {
  it("is done by keys alone, and leads to the plan", async () => {
    const first = await submit({ title: "First", caption: "One", scheduledAt: inHours(24) });
    const second = await submit({ title: "Second", caption: "Two", scheduledAt: inHours(48) });
    const third = await submit({ title: "Third", caption: "Three", scheduledAt: inHours(72) });
    const page = await host.open({ path: "/app/review" });
    await title(page, "First");
    await page.keyboard.press("j");
    await title(page, "Second");
    await page.keyboard.press("ArrowLeft");
    await title(page, "First");
    expect(await page.getByRole("button", { name: "Previous draft" }).getAttribute("aria-disabled")).toBe(
      "true",
    );
    await page.getByText("Schedules 1 post on").waitFor();
    await page.keyboard.press("a");
    await page.getByText("1 post is scheduled on").waitFor();
    await title(page, "Second");
    await page.keyboard.press("d");
    await page.getByRole("dialog", { name: "Discard this draft?" }).waitFor();
    // The keys belong to the question now.
    await page.keyboard.press("a");
    // From the question to Close, Keep it, Discard.
    for (const key of ["Tab", "Tab", "Tab", "Enter"]) await page.keyboard.press(key);
    await title(page, "Third");
    // However fast the next letter comes, it decides nothing.
    await page.keyboard.type("ca");
    await page.getByRole("dialog", { name: "Ask for changes" }).waitFor();
    await page.getByLabel("What should change?").fill("");
    await page.keyboard.type("Add a picture, and say who comes.");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
    expect(await read(first.id)).toMatchObject({ state: "scheduled", outcome: "waiting" });
    expect(await read(second.id)).toMatchObject({ state: "discarded" });
    expect(await read(third.id)).toMatchObject({
      state: "open",
      decision: { what: "changes", note: "Add a picture, and say who comes." },
    });
    await page.getByRole("button", { name: "Show in plan" }).click();
    await page.waitForURL(/\/app\/plan\?post=post_/);
  });

  it("shows what was changed meanwhile, and asks again", async () => {
    const draft = await submit({ caption: "The huts open on 1 May.", scheduledAt: inHours(24) });
    const page = await host.open({ path: `/app/review?draft=${draft.id}` });
    await title(page, "The huts open on 1 May.");
    await host.call("save_draft", {
      id: draft.id,
      revision: draft.revision,
      caption: "The huts open on 8 May.",
      scheduledAt: inHours(30),
      submit: true,
    });
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("alert").getByText("Nothing was done").waitFor();
    expect(await read(draft.id)).toMatchObject({ state: "waiting", posts: [] });
    expect(await page.locator(".review-draft del").allTextContents()).toEqual(["1"]);
    expect(await page.locator(".review-draft ins").allTextContents()).toEqual(["8"]);
    await page.getByText("The text was changed.").waitFor();
    await page.getByText("The time was").waitFor();
    await page.getByLabel("Mark in the text").uncheck();
    expect(await page.locator(".review-draft del").count()).toBe(0);
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("1 post is scheduled").waitFor();
    expect((await read(draft.id)).posts).toHaveLength(1);
  });

  it("marks what was changed since the last visit", async () => {
    const draft = await submit({ caption: "Skis or snowshoes?", scheduledAt: inHours(24) });
    const page = await host.open({ path: "/app/review" });
    await title(page, "Skis or snowshoes?");
    expect(await page.getByText("Changed since your last look").count()).toBe(0);
    await host.call("save_draft", {
      id: draft.id,
      revision: draft.revision,
      caption: "Skis or tents?",
      submit: true,
    });
    await page.reload();
    await page.getByRole("heading", { name: "Changed since your last look" }).waitFor();
    expect(await page.locator(".review-draft ins").allTextContents()).toEqual(["tents"]);
    await page.reload();
    await title(page, "Skis or tents?");
    expect(await page.getByText("Changed since your last look").count()).toBe(0);
  });

  it("wants words with changes, and asks before anything is public at once", async () => {
    const draft = await submit({ title: "At once", caption: "Now" });
    const page = await host.open({ path: "/app/review" });
    await page.getByText("Publishes 1 post at once.").waitFor();
    await page.getByRole("button", { name: "Changes" }).click();
    await page.getByRole("button", { name: "Send back" }).click();
    await page.getByText("Say what should change").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("dialog", { name: "Publish now?" }).waitFor();
    expect((await read(draft.id)).posts).toEqual([]);
    await page.getByRole("button", { name: "Publish now" }).click();
    await page.getByText(/^On its way to /).waitFor();
  });

  it("calls a draft one's own", async () => {
    await submit({ title: "Of another", caption: "Of another" });
    const page = await host.open({ path: "/app/write" });
    await page.getByLabel("Text", { exact: true }).fill("Of mine");
    await page.getByText(/^Saved /).waitFor();
    await page
      .getByRole("link", { name: /^Review/ })
      .first()
      .click();
    await page.getByRole("link", { name: "Being written" }).click();
    await page.getByRole("link", { name: /Of mine.* by you$/ }).waitFor();
    await page.getByRole("link", { name: "Waiting" }).click();
    await title(page, "Of another");
    expect(await page.getByText("by you").count()).toBe(0);
  });

  it("takes another time where it has gone by", async () => {
    const draft = await submit({ title: "Late", caption: "Late", scheduledAt: inHours(1) });
    await host.clock.advance(2 * HOUR);
    const page = await host.open({ path: "/app/review" });
    await title(page, "Late");
    expect(await page.getByRole("button", { name: "Approve", exact: true }).count()).toBe(0);
    await page.keyboard.press("a");
    const field = page.getByLabel("Its time has gone by");
    await expect.poll(() => field.evaluate((one: any) => one === one.ownerDocument.activeElement)).toBe(true);
    // The feed has no slots, and the server says so.
    await page.getByRole("button", { name: "Next free slot" }).click();
    await page.getByRole("alert").getByText("slots").waitFor();
    const day = new Date(host.clock.now() + 48 * HOUR).toISOString().slice(0, 10);
    await field.fill(`${day}T09:30`);
    await page.getByRole("button", { name: "Approve for then" }).click();
    await page.getByText("1 post is scheduled").waitFor();
    // The time is one of Berlin, whatever zone the browser is in.
    const [post] = (await read(draft.id)).posts;
    expect(new Date(post.scheduledAt).toLocaleString("sv", { timeZone: "Europe/Berlin" })).toBe(
      `${day} 09:30:00`,
    );
  });

  it("says of a draft that is decided that its post was changed since", async () => {
    const { id, revision } = await submit({ caption: "As it was", scheduledAt: inHours(24) });
    const { draft } = await host.call("decide_draft", { id, revision, decision: "approve" });
    await host.call("update_post", { id: draft.posts[0].id, caption: "As it is now" });
    const page = await host.open({ path: `/app/review?draft=${id}` });
    await page.getByText("Its post was changed since.").waitFor();
    const link = page.getByRole("link", { name: "See the post" });
    expect(await link.getAttribute("href")).toBe(`/app/plan?post=${draft.posts[0].id}`);
    const tab = page.getByRole("link", { name: "Decided", exact: true });
    expect(await tab.getAttribute("aria-current")).toBe("page");
  });

  it("tells a series, lists what is decided, and ends it", async () => {
    const draft = await submit({
      caption: "Question of the week",
      repeat: { every: 1, unit: "week", days: ["mon"], time: "09:00", texts: ["One?", "Two?"] },
    });
    const page = await host.open({ path: "/app/review" });
    await page.getByText("Every week on Mon at 09:00 (Europe/Berlin), from Sat 21 Nov").waitFor();
    await page.getByText("Next: Mon").waitFor();
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("The series runs").waitFor();
    await page.getByRole("link", { name: "Decided" }).click();
    await page.getByRole("link", { name: /One\?/ }).click();
    await page.getByRole("button", { name: "End the series" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "End the series" }).click();
    await page.getByText("ended the series").waitFor();
    expect(await read(draft.id)).toMatchObject({ state: "ended" });
  });

  it("shows a viewer what waits, without buttons, and says why once", async () => {
    await submit({ title: "Hands off", caption: "One", scheduledAt: inHours(24) });
    const page = await host.open({ path: "/app/review", permissions: ["read"] });
    await title(page, "Hands off");
    await page.getByText("To decide takes a key that may publish").waitFor();
    await page.keyboard.press("d");
    for (const name of ["Approve", "Changes", "Discard"])
      expect(await page.getByRole("button", { name }).count()).toBe(0);
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  it.each([1_280, 360])("has nothing that axe objects to in %i pixels", async (width) => {
    const draft = await submit({
      title: "Spring opening",
      caption: "The huts open on 1 May.",
      scheduledAt: inHours(24),
      labels: ["spring"],
      note: "Ask Hanna",
    });
    await submit({ title: "Another", caption: "Two", scheduledAt: inHours(48) });
    await host.call("save_draft", { caption: "Still written", targets: [] });
    const page = await host.open({ path: `/app/review?draft=${draft.id}`, width });
    await title(page, "Spring opening");
    await host.call("save_draft", {
      id: draft.id,
      revision: draft.revision,
      caption: "The huts open on 8 May.",
      submit: true,
    });
    await page.reload();
    await page.getByRole("heading", { name: "Changed since your last look" }).waitFor();
    await look(page, `review-${width}`);
    await page.getByRole("button", { name: "Changes" }).click();
    await page.getByLabel("What should change?").waitFor();
    await look(page, `review-changes-${width}`);
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Being written" }).click();
    await page.getByRole("link", { name: /Still written/ }).waitFor();
    await look(page, `review-written-${width}`);
    await page.getByRole("link", { name: "Decided" }).click();
    await page.getByRole("heading", { name: "Nothing is decided yet" }).waitFor();
    await look(page, `review-decided-${width}`);
  });
});

async function look(page: Page, name: string): Promise<void> {
  for (const theme of THEMES) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    await picture(page, `${name}-${theme}`);
    expect([name, theme, await objectionsTo(page)]).toEqual([name, theme, []]);
  }
}
