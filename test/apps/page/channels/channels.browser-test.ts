import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startPageHost, type PageHost } from "../page-host.ts";

let host: PageHost;
beforeAll(async () => {
  host = await startPageHost();
});
afterAll(() => host?.[Symbol.asyncDispose]());

/** A channel of its own for each test, so that none waits for another. */
async function addChannel(name: string): Promise<string> {
  return (await host.call("connect_channel", { provider: "feed", name })).account.id;
}

async function scheduleOf(accountId: string): Promise<any> {
  return (await host.call("list_accounts", { accountId })).accounts[0].schedule;
}

async function openChannel(accountId: string): Promise<Page> {
  const page = await host.open({ path: `/app/channels?account=${accountId}` });
  await page.getByRole("heading", { name: "Slots" }).waitFor();
  return page;
}

const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri"];

describe("the list of channels", () => {
  it("tells of each how it is, and opens it", async () => {
    const id = await addChannel("Listed");
    await host.call("update_account", {
      accountId: id,
      schedule: { timezone: "Europe/Berlin", slots: [{ days: ["mon"], times: ["09:00"] }] },
    });
    await host.call("schedule_post", { accountId: id, caption: "Waits", slot: "next" });
    const page = await host.open({ path: "/app/channels" });
    const card = page.getByRole("listitem").filter({ hasText: "Listed" });
    await card.getByText("Connected").waitFor();
    await card.getByText("1 post", { exact: true }).waitFor();
    await card.getByText(/^Mon.*09:00$/).waitFor();
    await card.getByRole("link", { name: "Listed", exact: true }).click();
    await page.getByRole("dialog", { name: "Listed" }).waitFor();
    expect(page.url()).toBe(`${host.address}/app/channels?account=${id}`);
    await page.keyboard.press("Escape");
    await page.waitForURL(`${host.address}/app/channels`);
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.context().close();
  });

  it("says once to those who may only look that they may, and has no buttons for more", async () => {
    const id = await addChannel("Only seen");
    await host.call("update_account", {
      accountId: id,
      schedule: { timezone: "Europe/Berlin", slots: [{ days: ["sat"], times: ["10:00"] }] },
    });
    const page = await host.open({ path: "/app/channels", permissions: ["read"] });
    await page.getByText("That takes a key with the permission").waitFor();
    await page.getByRole("link", { name: "Details of Only seen" }).click();
    const sheet = page.getByRole("dialog");
    await sheet.getByText("in the time zone Europe/Berlin").waitFor();
    await sheet.getByText("10:00").waitFor();
    const names = await sheet.getByRole("button").allTextContents();
    expect(names.filter((name) => name !== "")).toEqual([]);
    expect(await page.getByRole("link", { name: "Connect a channel" }).count()).toBe(0);
    await page.goto(`${host.address}/app/channels?connect=feed`);
    await page.getByRole("heading", { name: "Channels", level: 1 }).waitFor();
    await page.context().close();
  });

  it("offers no new channels to a key of certain channels", async () => {
    const id = await addChannel("Mine");
    const page = await host.open({ path: "/app/channels", accountIds: [id] });
    await page.getByRole("link", { name: "Settings of Mine" }).waitFor();
    expect(await page.getByRole("link", { name: "Connect a channel" }).count()).toBe(0);
    await page.context().close();
  });
});

