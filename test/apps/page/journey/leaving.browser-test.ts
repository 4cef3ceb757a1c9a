import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { objectionsTo, picture, THEMES } from "../../../support/looks.ts";
import { startPageHost, type PageHost } from "../page-host.ts";

let host: PageHost;
let page: Page;
let feed: string;
let faults: string[];
beforeAll(async () => {
  host = await startPageHost();
  feed = (await host.call("connect_channel", { provider: "feed", name: "Blog" })).account.id;
});
afterAll(() => host?.[Symbol.asyncDispose]());
beforeEach(() => {
  faults = [];
});
afterEach(async () => {
  await page?.context().close();
  expect(faults).toEqual([]);
});

async function open(path: string, width = 1_280): Promise<void> {
  page = await host.open({ path, width });
  page.on("pageerror", (error) => faults.push(error.message));
}
const text = () => page.getByRole("textbox", { name: "Text", exact: true });
const button = (name: string) => page.getByRole("button", { name, exact: true });
const room = (name: string): Promise<void> => page.getByRole("heading", { name, level: 1 }).waitFor();
const goTo = (name: string) => page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
const question = () => page.getByRole("dialog", { name: "Leave without saving?" });
const gone = () => question().waitFor({ state: "detached" });
const kept = () => page.getByText("This is what you had changed and not saved.");

/** A post of its own for each test, so that none is a double of another. */
let posts = 0;
async function waiting(caption: string): Promise<any> {
  posts += 1;
  const scheduledAt = new Date(host.clock.now() + posts * 86_400_000).toISOString();
  return (await host.call("schedule_post", { accountId: feed, caption, scheduledAt })).post;
}
const captionOf = async (id: string): Promise<string> => (await host.call("get_post", { id })).post.caption;

describe("a changed post that was not saved", () => {
  const WAYS: Readonly<Record<string, () => Promise<unknown>>> = {
    "a link": () => goTo("Results").then(() => page.goBack()),
    "the browser's back": () => page.goBack().then(() => page.goForward()),
    "a reload": () => page.reload(),
    "another address": async () => {
      const url = page.url();
      await page.goto(`${host.address}/app/settings`);
      await page.goto(url);
    },
    "a closed tab": async () => {
      const url = page.url();
      const other = await page.context().newPage();
      await page.close();
      page = other;
      await page.clock.setFixedTime(host.clock.now());
      await page.goto(url);
    },
  };
  it.each(Object.keys(WAYS))("stands there again after %s", async (way) => {
    const { id } = await waiting(`Before ${way}`);
    await open("/app/plan");
    await room("Plan");
    await page.evaluate(
      `history.pushState(null, "", "/app/write?post=${id}"); dispatchEvent(new PopStateEvent("popstate"))`,
    );
    await expect.poll(() => text().inputValue()).toBe(`Before ${way}`);
    expect(await kept().count()).toBe(0);
    await text().fill(`After ${way}`);
    await WAYS[way]?.();
    await kept().waitFor();
    expect(await text().inputValue()).toBe(`After ${way}`);
    expect(await captionOf(id)).toBe(`Before ${way}`);
    await button("Save the change").click();
    await page.getByText("The post was changed.").waitFor();
    expect(await captionOf(id)).toBe(`After ${way}`);
    await page.goto(`${host.address}/app/write?post=${id}`);
    await expect.poll(() => text().inputValue()).toBe(`After ${way}`);
    expect(await kept().count()).toBe(0);
  });

  it("can be given up, and says that the post was changed elsewhere meanwhile", async () => {
    const { id } = await waiting("Given up");
    await open(`/app/write?post=${id}`);
    await text().fill("Mine");
    await goTo("Plan");
    await room("Plan");
    host.clock.advance(60_000);
    await host.call("update_post", { id, caption: "Theirs" });
    await page.goto(`${host.address}/app/write?post=${id}`);
    await page.getByRole("heading", { name: "This post was changed elsewhere" }).waitFor();
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      await picture(page, `taken-up-${theme}`);
      expect(await objectionsTo(page)).toEqual([]);
    }
    await button("Take it back").click();
    await kept().waitFor({ state: "detached" });
    expect(await text().inputValue()).toBe("Theirs");
    await page.reload();
    await expect.poll(() => text().inputValue()).toBe("Theirs");
    expect(await kept().count()).toBe(0);
  });

  it("is saved by Control and S, and stays where it is", async () => {
    const { id } = await waiting("By key");
    await open(`/app/write?post=${id}`);
    await expect.poll(() => text().inputValue()).toBe("By key");
    await text().fill("By keys");
    await page.getByText("Kept in this browser, not saved yet").waitFor();
    await page.keyboard.press("Control+s");
    await page.getByText(/^Saved /).waitFor();
    expect(await captionOf(id)).toBe("By keys");
    expect(page.url()).toContain(`post=${id}`);
    await text().fill("By keys, twice");
    await page.keyboard.press("Control+s");
    await expect.poll(() => captionOf(id)).toBe("By keys, twice");
  });

  it("is asked about before one signs out, and is gone then", async () => {
    const { id } = await waiting("Signed out");
    await open(`/app/write?post=${id}`);
    await text().fill("Half of it");
    await goTo("Plan");
    await room("Plan");
    await button("Sign out").click();
    await question().getByRole("button", { name: "Stay" }).click();
    await gone();
    await button("Sign out").click();
    await question().getByRole("button", { name: "Leave" }).click();
    await page.getByLabel("Or paste an API key").waitFor();
    expect(await page.evaluate("Object.keys(localStorage).filter((name) => name.includes('edit'))")).toEqual(
      [],
    );
  });
});

