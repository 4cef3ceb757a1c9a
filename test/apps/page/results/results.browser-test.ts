import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { objectionsTo, picture, THEMES, WIDTHS } from "../../../support/looks.ts";
import { addAccount, addPosts, type TestPost } from "../../../support/post-rows.ts";
import { queryOf } from "../../../support/handles.ts";
import { startPageHost, type PageHost } from "../page-host.ts";

let host: PageHost;
beforeAll(async () => {
  host = await startPageHost("Europe/Berlin");
  await addAccount(host.ctx.store, { id: "acc_1", name: "Blog" });
  await addAccount(host.ctx.store, { id: "acc_2", name: "Club", provider: "mastodon" });
});
afterAll(() => host?.[Symbol.asyncDispose]());

async function open(options: Partial<Parameters<PageHost["open"]>[0]> = {}): Promise<Page> {
  const page = await host.open({ path: "/app/results", ...options });
  await page.getByRole("heading", { name: "Results", level: 1 }).waitFor();
  return page;
}

const live = (id: string, accountId: string, scheduledAt: string): TestPost => ({
  id,
  accountId,
  scheduledAt,
  status: "published",
});

describe("results", () => {
  it("says that there is nothing, where nothing went live", async () => {
    const page = await open();
    await page.getByText("Nothing went live yet").waitFor();
    expect(await objectionsTo(page)).toEqual([]);
    await page.context().close();
  });

  it("draws no pattern of few posts, and counts them by the server's days", async () => {
    // Past midnight in Berlin.
    await addPosts(host.ctx.store, [
      live("post_1", "acc_1", "2026-11-19T23:30:00Z"),
      live("post_2", "acc_2", "2026-11-20T08:00:00Z"),
      live("post_old", "acc_2", "2026-09-20T08:00:00Z"),
      { ...live("post_failed", "acc_2", "2026-11-20T09:00:00Z"), status: "failed" },
    ]);
    const page = await open();
    await page.getByText("Too few posts to say anything").waitFor();
    await page.getByText("2 posts on 2 channels").waitFor();
    await page.getByText("As a table").first().focus();
    await page.keyboard.press("Enter");
    const rows = page.getByRole("table").first().getByRole("row");
    expect(await rows.count()).toBe(2);
    expect(await rows.nth(1).innerText()).toMatch(/20 Nov\s+1\s+1\s+2/);
    await page.getByText("90 days").click();
    await page.getByText("3 posts on 2 channels").waitFor();
    await page.context().close();
  });

  it("draws when posts went live from 20 on", async () => {
    await addPosts(
      host.ctx.store,
      Array.from({ length: 20 }, (_, at) =>
        live(
          `post_more_${at}`,
          at % 3 === 0 ? "acc_2" : "acc_1",
          `2026-11-${String(10 + (at % 8))}T07:15:00Z`,
        ),
      ),
    );
    const page = await open();
    await page.getByRole("img", { name: /^All channels: 22 posts/ }).waitFor();
    await page.getByRole("img", { name: /^(Most went live|No hour stands out)/ }).waitFor();
    await page.getByText("As a table").nth(1).click();
    await page.getByRole("rowheader", { name: "08:00" }).waitFor();
    await page.context().close();
  });

  it("asks a platform only on request, and what is not known is no zero", async () => {
    const page = await open();
    await page.getByRole("button", { name: "Ask Mastodon about Club" }).click();
    await page.locator(".figures dd").first().waitFor();
    expect(await page.locator(".figures dd").first().innerText()).toContain("–");
    await page.context().close();
  });
});

