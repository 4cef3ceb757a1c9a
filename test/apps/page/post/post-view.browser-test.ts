import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { queryOf } from "../../../support/handles.ts";
import { objectionsTo, THEMES, WIDTHS } from "../../../support/looks.ts";
import { addPosts, type TestPost } from "../../../support/post-rows.ts";
import { startPageHost, type PageHost } from "../page-host.ts";

const UNKNOWN = "outcome unknown: no answer came. Look at the channel, then settle it with resolve_post.";

let host: PageHost;
let blog: string;
let page: Page;

beforeAll(async () => {
  host = await startPageHost("Europe/Berlin");
  blog = (await host.call("connect_channel", { provider: "feed", name: "Blog" })).account.id;
});
afterAll(() => host?.[Symbol.asyncDispose]());
afterEach(() => page.context().close());

const statusOf = async (id: string): Promise<string> => (await host.call("get_post", { id })).post.status;

async function open(
  post: TestPost,
  row: { error?: string; in_doubt?: 0 | 1; media_url?: string; is_light?: 0 } = {},
): Promise<Locator> {
  const planned = { accountId: blog, caption: `Text of ${post.id}`, scheduledAt: "2026-11-24T08:00:00Z" };
  await addPosts(host.ctx.store, [{ ...planned, ...post }]);
  if (Object.keys(row).length > 0)
    await queryOf(host.ctx.store).updateTable("posts").set(row).where("id", "=", post.id).execute();
  page = await host.open({ path: `/app/plan?post=${post.id}` });
  const dialog = page.getByRole("dialog");
  await dialog.getByText(`Text of ${post.id}`).waitFor();
  return dialog;
}