describe("a draft that was typed a moment ago", () => {
  const captions = async (): Promise<string[]> =>
    (await host.call("list_drafts", {})).drafts.map(({ caption }: any) => caption);

  it("is saved before one signs out", async () => {
    await open("/app/write");
    await text().fill("Typed, and out");
    await button("Sign out").click();
    await page.getByLabel("Or paste an API key").waitFor();
    expect(await captions()).toContain("Typed, and out");
  });

  it("is saved as the window goes away", async () => {
    await open("/app/write");
    await text().fill("Typed, and away");
    await page.evaluate("dispatchEvent(new Event('pagehide'))");
    await expect.poll(captions).toContain("Typed, and away");
  });

  it("is asked about where neither the server nor the browser keeps it", async () => {
    await open("/app/write");
    await room("Write");
    await page.route("**/app/api/tools/save_draft", (route) => route.abort());
    await page.evaluate("Storage.prototype.setItem = () => { throw new Error('There is no room.'); }");
    await text().fill("Typed, and no server");
    await page.getByText(/^Not saved: /).waitFor();
    await goTo("Plan");
    await question().getByRole("button", { name: "Stay" }).click();
    await gone();
    expect(await text().inputValue()).toBe("Typed, and no server");
    await button("Sign out").click();
    await question().getByRole("button", { name: "Stay" }).click();
    await page.unroute("**/app/api/tools/save_draft");
    await page.getByText(/^Saved /).waitFor();
    await goTo("Plan");
    await room("Plan");
    expect(await captions()).toContain("Typed, and no server");
  });

  it("is there again where the server did not take it, and can be discarded", async () => {
    await open("/app/write");
    await room("Write");
    await page.route("**/app/api/tools/save_draft", (route) => route.abort());
    await text().fill("Typed, and kept");
    await page.getByText(/^Kept in this browser, not saved yet: /).waitFor();
    await goTo("Plan");
    await room("Plan");
    await goTo("Write");
    await expect.poll(() => text().inputValue()).toBe("Typed, and kept");
    await button("Discard it").click();
    await expect.poll(() => text().inputValue()).toBe("");
    await goTo("Plan");
    await room("Plan");
    await page.unroute("**/app/api/tools/save_draft");
    await goTo("Write");
    await room("Write");
    await expect.poll(() => text().inputValue()).toBe("");
    expect(await page.getByText(/^Kept in this browser/).count()).toBe(0);
    expect(await captions()).not.toContain("Typed, and kept");
  });

  it("is one draft where its save came through with the window's end", async () => {
    await open("/app/write");
    await room("Write");
    await text().fill("Typed, and reloaded");
    await page.reload();
    await room("Write");
    await page.getByText(/^Saved |Go on with/).waitFor();
    expect((await captions()).filter((caption) => caption === "Typed, and reloaded")).toHaveLength(1);
  });

  it("belongs to its draft, and never takes the place of what another one wrote there", async () => {
    const { draft } = await host.call("save_draft", { caption: "One" });
    await open(`/app/write?draft=${draft.id}`);
    await expect.poll(() => text().inputValue()).toBe("One");
    await page.route("**/app/api/tools/save_draft", (route) => route.abort());
    await text().fill("Mine");
    await page.getByText(/^Kept in this browser, not saved yet: /).waitFor();
    await goTo("Plan");
    await room("Plan");
    await host.call("save_draft", { id: draft.id, revision: draft.revision, caption: "Theirs" });
    await page.unroute("**/app/api/tools/save_draft");
    await page.goto(`${host.address}/app/write?draft=${draft.id}`);
    await page.getByText("This draft was changed elsewhere").waitFor();
    expect(await text().inputValue()).toBe("Mine");
    await button("Take the other one").click();
    await expect.poll(() => text().inputValue()).toBe("Theirs");
    await page.reload();
    await expect.poll(() => text().inputValue()).toBe("Theirs");
  });

  it("is looked at where the page brought it along", async () => {
    const { id } = await waiting("To be doubled");
    await open(`/app/write?copy=${id}`);
    await page.getByRole("article", { name: "Blog" }).getByText("To be doubled").waitFor();
    await page.goto(`${host.address}/app/write?account=${feed}&text=Shared`);
    await page.getByRole("article", { name: "Blog" }).getByText("Shared", { exact: true }).waitFor();
  });
});

