import type { Page, Route } from "playwright-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { queryOf, rowsOf } from "../../../support/handles.ts";
import { fixture, pngOf } from "../../../support/media.ts";
import { addAccount } from "../../../support/post-rows.ts";
import { startPageHost, type PageHost } from "../page-host.ts";

const WRITER = ["read", "draft", "files"] as const;

let host: PageHost;
let page: Page;
let faults: string[];

beforeEach(async () => {
  host = await startPageHost();
  await addAccount(host.ctx.store, { id: "acc_blog", name: "Blog" });
  await addAccount(host.ctx.store, { id: "acc_sky", name: "Alpine Club", provider: "bluesky" });
  faults = [];
});
afterEach(async () => {
  await page?.context().close();
  await host?.[Symbol.asyncDispose]();
  expect(faults).toEqual([]);
});

async function open(path: string, permissions?: typeof WRITER): Promise<Page> {
  const opened = await host.open({ path, height: 1_000, ...(permissions && { permissions }) });
  opened.on("pageerror", (error) => faults.push(error.message));
  return opened;
}

const drafts = async (): Promise<any[]> => (await host.call("list_drafts", {})).drafts;
const posts = (): Promise<any[]> => rowsOf(host.ctx.store, "SELECT * FROM posts");
const text = () => page.getByLabel("Text", { exact: true });
const channel = (name: string) => page.getByRole("checkbox", { name });
const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });
const saved = () => page.getByText(/^Saved /).waitFor();
const alt = (number: number) => page.getByLabel(`Alt text of picture ${number}`);
/** What another one does with the first draft. */
const change = async (args: object): Promise<void> => {
  const [{ id, revision }] = await drafts();
  await host.call("save_draft", { id, revision, ...args }, { keyId: "key_other" });
};

const picture = (name: string, size: number) => ({
  name,
  mimeType: "image/png",
  buffer: pngOf(size, size),
});

/** As a paste or a drop brings it. */
async function give(
  event: "paste" | "drop",
  { name, buffer }: { name: string; buffer: Buffer },
): Promise<void> {
  const bytes = [...buffer];
  await text().evaluate(
    (area: any, { event: kind, name: called, bytes: given }) => {
      const view = area.ownerDocument.defaultView;
      const data = new view.DataTransfer();
      data.items.add(new view.File([new Uint8Array(given)], called, { type: "image/png" }));
      const options = { bubbles: true, cancelable: true };
      area.dispatchEvent(
        kind === "paste"
          ? new view.ClipboardEvent("paste", { ...options, clipboardData: data })
          : new view.DragEvent("drop", { ...options, dataTransfer: data }),
      );
    },
    { event, name, bytes },
  );
}

