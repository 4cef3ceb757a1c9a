import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { makeSignIn } from "../../../../src/access/page-sessions.ts";
import { newContext } from "../../../support/browser.ts";
import { queryOf } from "../../../support/handles.ts";
import { pngOf } from "../../../support/media.ts";
import { addPosts } from "../../../support/post-rows.ts";
import { runTick } from "../../../support/publishing.ts";
import { startPageHost, type PageHost } from "../page-host.ts";
import { finger, type Hands, keyboard, reader } from "./hands.ts";

const REFUSED = 'The server refused the request. Change it, then send it again. My feed says: "Too long"';
const UNKNOWN =
  'outcome unknown: the server did not answer. Look at the channel "My feed", then settle it with resolve_post.';

async function addFailed(host: PageHost, id: string, accountId: string, error: string): Promise<void> {
  const scheduledAt = host.clock.now() - 60 * 60_000;
  await addPosts(host.ctx.store, [
    { id, accountId, provider: "feed", caption: `Text of ${id}`, status: "failed", scheduledAt },
  ]);
  await queryOf(host.ctx.store)
    .updateTable("posts")
    .set({ error, next_at: null, in_doubt: error === UNKNOWN ? 1 : 0, updated_at: scheduledAt })
    .where("id", "=", id)
    .execute();
}

