import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { queryOf, rowsOf } from "../../../support/handles.ts";
import { addAccount, addPosts } from "../../../support/post-rows.ts";
import { startPageHost, type PageHost } from "../page-host.ts";

let host: PageHost;
let page: Page;

beforeEach(async () => {
  host = await startPageHost();
  await addAccount(host.ctx.store, { id: "acc_blog", name: "Blog" });
});
afterEach(() => host?.[Symbol.asyncDispose]());

const open = (path: string): Promise<Page> => host.open({ path });
const drafts = async (): Promise<any[]> => (await host.call("list_drafts", {})).drafts;
const posts = (): Promise<any[]> => rowsOf(host.ctx.store, "SELECT * FROM posts");
const text = () => page.getByLabel("Text", { exact: true });
const channel = (name: string) => page.getByRole("checkbox", { name });
const button = (name: string) => page.getByRole("button", { name, exact: true });

describe("a post that is there", () => {
  it("is changed without a draft while it waits", async () => {
    const { post } = await host.call("schedule_post", {
      accountId: "acc_blog",
      caption: "Old",
      scheduledAt: new Date(host.clock.now() + 86_400_000).toISOString(),
      metadata: { title: "Kept" },
    });
    page = await open(`/app/write?post=${post.id}`);
    await page.getByRole("article", { name: "Blog" }).getByText("Old").waitFor();
    // It is no double of itself.
    expect(await page.getByText("waiting already").count()).toBe(0);
    await text().fill("New");
    await page.getByRole("article", { name: "Blog" }).getByText("New").waitFor();
    await button("Save the change").click();
    await page.waitForURL(/\/app\/plan(?:\?day=|$)/);
    expect(await drafts()).toEqual([]);
    const [row] = await posts();
    expect(row).toMatchObject({ caption: "New", status: "scheduled" });
    expect(JSON.parse(row.metadata)).toEqual({ title: "Kept" });
  });

  it("is sent again with changes after it failed", async () => {
    const at = host.clock.now() - 60_000;
    await addPosts(host.ctx.store, [
      { id: "post_1", accountId: "acc_blog", caption: "Bad", status: "failed", scheduledAt: at },
    ]);
    page = await open("/app/write?post=post_1");
    await text().fill("Good");
    await button("Send it again").click();
    await page.getByRole("dialog").getByRole("button", { name: "Send it now" }).click();
    await page.waitForURL(/\/app\/plan(?:\?day=|$)/);
    expect(await posts()).toMatchObject([{ caption: "Good", status: "scheduled" }]);
  });

  it("says why it failed once", async () => {
    const error = "The server refused the request. Change the post, then send it again.";
    await addPosts(host.ctx.store, [
      { id: "post_1", accountId: "acc_blog", caption: "Bad", status: "failed" },
    ]);
    await queryOf(host.ctx.store).updateTable("posts").set({ error }).execute();
    page = await open("/app/write?post=post_1");
    await page.getByText("It is sent just as it was, at once.", { exact: true }).waitFor();
    expect(await page.getByText(error).count()).toBe(1);
  });

  it("begins another one", async () => {
    await addPosts(host.ctx.store, [
      { id: "post_1", accountId: "acc_blog", caption: "Again", status: "published" },
    ]);
    page = await open("/app/write?copy=post_1");
    await expect.poll(() => text().inputValue()).toBe("Again");
    expect(await channel("Blog").isChecked()).toBe(true);
    // Who only looked at it leaves nothing behind.
    await page.getByRole("link", { name: "Results" }).click();
    await page.getByRole("heading", { name: "Results", level: 1 }).waitFor();
    expect((await host.call("list_drafts", {})).drafts).toEqual([]);
    await page.goBack();
    await button("Save").click();
    await page.getByText(/^Saved /).waitFor();
    expect((await host.call("list_drafts", {})).drafts).toMatchObject([{ caption: "Again" }]);
  });
});

it("goes on saying that the time has passed, whatever is saved meanwhile", async () => {
  page = await open("/app/write?account=acc_blog&at=2020-01-31T08:30:00.000Z");
  await text().fill("Too late");
  await button("Schedule").click();
  const refusal = page.locator(".action-bar").getByRole("alert").getByText("That time has passed.");
  await refusal.waitFor();
  await page.getByText(/^Saved /).waitFor();
  await page.waitForTimeout(500);
  expect(await refusal.isVisible()).toBe(true);
});