describe("a waiting post", () => {
  it("shows what its channel will show, and goes to another time", async () => {
    const post = await open({ id: "post_move", metadata: { title: "A title" } });
    await post.locator(".badge.scheduled").waitFor();
    expect(await post.getByText("is waiting already").count()).toBe(0);
    expect(await post.getByRole("link", { name: "Edit" }).getAttribute("href")).toBe(
      "/app/write?post=post_move",
    );
    expect(await post.getByRole("link", { name: "Duplicate" }).getAttribute("href")).toBe(
      "/app/write?copy=post_move",
    );
    await post.getByLabel("Time").fill("2026-11-20T10:00");
    await post.getByRole("button", { name: "Move" }).click();
    // The button beside it is called so.
    await post.getByText("Choose a later one, or “Send now”.").waitFor();
    await post.getByRole("button", { name: "Send now" }).waitFor();
    await post.getByLabel("Time").fill("2026-11-30T18:45");
    await post.getByRole("button", { name: "Move" }).click();
    await page.getByRole("heading", { name: /Mon,? 30 Nov, 18:45/ }).waitFor();
    await post.getByText(/^Last changed\. Planned for Mon,? 30 Nov, 18:45\.$/).waitFor();
    const at = async (): Promise<string> =>
      (await host.call("get_post", { id: "post_move" })).post.scheduledAt;
    expect(await at()).toBe("2026-11-30T17:45:00.000Z");
    await page.getByText(/^Moved to Monday,? 30 November 2026, 18:45\.$/).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("heading", { name: /Tue,? 24 Nov, 09:00/ }).waitFor();
    expect(await at()).toBe("2026-11-24T08:00:00.000Z");
    // By then the panel has read what came of it, and reads no more.
    await post.getByText(/^Last changed\. Planned for Tue,? 24 Nov, 09:00\.$/).waitFor();
    // Others moved it since it was seen.
    host.clock.advance(1_000);
    await host.call("update_post", { id: "post_move", scheduledAt: "2026-11-26T08:00:00Z" });
    await post.getByLabel("Time").fill("2026-12-01T10:00");
    await post.getByRole("button", { name: "Move" }).click();
    await post.getByText(/^Nothing was done: .* The time is now Thu,? 26 Nov, 09:00\.$/).waitFor();
    await page.getByRole("heading", { name: /Thu,? 26 Nov, 09:00/ }).waitFor();
    expect(await at()).toBe("2026-11-26T08:00:00.000Z");
  });

  it("tells how far its film is converted, until it is", async () => {
    const film = { id: "a", owner_id: "default", original: "{}", form: "{}", percent: 40, created_at: 0 };
    const films = queryOf(host.ctx.store);
    await films
      .insertInto("films")
      .values({ ...film, post_id: "post_film" })
      .execute();
    const post = await open(
      { id: "post_film" },
      { media_url: "https://media.example/clip.mov", is_light: 0 },
    );
    await post.getByRole("progressbar", { name: "The video is converted for the channel: 40 %" }).waitFor();
    await films.updateTable("films").set({ error: "The video is damaged." }).execute();
    await post.getByText("The video is damaged.").waitFor();
    await films.deleteFrom("films").execute();
  });

  it("goes out now after a question, if it is what was seen", async () => {
    const post = await open({ id: "post_now" });
    const read = async (): Promise<any> => (await host.call("get_post", { id: "post_now" })).post;
    const question = page.getByRole("dialog", { name: "Publish now?" });
    await post.getByRole("button", { name: "Send now" }).click();
    await question.getByText(/cannot be called back/).waitFor();
    await question.getByRole("button", { name: "Not yet" }).click();
    expect((await read()).scheduledAt).toBe("2026-11-24T08:00:00.000Z");
    host.clock.advance(1_000);
    await host.call("update_post", { id: "post_now", caption: "Text of post_now, and more" });
    await post.getByRole("button", { name: "Send now" }).click();
    await question.getByRole("button", { name: "Publish now" }).click();
    await question.getByText(/The text is now “Text of post_now, and more”\.$/).waitFor();
    expect((await read()).scheduledAt).toBe("2026-11-24T08:00:00.000Z");
    // The other one is shown behind it, and who was told sends that.
    await post.locator(".post-shown").getByText("Text of post_now, and more").waitFor();
    await question.getByRole("button", { name: "Publish now" }).click();
    await page.getByText(/^On its way to /).waitFor();
    expect(Date.parse((await read()).scheduledAt)).toBeLessThanOrEqual(host.clock.now());
  });

  it("keeps its time on a paused channel, which can be resumed there", async () => {
    await host.call("update_account", { accountId: blog, paused: true });
    const post = await open({ id: "post_held" });
    await post.locator(".badge", { hasText: "Paused" }).waitFor();
    await post.getByText("A post may go out up to").waitFor();
    expect(await post.getByText(/is paused/).count()).toBe(1);
    await post.getByRole("button", { name: "Send now" }).click();
    const question = page.getByRole("dialog", { name: "Resume “Blog”?" });
    await question.getByText(/^Nothing goes out on it now, and the post keeps its time\./).waitFor();
    await question.getByRole("button", { name: "Leave it paused" }).click();
    const { post: kept } = await host.call("get_post", { id: "post_held" });
    expect(kept.scheduledAt).toBe("2026-11-24T08:00:00.000Z");
    await page.keyboard.press("Escape");
    const chip = page.locator(".plan-grid [data-id='post_held']");
    await chip.and(page.getByRole("button", { name: /Paused/ })).waitFor();
    await chip.click();
    await post.getByRole("button", { name: "Resume the channel" }).click();
    await question.getByRole("button", { name: "Resume", exact: true }).click();
    await post.locator(".badge", { hasText: "Scheduled" }).waitFor();
  });

  it("is cancelled after a question", async () => {
    const post = await open({ id: "post_cancel" });
    await post.getByRole("button", { name: "Cancel post" }).click();
    const question = page.getByRole("dialog", { name: "Cancel this post?" });
    await question.getByRole("button", { name: "Keep it" }).click();
    expect(await statusOf("post_cancel")).toBe("scheduled");
    await post.getByRole("button", { name: "Cancel post" }).click();
    await question.getByRole("button", { name: "Yes, cancel it" }).click();
    await post.locator(".badge.cancelled").waitFor();
    expect(await statusOf("post_cancel")).toBe("cancelled");
  });
});

