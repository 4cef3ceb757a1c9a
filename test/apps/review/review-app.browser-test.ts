import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { rowsOf } from "../../support/handles.ts";
import { addAccount } from "../../support/post-rows.ts";
import {
  showApp,
  startHostSide,
  type HostSide,
  type ShowOptions,
  type ShownApp,
} from "../shared/app-host.ts";

const MAX_INLINE_HEIGHT = 500;
const MINUTE = 60_000;
const AT = "2026-11-24T08:00:00.000Z";

let host: HostSide;
let shown: ShownApp;

beforeEach(() => start("accept"));

afterEach(async () => {
  // Whatever a test did: nothing was loaded from elsewhere, no policy broken, no script failed.
  expect(shown.faults).toEqual([]);
  expect(shown.strays).toEqual([]);
  expect(Math.max(...heights())).toBeLessThanOrEqual(MAX_INLINE_HEIGHT);
  await shown[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

async function start(person?: "accept" | "decline"): Promise<void> {
  host = await startHostSide("Europe/Berlin", person);
  await addAccount(host.ctx.store, { id: "acc_1", name: "Blog" });
  await addAccount(host.ctx.store, { id: "acc_2", name: "Blog", provider: "mastodon" });
}

const heights = (): number[] =>
  shown.notes.filter((note) => note.kind === "height").map((note) => note.value);
const button = (name: string) => shown.view.getByRole("button", { name, exact: true });
const complaint = () => shown.view.getByRole("alert");
const live = () => shown.view.getByRole("status");
const title = () => shown.view.getByRole("heading", { level: 2 });
const cards = () => shown.view.locator(".card");
const decisions = () => shown.calls.filter(({ name }) => name === "decide_draft");
const posts = (): Promise<any[]> => rowsOf(host.ctx.store, "SELECT * FROM posts");
/** Runs in the page. */
const isFocused = (element: any): boolean => element === element.ownerDocument.activeElement;

async function call(name: string, args: Record<string, unknown>): Promise<any> {
  const answer: any = await host.client.callTool({ name, arguments: args });
  expect(answer.isError ?? false, answer.content[0].text).toBe(false);
  return answer.structuredContent;
}

async function save(args: Record<string, unknown> = {}): Promise<any> {
  const content = {
    title: "Opening",
    caption: "We open on Saturday",
    targets: [{ accountId: "acc_1" }, { accountId: "acc_2", caption: "Saturday!" }],
    scheduledAt: AT,
    submit: true,
  };
  return (await call("save_draft", { ...content, ...args })).draft;
}

async function show(options: ShowOptions = {}): Promise<void> {
  const context = { timeZone: "Europe/Berlin", ...options.context };
  shown = await showApp(host, { tool: "list_drafts", ...options, context });
  await shown.view.locator("#draft :is(article, .brief, .alone)").waitFor();
}

describe("the review page", () => {
  it("shows what waits first, and what each channel will show of it", async () => {
    await save({ title: "Written", submit: false });
    await save({
      labels: ["launch"],
      note: "After the fair",
      mediaUrl: "https://example.org/pictures/oven.jpg",
      metadata: { altText: "The oven" },
    });
    await save({ title: "Newer", submit: false });
    await show();
    await shown.view.getByRole("heading", { name: "1 draft waits for you" }).waitFor();
    expect(await title().innerText()).toBe("Opening");
    const text = await shown.view.locator("#draft").innerText();
    for (const part of [
      "launch",
      "After the fair",
      "Tuesday, 24 November 2026, 09:00 (Europe/Berlin) · 2 posts",
    ])
      expect(text).toContain(part);
    await cards().filter({ hasText: "Blog on Mastodon" }).waitFor();
    const [feed = "", mastodon = ""] = await cards().allInnerTexts();
    expect(feed).toMatch(/^Blog on Feed\n/);
    expect(feed).toContain("We open on Saturday");
    expect(feed).toMatch(/oven\.jpg\s+“The oven”/);
    expect(mastodon).toMatch(/^Blog on Mastodon\s+9 \/ 500 characters/);
    expect(mastodon).toContain("Saturday!");
    expect(await shown.view.locator("#list li").allInnerTexts()).toEqual([
      expect.stringContaining("Opening"),
      expect.stringContaining("Newer"),
      expect.stringContaining("Written"),
    ]);
  });

  it("keeps texts texts, whatever is in them", async () => {
    const hostile = `<img src=x onerror="parent.postMessage(1)"><script>fetch("https://evil.example")</script>`;
    await save({ title: hostile, caption: hostile, note: hostile, labels: [hostile.slice(0, 50)] });
    await show();
    expect(await title().innerText()).toBe(hostile);
    expect(await shown.view.locator("#app img, #app script").count()).toBe(0);
  });

  it("shows a thread as what follows, and marks what is too long", async () => {
    await save({
      caption: "word ".repeat(120),
      targets: [{ accountId: "acc_2", metadata: { thread: [{ caption: "Second" }, { caption: "Third" }] } }],
      submit: false,
    });
    await show();
    expect(await shown.view.getByRole("list", { name: "What follows" }).getByRole("listitem").count()).toBe(
      2,
    );
    await shown.view.getByText(/^! \d+ \/ 500 characters \(too long\)$/).waitFor();
    expect(await button("Approve").count()).toBe(0);
    await shown.view.getByText("It cannot be approved yet: 1 channel says why.").waitFor();
  });

  it("shows 50 channels with texts of 10,000 characters, whole ones once they are asked for", async () => {
    const targets: object[] = [];
    for (let at = 10; at < 60; at++) {
      await addAccount(host.ctx.store, { id: `acc_${at}`, name: `Wall ${at}` });
      targets.push({ accountId: `acc_${at}`, caption: `${at} ${"x".repeat(9_990)}` });
    }
    await save({ caption: "x".repeat(10_000), targets });
    await show();
    expect(await cards().count()).toBe(50);
    // What was cut is no thing to agree to unseen.
    await shown.view.getByText("Texts are too long to be shown whole here").waitFor();
    await shown.view.getByText("It cannot be approved here").waitFor();
    expect(await button("Approve").count()).toBe(0);
  });

  it("asks for further pages, with the filter it was opened with", async () => {
    for (let at = 0; at < 3; at++) await save({ title: `Draft ${at}` });
    await show({ args: { state: ["waiting"], limit: 2 } });
    expect(await shown.view.locator("#list li").count()).toBe(2);
    await button("More drafts").click();
    await expect.poll(() => shown.view.locator("#list li").count()).toBe(3);
    expect(await button("More drafts").count()).toBe(0);
    expect(shown.calls.at(-1)).toEqual({
      name: "list_drafts",
      args: { state: ["waiting"], limit: 2, cursor: expect.any(String) },
    });
  });

  it("says that there is nothing, and what went wrong", async () => {
    await show();
    await shown.view.getByText("No drafts.").waitFor();
    await shown.page.evaluate(
      `window.bridge.sendToolResult({ isError: true, content: [{ type: "text", text: "state: is not a state." }] })`,
    );
    await shown.view.getByText("state: is not a state.").waitFor();
  });
});

describe("a decision", () => {
  it("schedules every post after two questions: the page's and the host's", async () => {
    const { id } = await save();
    await show();
    await button("Approve").click();
    await shown.view.getByRole("group", { name: "Schedule 2 posts?" }).waitFor();
    // The focus is where nothing is done.
    expect(await button("Not yet").evaluate(isFocused)).toBe(true);
    expect(await posts()).toEqual([]);
    await button("Yes, schedule").click();
    await expect.poll(() => live().innerText()).toBe("Approved: its posts are scheduled.");
    expect(decisions()).toEqual([{ name: "decide_draft", args: { id, revision: 1, decision: "approve" } }]);
    expect(host.asked).toEqual([
      expect.stringMatching(/^Approve the draft "Opening"\? It schedules 2 posts\./),
    ]);
    expect(await posts()).toHaveLength(2);
    expect(await shown.view.locator(".facts .badge").innerText()).toMatch(/Scheduled$/);
    expect(await title().evaluate(isFocused)).toBe(true);
    expect(await cards().getByText("Scheduled").count()).toBe(2);
    // The model hears of it, in ids alone.
    expect(shown.notes).toContainEqual({
      kind: "model",
      value: [{ type: "text", text: `In the review the person decided: ${id} (revision 1) was approved.` }],
    });
  });

  it("is made with the keyboard alone, and left with Escape", async () => {
    await save();
    await show();
    await button("Approve").focus();
    await shown.page.keyboard.press("Enter");
    await shown.page.keyboard.press("Escape");
    expect(await button("Approve").evaluate(isFocused)).toBe(true);
    await shown.page.keyboard.press("Tab");
    await shown.page.keyboard.press("Enter");
    await shown.page.keyboard.type("Shorter");
    await shown.page.keyboard.press("Tab");
    await shown.page.keyboard.press("Enter");
    await expect.poll(() => live().innerText()).toBe("Changes are asked for.");
    expect(decisions().map(({ args }) => args)).toEqual([
      expect.objectContaining({ decision: "changes", note: "Shorter" }),
    ]);
    await shown.view.getByText(/asked for changes .*: Shorter$/).waitFor();
    expect(await posts()).toEqual([]);
  });

  it("for changes says which", async () => {
    await save();
    await show();
    await button("Ask for changes").click();
    await button("Send back").click();
    await expect.poll(() => live().innerText()).toBe("Say what to change.");
    expect(decisions()).toEqual([]);
  });

  it("to discard is asked for, and leads on to what still waits", async () => {
    await save({ title: "Next one" });
    await save();
    await show();
    await button("Discard").click();
    await button("Yes, discard it").click();
    await expect.poll(() => shown.view.locator(".facts .badge").innerText()).toMatch(/Discarded$/);
    await button("Next: Next one").click();
    await expect.poll(() => title().innerText()).toBe("Next one");
  });

  it("about a revision that is not the last shows the last instead", async () => {
    const draft = await save();
    await show();
    await save({ id: draft.id, revision: draft.revision, title: "Opening, again" });
    await button("Approve").click();
    await button("Yes, schedule").click();
    await expect
      .poll(() => complaint().innerText())
      .toBe("Not done: the draft was changed meanwhile. This is version 2. Look at it, then decide.");
    expect(await title().innerText()).toBe("Opening, again");
    expect(await posts()).toEqual([]);
  });

  it("gives a time that has gone by anew", async () => {
    await save({ scheduledAt: new Date(host.ctx.clock.now() + 30 * MINUTE).toISOString() });
    await host.ctx.clock.advance(60 * MINUTE);
    await show();
    await button("Approve").click();
    await shown.view.getByLabel("New time (Europe/Berlin)").fill("2026-11-30T18:45");
    await button("Yes, schedule").click();
    await expect.poll(() => live().innerText()).toBe("Approved: its posts are scheduled.");
    const times = (await posts()).map(({ scheduled_at: at }) => new Date(Number(at)).toISOString());
    expect(times).toEqual(["2026-11-30T17:45:00.000Z", "2026-11-30T17:45:00.000Z"]);
  });

  it("ends a series", async () => {
    const draft = await save({ scheduledAt: null, repeat: { unit: "day", time: "09:00" } });
    await call("decide_draft", { id: draft.id, revision: 1, decision: "approve" });
    const waiting = (await posts()).length;
    expect(waiting).toBeGreaterThan(1);
    await show();
    await shown.view
      .getByText(/^Every day at 09:00 \(Europe\/Berlin\), from Sun 22 Nov 2026, without an end$/)
      .waitFor();
    await button("End series").click();
    await button("Yes, end it").click();
    await expect.poll(() => live().innerText()).toBe("The series is ended.");
    expect((await posts()).filter(({ status }) => status === "cancelled")).toHaveLength(waiting);
  });
});

describe("the host", () => {
  it("whose person declines gets nothing scheduled, and the page says so", async () => {
    await host[Symbol.asyncDispose]();
    await start("decline");
    await save();
    await show();
    await button("Approve").click();
    await button("Yes, schedule").click();
    await expect.poll(() => complaint().innerText()).toBe("The person declined, so nothing was done.");
    expect(await posts()).toEqual([]);
  });

  it("that cannot ask gets nothing scheduled, and the page says where to go", async () => {
    await host[Symbol.asyncDispose]();
    await start();
    await save();
    await show();
    await button("Approve").click();
    await button("Yes, schedule").click();
    await expect
      .poll(() => complaint().innerText())
      .toMatch(
        /^Not done: .* Approve it on Posthorn's page under Review, or on the command line: posthorn approve\.$/,
      );
    expect(await posts()).toEqual([]);
  });

  it("that calls no tools gets drafts to look at", async () => {
    await save();
    await show({ capabilities: {} });
    expect(await shown.view.locator("#decide").getByRole("button").count()).toBe(0);
    expect(await cards().allInnerTexts()).toEqual([
      expect.stringMatching(/^Blog on Feed\n/),
      expect.stringMatching(/^Blog on Mastodon\n/),
    ]);
    expect(shown.calls).toEqual([]);
  });

  it("with little room gets a few lines of text", async () => {
    await save();
    await show({ context: { containerDimensions: { maxHeight: 160, width: 400 } } });
    await expect
      .poll(() => shown.view.locator("#app").innerText())
      .toMatch(
        /Drafts\s+1 of 1 wait for you \(Europe\/Berlin\)\s+\?Waits for you · Tue,? 24 Nov 09:00 Opening \(Blog on Feed, Blog on Mastodon\)/,
      );
    expect(heights().at(-1)).toBeLessThanOrEqual(160);
  });

  it("decides on the zone of times, else the browser does", async () => {
    await save();
    await show({ context: { timeZone: "Asia/Tokyo" } });
    await shown.view.getByText(/17:00 \(Asia\/Tokyo\)/).waitFor();
  });
});
