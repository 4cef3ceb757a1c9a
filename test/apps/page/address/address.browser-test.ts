import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { addPosts } from "../../../support/post-rows.ts";
import { startPageHost, type PageHost } from "../page-host.ts";
import {
  changesOf,
  expectOneChange,
  serveFiles,
  setOffline,
  title,
  watchAddress,
  watchConsole,
} from "./walk.ts";

/* A room keeps the address while it is open, and leaves it alone from the moment on that a person goes elsewhere. */

let host: PageHost;
let blog: string;
let draft: string;
let page: Page;

beforeAll(async () => {
  host = await startPageHost("Europe/Berlin");
  blog = (await host.call("connect_channel", { provider: "feed", name: "Blog" })).account.id;
  const post = (id: string, scheduledAt: string, status = "scheduled") =>
    ({ id, accountId: blog, caption: `Text of ${id}`, scheduledAt, status }) as never;
  await addPosts(host.ctx.store, [
    post("post_before", "2026-10-07T08:00:00Z", "published"),
    post("post_now", "2026-11-25T08:00:00Z"),
    post("post_failed", "2026-11-19T08:00:00Z", "failed"),
    post("post_next", "2026-12-15T08:00:00Z"),
  ]);
  await host.call("update_account", {
    accountId: blog,
    schedule: { timezone: "Europe/Berlin", slots: [{ days: ["sat"], times: ["12:00"] }] },
  });
  draft = (
    await host.call("save_draft", {
      title: "Spring opening",
      caption: "Soon",
      targets: [{ accountId: blog }],
      scheduledAt: "2026-12-16T09:00:00Z",
      submit: true,
    })
  ).draft.id;
});
afterAll(() => host?.[Symbol.asyncDispose]());
afterEach(async () => {
  await setOffline(page, false);
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

const WIDE = 1_280;
const PHONE = 360;
/** A window for each width. */
const windows = new Map<number, Page>();

/** A page in which no room but this one was opened yet, so that the next one is on its way for a moment. */
async function visit(path: string, width = WIDE): Promise<void> {
  const known = windows.get(width);
  page = known ?? (await host.open({ path: "/app/nowhere", width }));
  if (known === undefined) {
    windows.set(width, page);
    page.on("dialog", (dialog) => void dialog.accept());
    await watchAddress(page);
  }
  await serveFiles(page);
  await page.goto(`${host.address}${path}`);
}

async function open(path: string, width = WIDE): Promise<void> {
  await visit(path, width);
  await title(page, "Plan").waitFor();
  await page.locator(".plan-grid [role=gridcell], .plan-tile").filter({ visible: true }).first().waitFor();
}

const link = (name: string): Locator =>
  page.getByRole("navigation").getByRole("link", { name, exact: false });
const ways: Readonly<Record<string, (target: Locator) => Promise<void>>> = {
  mouse: (target) => target.click(),
  keys: (target) => target.press("Enter"),
};

const PLACES = {
  "a month before": "/app/plan?day=2026-10-05",
  "this month": "/app/plan",
  "the next month": "/app/plan?day=2026-12-27",
  "a filtered month": "/app/plan?day=2026-12-27&state=scheduled",
  "another week": "/app/plan?view=week&day=2026-12-14",
  "the list": "/app/plan?view=list&day=2026-12-14",
} as const;

const ROOMS = ["Write", "Review", "Trouble", "Results", "Channels", "Settings"] as const;

describe.each(Object.entries(PLACES))("from %s", (_, place) => {
  it.each(Object.keys(ways))("each room opens by %s, and back and forward lead to and fro", async (way) => {
    for (const room of ROOMS) {
      await open(place);
      await ways[way]?.(link(room));
      const to = new RegExp(`/app/${room.toLowerCase()}$`);
      await expectOneChange(page, to, room);
      await page.goBack();
      await expectOneChange(page, new RegExp(`${place.replace("?", "\\?")}$`), "Plan");
      await page.goForward();
      await expectOneChange(page, to, room);
    }
  });

  it("New post opens where there is no network, and the page goes on", async () => {
    await open(place);
    await setOffline(page, true);
    await link("New post").click();
    await expectOneChange(page, /\/app\/write$/, null);
    await page.goBack();
    await expectOneChange(page, new RegExp(`${place.replace("?", "\\?")}$`), null);
    await page.goForward();
    await setOffline(page, false);
    await title(page, "Write").waitFor();
    expect(await changesOf(page)).toEqual(["/app/write"]);
  });

  it("a room opens on a slow line, before the plan is there", async () => {
    await visit("/app/settings");
    await title(page, "Settings").waitFor();
    await page.route(/\/app\//, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await route.fallback();
    });
    await visit(place);
    await link("Channels").click();
    await expectOneChange(page, /\/app\/channels$/, "Channels");
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });
});

describe("from the next month, by way of the buttons", () => {
  it("a link opens after a month was turned and offline nothing of another month came", async () => {
    await open("/app/plan");
    await page.getByRole("button", { name: "Next month" }).click();
    await page.getByRole("heading", { name: "December 2026" }).waitFor();
    await page.waitForURL(/day=2026-12/);
    await setOffline(page, true);
    await page.getByRole("button", { name: "Next month" }).click();
    await page.getByText("You are offline.").first().waitFor();
    await page.getByRole("heading", { name: "December 2026" }).waitFor();
    await page.waitForURL(/day=2026-12/);
    await changesOf(page);
    await link("New post").click();
    await expectOneChange(page, /\/app\/write$/, null);
  });

  it("what is not there offline is asked for again when the network is back", async () => {
    await open("/app/plan");
    await link("Settings").click();
    await title(page, "Settings").waitFor();
    await setOffline(page, true);
    await link("Plan").click();
    await page.getByRole("main").getByRole("alert").waitFor();
    expect(page.url()).toBe(`${host.address}/app/plan`);
    await setOffline(page, false);
    await page.locator(".plan-grid [data-id=post_now]").waitFor();
    expect(page.url()).toBe(`${host.address}/app/plan`);
  });

  const cell = (day: string): Locator => page.locator(`[data-key="cell:${day}"]`);
  const slot = (): Locator => cell("2026-12-19").getByRole("button", { name: /12:00 free on Blog/ });

  it.each(Object.keys(ways))("a free time leads to its channel and time by %s", async (way) => {
    await open("/app/plan?day=2026-12-27");
    await slot().waitFor();
    await ways[way]?.(slot());
    const to = new RegExp(`/app/write\\?account=${blog}&at=2026-12-19T11%3A00%3A00\\.000Z$`);
    await expectOneChange(page, to, "Write");
    expect(await page.getByRole("checkbox", { name: /Blog/ }).isChecked()).toBe(true);
    await page.goBack();
    await expectOneChange(page, /\/app\/plan\?day=2026-12-27$/, "Plan");
    await page.getByRole("heading", { name: "December 2026" }).waitFor();
  });

  it("a day leads to a post for that day", async () => {
    await open("/app/plan?day=2026-12-27");
    await cell("2026-12-10").click({ position: { x: 20, y: 90 } });
    await page.waitForURL(/day=2026-12-10$/);
    await changesOf(page);
    await page.getByRole("link", { name: "Write a post for this day" }).click();
    await expectOneChange(page, /\/app\/write\?at=2026-12-10T08%3A00%3A00\.000Z$/, "Write");
  });

  it("an empty month leads to a post", async () => {
    await open("/app/plan?day=2027-03-01");
    await page.getByRole("main").getByRole("link", { name: "Write a post" }).click();
    await expectOneChange(page, /\/app\/write\?at=2027-03-01T08%3A00%3A00\.000Z$/, "Write");
  });

  it("a draft leads to its review", async () => {
    await open("/app/plan?day=2026-12-27");
    await cell("2026-12-16")
      .getByRole("button", { name: /Spring opening/ })
      .click();
    await expectOneChange(page, new RegExp(`/app/review\\?draft=${draft}$`), "Review");
  });

  it.each([WIDE, PHONE])("a post leads to its change, in a window of %i pixels", async (width) => {
    await open("/app/plan?day=2026-12-15", width);
    await page.locator("[data-id=post_next]").filter({ visible: true }).first().click();
    await expectOneChange(page, /\/app\/plan\?day=2026-12-15&post=post_next$/, null);
    await page.getByRole("dialog").getByRole("link", { name: "Edit" }).click();
    await expectOneChange(page, /\/app\/write\?post=post_next$/, "Change a post");
    await page.goBack();
    await page.getByRole("dialog").getByText("Text of post_next").first().waitFor();
  });

  it("every room of a phone opens, the others by More", async () => {
    for (const room of ROOMS) {
      await open("/app/plan?day=2026-12-27", PHONE);
      if (!(await link(room).first().isVisible())) await page.getByRole("button", { name: "More" }).click();
      await link(room)
        .filter({ visible: true })
        .or(page.getByRole("dialog").getByRole("link", { name: room }))
        .first()
        .click();
      await expectOneChange(page, new RegExp(`/app/${room.toLowerCase()}$`), room);
    }
  });
});

describe("from every other room", () => {
  const places = {
    Write: "/app/write",
    "Change a post": "/app/write?post=post_next",
    Review: "/app/review",
    Trouble: "/app/trouble",
    Results: "/app/results",
    Channels: "/app/channels",
    "Connect a channel": "/app/channels?connect=",
    Settings: "/app/settings",
    "Page not found": "/app/nowhere",
  } as const;

  it.each(Object.entries(places))("each room opens from %s", async (from, path) => {
    for (const room of ["Plan", ...ROOMS].filter((one) => `/app/${one.toLowerCase()}` !== path)) {
      await visit(path);
      await title(page, from).waitFor();
      await link(room).click();
      await expectOneChange(page, new RegExp(`/app/${room.toLowerCase()}$`), room);
    }
  });

  it("a half-written text changes no address once one has left, and is offered again", async () => {
    await visit("/app/write");
    await changesOf(page);
    await page.getByRole("textbox", { name: "Text", exact: true }).fill("Half written about snow");
    // Its save is answered when another room is long open.
    await page.route(/save_draft$/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 800));
      await route.fallback();
    });
    await link("Results").click();
    const saved = page.waitForResponse(/save_draft$/);
    await title(page, "Results").waitFor();
    await saved;
    await expectOneChange(page, /\/app\/results$/, "Results");
    await link("New post").click();
    await expectOneChange(page, /\/app\/write$/, "Write");
    await page.getByRole("link", { name: "Go on with “Half written about snow”?" }).click();
    await expectOneChange(page, /\/app\/write\?draft=dft_/, "Write");
    const text = page.getByRole("textbox", { name: "Text", exact: true });
    await expect.poll(() => text.inputValue()).toBe("Half written about snow");
    expect(await page.getByText("Go on with").count()).toBe(0);
  });

  it("a new post that is begun meanwhile keeps its own address", async () => {
    await visit("/app/write");
    await page.getByRole("textbox", { name: "Text", exact: true }).fill("The one before");
    await page.getByText(/^Saved /).waitFor();
    await changesOf(page);
    await page.route(/save_draft$/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      await route.fallback();
    });
    await page.getByRole("textbox", { name: "Text", exact: true }).fill("The one before, and more");
    const saved = page.waitForResponse(/save_draft$/);
    await link("New post").click();
    await saved;
    await expectOneChange(page, /\/app\/write$/, "Write");
    expect(await page.getByRole("textbox", { name: "Text", exact: true }).inputValue()).toBe("");
    const offer = page.getByRole("link", { name: "Go on with “The one before, and more”?" });
    await offer.waitFor();
    await page.getByRole("button", { name: "Not now" }).click();
    await offer.waitFor({ state: "detached" });
  });

  it("a post that is scheduled on a slow line does not call back who went on", async () => {
    await visit("/app/write");
    await page.getByRole("checkbox", { name: /Blog/ }).check({ force: true });
    await page.getByRole("textbox", { name: "Text", exact: true }).fill("Scheduled slowly");
    await page.getByText(/^Saved /).waitFor();
    await changesOf(page);
    let answer = (): void => {};
    const answered = new Promise<void>((resolve) => (answer = resolve));
    await page.route(/decide_draft$/, async (route) => {
      await answered;
      await route.fallback();
    });
    await page.getByRole("button", { name: "Schedule", exact: true }).click();
    await link("Channels").click();
    await title(page, "Channels").waitFor();
    answer();
    await page.getByText(/^Scheduled for/).waitFor();
    await expectOneChange(page, /\/app\/channels$/, "Channels");
  });
});