describe("what a sheet holds and is not saved", () => {
  const drawer = () => page.getByRole("dialog", { name: "Blog" });
  const leaveBy: Readonly<Record<string, () => Promise<unknown>>> = {
    "its button": () => drawer().getByRole("button", { name: "Close", exact: true }).click(),
    Escape: () => page.keyboard.press("Escape"),
    "a click beside it": () => page.mouse.click(300, 400),
    "the browser's back": () => page.goBack(),
  };
  const SLOTS = /^Weekdays at /;
  it.each(["its button", "Escape", "a click beside it", "the browser's back"])(
    "is asked about after %s",
    async (way) => {
      await open("/app/channels");
      await page.getByRole("link", { name: "Blog", exact: true }).click();
      await drawer().getByRole("button", { name: SLOTS }).click();
      await drawer().getByText("10 a week, not saved yet.").waitFor();
      await leaveBy[way]?.();
      await question().getByRole("button", { name: "Stay" }).click();
      await gone();
      await drawer().getByText("10 a week, not saved yet.").waitFor();
      // A second and a third time, too: a browser closes what asks too often.
      for (const _ of [1, 2]) {
        await leaveBy[way]?.();
        await question().waitFor();
        await page.keyboard.press("Escape");
        await gone();
      }
      await leaveBy[way]?.();
      await question().getByRole("button", { name: "Leave" }).click();
      await drawer().waitFor({ state: "detached" });
      await page.waitForURL(`${host.address}/app/channels`);
      // Nothing is left to ask about.
      await goTo("Plan");
      await room("Plan");
    },
  );

  it.each([
    ["a name", () => drawer().getByLabel("Name").fill("Another")],
    [
      "link parameters",
      async () => {
        await drawer().getByRole("heading", { name: "Link parameters" }).click();
        await drawer().getByLabel("Source").fill("x");
      },
    ],
    [
      "times of several days",
      async () => {
        await drawer().getByText("Add times on several days").click();
        await drawer().getByLabel("Times").fill("9");
      },
    ],
  ] as const)("is asked about: %s", async (_, change) => {
    await open(`/app/channels?account=${feed}`);
    await change();
    await page.keyboard.press("Escape");
    await question().getByRole("button", { name: "Leave" }).click();
    await drawer().waitFor({ state: "detached" });
  });

  it("is not asked about once it is saved or taken back", async () => {
    await open(`/app/channels?account=${feed}`);
    await drawer().getByRole("button", { name: SLOTS }).click();
    await drawer().getByRole("button", { name: "Take back" }).click();
    await page.keyboard.press("Escape");
    await drawer().waitFor({ state: "detached" });
    await open(`/app/channels?account=${feed}`);
    await drawer().getByLabel("Name").fill("Blog again");
    await drawer().getByRole("button", { name: "Rename" }).click();
    const renamed = page.getByRole("dialog", { name: "Blog again" });
    await renamed.waitFor();
    await page.keyboard.press("Escape");
    await renamed.waitFor({ state: "detached" });
    await host.call("update_account", { accountId: feed, name: "Blog" });
  });

  it.each([
    ["New key", "Name"],
    ["New notice", "Topic"],
    ["New webhook", "Address"],
  ])("is asked about in Settings: %s", async (name, field) => {
    await open("/app/settings");
    await button(name).click();
    const sheet = page.getByRole("dialog", { name });
    await sheet.getByLabel(field).first().fill("https://hook.example/x");
    await page.keyboard.press("Escape");
    await question().getByRole("button", { name: "Stay" }).click();
    await sheet.getByRole("button", { name: "Close", exact: true }).click();
    await question().getByRole("button", { name: "Leave" }).click();
    await sheet.waitFor({ state: "detached" });
  });

  it("is shown once: only its own button closes it without a question", async () => {
    await open("/app/settings", 390);
    await button("New key").click();
    const sheet = page.getByRole("dialog", { name: "New key" });
    await sheet.getByLabel("Name").fill("Program");
    await sheet.getByRole("button", { name: "Make the key" }).click();
    await sheet.getByText("The key is shown this once.").waitFor();
    const asked = page.getByRole("dialog", { name: "Have you kept it?" });
    for (const leave of [
      () => page.keyboard.press("Escape"),
      () => sheet.getByRole("button", { name: "Close", exact: true }).click(),
      () => page.mouse.click(4, 4),
    ]) {
      await leave();
      await picture(page, "kept-it");
      await asked.getByRole("button", { name: "Show it" }).click();
      await asked.waitFor({ state: "detached" });
      await sheet.getByText("The key is shown this once.").waitFor();
    }
    await sheet.getByRole("button", { name: "Done" }).click();
    await sheet.waitFor({ state: "detached" });
  });
});

