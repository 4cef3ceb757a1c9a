import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { say, toStored } from "../../../src/domain/sentences.ts";
import { addAccount, addPosts, type TestPost } from "../../support/post-rows.ts";
import {
  showApp,
  startHostSide,
  type HostSide,
  type ShownApp,
  type ShowOptions,
} from "../shared/app-host.ts";
import { queryOf } from "../../support/handles.ts";

const MAX_INLINE_HEIGHT = 500;
const LOST = "The channel must be reconnected: its access was withdrawn.";
const REASON = toStored(say(LOST, { next: [{ do: "reconnect", provider: "feed", accountId: "acc_1" }] }));

/** The same, for a person in front of a view. */
const SHOWN_REASON = `${LOST} Ask your agent to reconnect it.`;

let host: HostSide;
let shown: ShownApp;

beforeEach(async () => {
  host = await startHostSide("Europe/Berlin");
  await addAccount(host.ctx.store, { id: "acc_1" });
  await addAccount(host.ctx.store, { id: "acc_2" });
});

afterEach(async () => {
  // Whatever a test did: nothing was loaded from elsewhere, no policy broken, no script failed.
  expect(shown.faults).toEqual([]);
  expect(shown.strays).toEqual([]);
  expect(Math.max(...heights())).toBeLessThanOrEqual(MAX_INLINE_HEIGHT);
  await shown[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

const heights = (): number[] =>
  shown.notes.filter((note) => note.kind === "height").map((note) => note.value);
const cell = (key: string) => shown.view.locator(`[data-key="cell:${key}"]`);
const chip = (name: string | RegExp) =>
  shown.view.locator(".chip").and(shown.view.getByRole("button", { name }));
const button = (name: string) => shown.view.getByRole("button", { name, exact: true });
const complaint = () => shown.view.getByRole("alert");
/** Runs in the page. */
const isFocused = (element: any): boolean => element === element.ownerDocument.activeElement;
const live = () => shown.view.getByRole("status");
const storedTime = async (id: string) =>
  (await host.client.callTool({ name: "get_post", arguments: { id } })).structuredContent as any;

async function show(posts: readonly TestPost[], options: ShowOptions = {}): Promise<void> {
  await addPosts(host.ctx.store, posts);
  await queryOf(host.ctx.store)
    .updateTable("posts")
    .set({ error: REASON })
    .where("status", "=", "failed")
    .execute();
  shown = await showApp(host, options);
  await shown.view.locator("#grid :is([role=grid], .brief)").waitFor();
}

const HELLO: TestPost = { id: "post_1", caption: "Hello", scheduledAt: "2026-11-24T08:00:00Z" };

describe("the calendar page", () => {
  it("shows the month in the service's zone, each post with its time, text and status", async () => {
    await show([
      HELLO,
      {
        id: "post_2",
        metadata: { title: "Late show" },
        scheduledAt: "2026-11-24T23:30:00Z",
        status: "published",
      },
      { id: "post_3", caption: "Lost", scheduledAt: "2026-11-10T08:00:00Z", status: "failed" },
    ]);
    await shown.view.getByRole("heading", { name: "November 2026" }).waitFor();
    expect(await cell("2026-11-24").locator(".unseen").textContent()).toMatch(
      /^Tuesday,? 24 November 2026, 1 post$/,
    );
    await cell("2026-11-24").getByRole("button", { name: "09:00, Hello, Scheduled, acc_1 (Feed)" }).waitFor();
    await cell("2026-11-25")
      .getByRole("button", { name: "00:30, Late show, Published, acc_1 (Feed)" })
      .waitFor();
    expect(await shown.view.locator("#legend").innerText()).toMatch(
      /1 scheduled\s+✓\s*1 published\s+!\s*1 failed/,
    );
    expect(await shown.view.locator("[aria-current=date]").getAttribute("data-day")).toBe("2026-11-21");
    // The days of October were not asked for; that is not the same as having no posts.
    expect(await cell("2026-10-31").locator(".unseen").textContent()).toContain("not loaded");
    expect(heights().at(-1)).toBeGreaterThan(300);
  });

  it("shows a window of a week by hours", async () => {
    await show([HELLO], { args: { from: "2026-11-23", to: "2026-11-29" } });
    await shown.view.getByRole("heading", { name: "23 – 29 Nov 2026" }).waitFor();
    await cell("2026-11-24T9").getByRole("button", { name: /Hello/ }).waitFor();
    expect(shown.calls).toEqual([]);
  });

  it("lists the posts of a crowded day", async () => {
    await show(
      Array.from({ length: 5 }, (_, at) => ({
        id: `post_${at}`,
        caption: `Post ${at}`,
        scheduledAt: `2026-11-24T0${at}:00:00Z`,
      })),
    );
    expect(await cell("2026-11-24").innerText()).toContain("+3 more");
    await cell("2026-11-24").focus();
    await shown.page.keyboard.press("Enter");
    const panel = shown.view.getByRole("dialog", { name: /^Tuesday,? 24 November 2026$/ });
    expect(await panel.getByRole("heading", { level: 3 }).allInnerTexts()).toEqual([
      "Post 0",
      "Post 1",
      "Post 2",
      "Post 3",
      "Post 4",
    ]);
    await shown.page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    expect(await cell("2026-11-24").evaluate(isFocused)).toBe(true);
  });

  it("walks the days with the arrow keys, into the next month too", async () => {
    await show([HELLO]);
    await cell("2026-11-21").focus();
    for (const key of ["ArrowDown", "ArrowRight", "End", "ArrowRight"]) await shown.page.keyboard.press(key);
    await shown.view.getByRole("heading", { name: "November 2026" }).waitFor();
    await shown.page.keyboard.press("ArrowRight");
    await shown.view.getByRole("heading", { name: "December 2026" }).waitFor();
    expect(await cell("2026-12-01").evaluate(isFocused)).toBe(true);
  });

  it("asks the server for other months, with the filter it was opened with", async () => {
    await show(
      [
        HELLO,
        { id: "post_2", caption: "Advent", scheduledAt: "2026-12-06T08:00:00Z" },
        { id: "post_3", accountId: "acc_2", caption: "Other", scheduledAt: "2026-12-06T08:00:00Z" },
      ],
      { args: { accountId: ["acc_1"] } },
    );
    await button("Next month").click();
    await chip(/Advent/).waitFor();
    expect(await chip(/Other/).count()).toBe(0);
    expect(shown.calls).toEqual([
      { name: "show_calendar", args: { accountId: ["acc_1"], from: "2026-11-30", to: "2027-01-03" } },
    ]);
    await button("Today").click();
    await chip(/Hello/).waitFor();
  });

  it("asks in parts for what does not fit into one answer", async () => {
    const caption = `Long ${"words ".repeat(100)}`;
    const posts = Array.from({ length: 240 }, (_, at) => ({
      id: `post_${String(at).padStart(3, "0")}`,
      caption,
      scheduledAt: `2026-11-${String(1 + (at % 30)).padStart(2, "0")}T08:00:00Z`,
    }));
    await show(posts);
    await shown.view.getByText("240 scheduled").waitFor();
    expect(shown.calls.length).toBeGreaterThan(2);
    expect(await cell("2026-11-30").locator(".unseen").textContent()).toContain("8 posts");
    expect(await complaint().count()).toBe(0);
  });

  it("says what is missing where it cannot ask", async () => {
    const posts = Array.from({ length: 240 }, (_, at) => ({
      id: `post_${at}`,
      caption: "Long ".repeat(100),
      scheduledAt: "2026-11-24T08:00:00Z",
    }));
    await show([...posts, { id: "post_end", caption: "End", scheduledAt: "2026-11-28T08:00:00Z" }], {
      capabilities: {},
    });
    expect(await complaint().innerText()).toMatch(/^These are the first \d+ of 241 posts/);
    expect(await cell("2026-11-28").locator(".unseen").textContent()).toContain("not loaded");
  });

  it("tells two channels of one platform apart", async () => {
    await queryOf(host.ctx.store)
      .updateTable("accounts")
      .set({ name: "Sport" })
      .where("id", "=", "acc_2")
      .execute();
    await show([
      HELLO,
      { id: "post_2", accountId: "acc_2", caption: "Goal", scheduledAt: "2026-11-24T08:00:00Z" },
    ]);
    await cell("2026-11-24").click({ position: { x: 5, y: 5 } });
    const panel = await shown.view.getByRole("dialog").innerText();
    expect(panel).toContain("09:00 · acc_1 (Feed)");
    expect(panel).toContain("09:00 · Sport (Feed)");
  });

  it("opens a post's own page through the host", async () => {
    await show([{ ...HELLO, status: "published" }], {});
    await queryOf(host.ctx.store)
      .updateTable("posts")
      .set({ platform_url: "https://feed.example/1" })
      .execute();
    await button("Next month").click();
    await button("Previous month").click();
    await chip(/Hello/).click();
    await button("Open on Feed: Hello").click();
    await expect
      .poll(() => shown.notes.filter((note) => note.kind === "link"))
      .toEqual([{ kind: "link", value: "https://feed.example/1" }]);
  });
});

describe("what is drawn anew", () => {
  const news = async (): Promise<void> => {
    await shown.page.evaluate(`window.bridge.sendHostContextChange({ locale: "en-US" })`);
    await shown.view.getByText("9:00 AM").first().waitFor({ state: "attached" });
  };

  it("keeps what is typed, the focus in it, and where the panel was scrolled to", async () => {
    await show([
      { ...HELLO, caption: `Hello\n\n${"More. ".repeat(200)}` },
      ...Array.from({ length: 5 }, (_, at) => ({ ...HELLO, id: `post_1${at}`, caption: `Other ${at}` })),
    ]);
    await cell("2026-11-24").click({ position: { x: 5, y: 5 } });
    await button("Edit text: Other 4").click();
    const field = shown.view.getByRole("textbox", { name: "Text" });
    await field.fill("Half a sent");
    await shown.view.getByLabel(/New time of Hello/).fill("2026-12-01T10:00");
    await field.focus();
    const scrolled = (): Promise<number> =>
      shown.view.getByRole("dialog").evaluate((panel: any) => panel.scrollTop);
    const before = await scrolled();
    expect(before).toBeGreaterThan(100);
    await news();
    expect(await field.inputValue()).toBe("Half a sent");
    expect(await shown.view.getByLabel(/New time of Hello/).inputValue()).toBe("2026-12-01T10:00");
    expect(await field.evaluate(isFocused)).toBe(true);
    expect(await scrolled()).toBe(before);
  });

  it("keeps the hour that a week was scrolled to", async () => {
    await show([HELLO], { args: { from: "2026-11-23", to: "2026-11-29" } });
    const grid = shown.view.locator("#grid");
    expect(await grid.evaluate((one: any) => one.scrollTop)).toBeGreaterThan(100);
    await grid.evaluate((one: any) => one.scrollTo(0, 77));
    await news();
    expect(await grid.evaluate((one: any) => one.scrollTop)).toBe(77);
  });

  it("has the focus go on at the active day, or at the panel, where what had it is gone", async () => {
    await show([HELLO]);
    await chip(/Hello/).focus();
    await shown.page.keyboard.press("PageDown");
    await shown.view.getByRole("heading", { name: "December 2026" }).waitFor();
    await expect.poll(() => shown.view.locator(".cell[tabindex='0']").evaluate(isFocused)).toBe(true);
    await shown.page.keyboard.press("PageUp");
    await chip(/Hello/).click();
    const release = shown.hold();
    await button("Edit text: Hello").click();
    await shown.view.getByText("Loading the text…").waitFor();
    expect(await shown.view.getByRole("dialog").getByRole("heading", { level: 2 }).evaluate(isFocused)).toBe(
      true,
    );
    release();
    await shown.view.getByRole("textbox", { name: "Text" }).waitFor();
  });
});

describe("moving a post", () => {
  const ifUpdatedAt = expect.any(String);

  it("goes by keyboard to another day at the same time of day, over a clock change", async () => {
    await show([{ ...HELLO, scheduledAt: "2027-03-27T08:00:00Z" }], {
      args: { from: "2027-03-01", to: "2027-03-31" },
    });
    await chip(/Hello/).focus();
    await shown.page.keyboard.press("m");
    await expect.poll(() => live().innerText()).toMatch(/^Moving Hello\./);
    await shown.page.keyboard.press("ArrowRight");
    await expect.poll(() => live().innerText()).toMatch(/^Sunday,? 28 March 2027$/);
    await shown.page.keyboard.press("Enter");
    await expect.poll(() => live().innerText()).toMatch(/^Moved to Sunday,? 28 March 2027, 09:00\.$/);
    expect(shown.calls).toEqual([
      { name: "update_post", args: { id: "post_1", scheduledAt: "2027-03-28T07:00:00.000Z", ifUpdatedAt } },
    ]);
    expect((await storedTime("post_1")).post.scheduledAt).toBe("2027-03-28T07:00:00.000Z");
    expect(await chip(/Hello/).evaluate(isFocused)).toBe(true);
    // The model hears of it, in ids and times alone.
    expect(shown.notes.at(-1)).toMatchObject({
      kind: "model",
      value: [{ text: expect.stringContaining("post_1 was moved to 2027-03-28T07:00:00.000Z") }],
    });
  });

  it("goes by keyboard to another hour of the week", async () => {
    await show([{ ...HELLO, scheduledAt: "2026-11-24T22:15:00Z" }], {
      args: { from: "2026-11-23", to: "2026-11-29" },
    });
    await chip(/Hello/).focus();
    for (const key of ["m", "ArrowDown", "ArrowDown", "ArrowLeft", "Enter"])
      await shown.page.keyboard.press(key);
    await expect.poll(() => live().innerText()).toMatch(/^Moved to Tuesday,? 24 November 2026, 01:15\.$/);
  });

  it("may leave the month, without turning the page", async () => {
    await show([{ ...HELLO, scheduledAt: "2026-11-30T08:00:00Z" }]);
    await chip(/Hello/).focus();
    for (const key of ["m", "ArrowRight", "Enter"]) await shown.page.keyboard.press(key);
    await expect.poll(() => live().innerText()).toMatch(/^Moved to Tuesday,? 1 December 2026, 09:00\.$/);
    await shown.view.getByRole("heading", { name: "November 2026" }).waitFor();
    expect(await chip(/Hello/).evaluate(isFocused)).toBe(true);
    // A day that was not loaded has more to show than what was put there: it is turned to.
    await cell("2026-12-02").click({ position: { x: 5, y: 5 } });
    await shown.view.getByRole("heading", { name: "December 2026" }).waitFor();
    await cell("2026-12-01").getByRole("button", { name: /Hello/ }).waitFor();
  });

  it("is left with Escape", async () => {
    await show([HELLO]);
    await chip(/Hello/).focus();
    for (const key of ["m", "ArrowRight", "Escape"]) await shown.page.keyboard.press(key);
    await cell("2026-11-24").getByRole("button", { name: /Hello/ }).waitFor();
    expect(shown.calls).toEqual([]);
  });

  it("goes by mouse, and shows the new day before the server has answered", async () => {
    await show([HELLO]);
    const release = shown.hold();
    await chip(/Hello/).dragTo(cell("2026-11-27"));
    await cell("2026-11-27")
      .getByRole("button", { name: "09:00, Hello, Scheduled, acc_1 (Feed), Saving…" })
      .waitFor();
    expect((await storedTime("post_1")).post.scheduledAt).toBe("2026-11-24T08:00:00.000Z");
    release();
    await cell("2026-11-27")
      .getByRole("button", { name: "09:00, Hello, Scheduled, acc_1 (Feed)", exact: true })
      .waitFor();
    expect((await storedTime("post_1")).post.scheduledAt).toBe("2026-11-27T08:00:00.000Z");
    expect(await shown.view.getByRole("dialog").count()).toBe(0);
  });

  it("goes by mouse to another hour, keeping the minutes", async () => {
    await show([{ ...HELLO, scheduledAt: "2026-11-24T08:20:00Z" }], {
      args: { from: "2026-11-23", to: "2026-11-29" },
    });
    await chip(/Hello/).dragTo(cell("2026-11-26T14"));
    await cell("2026-11-26T14")
      .getByRole("button", { name: "14:20, Hello, Scheduled, acc_1 (Feed)", exact: true })
      .waitFor();
    expect(shown.calls).toEqual([
      { name: "update_post", args: { id: "post_1", scheduledAt: "2026-11-26T13:20:00.000Z", ifUpdatedAt } },
    ]);
  });

  it("goes to a time that was typed", async () => {
    await show([HELLO]);
    await chip(/Hello/).click();
    await shown.view.getByText("New time", { exact: true }).waitFor();
    await shown.view.getByLabel("New time of Hello (Europe/Berlin)").fill("2026-11-30T18:45");
    await button("Move: Hello").click();
    await shown.view.getByRole("dialog", { name: /^Monday,? 30 November 2026, 18:45$/ }).waitFor();
    expect((await storedTime("post_1")).post.scheduledAt).toBe("2026-11-30T17:45:00.000Z");
  });

  it("goes to no time that has passed, and says where the post stays", async () => {
    await show([HELLO]);
    await chip(/Hello/).dragTo(cell("2026-11-03"));
    await expect
      .poll(() => complaint().innerText())
      .toMatch(/^That time has passed\. The post stays at Tuesday,? 24 November 2026, 09:00\.$/);
    await cell("2026-11-24")
      .getByRole("button", { name: "09:00, Hello, Scheduled, acc_1 (Feed)", exact: true })
      .waitFor();
    await button("Close this message").click();
    expect(await complaint().count()).toBe(0);
  });

  it("is for posts that wait", async () => {
    await show([{ ...HELLO, status: "published" }]);
    await chip(/Hello/).dragTo(cell("2026-11-27"));
    await chip(/Hello/).focus();
    await shown.page.keyboard.press("m");
    await expect.poll(() => live().innerText()).toBe("Only a post that is still scheduled can be moved.");
    expect(shown.calls).toEqual([]);
  });
});

describe("cancelling a post", () => {
  it("asks before, and can be left", async () => {
    await show([HELLO]);
    await chip(/Hello/).click();
    await button("Cancel post: Hello").click();
    await shown.view.getByRole("group", { name: "Cancel this post?" }).waitFor();
    expect(await button("Keep it: Hello").evaluate(isFocused)).toBe(true);
    await shown.page.keyboard.press("Enter");
    expect(await button("Cancel post: Hello").evaluate(isFocused)).toBe(true);
    expect(shown.calls).toEqual([]);
  });

  it("is done by the tool, told to the model, and shown", async () => {
    await show([HELLO]);
    await chip(/Hello/).click();
    await button("Cancel post: Hello").click();
    await button("Yes, cancel it: Hello").click();
    await expect.poll(() => live().innerText()).toBe("The post is cancelled.");
    expect(shown.calls).toEqual([{ name: "cancel_post", args: { id: "post_1" } }]);
    expect((await storedTime("post_1")).post.status).toBe("cancelled");
    await chip("09:00, Hello, Cancelled, acc_1 (Feed)").waitFor();
    expect(await shown.view.getByRole("dialog").getByRole("button", { name: /Hello/ }).count()).toBe(0);
    expect(shown.notes.at(-1)).toMatchObject({
      kind: "model",
      value: [{ text: expect.stringContaining("post_1: cancel_post") }],
    });
  });

  it("is taken back with the server's sentence, in words for a person", async () => {
    await show([HELLO]);
    await queryOf(host.ctx.store).updateTable("posts").set({ status: "published" }).execute();
    await chip(/Hello/).click();
    await button("Cancel post: Hello").click();
    await button("Yes, cancel it: Hello").click();
    await expect.poll(() => complaint().innerText()).toMatch(/^The post is published, but this needs/);
    expect(await complaint().innerText()).not.toMatch(/_/);
    await chip(/Hello, Scheduled/).waitFor();
  });

  it("is for posts that wait, and for hosts that call tools", async () => {
    await show([{ ...HELLO, status: "published" }]);
    await chip(/Hello/).click();
    await shown.view.getByRole("dialog").waitFor();
    expect(await button("Cancel post: Hello").count()).toBe(0);
  });
});

describe("a failed post", () => {
  it("shows its reason and is sent again", async () => {
    await show([{ ...HELLO, status: "failed" }]);
    await button("1 failed").click();
    const panel = shown.view.getByRole("dialog", { name: "Failed posts" });
    expect(await panel.innerText()).toContain(SHOWN_REASON);
    await button("Send again: Hello").click();
    await expect.poll(() => live().innerText()).toBe("The post is sent again.");
    expect(shown.calls).toEqual([{ name: "retry_post", args: { id: "post_1" } }]);
    await cell("2026-11-21").getByRole("button", { name: "10:00, Hello, Scheduled, acc_1 (Feed)" }).waitFor();
    expect((await storedTime("post_1")).post).toMatchObject({ status: "scheduled", error: null });
  });

  it("is sent again with another text, and keeps what was typed where that is refused", async () => {
    await show([{ ...HELLO, caption: "Hello\n\nA second line", status: "failed" }]);
    await chip(/Hello/).click();
    await button("Edit text: Hello").click();
    const field = shown.view.getByRole("textbox", { name: "Text" });
    expect(await field.inputValue()).toBe("Hello\n\nA second line");
    expect(await field.evaluate(isFocused)).toBe(true);
    await field.fill("x".repeat(10_001));
    await button("Send again: Hello").click();
    await expect.poll(() => complaint().innerText()).toMatch(/^The text has 10001 characters/);
    expect((await field.inputValue()).length).toBe(10_001);
    await field.fill("Corrected");
    await button("Send again: Hello").click();
    await expect.poll(() => live().innerText()).toBe("The post is sent again.");
    expect(shown.calls.at(-1)).toEqual({ name: "retry_post", args: { id: "post_1", caption: "Corrected" } });
    expect((await storedTime("post_1")).post).toMatchObject({ status: "scheduled", caption: "Corrected" });
    await cell("2026-11-21")
      .getByRole("button", { name: /10:00, Corrected, Scheduled/ })
      .waitFor();
  });

  it("is dismissed after a question, and counts as failed no more", async () => {
    await show([{ ...HELLO, status: "failed" }]);
    await button("1 failed").click();
    await button("Dismiss: Hello").click();
    await shown.view.getByRole("group", { name: "Dismiss this post?" }).waitFor();
    expect(await button("Leave it: Hello").evaluate(isFocused)).toBe(true);
    await button("Yes, dismiss it: Hello").click();
    await expect.poll(() => live().innerText()).toBe("The post is dismissed.");
    expect(shown.calls).toEqual([{ name: "resolve_post", args: { id: "post_1", outcome: "dismissed" } }]);
    expect((await storedTime("post_1")).post.status).toBe("cancelled");
    expect(await button("1 failed").count()).toBe(0);
  });

  it("stays failed with the server's sentence when it cannot be sent", async () => {
    await show([{ ...HELLO, status: "failed" }]);
    await queryOf(host.ctx.store).updateTable("posts").set({ status: "cancelled" }).execute();
    await chip(/Hello/).click();
    await button("Send again: Hello").click();
    await expect.poll(() => complaint().innerText()).toMatch(/^The post is cancelled, but this needs/);
    await chip("09:00, Hello, Failed, acc_1 (Feed)").waitFor();
  });
});

describe("the text of a waiting post", () => {
  it("is changed, and can be left as it was", async () => {
    await show([HELLO]);
    await chip(/Hello/).click();
    await button("Edit text: Hello").click();
    await shown.view.getByRole("textbox", { name: "Text" }).fill("Thrown away");
    await button("Leave it: Hello").click();
    expect(await button("Edit text: Hello").evaluate(isFocused)).toBe(true);
    await button("Edit text: Hello").click();
    await shown.view.getByRole("textbox", { name: "Text" }).fill("Hello all");
    await button("Save: Hello").click();
    await expect.poll(() => live().innerText()).toBe("The text is saved.");
    expect((await storedTime("post_1")).post).toMatchObject({ status: "scheduled", caption: "Hello all" });
    await chip(/09:00, Hello all, Scheduled/).waitFor();
  });

  it("replaces no other one that was written meanwhile, before the person knows of it", async () => {
    await show([HELLO]);
    await chip(/Hello/).click();
    await button("Edit text: Hello").click();
    await shown.view.getByRole("textbox", { name: "Text" }).fill("Mine");
    await queryOf(host.ctx.store)
      .updateTable("posts")
      .set({ caption: "Theirs", updated_at: 1_000 })
      .execute();
    await button("Save: Hello").click();
    await expect.poll(() => complaint().innerText()).toContain("Its text is now “Theirs”.");
    expect((await storedTime("post_1")).post).toMatchObject({ caption: "Theirs" });
    expect(await shown.view.getByRole("textbox", { name: "Text" }).inputValue()).toBe("Mine");
    await button("Save: Hello").click();
    await expect.poll(async () => (await storedTime("post_1")).post.caption).toBe("Mine");
  });
});

describe("a live post", () => {
  it("is taken down after a question", async () => {
    await show([{ ...HELLO, status: "published" }]);
    await chip(/Hello/).click();
    await button("Take down: Hello").click();
    await shown.view.getByRole("group", { name: "Take this post down?" }).waitFor();
    expect(await button("Leave it there: Hello").evaluate(isFocused)).toBe(true);
    expect(shown.calls).toEqual([]);
    await button("Yes, take it down: Hello").click();
    await expect.poll(() => live().innerText()).toBe("The post is taken down.");
    expect(shown.calls).toEqual([{ name: "cancel_post", args: { id: "post_1", fromPlatform: true } }]);
    expect((await storedTime("post_1")).post.status).toBe("cancelled");
  });
});

describe("a crowded day", () => {
  const many = (status: NonNullable<TestPost["status"]>, from: number, count: number): TestPost[] =>
    Array.from({ length: count }, (_, at) => ({
      id: `post_${from + at}`,
      accountId: at % 2 === 0 ? "acc_1" : "acc_2",
      caption: `Post ${from + at}`,
      status,
      scheduledAt: `2026-11-24T${String(6 + from + at).padStart(2, "0")}:00:00Z`,
    }));

  it("shows what will go out before what was cancelled, and each post's channel", async () => {
    await show([...many("cancelled", 0, 2), ...many("scheduled", 2, 2)]);
    expect(await cell("2026-11-24").locator(".chip").allInnerTexts()).toEqual([
      expect.stringMatching(/09:00\s+acc_1/),
      expect.stringMatching(/10:00\s+acc_2/),
    ]);
  });

  it("says on a phone how many there are, uncut", async () => {
    await show(many("scheduled", 0, 15), { width: 375 });
    const more = cell("2026-11-24").locator(".more");
    expect(await more.innerText()).toBe("+13");
    const [inner, outer] = await more.evaluate((element: any) => [
      element.getBoundingClientRect(),
      element.closest(".cell").getBoundingClientRect(),
    ]);
    expect(inner.right).toBeLessThanOrEqual(outer.right);
    expect(await more.evaluate((element: any) => element.scrollWidth <= element.clientWidth)).toBe(true);
  });

  it("leaves the toolbar uncovered while its posts are listed", async () => {
    await show(many("scheduled", 0, 5));
    await cell("2026-11-24").click({ position: { x: 5, y: 5 } });
    await shown.view.getByRole("dialog").waitFor();
    await button("Next month").click();
    await shown.view.getByRole("heading", { name: "December 2026" }).waitFor();
  });
});

describe("texts of others", () => {
  const EVIL = `<img src="https://evil.example/x.png" onerror="testNote('evil', 1)"></script><script>testNote("evil", 2)</script>`;

  it("are shown as texts", async () => {
    await show([
      { ...HELLO, caption: EVIL, metadata: { title: `"><b onclick=alert(1)>${EVIL}` } },
      { id: "post_2", caption: EVIL, status: "failed", scheduledAt: "2026-11-25T08:00:00Z" },
    ]);
    await queryOf(host.ctx.store)
      .updateTable("posts")
      .set({ platform_url: "javascript:testNote('evil',3)", status: "published" })
      .where("id", "=", "post_1")
      .execute();
    await button("Next month").click();
    await button("Previous month").click();
    await cell("2026-11-24").click({ position: { x: 5, y: 5 } });
    const panel = shown.view.getByRole("dialog");
    expect(await panel.getByRole("heading", { level: 3 }).innerText()).toBe(`"><b onclick=alert(1)>${EVIL}`);
    expect(await panel.innerText()).toContain(EVIL);
    expect(await panel.getByRole("button", { name: /^Open/ }).count()).toBe(0);
    expect(await shown.view.locator("img, b, #app script").count()).toBe(0);
    expect(shown.notes.filter((note) => note.kind === "evil")).toEqual([]);
  });

  it("cannot come from another window", async () => {
    await show([HELLO]);
    const message = {
      jsonrpc: "2.0",
      method: "ui/notifications/tool-result",
      params: { isError: true, content: [{ type: "text", text: "Gone" }] },
    };
    await shown.frame().evaluate(`window.postMessage(${JSON.stringify(message)}, "*")`);
    await shown.frame().evaluate("new Promise((resolve) => setTimeout(resolve))");
    await chip(/Hello/).waitFor();
  });
});

describe("a host", () => {
  it("chooses light or dark, at any time", async () => {
    await show([HELLO], { context: { theme: "dark" } });
    const background = () =>
      shown.view
        .locator("#app")
        .evaluate((app: any) => app.ownerDocument.defaultView.getComputedStyle(app).backgroundColor);
    expect(await background()).toBe("rgb(27, 32, 41)");
    await shown.page.evaluate(`window.bridge.sendHostContextChange({ theme: "light" })`);
    await expect.poll(background).toBe("rgb(255, 255, 255)");
    const variables = { "--color-background-primary": "rgb(1, 2, 3)" };
    await shown.page.evaluate(
      `window.bridge.sendHostContextChange({ styles: { variables: ${JSON.stringify(variables)} } })`,
    );
    await expect.poll(background).toBe("rgb(1, 2, 3)");
  });

  it("with little room gets a few lines of text", async () => {
    await show(
      [HELLO, { id: "post_2", caption: "Lost", scheduledAt: "2026-11-10T08:00:00Z", status: "failed" }],
      {
        context: { containerDimensions: { maxHeight: 160, width: 400 } },
      },
    );
    expect(await shown.view.locator("#app").innerText()).toMatch(
      new RegExp(
        `November 2026\\s+1 scheduled, 1 failed \\(Europe/Berlin\\)\\s+!Tue 10 Nov 09:00 Lost ${SHOWN_REASON}\\s+○Tue 24 Nov 09:00 Hello`,
      ),
    );
    expect(heights().at(-1)).toBeLessThanOrEqual(160);
  });

  it("on a phone sees all seven days without scrolling sideways, and a tap opens the day", async () => {
    await show([HELLO], { width: 360 });
    expect(
      await shown.view
        .locator("#app")
        .evaluate(
          (app: any) => Math.max(app.scrollWidth, app.ownerDocument.documentElement.scrollWidth) <= 360,
        ),
    ).toBe(true);
    await chip(/Hello/).click({ force: true });
    await shown.view.getByRole("dialog", { name: /^Tuesday,? 24 November 2026$/ }).waitFor();
  });

  it("that fixes the height has the page fill it; one with full screen can be asked for it", async () => {
    await show([HELLO], {
      context: {
        containerDimensions: { height: 420, width: 760 },
        availableDisplayModes: ["inline", "fullscreen"],
      },
    });
    await expect
      .poll(() => shown.view.locator("#app").evaluate((app: any) => app.getBoundingClientRect().height))
      .toBe(420);
    await button("Full screen").click();
    await button("Leave full screen").waitFor();
    expect(shown.notes).toContainEqual({ kind: "mode", value: "fullscreen" });
  });

  it("that calls no tools gets a calendar to look at", async () => {
    await show([HELLO, { ...HELLO, id: "post_2", caption: "Lost", status: "failed" }], { capabilities: {} });
    expect(await button("Next month").count()).toBe(0);
    await cell("2026-11-24").click({ position: { x: 5, y: 5 } });
    expect(await shown.view.getByRole("dialog").getByRole("button").count()).toBe(1);
  });

  it("may pass on only the text of the answer, or an error", async () => {
    await addPosts(host.ctx.store, [HELLO]);
    const { content } = await host.client.callTool({ name: "show_calendar", arguments: {} });
    shown = await showApp(host, { result: { content } });
    await chip(/Hello/).waitFor();
    await shown.page.evaluate(
      `window.bridge.sendToolResult({ isError: true, content: [{ type: "text", text: "from: is after to." }] })`,
    );
    await shown.view.getByText("from: is after to.").waitFor();
  });

  it("is answered before it takes the page away", async () => {
    await show([HELLO]);
    expect(await shown.page.evaluate("window.bridge.teardownResource({})")).toEqual({});
  });
});