describe("a failed post", () => {
  it("says why in words for people, and is sent again", async () => {
    const post = await open(
      { id: "post_failed", status: "failed" },
      { error: "The text is too long. Shorten it, then send it again." },
    );
    await post.getByText("The text is too long. Shorten it, then send it again.").waitFor();
    await post.getByRole("link", { name: "Change it" }).waitFor();
    await post.getByRole("button", { name: "Send again", exact: true }).click();
    const question = page.getByRole("dialog", { name: "Send it again now?" });
    await question.getByRole("button", { name: "Send it now" }).click();
    await post.locator(".badge.scheduled").waitFor();
  });

  it("is dismissed", async () => {
    const post = await open({ id: "post_away", status: "failed" }, { error: "Too long." });
    await post.getByRole("button", { name: "Dismiss" }).click();
    await page.getByRole("button", { name: "Yes, dismiss it" }).click();
    await expect.poll(() => statusOf("post_away")).toBe("cancelled");
    // Nothing is to be done about it any more.
    await post.locator(".badge.cancelled", { hasText: "Dismissed" }).waitFor();
    await post.getByText("Dismissed.", { exact: true }).waitFor();
    expect(await post.locator(".problem").count()).toBe(0);
  });

  it("of which nobody knows whether it went out, is settled by who looked", async () => {
    const post = await open({ id: "post_there", status: "failed" }, { error: UNKNOWN, in_doubt: 1 });
    await post.getByText("No one knows whether it went out.").waitFor();
    expect(await post.getByRole("button", { name: "Send again" }).count()).toBe(0);
    await post.getByLabel("Its address (optional)").fill("https://blog.example/1");
    await post.getByRole("button", { name: "It is there", exact: true }).click();
    await post.locator(".badge.published").waitFor();
    const link = post.getByRole("link", { name: /^Open on/ });
    expect(await link.getAttribute("href")).toBe("https://blog.example/1");
  });

  it("that is not there can be sent again", async () => {
    const post = await open({ id: "post_gone", status: "failed" }, { error: UNKNOWN, in_doubt: 1 });
    await post.getByRole("button", { name: "It is not there" }).click();
    await post.getByRole("button", { name: "Send again", exact: true }).waitFor();
  });
});

describe("a published post", () => {
  it("gives figures when it is asked, and is taken down after a question", async () => {
    const post = await open({ id: "post_live", status: "published" });
    await post.getByRole("button", { name: /^Ask .* for figures$/ }).click();
    await post.getByRole("button", { name: "Ask again" }).waitFor();
    await post.getByRole("button", { name: "Take down" }).click();
    await page.getByRole("dialog", { name: "Take this post down?" }).waitFor();
    await page.getByRole("button", { name: "Leave it there" }).click();
    expect(await statusOf("post_live")).toBe("published");
  });
});

describe("a post that is not there", () => {
  it("says so", async () => {
    page = await host.open({ path: "/app/plan?post=post_nowhere" });
    await page.getByRole("alert").getByText("There is no such post.").waitFor();
    expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
  });
});

describe("how it looks", () => {
  it.each([WIDTHS[0], { name: "small", width: 360 }])(
    "has nothing to object to in a $name window",
    async ({ name, width }) => {
      const posts = [
        [{ id: `post_a_${name}` }, {}],
        [
          { id: `post_b_${name}`, status: "failed" },
          { error: UNKNOWN, in_doubt: 1 },
        ],
        [{ id: `post_c_${name}`, status: "published" }, {}],
      ] as const;
      for (const [post, row] of posts) {
        await open(post, row);
        await page.setViewportSize({ width, height: 800 });
        for (const colorScheme of THEMES) {
          await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
          expect(await objectionsTo(page), `${post.id} ${colorScheme}`).toEqual([]);
        }
        if (post !== posts[2][0]) await page.context().close();
      }
    },
  );
});