describe("a post that is past its change", () => {
  const scheduledAt = "2027-03-31T07:30:00.000Z";
  const PICTURE = "https://media.example/1.png";
  const media = { mediaUrl: PICTURE, metadata: { altText: "A loaf", moreMedia: [{ url: `${PICTURE}?2` }] } };
  let id: string;
  beforeEach(async () => {
    const { post } = await host.call("schedule_post", { accountId: "acc_blog", caption: "Old", scheduledAt });
    id = post.id;
    const row = { media_url: PICTURE, metadata: JSON.stringify(media.metadata) };
    await queryOf(host.ctx.store).updateTable("posts").set(row).execute();
    page = await open(`/app/write?post=${id}`);
    await expect.poll(() => text().inputValue()).toBe("Old");
  });
  const bar = () => page.locator(".action-bar");

  it("goes on as a new one with all of it, where it is cancelled meanwhile", async () => {
    await host.call("cancel_post", { id });
    await text().fill("Wanted after all");
    await bar().getByText("This post is cancelled by now, so it cannot be changed here.").waitFor();
    // What the channel shows is what is written, and nothing of another kind is said or offered.
    await page.getByRole("article", { name: "Blog" }).getByText("Wanted after all").waitFor();
    expect(await page.getByText("but this needs").count()).toBe(0);
    expect(await button("Save the change").count()).toBe(0);
    await bar().getByRole("link", { name: "Write it as a new post" }).click();
    await page.waitForURL(/\/app\/write\?draft=/);
    const content = {
      caption: "Wanted after all",
      scheduledAt,
      targets: [{ accountId: "acc_blog" }],
      ...media,
    };
    await expect.poll(async () => (await drafts())[0]).toMatchObject(content);
    await page.goto(`${host.address}/app/write?post=${id}`);
    await page.getByRole("link", { name: "Write something new" }).waitFor();
  });

  it("goes on with all of it, too, where it is opened again after that", async () => {
    await text().fill("Kept here");
    await page.getByText("Kept in this browser, not saved yet").waitFor();
    await page.goto(`${host.address}/app/plan`);
    await host.call("cancel_post", { id });
    await page.goto(`${host.address}/app/write?post=${id}`);
    await page.getByRole("link", { name: "Put what you wrote into a new post" }).click();
    await page.waitForURL(/\/app\/write\?draft=/);
    await expect
      .poll(async () => (await drafts())[0])
      .toMatchObject({ caption: "Kept here", scheduledAt, ...media });
  });

  it("is sent again with the change, where it failed meanwhile", async () => {
    await text().fill("Mended");
    await page.getByRole("article", { name: "Blog" }).getByText("Mended").waitFor();
    await queryOf(host.ctx.store).updateTable("posts").set({ status: "failed", updated_at: 1 }).execute();
    await button("Save the change").click();
    await bar()
      .getByText(/^This post failed by now\./)
      .waitFor();
    await button("Go on with it").click();
    await button("Schedule again").waitFor();
    expect(await text().inputValue()).toBe("Mended");
  });
});

it("begins with what another app shares, or with a free slot", async () => {
  page = await open("/app/write?title=A+page&text=Look&url=https%3A%2F%2Falpine.example%2F");
  await expect.poll(() => text().inputValue()).toBe("Look\n\nhttps://alpine.example/");
  await page.goto(`${host.address}/app/write?account=acc_blog&at=2030-01-31T08:30:00.000Z`);
  await expect.poll(() => page.getByLabel("Day and time").inputValue()).toBe("2030-01-31T09:30");
  expect(await channel("Blog").isChecked()).toBe(true);
});

it("asks by a poll, on the channels that have polls", async () => {
  await addAccount(host.ctx.store, { id: "acc_x", name: "Alpine X", provider: "x" });
  page = await open("/app/write");
  await channel("Blog").press("Space");
  expect(await button("Poll").count()).toBe(0);
  await channel("Alpine X").press("Space");
  await text().fill("Which way up?");
  await button("Poll").click();
  await page.getByRole("textbox", { name: "Answer 1" }).fill("East");
  await page.getByRole("textbox", { name: "Answer 2" }).fill("West");
  await button("Answer").click();
  await page.getByRole("textbox", { name: "Answer 3" }).fill("Neither");
  await page.getByLabel("Open for").selectOption({ label: "3 days" });
  await page.getByText("Poll, for X").waitFor();
  await page.getByText("A poll, open for 72 hours: East / West / Neither.").waitFor();
  await button("Remove answer 2").click();
  const poll = { options: ["East", "Neither"], hours: 72 };
  await expect.poll(async () => (await drafts())[0]?.metadata?.poll).toEqual(poll);
  await button("No poll").click();
  await page.getByRole("textbox", { name: "Answer 1" }).waitFor({ state: "detached" });
  await expect.poll(async () => (await drafts())[0]?.metadata?.poll).toBe(undefined);
});
