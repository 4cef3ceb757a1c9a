import { describe, expect, it } from "vitest";
import { editPublishedPost, setThumbnail } from "../../../src/posts/live-posts.ts";
import { listChoices } from "../../../src/channels/connecting/list-choices.ts";
import { previewPost } from "../../../src/posts/preview.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { callOf } from "../../support/context.ts";
import { CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { refuse, styled } from "./fake.ts";
import { createTelegramWorld } from "./world.ts";

const MARKDOWN = { format: "markdown" };

describe("a text in Markdown", () => {
  it.each([
    [
      "**a** *b* ~~c~~ ||d|| `e`",
      "<bold>a</bold> <italic>b</italic> <strikethrough>c</strikethrough> <spoiler>d</spoiler> <code>e</code>",
    ],
    ["# 👩‍👩‍👧 *loud* `x`", "<bold>👩‍👩‍👧 <italic>loud</italic> x</bold>"],
    [
      "[far **off**](https://a.example/_x_)",
      "<text_link https://a.example/_x_>far <bold>off</bold></text_link>",
    ],
    ["> a\n> > b `c`\n\nd", "<blockquote>a\nb <code>c</code></blockquote>\n\nd"],
    ["```ts\nlet x;\n```", "<pre ts>let x;</pre>"],
    ["1. a\n2. b\n\n[mail](mailto:a@b.example) <b>&amp;", "1. a\n2. b\n\nmail <b>&amp;"],
  ])("is shown by entities: %s", async (caption, shown) => {
    await using world = await createTelegramWorld();
    const row = await world.publish(await world.connect(), { caption, metadata: MARKDOWN });
    expect(row).toMatchObject({ status: "published", error: null });
    expect(styled(world.state.messages[0]!)).toBe(shown);
  });

  it("is one below media and albums, and when it is changed", async () => {
    await using world = await createTelegramWorld();
    const account = await world.connect();
    const film = await world.publish(account, { caption: "**a**", mediaUrl: CLIP_URL, metadata: MARKDOWN });
    const more = { moreMedia: [{ url: PHOTO_URL }] };
    await world.publish(account, { caption: "*b*", mediaUrl: PHOTO_URL, metadata: { ...MARKDOWN, ...more } });
    const shown = () => world.state.messages.map(styled);
    expect(shown()).toEqual(["<bold>a</bold>", "<italic>b</italic>", ""]);
    const call = callOf(world.ctx);
    await setThumbnail(call, { id: film.id, thumbnailUrl: PHOTO_URL });
    expect(world.state.messages[0]?.params["media"]).toMatchObject({ caption_entities: [{ type: "bold" }] });
    await editPublishedPost(call, { id: film.id, caption: "`c`" });
    expect(shown()[0]).toBe("<code>c</code>");
    await editPublishedPost(call, { id: film.id, metadata: { format: null } });
    expect(shown()[0]).toBe("`c`");
  });

  it("counts without its markup", async () => {
    await using world = await createTelegramWorld();
    const { id: accountId } = await world.connect();
    const dryRun = (caption: string) =>
      schedulePost(callOf(world.ctx), { accountId, caption, metadata: MARKDOWN, dryRun: true });
    await dryRun(`**${"x".repeat(4_096)}**`);
    await expect(dryRun(`**${"x".repeat(4_097)}**`)).rejects.toMatchObject({
      message: expect.stringMatching(/^caption: has 4097/),
    });
    await expect(dryRun("[a]: https://a.example")).rejects.toMatchObject({
      message: expect.stringMatching(/^caption: read as Markdown, it shows nothing/),
    });
  });
});

describe("a poll", () => {
  const poll = { options: ["Brass", "Wood"], hours: 730 };

  it("is asked with its answers for its time", async () => {
    await using world = await createTelegramWorld();
    const account = await world.connect();
    const metadata = { poll: { ...poll, multiple: true }, topicId: 7 };
    const row = await world.publish(account, { caption: "Which *one*?", metadata });
    expect(row).toMatchObject({ status: "published", error: null });
    expect(world.state.messages).toMatchObject([
      {
        kind: "poll",
        params: {
          question: "Which *one*?",
          options: [{ text: "Brass" }, { text: "Wood" }],
          open_period: 2_628_000,
          allows_multiple_answers: true,
          message_thread_id: 7,
        },
      },
    ]);
    const edit = editPublishedPost(callOf(world.ctx), { id: row.id, caption: "Another?" });
    await expect(edit).rejects.toMatchObject({ kind: "conflict" });
    const content = {
      caption: "Which?",
      mediaUrl: "",
      metadata: { poll },
      scheduledAt: 0,
      leadMinutes: null,
    };
    expect(await previewPost(world.ctx, account, content)).toMatchObject({
      text: "Which?",
      count: { length: 6, max: 300 },
      note: "A poll, open for 730 hours: Brass / Wood.",
    });
  });

  it("fails alone where the bot may send none", async () => {
    await using world = await createTelegramWorld();
    const account = await world.connect();
    world.state.meets = () => refuse(400, "Bad Request: not enough rights to send polls to the chat");
    const row = await world.publish(account, { caption: "Which?", metadata: { poll } });
    expect(row).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/^metadata\.poll: the bot may not/),
    });
    expect((await world.readAccount(account)).status).toBe("connected");
  });

  it.each([
    [{ caption: "x".repeat(301) }, /^caption: has 301/],
    [
      { caption: null, mediaUrl: PHOTO_URL },
      /caption: a poll asks something.*metadata\.poll: a poll on Telegram has no media/,
    ],
    [{ metadata: { format: "markdown" } }, /^metadata\.format: the question of a poll/],
    [{ metadata: { link: "https://a.example/" } }, /^metadata\.link: a poll/],
    [{ metadata: { poll: { options: ["x".repeat(101), "b"], hours: 1 } } }, /poll\.options/],
    [{ metadata: { poll: { options: ["a", "b"], hours: 731 } } }, /poll\.hours/],
  ])("is refused with %j", async (wrong, words) => {
    await using world = await createTelegramWorld();
    const { id: accountId } = await world.connect();
    const { metadata = {}, ...post } = wrong as { metadata?: object };
    const draft = { accountId, caption: "Which?", ...post, metadata: { poll, ...metadata }, dryRun: true };
    await expect(schedulePost(callOf(world.ctx), draft)).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(words),
    });
  });
});

it("shows the name of one who is mentioned, and finds nobody to mention", async () => {
  await using world = await createTelegramWorld();
  const account = await world.connect();
  const search = listChoices(callOf(world.ctx), { accountId: account.id, field: "mention", search: "Ann" });
  await expect(search).rejects.toThrow(/^field: Telegram cannot be asked for people/);
  await world.publish(account, { caption: "By *@[Ann B](7)*", metadata: MARKDOWN });
  expect(styled(world.state.messages[0]!)).toBe("By <italic>@Ann B</italic>");
});