describe("a channel's slots", () => {
  it("begin with a week that is made already, and are added and taken away by the mouse", async () => {
    const id = await addChannel("By mouse");
    const page = await openChannel(id);
    await page.getByRole("button", { name: "Weekdays at 09:00 and 17:00" }).click();
    await page.getByRole("button", { name: "17:00, Friday: take away" }).click();
    // Beside the times of the day.
    await page
      .getByRole("listitem")
      .filter({ hasText: "Sunday" })
      .click({ position: { x: 8, y: 120 } });
    await page.getByLabel("New time on Sunday").fill("11:30");
    await page.getByLabel("New time on Sunday").press("Enter");
    await page.getByText("10 a week, not saved yet.").waitFor();
    await page.getByRole("button", { name: "Save slots" }).click();
    await page.getByText("The slots are saved.").waitFor();
    expect(await scheduleOf(id)).toMatchObject({
      timezone: "Europe/Berlin",
      slots: [
        { days: WEEKDAYS.slice(0, 4), times: ["09:00", "17:00"] },
        { days: ["fri"], times: ["09:00"] },
        { days: ["sun"], times: ["11:30"] },
      ],
    });
    await page.context().close();
  });

  it("are changed by the keyboard alone", async () => {
    const id = await addChannel("By keyboard");
    await host.call("update_account", {
      accountId: id,
      schedule: { timezone: "UTC", slots: [{ days: ["mon", "tue"], times: ["09:00", "17:00"] }] },
    });
    const page = await openChannel(id);
    const slot = (name: string) => page.getByRole("button", { name });
    await slot("09:00, Monday: take away").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Delete");
    await slot("17:00, Tuesday: take away").waitFor({ state: "detached" });
    expect(
      await slot("09:00, Tuesday: take away").evaluate((one: any) => one === one.ownerDocument.activeElement),
    ).toBe(true);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const input = page.getByLabel("New time on Tuesday");
    await input.waitFor();
    await page.keyboard.press("Escape");
    await input.waitFor({ state: "detached" });
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Enter");
    await input.waitFor();
    // Browsers with a clock of 24 hours leave the letters out.
    await page.keyboard.type("1215PM");
    await page.keyboard.press("Enter");
    await slot("12:15, Tuesday: take away").waitFor();
    await page.getByText("Add times on several days").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("checkbox", { name: "Saturday" }).press("Space");
    await page.getByRole("textbox", { name: "Times" }).fill("noon");
    await page.keyboard.press("Enter");
    await page.getByText("The times are not readable.").waitFor();
    await page.getByRole("textbox", { name: "Times" }).fill("8, 20.30");
    await page.keyboard.press("Enter");
    await page.getByLabel("Gap in minutes").fill("15");
    await page.getByRole("button", { name: "Save slots" }).press("Enter");
    await page.getByText("The slots are saved.").waitFor();
    expect(await scheduleOf(id)).toMatchObject({
      timezone: "UTC",
      minGapMinutes: 15,
      slots: [
        { days: ["mon"], times: ["09:00", "17:00"] },
        { days: ["tue"], times: ["09:00", "12:15"] },
        { days: ["sat"], times: ["08:00", "20:30"] },
      ],
    });
    await page.context().close();
  });

  it("take the posts along that wait in them, once that was looked at", async () => {
    const id = await addChannel("Moving");
    const slots = [{ days: ["tue"], times: ["12:00"] }];
    await host.call("update_account", { accountId: id, schedule: { timezone: "UTC", slots } });
    const { post } = await host.call("schedule_post", { accountId: id, caption: "Along", slot: "next" });
    const page = await openChannel(id);
    await page.getByRole("button", { name: "12:00, Tuesday: take away" }).click();
    await page.getByRole("button", { name: "Add a time on Thursday" }).click();
    await page.getByLabel("New time on Thursday").fill("13:00");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Save slots" }).click();
    const question = page.getByRole("dialog", { name: "Move posts that wait in slots, too?" });
    await question.getByText("Along").waitFor();
    expect(await scheduleOf(id)).toMatchObject({ slots });
    await question.getByRole("button", { name: "Save and move it" }).click();
    await page.getByText("The slots are saved, and 1 post moved.").waitFor();
    const moved = await host.call("get_post", { id: post.id });
    expect(moved.post.scheduledAt).toMatch(/T13:00:00\.000Z$/);
    await page.context().close();
  });
});