describe("what platforms told", () => {
  /** Of each post of the list so many likes, after 24 hours. */
  async function addTold(
    posts: readonly { id: string; at: string; likes: number | null; mediaUrl?: string }[],
  ) {
    await addPosts(
      host.ctx.store,
      posts.map(({ id, at }) => ({
        ...live(id, "acc_2", at),
        provider: "mastodon",
        caption: `Text of ${id}`,
      })),
    );
    const db = queryOf(host.ctx.store);
    for (const { id, at, likes, mediaUrl = "" } of posts) {
      const time = Date.parse(at);
      await db
        .updateTable("posts")
        .set({ published_at: time, media_url: mediaUrl })
        .where("id", "=", id)
        .execute();
      await db
        .insertInto("results")
        .values({
          ...{
            account_id: "acc_2",
            at: time,
            post_id: id,
            provider: "mastodon",
            media: "t",
            next_at: null,
            step: 2,
          },
          h24: likes === null ? null : `,,,${likes},,,,`,
        })
        .execute();
    }
  }
  const day = (nth: number, hour: string): string =>
    `2026-11-${String(1 + nth).padStart(2, "0")}T${hour}:00Z`;

  it("is nothing yet, and that is said", async () => {
    const page = await open();
    await page.getByText("No figures yet").waitFor();
    await page.context().close();
  });

  it("is no comparison out of few posts", async () => {
    await addTold([
      { id: "post_told_0", at: day(0, "08:00"), likes: 4 },
      { id: "post_told_1", at: day(1, "08:00"), likes: 0 },
      { id: "post_told_2", at: day(2, "08:00"), likes: null },
    ]);
    const page = await open();
    await page.getByRole("heading", { name: "Likes by day" }).waitFor();
    await page.getByText("2 posts of 3 have it").waitFor();
    await page.getByText("Of fewer than 20 posts, the order may be chance.").waitFor();
    await page.getByText("Too few posts to say anything").first().waitFor();
    await page.getByText("No likes of Blog: Feed does not offer it.").waitFor();
    await page.getByRole("button", { name: "Propose times for Club" }).click();
    await page.getByText(/^Too few to propose anything: 2 posts/).waitFor();
    await page.context().close();
  });

  it("is drawn, ranked and said in words from 20 posts on, and can be downloaded", async () => {
    await addTold(
      Array.from({ length: 18 }, (_, nth) => ({
        ...{ id: `post_more_told_${nth}`, likes: nth % 3 === 0 ? 50 + nth : nth },
        // Three Mondays and others.
        at: day(nth, nth % 3 === 0 ? "07:00" : "16:00"),
      })),
    );
    const page = await open();
    await page.getByRole("img", { name: /^All channels: .* likes of 20 posts/ }).waitFor();
    await page.getByRole("img", { name: /^(Most likes had posts on|No hour has)/ }).waitFor();
    await page.getByRole("heading", { name: "Weakest" }).waitFor();
    expect(await page.locator(".ranked").first().getByRole("listitem").first().innerText()).toMatch(
      /Text of post_more_told_15[\s\S]*65 likes/,
    );
    const [csv] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download CSV: Posts by likes" }).click(),
    ]);
    const text = await readText(await csv.createReadStream());
    expect(text.split("\r\n")[0]).toBe(
      "id,channel,text,publishedAt,views,impressions,reach,likes,comments,shares,saves,clicks",
    );
    expect(text.split("\r\n")).toHaveLength(22);
    for (const name of ["Likes by day", "Usual likes by hour of the week"]) {
      const [png] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: `Download PNG: ${name}` }).click(),
      ]);
      expect(png.suggestedFilename()).toMatch(/\.png$/);
      const bytes = await readBytes(await png.createReadStream());
      expect(bytes.subarray(1, 4).toString()).toBe("PNG");
      expect(bytes.length).toBeGreaterThan(5_000);
    }
    await page.getByLabel("After").selectOption("7d");
    await page.getByText("No figures yet").waitFor();
    await page.context().close();
  });

  it("proposes slots with what they rest on, sets them, and takes that back", async () => {
    await addTold(
      Array.from({ length: 4 }, (_, week) => ({
        ...{ id: `post_good_${week}`, likes: 90 },
        at: new Date(Date.parse("2026-11-16T09:00:00Z") - week * 7 * 86_400_000).toISOString(),
      })),
    );
    const page = await open();
    await page.getByRole("button", { name: "Propose times for Club" }).click();
    await page.getByText("90 likes, of 4 posts").waitFor();
    await page.getByRole("button", { name: "Use these times for Club" }).click();
    await page.getByText("Club has these slots now.").waitFor();
    const scheduleOf = async () =>
      (await host.call("list_accounts", { accountId: "acc_2" }, {})).accounts[0].schedule?.slots ?? null;
    expect(await scheduleOf()).toEqual([{ days: ["mon"], times: ["10:00"] }]);
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(scheduleOf).toBeNull();
    await page.context().close();
  });

  it("says what failed, and tries again", async () => {
    const page = await open();
    await page.getByRole("heading", { name: "Weakest" }).waitFor();
    await page.route("**/tools/get_report", (route) =>
      route.fulfill({ status: 409, json: { error: "The figures are away." } }),
    );
    await page.getByText("90 days").click();
    await page.getByText("The figures are away.").first().waitFor();
    await page.unroute("**/tools/get_report");
    await page.getByRole("button", { name: "Try again" }).first().click();
    await page.getByRole("heading", { name: "Likes by day" }).waitFor();
    await page.context().close();
  });
});

async function readBytes(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function readText(stream: AsyncIterable<Buffer>): Promise<string> {
  return (await readBytes(stream)).toString("utf8");
}

describe.each([WIDTHS[0], { name: "narrow", width: 360 }])("in a $name window", ({ name, width }) => {
  it("axe objects to nothing, in both themes", async () => {
    const page = await open({ width });
    await page.getByRole("heading", { name: "Weakest" }).waitFor();
    await page.getByText("As a table").nth(3).waitFor();
    for (const table of await page.getByText("As a table").all()) await table.click();
    await page.getByRole("table").nth(1).waitFor();
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      await picture(page, `results-${name}-${theme}`);
      expect(await objectionsTo(page), theme).toEqual([]);
    }
    await page.context().close();
  });
});
