import type { Page } from "playwright-core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { addAccount } from "../../../support/post-rows.ts";
import { picture } from "../../../support/looks.ts";
import { startPageHost, type PageHost } from "../page-host.ts";

/* A page that was opened before another change and is saved after it takes nothing of that back. */

let host: PageHost;
let page: Page;
let id: string;

beforeEach(async () => {
  host = await startPageHost();
  await addAccount(host.ctx.store, { id: "acc_blog", name: "Blog" });
  const { post } = await host.call("schedule_post", {
    accountId: "acc_blog",
    caption: "As it was",
    metadata: { title: "A title" },
    scheduledAt: inDays(1),
  });
  id = post.id;
  page = await host.open({ path: `/app/write?post=${id}` });
  await expect.poll(() => text().inputValue()).toBe("As it was");
});
afterEach(() => host?.[Symbol.asyncDispose]());

const inDays = (days: number): string => new Date(host.clock.now() + days * 86_400_000).toISOString();
const text = () => page.getByLabel("Text", { exact: true });
const button = (name: string) => page.getByRole("button", { name, exact: true });
const post = async (): Promise<any> => (await host.call("get_post", { id })).post;
const isSaved = () => page.waitForURL(/\/app\/plan(?:\?day=|$)/);

/** By another tab, another device, or an agent. */
async function changeElsewhere(args: object): Promise<void> {
  host.clock.advance(1_000);
  await host.call("update_post", { id, ...args });
}

it("sends what was changed, and leaves what others changed meanwhile", async () => {
  const scheduledAt = inDays(3);
  await changeElsewhere({ scheduledAt, metadata: { title: "Theirs", link: "https://alpine.example/" } });
  await text().fill("Mine");
  await button("Save the change").click();
  await isSaved();
  // It is said, as it was not seen here.
  await page
    .getByText(/^The post was changed\. Elsewhere it was moved to .+\. Changed elsewhere: .*the title.*\.$/)
    .waitFor();
  await picture(page, "changed-elsewhere");
  expect(await post()).toMatchObject({
    caption: "Mine",
    scheduledAt,
    metadata: { title: "Theirs", link: "https://alpine.example/" },
  });
});

it("asks where both changed the same, and takes the one that is chosen", async () => {
  await changeElsewhere({ caption: "Theirs", metadata: { title: "Their title" } });
  await text().fill("Mine");
  await button("Save the change").click();
  await page.getByRole("heading", { name: "This post was changed elsewhere" }).waitFor();
  await page.getByText("Changed meanwhile: the text. The text is now “Theirs”.").waitFor();
  expect(await post()).toMatchObject({ caption: "Theirs" });
  await button("Save the change").click();
  await page.getByText("Choose above which one to go on with.").waitFor();
  expect(await post()).toMatchObject({ caption: "Theirs" });
  await button("Keep mine").click();
  expect(await text().inputValue()).toBe("Mine");
  await expect.poll(post).toMatchObject({ caption: "Mine", metadata: { title: "Their title" } });
});

it("goes on with the other one", async () => {
  await changeElsewhere({ caption: "Theirs" });
  await text().fill("Mine");
  await button("Save the change").click();
  await button("Take the other one").click();
  await expect.poll(() => text().inputValue()).toBe("Theirs");
  await text().fill("Theirs and mine");
  await button("Save the change").click();
  await isSaved();
  expect(await post()).toMatchObject({ caption: "Theirs and mine" });
});

it("takes the other one of what is asked about, and keeps what else was changed here", async () => {
  const theirs = inDays(3);
  await changeElsewhere({ scheduledAt: theirs });
  await text().fill("Mine");
  await page.getByLabel("Day and time").fill("2030-01-31T09:30");
  await button("Save the change").click();
  await page.getByText(/^Changed meanwhile: the time\./).waitFor();
  await button("Take the other one").click();
  await expect.poll(() => page.getByLabel("Day and time").inputValue()).not.toBe("2030-01-31T09:30");
  expect(await text().inputValue()).toBe("Mine");
  await button("Save the change").click();
  await isSaved();
  expect(await post()).toMatchObject({ caption: "Mine", scheduledAt: theirs });
});

it("takes the other draft, too, with what was written here beside", async () => {
  const { draft } = await host.call("save_draft", { title: "As it was", caption: "As it was" });
  const read = async (): Promise<any> => (await host.call("list_drafts", { id: draft.id })).drafts[0];
  await page.goto(`${host.address}/app/write?draft=${draft.id}`);
  await expect.poll(() => text().inputValue()).toBe("As it was");
  await host.call("save_draft", {
    id: draft.id,
    revision: draft.revision,
    caption: "Theirs",
    note: "Theirs",
  });
  await page.getByRole("checkbox", { name: "Blog" }).press("Space");
  await button("Take the other one").click();
  await expect.poll(() => text().inputValue()).toBe("Theirs");
  await expect.poll(async () => (await read()).targets.length).toBe(1);
  const merged = await read();
  expect(merged).toMatchObject({ caption: "Theirs", note: "Theirs", title: "As it was" });
  // One that is decided is not gone on with.
  await host.call("decide_draft", { id: draft.id, revision: merged.revision, decision: "discard" });
  await text().fill("Mine after all");
  await button("Take the other one").click();
  await page.getByText("It is decided, so it cannot be changed any more. Keep yours as a copy.").waitFor();
  await button("Keep mine as a copy").click();
  await page.waitForURL((url) => url.pathname === "/app/write" && !url.search.includes(draft.id));
  expect(await text().inputValue()).toBe("Mine after all");
});

it("asks, too, where the change was kept in this browser meanwhile", async () => {
  await text().fill("Mine");
  await page.goto(`${host.address}/app/plan`);
  await changeElsewhere({ metadata: { title: "Their title" } });
  await page.goto(`${host.address}/app/write?post=${id}`);
  await expect.poll(() => text().inputValue()).toBe("Mine");
  expect(await page.getByRole("heading", { name: "This post was changed elsewhere" }).count()).toBe(0);
  await page.goto(`${host.address}/app/plan`);
  await changeElsewhere({ caption: "Theirs" });
  await page.goto(`${host.address}/app/write?post=${id}`);
  await button("Keep mine").click();
  await button("Save the change").click();
  await isSaved();
  expect(await post()).toMatchObject({ caption: "Mine", metadata: { title: "Their title" } });
});

it("tells what was changed elsewhere, where the change is saved and the room stays", async () => {
  await changeElsewhere({ scheduledAt: inDays(3) });
  await text().fill("Mine");
  await page.keyboard.press("Control+s");
  await page.getByText(/^Elsewhere it was moved to [^.]+\.$/).waitFor();
  expect((await post()).caption).toBe("Mine");
});