describe("a channel", () => {
  it("is renamed, and an empty name is refused with its reason", async () => {
    const page = await openChannel(await addChannel("Before"));
    const name = page.getByRole("textbox", { name: "Name" });
    await name.fill(" ");
    await name.press("Enter");
    await page.getByText("The name is empty.").waitFor();
    await name.fill("Afterwards");
    await name.press("Enter");
    await page.getByRole("dialog", { name: "Afterwards" }).waitFor();
    await page.context().close();
  });

  it("is paused and resumed, with the posts that wait told before", async () => {
    const id = await addChannel("Paused one");
    await host.call("schedule_post", {
      accountId: id,
      caption: "Waits",
      scheduledAt: "2027-01-01T09:00:00Z",
    });
    const page = await openChannel(id);
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    const question = page.getByRole("dialog", { name: "Pause “Paused one”?" });
    await question
      .getByText(/1 post waits for this channel\..*It, “.*”, is due on .* and can go out until /)
      .waitFor();
    await question.getByRole("button", { name: "Pause", exact: true }).click();
    await page.getByText("Nothing goes out until it is resumed. 1 post waits for it.").waitFor();
    expect(await scheduleOf(id)).toMatchObject({ paused: true });
    // Due while it is paused: it goes out with the yes, and the question says so.
    await host.call("schedule_post", { accountId: id, caption: "Kept back" });
    await page.getByRole("button", { name: "Resume" }).click();
    const resume = page.getByRole("dialog", { name: "Resume “Paused one”?" });
    await resume.getByText("1 post goes out now: “Kept back”").waitFor();
    await resume.getByRole("button", { name: "Resume" }).click();
    await page.getByText("“Paused one” goes on.").waitFor();
    expect((await scheduleOf(id))?.paused ?? false).toBe(false);
    await page.context().close();
  });

  it("has parameters for its links, with an example", async () => {
    const id = await addChannel("Linked");
    const page = await openChannel(id);
    await page.getByRole("heading", { name: "Link parameters" }).click();
    await page.getByText("{provider} becomes feed. {label} becomes the first label of the post").waitFor();
    await page.getByRole("textbox", { name: "Source" }).fill("{provider}");
    await page.getByText("https://example.com/article?utm_source=feed").waitFor();
    await page.getByRole("textbox", { name: "Medium" }).fill("{who}");
    await page.getByRole("button", { name: "Save link parameters" }).click();
    await page.getByRole("alert").getByText("may hold only {provider} and {label}").waitFor();
    await page.getByRole("textbox", { name: "Medium" }).fill("social");
    await page.getByRole("button", { name: "Save link parameters" }).click();
    await page.getByText("Posts that are planned from now on get it.").waitFor();
    const { accounts } = await host.call("list_accounts", { accountId: id });
    expect(accounts[0].utm).toEqual({ source: "{provider}", medium: "social", campaign: null });
    await page.context().close();
  });

  it("is disconnected after a question, and can be reconnected", async () => {
    const id = await addChannel("Going");
    await host.call("schedule_post", {
      accountId: id,
      caption: "Waits",
      scheduledAt: "2027-01-01T09:00:00Z",
    });
    const page = await openChannel(id);
    await page.getByRole("button", { name: "Disconnect" }).click();
    const question = page.getByRole("dialog", { name: "Disconnect “Going”?" });
    await question.getByText("will fail unless it is reconnected before their time").waitFor();
    await question.getByRole("button", { name: "Keep it" }).click();
    await page.getByRole("button", { name: "Disconnect" }).click();
    await question.getByRole("button", { name: "Disconnect" }).click();
    await page.getByText("“Going” is disconnected.").waitFor();
    await page.getByRole("link", { name: "Reconnect" }).last().click();
    await page.getByRole("heading", { name: "Reconnect “Going”" }).waitFor();
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByText("Connected: Going").waitFor();
    const { accounts } = await host.call("list_accounts", { accountId: id });
    expect(accounts[0]).toMatchObject({ id, status: "connected", queuedCount: 1 });
    await page.context().close();
  });
});

describe("slots that are set elsewhere meanwhile", () => {
  const there = { timezone: "Europe/Berlin", slots: [{ days: ["mon"], times: ["09:00"] }] };
  const elsewhere = { timezone: "Europe/Berlin", slots: [{ days: ["sun"], times: ["20:00"] }] };

  it.each(["Keep mine", "Take the other one"])("are not replaced without a word: %s", async (choice) => {
    const accountId = await addChannel(`Two windows ${choice}`);
    await host.call("update_account", { accountId, schedule: there });
    const page = await openChannel(accountId);
    await page.getByRole("spinbutton", { name: "Gap in minutes" }).fill("5");
    await host.call("update_account", { accountId, schedule: elsewhere });
    await page.getByRole("button", { name: "Save slots" }).click();
    await page.getByRole("heading", { name: "The slots were changed elsewhere" }).waitFor();
    expect(await scheduleOf(accountId)).toMatchObject(elsewhere);
    await page.getByRole("button", { name: choice }).click();
    await page.getByRole("button", { name: "Save slots" }).waitFor({ state: "detached" });
    const isMine = choice === "Keep mine";
    await expect
      .poll(() => scheduleOf(accountId))
      .toMatchObject(isMine ? { ...there, minGapMinutes: 5 } : elsewhere);
    await page.context().close();
  });
});
