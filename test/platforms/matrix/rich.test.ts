import { describe, expect, it } from "vitest";
import { editPublishedPost } from "../../../src/posts/live-posts.ts";
import { listChoices } from "../../../src/channels/connecting/list-choices.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { PHOTO_URL } from "../../support/contract/stage-media.ts";
import { ROOM } from "./fake.ts";
import { openMatrix } from "./world.ts";

const MARKDOWN = { format: "markdown" };
const ANN = "@ann:horn.example";
const PILL = `<a href="https://matrix.to/#/${ANN}">@Ann</a>`;

describe("a text in Markdown", () => {
  it.each([
    [
      "**a** *b* ~~c~~ `d` & <i>",
      "<strong>a</strong> <em>b</em> <del>c</del> <code>d</code> &amp; &lt;i&gt;",
      "a b c d & <i>",
    ],
    [
      "||a *b*|| [c](https://a.example/?x&y)",
      '<span data-mx-spoiler>a <em>b</em></span> <a href="https://a.example/?x&amp;y">c</a>',
      "a b c",
    ],
    [
      "# a\n\n> b\n\n2. c\n3. d",
      '<h1>a</h1>\n<blockquote>\n<p>b</p>\n</blockquote>\n<ol start="2">\n<li>c</li>\n<li>d</li>\n</ol>',
      "a\n\nb\n\n2. c\n3. d",
    ],
    ["```\na < b\n```\n---", "<pre><code>a &lt; b</code></pre>\n<hr>", "a < b\n\n———"],
  ])("is HTML, with a plain body beside it: %s", async (caption, html, body) => {
    await using world = await openMatrix();
    const row = await world.publish(await world.connect(), { caption, metadata: MARKDOWN });
    expect(row).toMatchObject({ status: "published", error: null });
    expect(world.shown()[0]?.content).toMatchObject({
      format: "org.matrix.custom.html",
      formatted_body: html,
      body,
      "m.mentions": {},
    });
  });

  it("is one beside a file, and when it is changed", async () => {
    await using world = await openMatrix();
    const account = await world.connect();
    const row = await world.publish(account, { caption: "**a**", mediaUrl: PHOTO_URL, metadata: MARKDOWN });
    const shown = () => world.shown()[0]?.content;
    expect(shown()).toMatchObject({ msgtype: "m.image", body: "a", formatted_body: "<strong>a</strong>" });
    await editPublishedPost(world.call, { id: row.id, caption: "*b*" });
    expect(shown()).toMatchObject({ msgtype: "m.image", body: "b", formatted_body: "<em>b</em>" });
    await world.clock.advance(1_000);
    await editPublishedPost(world.call, { id: row.id, metadata: { format: null } });
    expect(shown()).toMatchObject({ body: "*b*" });
    expect(shown()).not.toHaveProperty("formatted_body");
  });

  it("is not mixed with HTML of one's own, and may not be too long", async () => {
    await using world = await openMatrix();
    const { id: accountId } = await world.connect();
    const dryRun = (caption: string, metadata: object) =>
      schedulePost(world.call, { accountId, caption, metadata: { ...MARKDOWN, ...metadata }, dryRun: true });
    await expect(dryRun("a", { html: "<b>a</b>" })).rejects.toThrow(/^metadata\.html: with format markdown/);
    await dryRun("*a* ".repeat(1_000), {});
    await expect(dryRun("&*a*".repeat(5_000), {})).rejects.toThrow(/^caption: is too long/);
    await expect(dryRun("[a]: https://a.example", {})).rejects.toThrow(/^caption: read as Markdown/);
  });
});

describe("people who are mentioned", () => {
  it("are found by the server", async () => {
    await using world = await openMatrix();
    const { id: accountId } = await world.connect();
    const found = (search: string) => listChoices(world.call, { accountId, field: "mention", search });
    expect(await found("ann")).toEqual({
      choices: [
        { value: `@[Ann](${ANN})`, label: `Ann (${ANN})` },
        { value: "@[hannes:far.example](@hannes:far.example)", label: "@hannes:far.example" },
      ],
    });
    expect(await found("")).toEqual({ choices: [] });
  });

  it("are pinged and linked in a plain text too, whose signs stay as they are", async () => {
    await using world = await openMatrix();
    const account = await world.connect();
    const caption = `*Hi*  <b>\n@[Ann](${ANN}), @[Ann](${ANN}) & @[No](no)`;
    const row = await world.publish(account, { caption });
    expect(world.shown()[0]?.content).toMatchObject({
      body: "*Hi*  <b>\n@Ann, @Ann & @No",
      formatted_body: `*Hi*\u00a0 &lt;b&gt;<br>${PILL}, ${PILL} &amp; @No`,
      "m.mentions": { user_ids: [ANN] },
    });
    const bob = "@bob:horn.example";
    await editPublishedPost(world.call, { id: row.id, caption: `@[Ann](${ANN}) @[Bob](${bob})` });
    const edit = world.state.rooms.get(ROOM)?.events.at(-1)?.content;
    expect(edit?.["m.mentions"]).toEqual({ user_ids: [bob] });
    expect(edit?.["m.new_content"]["m.mentions"]).toEqual({ user_ids: [ANN, bob] });
  });
});
