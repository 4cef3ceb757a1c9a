import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { queryOf } from "../../../support/handles.ts";
import { objectionsTo, picture, THEMES } from "../../../support/looks.ts";
import { addAccount, addPosts } from "../../../support/post-rows.ts";
import { startPageHost, type PageHost } from "../page-host.ts";

let host: PageHost;
let feed: string;

beforeEach(async () => {
  host = await startPageHost();
  feed = await host.addFeed();
});
afterEach(() => host?.[Symbol.asyncDispose]());

const REFUSED = 'The server refused the request. Change it, then send it again. My feed says: "Too long"';
const UNKNOWN =
  'outcome unknown: the server did not answer. Look at the channel "Blog", then settle it with resolve_post.';

async function addFailed(id: string, error: string, accountId = feed): Promise<void> {
  const scheduledAt = host.clock.now() - 60 * 60_000;
  const provider = accountId === feed ? "feed" : "bluesky";
  await addPosts(host.ctx.store, [
    { id, accountId, provider, caption: `Text of ${id}`, status: "failed", scheduledAt },
  ]);
  await queryOf(host.ctx.store)
    .updateTable("posts")
    .set({ error, in_doubt: error === UNKNOWN ? 1 : 0, updated_at: scheduledAt })
    .where("id", "=", id)
    .execute();
}

async function addLost(id: string): Promise<void> {
  await addAccount(host.ctx.store, {
    id,
    provider: "bluesky",
    name: "Alpine Club",
    handle: "alpine.example",
  });
  await setStatus(id, "reconnect_required");
}

async function setStatus(id: string, status: "connected" | "reconnect_required"): Promise<void> {
  await queryOf(host.ctx.store).updateTable("accounts").set({ status }).where("id", "=", id).execute();
}

async function statusOf(id: string): Promise<string> {
  return (await host.call("get_post", { id })).post.status;
}