/** What a new person does from the one-time address on, in the order in which they are led. */
async function travel(host: PageHost, page: Page, hands: Hands): Promise<void> {
  const { call } = host;
  const { account: feed } = await call("connect_channel", { provider: "feed", name: "My feed" });
  const room = (name: string): Promise<void> => page.getByRole("heading", { name, level: 1 }).waitFor();
  const goTo = (name: string): Promise<void> =>
    hands.use(
      page.getByRole("navigation", { name: "Rooms" }).getByRole("link", { name: new RegExp(`^${name}`) }),
    );
  const button = (name: string | RegExp, within: Page | Locator = page): Locator =>
    within.getByRole("button", { name, exact: true });
  const said = (text: string | RegExp): Promise<void> =>
    page.getByRole("status").getByText(text).first().waitFor();

  await page.goto(`${host.address}/app/sign-in#${await makeSignIn(host.ctx)}`);
  await room("Plan");
  const greeting = page.getByRole("region", { name: "Welcome to Posthorn" });
  await greeting.waitFor();
  await hands.look(page, "greeting");

  await hands.write(greeting.getByRole("textbox", { name: "Say hello" }), "Good morning");
  await hands.use(button("Post it now", greeting));
  await greeting.getByRole("status").getByText("It waits: no publisher runs.").waitFor();
  await hands.look(page, "posted");
  await runTick(host.ctx);
  await greeting.getByRole("status").getByText("It is live.").waitFor();
  await greeting.getByRole("heading", { name: "Post something (done)" }).waitFor();

  await hands.use(greeting.getByRole("link", { name: "Connect a channel" }));
  await room("Connect a channel");
  await hands.write(page.getByRole("searchbox", { name: "Search a platform" }), "fee");
  await page.getByRole("status").getByText("1 platform", { exact: true }).waitFor();
  await hands.look(page, "gallery");
  await hands.use(page.getByRole("link", { name: /^Feed/ }));
  await hands.write(page.getByRole("textbox", { name: "Name" }), "Club news");
  await hands.use(page.getByRole("main").getByRole("button", { name: "Connect", exact: true }));
  await said("Connected: Club news");
  await hands.look(page, "connected");

  await goTo("Plan");
  await hands.use(greeting.getByRole("link", { name: "Connect an assistant" }));
  await room("Settings");
  await hands.use(button(/^Another one/));
  const connecting = page.getByRole("dialog", { name: "Connect an assistant" });
  await hands.look(page, "assistant");
  await hands.use(button("Make the key and show what to do", connecting));
  const key =
    /phk_\w+/.exec(
      await connecting
        .getByText(/phk_\w+/)
        .first()
        .innerText(),
    )?.[0] ?? "";
  await hands.look(page, "key");
  await hands.use(button("Done", connecting));
  await goTo("Plan");
  await hands.use(button("Dismiss", greeting));
  await greeting.waitFor({ state: "detached" });
  await hands.look(page, "plan");

  await goTo("Write");
  await hands.use(page.getByRole("checkbox", { name: /Club news/ }));
  await hands.write(page.getByRole("textbox", { name: "Text", exact: true }), "Snow on the hut");
  const [chooser] = await Promise.all([
    page.waitForEvent("filechooser"),
    hands.use(button(/^Picture or video/)),
  ]);
  await chooser.setFiles({ name: "hut.png", mimeType: "image/png", buffer: pngOf(320, 240) });
  await hands.write(page.getByRole("textbox", { name: "Alt text of picture 1" }), "A hut in the snow");
  await said(/^Saved /);
  await hands.look(page, "written");
  await hands.use(button("Schedule"));
  await said(/^Scheduled for .* on Club news/);
  await room("Plan");
  const { posts } = await call("list_posts", { status: ["scheduled"] });
  expect(posts).toMatchObject([{ caption: "Snow on the hut", metadata: { altText: "A hut in the snow" } }]);

  await hands.use(button("List"));
  await hands.use(page.getByRole("main").getByRole("button", { name: /Snow on the hut/ }));
  const post = page.getByRole("dialog");
  await hands.write(post.getByLabel("Time", { exact: true }), "2026-11-28T10:30");
  await hands.look(page, "post");
  await hands.use(button("Move", post));
  await said(/^Moved to Saturday,? 28 November 2026, 10:30\.$/);
  const moved = await call("get_post", { id: posts[0].id });
  expect(moved.post.scheduledAt).toBe("2026-11-28T09:30:00.000Z");
  await hands.use(button("Close", post));
  await post.waitFor({ state: "detached" });
  await hands.look(page, "moved");

  const submitted = await fetch(`${host.address}/api/v1/tools/save_draft`, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify({
      title: "Spring opening",
      caption: "The huts open on 1 May.",
      targets: [{ accountId: feed.id }],
      scheduledAt: "2026-11-29T09:00:00.000Z",
      submit: true,
    }),
  });
  expect(submitted.status).toBe(200);
  await goTo("Review");
  await page.getByRole("heading", { name: "Spring opening", level: 2 }).waitFor();
  await hands.look(page, "review");
  await hands.use(button(/^Approve/));
  await said(/1 post is scheduled on/);
  await hands.look(page, "approved");

  await addFailed(host, "post_refused", feed.id, REFUSED);
  await addFailed(host, "post_unknown", feed.id, UNKNOWN);
  await goTo("Trouble");
  await page.getByRole("link", { name: "Change it" }).waitFor();
  await hands.look(page, "trouble");
  await hands.use(button("It is there"));
  await said("Noted: it is published.");
  expect((await call("get_post", { id: "post_unknown" })).post.status).toBe("published");
  await hands.look(page, "settled");
  await hands.use(page.getByLabel("More: Text of post_refused"));
  await hands.use(button("Send again"));
  await hands.use(button("Send it now"));
  await said(/On its way to /);
  await runTick(host.ctx);
  await said(/Live on /);
  expect((await call("get_post", { id: "post_refused" })).post.status).toBe("published");
  await hands.look(page, "sent-again");
}

describe("the way of a new person", () => {
  it.each([
    { name: "by keys alone, with the focus always in sight", hands: keyboard },
    { name: "by what a screen reader reads", hands: reader },
    { name: "by a finger on a small telephone, in both themes", hands: finger },
  ])("is gone $name", async ({ hands }) => {
    await using host = await startPageHost("Europe/Berlin");
    await using window = await newContext({
      ...hands.window,
      reducedMotion: "reduce",
      locale: "en-GB",
      timezoneId: "America/New_York",
    });
    const page = await window.newPage();
    page.setDefaultTimeout(15_000);
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(error.message));
    await page.clock.setFixedTime(host.clock.now());
    await travel(host, page, hands);
    expect(faults).toEqual([]);
  });
});