describe("writing", () => {
  it("keeps what is typed, shows each channel what it gets, and schedules it", async () => {
    page = await open("/app/write");
    await channel("Blog").press("Space");
    await channel("Alpine Club").press("Space");
    expect(await drafts()).toEqual([]);
    await text().fill("Hello from the hut");
    await saved();
    expect(page.url()).toContain("/app/write?draft=dft_");
    await page.getByRole("article", { name: "Alpine Club" }).getByText("Hello from the hut").waitFor();
    await page.locator(".chip", { hasText: "Alpine Club" }).getByText("18/300").waitFor();
    // The address changed under the hands, and the focus stayed.
    await page.keyboard.type("!");
    await expect.poll(async () => (await drafts())[0].caption).toBe("Hello from the hut!");
    await text().fill("Hello from the hut");
    await saved();
    // A reload goes on with it.
    await page.reload();
    await expect.poll(() => text().inputValue()).toBe("Hello from the hut");
    expect(await channel("Blog").isChecked()).toBe(true);
    await button("Schedule").click();
    await page.getByText(/^Scheduled for .* on Blog and Alpine Club\.$/).waitFor();
    await page.waitForURL(/\/app\/plan(?:\?day=|$)/);
    const [draft] = await drafts();
    expect(draft).toMatchObject({ state: "scheduled", caption: "Hello from the hut" });
    expect((await posts()).map((post) => post.account_id).sort()).toEqual(["acc_blog", "acc_sky"]);
  });

  it("takes pictures by picker, paste and drop, with their alt texts in the order that is chosen", async () => {
    page = await open("/app/write?account=acc_blog");
    await page
      .locator('input[type="file"]')
      .first()
      .setInputFiles([picture("one.png", 20), picture("two.png", 21)]);
    await alt(1).fill("One");
    await alt(2).fill("Two");
    await give("paste", picture("three.png", 22));
    await alt(3).fill("Three");
    await give("drop", picture("four.png", 23));
    await alt(4).fill("Four");
    await button("Move picture 4 up").click();
    await button("Remove picture 1").click();
    // Two, Four, Three: by the mouse there and back.
    await page.locator(".grip").first().dragTo(page.locator(".media-row").nth(1));
    await expect.poll(() => alt(1).inputValue()).toBe("Four");
    await page.locator(".grip").nth(1).dragTo(page.locator(".media-row").first());
    const stored = async () => {
      const [draft] = await drafts();
      return [draft?.metadata?.altText, ...(draft?.metadata?.moreMedia ?? []).map((one: any) => one.altText)];
    };
    await expect.poll(stored).toEqual(["Two", "Four", "Three"]);
    const [draft] = await drafts();
    expect(draft.mediaUrl).toMatch(/^r2:/);
    await expect.poll(() => page.getByRole("article", { name: "Blog" }).locator(".picture").count()).toBe(3);
    // One of the library, with the alt text that is kept beside it.
    await page
      .getByRole("button", { name: /^From your files/ })
      .first()
      .click();
    await page.getByRole("dialog").getByRole("button", { name: "three.png" }).click();
    await alt(4).waitFor();
  });

  it("gives a channel its own text, and takes that back", async () => {
    page = await open("/app/write?account=acc_sky");
    await text().fill("For all");
    await button("Customize").click();
    await page.getByLabel("Another text").check();
    const own = page.getByLabel("Text for Alpine Club");
    expect(await own.inputValue()).toBe("For all");
    await own.fill("x".repeat(301));
    await page
      .locator(".target")
      .getByText(/301 .*300/)
      .waitFor();
    await button("Schedule").click();
    await page.getByText(/something to mend for Alpine Club/).waitFor();
    expect(await posts()).toEqual([]);
    await own.fill("Short");
    await page.getByRole("article", { name: "Alpine Club" }).getByText("Short", { exact: true }).waitFor();
    await expect.poll(async () => (await drafts())[0].targets[0].caption).toBe("Short");
    await button("Same as the others").click();
    await page.getByRole("article", { name: "Alpine Club" }).getByText("For all").waitFor();
    await button("Undo").click();
    await page.getByRole("article", { name: "Alpine Club" }).getByText("Short", { exact: true }).waitFor();
  });

  it("writes threads and the fields that some of the channels have", async () => {
    page = await open("/app/write?account=acc_sky");
    await text().fill("One");
    await button("Thread part").click();
    await page.getByLabel("Text of part 2").fill("Two");
    await button("Link").click();
    await page.getByLabel("Link (optional)").fill("not an address");
    await page.getByText("Invalid URL.").waitFor();
    await page.getByLabel("Link (optional)").fill("https://alpine.example/tours");
    const preview = page.getByRole("article", { name: "Alpine Club" });
    await preview.getByText("Two", { exact: true }).waitFor();
    await preview.getByText("alpine.example", { exact: true }).waitFor();
    await page.getByText("More for Bluesky").click();
    await page.getByLabel("Others may quote it (optional)").selectOption("No");
    const metadata = async () => {
      const [draft] = await drafts();
      return { ...draft.metadata, ...draft.targets[0].metadata };
    };
    await expect
      .poll(metadata)
      .toEqual({ thread: [{ caption: "Two" }], link: "https://alpine.example/tours", allowQuotes: false });
    await button("Remove part 2").click();
    await expect.poll(metadata).not.toHaveProperty("thread");
  });

  it("asks before it publishes at once", async () => {
    page = await open("/app/write?account=acc_blog");
    await text().fill("Now");
    await page.getByRole("radio", { name: "Now" }).press("Space");
    await button("Publish now").click();
    const dialog = page.getByRole("dialog", { name: "Publish now?" });
    await dialog.getByText(/at once on Blog/).waitFor();
    await dialog.getByRole("button", { name: "Not yet" }).click();
    expect(await posts()).toEqual([]);
    await button("Publish now").click();
    await dialog.getByRole("button", { name: "Publish now" }).click();
    await page.getByText("On its way to Blog …").waitFor();
    const [post] = await posts();
    // The same message says what became of it, in whichever room that is read.
    await page.getByRole("link", { name: "Channels" }).first().click();
    const failed = { status: "failed", error: "Feed says: “No cats.” Change it.", next_at: null } as const;
    await queryOf(host.ctx.store).updateTable("posts").set(failed).where("id", "=", post.id).execute();
    const said = page
      .locator(".toast")
      .getByText("It did not go out on Blog. Feed says: “No cats.” Change it.", { exact: true });
    await said.waitFor();
    await page.getByRole("link", { name: "See problems" }).click();
    // Why is said there, and the message with it.
    await page.getByText("“No cats.”").waitFor();
    await said.waitFor({ state: "detached" });
  });

  it("says which channel has no slots, and starts a series", async () => {
    page = await open("/app/write?account=acc_blog");
    await text().fill("Question of the week");
    await page.getByRole("radio", { name: "Next free slot" }).press("Space");
    const wanting = page.getByText("Blog has no slots yet. Set its times, or choose another time.");
    await wanting.waitFor();
    await saved();
    await button("Schedule").click();
    await page
      .getByRole("alert")
      .and(wanting)
      .or(page.getByRole("alert").filter({ has: wanting }))
      .waitFor();
    expect(await page.getByText("in red").count()).toBe(0);
    await page.getByRole("radio", { name: "Repeat" }).press("Space");
    await page.getByLabel("Every", { exact: true }).fill("2");
    await page.getByRole("checkbox", { name: "Monday" }).press("Space");
    await page.getByLabel("Ends").selectOption("times");
    await page.getByLabel("Times", { exact: true }).fill("0");
    await page.getByText("Give a whole number from 1 to 10,000.").waitFor();
    await page.getByLabel("Times", { exact: true }).fill("4");
    await button("Start the series").click();
    await page.waitForURL(/\/app\/plan(?:\?day=|$)/);
    const [draft] = await drafts();
    expect(draft).toMatchObject({ state: "repeating", repeat: { every: 2, unit: "week", times: 4 } });
  });

  it("keeps what is written when one leaves, and begins another post", async () => {
    page = await open("/app/write?account=acc_blog");
    await text().fill("One");
    await page.getByRole("link", { name: "New post" }).click();
    await expect.poll(() => text().inputValue()).toBe("");
    await text().fill("Two");
    await page.getByRole("link", { name: "Plan", exact: true }).click();
    await page.waitForURL(/\/app\/plan(?:\?day=|$)/);
    await expect.poll(async () => (await drafts()).map(({ caption }) => caption)).toEqual(["Two", "One"]);
  });

  it("pauses a file that is being sent, goes on, and tries again what was refused", async () => {
    page = await open("/app/write?account=acc_blog");
    let passed = (): void => {};
    const held = new Promise<void>((resolve) => (passed = resolve));
    const answers = [
      async (route: Route) => {
        await held;
        await route.abort();
      },
      (route: Route) => route.fulfill({ status: 400, json: { error: "The disk is full. Make room." } }),
    ];
    await page.route("**/app/api/files/uploads/*", async (route) => {
      const answer = route.request().method() === "PATCH" ? answers.shift() : undefined;
      await (answer ?? ((one: Route) => one.fallback()))(route);
    });
    await page
      .locator('input[type="file"]')
      .first()
      .setInputFiles([picture("one.png", 30)]);
    await expect.poll(() => answers.length).toBe(1);
    await button("Pause picture 1").click();
    await page.getByText(/^Paused at/).waitFor();
    await button("Schedule").click();
    await page.getByText(/still being sent/).waitFor();
    passed();
    await button("Go on with picture 1").click();
    await page.getByText("The disk is full. Make room.").waitFor();
    await button("Send picture 1 again").click();
    await button("Remove picture 1").waitFor();
    await alt(1).fill("There");
    await expect.poll(async () => (await drafts())[0]?.mediaUrl).toMatch(/^r2:/);
  });

  it("shows a telephone's picture once it is stored, and until then what it is", async () => {
    page = await open("/app/write?account=acc_blog");
    let passed = (): void => {};
    const held = new Promise<void>((resolve) => (passed = resolve));
    await page.route("**/app/api/files/uploads/*", async (route) => {
      if (route.request().method() === "PATCH") await held;
      await route.fallback();
    });
    // As a browser gives it on a system that does not know the type.
    const file = { name: "IMG_0001.HEIC", mimeType: "", buffer: fixture("phone.heic") };
    await page.locator('input[type="file"]').first().setInputFiles([file]);
    await page.locator(".media-thumb").getByText("HEIC", { exact: true }).waitFor();
    expect(await page.locator(".media-thumb img").count()).toBe(0);
    passed();
    const shown = page.locator(".media-thumb img");
    await shown.waitFor();
    await expect.poll(() => shown.evaluate((one: any) => one.naturalWidth)).toBeGreaterThan(0);
    expect(await shown.getAttribute("src")).toContain("pictures?");
  });

  it("says what a refused file is, and shows no progress of it", async () => {
    page = await open("/app/write?account=acc_blog");
    const file = {
      name: "drawing.bmp",
      mimeType: "image/bmp",
      buffer: Buffer.from(`BM${"x".repeat(2_000)}`),
    };
    await page.locator('input[type="file"]').first().setInputFiles([file]);
    await page.getByText(/This is a BMP picture\. Send it as JPEG or PNG\./).waitFor();
    expect(await page.locator(".upload progress").count()).toBe(0);
  });

  it("asks before a post what its platform wants a person to decide, and names what they agree to", async () => {
    await addAccount(host.ctx.store, {
      id: "acc_tok",
      name: "Alpine Films",
      handle: "@alpine",
      provider: "tiktok",
    });
    page = await open("/app/write?account=acc_tok");
    await page.route("**/tools/list_choices", (route) =>
      route.fulfill({ json: { result: { choices: [{ value: "SELF_ONLY", label: "Only you" }] } } }),
    );
    await text().fill("A dance");
    await page.getByText("Posts as Alpine Films (@alpine)").waitFor();
    // Nothing is chosen beforehand, and nothing is permitted.
    const privacy = page.getByLabel("Who can see it", { exact: true });
    expect(await privacy.inputValue()).toBe("");
    for (const name of ["Comments", "Duets", "Stitches"])
      expect(await page.getByRole("checkbox", { name, exact: true }).isChecked()).toBe(false);
    const agreed = page.getByText(/^By posting, you agree to TikTok's/);
    expect(await agreed.innerText()).toBe("By posting, you agree to TikTok's Music Usage Confirmation.");
    expect(await agreed.getByRole("link").getAttribute("href")).toContain("music-usage-confirmation");
    await page.getByRole("checkbox", { name: "Comments", exact: true }).check();
    await page.getByRole("switch", { name: /promotes a brand/ }).check();
    await page.getByText("Choose at least one").waitFor();
    await page.getByRole("checkbox", { name: /^Branded content/ }).check();
    expect(await agreed.innerText()).toContain("Branded Content Policy and Music Usage Confirmation.");
    await saved();
    await expect
      .poll(async () => (await drafts())[0]?.targets[0].metadata)
      .toEqual({ disableComment: false, disableDuet: true, disableStitch: true, brandContent: true });
  });

  it("goes by keyboard alone", async () => {
    page = await open("/app/write");
    await page.getByRole("heading", { name: "Write", level: 1 }).waitFor();
    await channel("Blog").focus();
    await page.keyboard.press("Space");
    while (!(await text().evaluate((area: any) => area === area.ownerDocument.activeElement)))
      await page.keyboard.press("Tab");
    await page.keyboard.type("By keys");
    await page.keyboard.press("Control+s");
    await saved();
    await page.keyboard.press("Control+Enter");
    await page.waitForURL(/\/app\/plan(?:\?day=|$)/);
    expect((await posts()).map(({ caption }) => caption)).toEqual(["By keys"]);
  });
});

describe("one who may not publish", () => {
  it("has no button for it, and asks for approval", async () => {
    page = await open("/app/write?account=acc_blog", WRITER);
    await text().fill("Please look");
    await saved();
    expect(await button("Schedule").count()).toBe(0);
    await page.getByRole("radio", { name: "Now" }).press("Space");
    expect(await button("Publish now").count()).toBe(0);
    await button("Ask for approval").click();
    await page.waitForURL("**/app/review");
    expect(await drafts()).toMatchObject([{ state: "waiting", caption: "Please look", scheduledAt: null }]);
    expect(await posts()).toEqual([]);
  });
});

describe("a draft that is changed elsewhere", () => {
  beforeEach(async () => {
    page = await open("/app/write?account=acc_blog");
    await text().fill("First");
    await saved();
    await change({ caption: "Theirs" });
    await text().fill("Mine");
    await page.getByRole("heading", { name: "This draft was changed elsewhere" }).waitFor();
    await page.getByText(/changed the text\.|another window: the text\./).waitFor();
    expect(await drafts()).toMatchObject([{ caption: "Theirs" }]);
  });

  it("is not overwritten: mine is kept as a copy", async () => {
    await button("Keep mine as a copy").click();
    await saved();
    const kept = (await drafts()).map(({ caption }) => caption).sort();
    expect(kept).toEqual(["Mine", "Theirs"]);
    expect(page.url()).toContain((await drafts()).find(({ caption }) => caption === "Mine").id);
  });

  it("is taken as the other one left it, and goes on from there", async () => {
    await button("Take the other one").click();
    await expect.poll(() => text().inputValue()).toBe("Theirs");
    await text().fill("Theirs and mine");
    await expect
      .poll(async () => (await drafts()).map(({ caption }) => caption))
      .toEqual(["Theirs and mine"]);
  });
});