describe("trouble", () => {
  it("is calm where nothing is wrong", async () => {
    const page = await host.open({ path: "/app/trouble" });
    await page.getByRole("heading", { name: "Nothing needs you" }).waitFor();
    await look(page, "trouble-calm");
  });

  it("sends a failed post again, and several with one reason at once", async () => {
    await addFailed("post_one", REFUSED);
    await addFailed("post_two", "It missed its time. Send it again.");
    await addFailed("post_three", "It missed its time. Send it again.");
    const page = await host.open({ path: "/app/trouble" });
    // The platform's own words are a quote.
    await page.getByRole("blockquote").getByText("Too long").waitFor();
    const one = page.getByRole("listitem").filter({ hasText: "Text of post_one" });
    // The reason asks for a change, which stands first.
    expect(await one.getByRole("link", { name: "Change it" }).getAttribute("href")).toContain("post_one");
    const ways = one.locator(".trouble-buttons > .button");
    expect(await ways.allTextContents()).toEqual(["Change it", "Send again"]);
    await one.getByRole("button", { name: "Send again" }).click();
    await page.getByRole("button", { name: "Send it now" }).click();
    await page.getByText(/^On its way to /).waitFor();
    await one.waitFor({ state: "detached" });
    expect(await statusOf("post_one")).toBe("scheduled");
    await page.getByText("2 posts on Feed failed for the same reason").waitFor();
    await page.getByRole("button", { name: "Send all 2 again" }).click();
    const question = page.getByRole("dialog", { name: "Send 2 posts again now?" });
    await question.getByRole("button", { name: "Send it now" }).click();
    await page
      .getByText(/^On its way to /)
      .nth(1)
      .waitFor();
    expect([await statusOf("post_two"), await statusOf("post_three")]).toEqual(["scheduled", "scheduled"]);
    // No publisher runs in this test, and the room says so.
    await page.getByRole("heading", { name: "Nothing goes out" }).waitFor();
  });

  it("says what was refused again, and has its row at once", async () => {
    await addFailed("post_one", REFUSED);
    const page = await host.open({ path: "/app/trouble" });
    const row = page.getByRole("listitem").filter({ hasText: "Text of post_one" });
    await row.getByRole("button", { name: "Send again" }).click();
    await page.getByRole("button", { name: "Send it now" }).click();
    await page.getByText(/^On its way to /).waitFor();
    await row.waitFor({ state: "detached" });
    const refused = { status: "failed", error: REFUSED, next_at: null } as const;
    await queryOf(host.ctx.store)
      .updateTable("posts")
      .set({ ...refused, updated_at: host.clock.now() + 1_000 })
      .where("id", "=", "post_one")
      .execute();
    await page.locator(".toast").getByText(`Refused again: ${REFUSED}`).waitFor();
    expect(await row.count()).toBe(1);
  });

  it("lists what goes on by itself, and hurries or stops what only waits", async () => {
    const scheduledAt = host.clock.now() - 60 * 60_000;
    const error = "It did not answer. It is tried again on Saturday 21 November 2026, 12:40 (UTC).";
    for (const [id, status] of [
      ["post_begun", "publishing"],
      ["post_late", "scheduled"],
      ["post_stop", "scheduled"],
    ] as const) {
      await addPosts(host.ctx.store, [
        { id, accountId: feed, caption: `Text of ${id}`, status, scheduledAt },
      ]);
      await queryOf(host.ctx.store).updateTable("posts").set({ error }).where("id", "=", id).execute();
    }
    const page = await host.open({ path: "/app/trouble" });
    const row = (id: string) => page.getByRole("listitem").filter({ hasText: `Text of ${id}` });
    await page.getByRole("heading", { name: /^Under way/ }).waitFor();
    await row("post_begun").getByText("Publishing").waitFor();
    expect(await row("post_begun").getByRole("button").count()).toBe(0);
    await row("post_late")
      .getByText(/Late, next try /)
      .waitFor();
    await row("post_stop").getByRole("button", { name: "Cancel it" }).click();
    await page.getByRole("button", { name: "Yes, cancel it" }).click();
    await row("post_stop").waitFor({ state: "detached" });
    expect(await statusOf("post_stop")).toBe("cancelled");
    await row("post_late").getByRole("button", { name: "Try now" }).click();
    await page
      .getByRole("dialog", { name: "Publish now?" })
      .getByRole("button", { name: "Publish now" })
      .click();
    await expect
      .poll(async () => Date.parse((await host.call("get_post", { id: "post_late" })).post.scheduledAt))
      .toBeGreaterThan(scheduledAt);
    await page.getByText("It did not answer.").last().waitFor();
  });

  it("settles what nobody knows, by keys alone", async () => {
    await addFailed("post_there", UNKNOWN);
    await addFailed("post_gone", UNKNOWN);
    const page = await host.open({ path: "/app/trouble" });
    const row = (id: string) => page.getByRole("listitem").filter({ hasText: `Text of ${id}` });
    await row("post_there").getByRole("button", { name: "It is there" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("Noted: it is published.").waitFor();
    await row("post_there").waitFor({ state: "detached" });
    await row("post_gone").getByRole("button", { name: "It is not there" }).focus();
    await page.keyboard.press("Enter");
    await row("post_gone").getByRole("button", { name: "Send again" }).waitFor();
    expect(await statusOf("post_there")).toBe("published");
    await row("post_gone").getByLabel("More: Text of post_gone").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Change it" }).waitFor();
    await page.getByRole("button", { name: "Dismiss" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Yes, dismiss it" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Nothing needs you" }).waitFor();
    expect(await statusOf("post_gone")).toBe("cancelled");
  });

  it("asks on about one post while the list around it is drawn anew", async () => {
    await addFailed("post_one", REFUSED);
    const page = await host.open({ path: "/app/trouble" });
    await page.getByLabel("More: Text of post_one").click();
    await page.getByRole("button", { name: "Dismiss" }).click();
    const question = page.getByRole("dialog", { name: "Dismiss this post?" });
    await question.waitFor();
    await addFailed("post_two", REFUSED);
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.getByText("2 posts on Feed failed for the same reason").waitFor();
    await question.getByRole("button", { name: "Yes, dismiss it" }).click();
    await expect.poll(() => statusOf("post_one")).toBe("cancelled");
    expect(await statusOf("post_two")).toBe("failed");
  });

  it("reconnects a channel, and notices when it is done", async () => {
    await addLost("acc_lost");
    await addFailed("post_lost", REFUSED, "acc_lost");
    const page = await host.open({ path: "/app/trouble" });
    await page.getByText("1 post failed on it.").waitFor();
    const [opened] = await Promise.all([
      page.context().waitForEvent("page"),
      page.getByRole("button", { name: "Reconnect" }).click(),
    ]);
    await page.getByText("Waiting for you to agree").waitFor();
    expect(await page.getByRole("link", { name: "Open it here" }).getAttribute("href")).toBe(opened.url());
    // The person did what the page asks for.
    await setStatus("acc_lost", "connected");
    const result = { status: "connected", account: null, accounts: [], error: null };
    await page.route("**/tools/check_connection", (route) => route.fulfill({ json: { result } }));
    await page.getByText("Alpine Club is connected again.").waitFor();
    await page.getByRole("heading", { name: /Reconnect/ }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Change it" }).waitFor();
  });

  it("lets a paused channel go on", async () => {
    await host.call("schedule_post", {
      accountId: feed,
      caption: "Later",
      scheduledAt: "2026-12-24T09:00:00Z",
    });
    await host.call("update_account", { accountId: feed, paused: true });
    const page = await host.open({ path: "/app/trouble" });
    await page.getByText("It is paused, and 1 post waits for it.").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    const question = page.getByRole("dialog", { name: /^Resume / });
    await question.getByText("1 post waits on it. Each goes out at its time.").waitFor();
    await question.getByRole("button", { name: "Resume" }).click();
    await page.getByText("goes on.").waitFor();
    await page.getByRole("heading", { name: /Paused/ }).waitFor({ state: "detached" });
  });

  it("has no buttons for one who may only look", async () => {
    await addFailed("post_one", REFUSED);
    await addLost("acc_lost");
    const page = await host.open({ path: "/app/trouble", permissions: ["read"] });
    await page.getByText("You can read what went wrong.").waitFor();
    await page.getByText("Text of post_one").waitFor();
    for (const name of ["Send again", "Reconnect"])
      expect(await page.getByRole("button", { name }).count()).toBe(0);
  });

  it.each([1_280, 360])("has nothing that axe objects to in %i pixels", async (width) => {
    await addFailed("post_one", REFUSED);
    await addFailed("post_two", UNKNOWN);
    await addFailed("post_three", "It missed its time. Send it again.");
    await addFailed("post_four", "It missed its time. Send it again.");
    await addLost("acc_lost");
    await host.call("schedule_post", {
      accountId: feed,
      caption: "Later",
      scheduledAt: "2026-12-24T09:00:00Z",
    });
    await host.call("update_account", { accountId: feed, paused: true });
    const page = await host.open({ path: "/app/trouble", width });
    await page.getByText("failed for the same reason").waitFor();
    await look(page, `trouble-${width}`);
    await page.getByLabel("More: Text of post_two").click();
    await page.getByRole("button", { name: /^Ask / }).waitFor();
    await look(page, `trouble-more-${width}`);
  });
});

async function look(page: Page, name: string): Promise<void> {
  for (const theme of THEMES) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    await picture(page, `${name}-${theme}`);
    expect([name, theme, await objectionsTo(page)]).toEqual([name, theme, []]);
  }
}