describe("what is not there", () => {
  const GONE = {
    "/app/plan?post=post_nope": "There is no such post",
    "/app/plan?channel=acc_nope": "There is no such channel",
    "/app/plan?view=list&channel=acc_nope": "There is no such channel",
    "/app/write?draft=dft_nope": "There is no such draft",
    "/app/write?post=post_nope": "There is no such post",
    "/app/write?copy=post_nope": "There is no such post",
    "/app/write?account=acc_nope": "The channel of this address is not there",
    "/app/review?draft=dft_nope": "There is no such draft",
    "/app/review?show=decided&draft=dft_nope": "There is no such draft",
    "/app/channels?account=acc_nope": "This channel is not there",
    "/app/channels?connect=nope": "There is no such platform",
    "/app/channels?connect=mastodon&account=acc_nope": "This channel is not there",
    "/app/consent?request=nope": "This question is over",
    "/app/nowhere": "There is no such page",
    "/app/plan/more": "There is no such page",
  } as const;

  it.each(Object.entries(GONE))("%s says so, and does not offer to try again", async (path, sentence) => {
    await visit(path);
    await page.getByText(sentence).first().waitFor();
    expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
    expect(await page.locator("body").innerText()).not.toMatch(/list_\w+|\b\w+Id:/);
    expect(page.url()).toBe(`${host.address}${path}`);
  });

  it("leaves the drafts that wait where they are", async () => {
    await visit("/app/review?draft=dft_nope");
    await page.getByRole("heading", { name: "Spring opening" }).waitFor();
  });
});

describe("the console", () => {
  it.each([WIDE, PHONE])("has nothing in it after all rooms, in a window of %i pixels", async (width) => {
    await visit("/app/plan", width);
    const seen = watchConsole(page);
    const paths = [
      ...Object.values(PLACES),
      "/app/plan?post=post_next",
      "/app/write",
      "/app/write?post=post_next",
      `/app/write?draft=${draft}`,
      "/app/review",
      "/app/review?show=written",
      "/app/review?show=decided",
      "/app/trouble",
      "/app/results",
      "/app/channels",
      `/app/channels?account=${blog}`,
      "/app/channels?connect=",
      "/app/channels?connect=mastodon",
      "/app/settings",
      "/app/nowhere",
    ];
    for (const path of paths) {
      await page.goto(`${host.address}${path}`);
      await page.getByRole("heading", { level: 1 }).first().waitFor();
      await page.waitForLoadState("networkidle");
    }
    expect(seen).toEqual([]);
  });
});