/** Answers of this tool wait until the returned function is called. */
async function hold(tool: string): Promise<() => void> {
  let letGo = (): void => {};
  const held = new Promise<void>((resolve) => (letGo = resolve));
  await page.route(`**/app/api/tools/${tool}`, async (route) => {
    await held;
    await route.continue();
  });
  return letGo;
}

describe("a question about what is being saved", () => {
  it("goes with the answer, in the panel of a post", async () => {
    const { id } = await waiting("Moved slowly");
    await open("/app/plan", 390);
    await room("Plan");
    await page.evaluate(
      `history.pushState(null, "", "/app/plan?post=${id}"); dispatchEvent(new PopStateEvent("popstate"))`,
    );
    const time = page.getByLabel("Time", { exact: true });
    await time.fill("2027-02-03T12:00");
    const letGo = await hold("update_post");
    await button("Move").click();
    await page.goBack();
    await question().waitFor();
    letGo();
    await page
      .getByText(/^Moved to /)
      .first()
      .waitFor();
    await gone();
    await picture(page, "left-and-saved");
    await page.goBack();
    await time.waitFor({ state: "detached" });
  });

  it("goes with the answer, in the panel of a channel", async () => {
    await open(`/app/channels?account=${feed}`);
    await page.getByRole("dialog", { name: "Blog" }).getByLabel("Name").fill("Blog, slowly");
    const letGo = await hold("update_account");
    await button("Rename").click();
    await page.keyboard.press("Escape");
    await question().waitFor();
    letGo();
    await gone();
    await page.getByRole("dialog", { name: "Blog, slowly" }).waitFor();
    await host.call("update_account", { accountId: feed, name: "Blog" });
  });

  it("stays where it is refused", async () => {
    await open(`/app/channels?account=${feed}`);
    await page.getByRole("dialog", { name: "Blog" }).getByLabel("Name").fill("Blog, refused");
    await page.route("**/app/api/tools/update_account", (route) => route.abort());
    await button("Rename").click();
    await page.keyboard.press("Escape");
    await question().getByRole("button", { name: "Stay" }).click();
    await gone();
  });
});
