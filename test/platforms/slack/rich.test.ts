import { describe, expect, it } from "vitest";
import slack from "../../../src/platforms/slack/index.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { editPublishedPost } from "../../../src/posts/live-posts.ts";
import { listChoices } from "../../../src/channels/connecting/list-choices.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { previewPost } from "../../../src/posts/preview.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { readStepResults, toPlatformPost } from "../../../src/publishing/publish-io.ts";
import { PHOTO_URL } from "../../support/contract/stage-media.ts";
import { styledBlocks } from "./rendering.ts";
import { openWorld } from "./world.ts";

const MARKDOWN = { format: "markdown" };

describe("a text in Markdown", () => {
  it.each([
    [
      "**a** _b_ ~~c~~ `d` ***e***",
      "section: <bold>a</> <italic>b</> <strike>c</> <code>d</> <bold italic>e</>",
    ],
    ["# Title\n\nA *b*\nc & <d>", "section: <bold>Title</>\n\nA <italic>b</>\nc & <d>"],
    [
      "[far *off*](https://a.example) **https://b.example/x_y**",
      "section: <link>far off</> <bold link>https://b.example/x_y</>",
    ],
    [
      "Hi @[Ann](U0ANN), **@[Bob](U0BOB)** & @[No](no)",
      "section: Hi <user>@Ann</>, <bold user>@Bob</> & @No",
    ],
    ["> a\n>\n> - b\n\n---", "quote: a\n• b / section: ———"],
    ["```\nlet x = *1*;\n```", "preformatted: let x = *1*;"],
    ["3. a\n   - b\n4. c\n5. d\n\n- e", "list: 3. a / list+: • b / list: 4. c\n5. d / list: • e"],
  ])("is shown by blocks: %s", async (caption, shown) => {
    await using world = await openWorld();
    const post = await world.post(await world.connect(), caption, "", MARKDOWN);
    expect(await world.end(post)).toMatchObject({ status: "published", error: null });
    const [sent] = world.fake.calls.filter(({ method }) => method === "chat.postMessage");
    expect(styledBlocks(sent?.args["blocks"])).toBe(shown);
  });

  it("is one beside files, in the thread, and when it is changed", async () => {
    await using world = await openWorld();
    const metadata = { ...MARKDOWN, thread: [{ caption: "**b**" }] };
    const row = await world.end(await world.post(await world.connect(), "*a*", PHOTO_URL, metadata));
    const blocksOf = (method: string) =>
      world.fake.calls.filter((one) => one.method === method).map(({ args }) => styledBlocks(args["blocks"]));
    expect(blocksOf("files.completeUploadExternal")).toEqual(["section: <italic>a</>"]);
    expect(blocksOf("chat.postMessage")).toEqual(["section: <bold>b</>"]);
    expect(world.fake.calls.findLast(({ method }) => method === "chat.postMessage")?.args["text"]).toBe("b");
    await editPublishedPost(world.call, { id: row.id, caption: "`c`" });
    await editPublishedPost(world.call, { id: row.id, metadata: { format: null } });
    expect(blocksOf("chat.update")).toEqual(["section: <code>c</>", "section: `c`"]);
  });

  it("counts without its markup, and warns of what Slack has not", async () => {
    await using world = await openWorld();
    const { id: accountId } = await world.connect();
    const dryRun = (caption: string, thread?: string) =>
      schedulePost(world.call, {
        accountId,
        caption,
        metadata: { ...MARKDOWN, ...(thread === undefined ? {} : { thread: [{ caption: thread }] }) },
        dryRun: true,
      });
    await dryRun(`**${"x".repeat(4_000)}**`, `**${"x".repeat(4_000)}**`);
    await expect(dryRun(`**${"x".repeat(4_001)}**`)).rejects.toThrow(/^caption: has 4001/);
    await expect(dryRun("a", `**${"x".repeat(4_001)}**`)).rejects.toThrow(/thread\[0\]\.caption: has 4001/);
    await expect(dryRun("[a]: https://a.example")).rejects.toThrow(/^caption: read as Markdown/);
    expect((await dryRun("a ||b||")).warnings.join()).toMatch(/metadata\.format: Slack hides no text/);
  });
});

describe("people who are mentioned", () => {
  it("are found by a part of their names", async () => {
    await using world = await openWorld();
    const { id: accountId } = await world.connect();
    expect(await listChoices(world.call, { accountId, field: "mention", search: "@BRASS" })).toEqual({
      choices: [{ value: "@[Ann](U0ANN)", label: "Ann (Ann Brass)" }],
    });
    for (const scopes of world.fake.state.tokens.values()) scopes.splice(scopes.indexOf("users:read"), 1);
    await expect(listChoices(world.call, { accountId, field: "mention" })).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringMatching(/the app lacks the scope users:read/),
    });
    expect((await world.readAccount(accountId)).status).toBe("connected");
  });

  it("are so in a plain text too, whose other signs stay as they are", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    const caption = "*For* @[Ann](U0ANN) & <!channel>";
    await world.end(await world.post(account, caption));
    await world.end(await world.post(account, caption, PHOTO_URL));
    const [text, file] = ["chat.postMessage", "files.completeUploadExternal"].map(
      (name) => world.fake.calls.find(({ method }) => method === name)?.args ?? {},
    );
    for (const args of [text, file])
      expect(styledBlocks(args?.["blocks"])).toBe("section: *For* <user>@Ann</> & <!channel>");
    expect(text?.["text"]).toBe("*For* @Ann &amp; &lt;!channel&gt;");
    const content = { caption, mediaUrl: "", metadata: {}, scheduledAt: 0, leadMinutes: null };
    expect(await previewPost(world.ctx, account, content)).toMatchObject({
      text: "*For* @Ann & <!channel>",
      count: { length: 23 },
    });
  });
});

describe("another channel", () => {
  it("is chosen among those that the bot is in", async () => {
    await using world = await openWorld();
    const { id: accountId } = await world.connect();
    const choices = async (search?: string) =>
      (await listChoices(world.call, { accountId, field: "channel", search })).choices;
    expect((await choices()).map(({ label }) => label)).toEqual(["#news", "#secret"]);
    expect(await choices("SECR")).toEqual([{ value: "G0SECRET", label: "#secret" }]);
  });

  it.each(["", PHOTO_URL])(
    "gets the post, its thread, its change, numbers and end (%s)",
    async (mediaUrl) => {
      await using world = await openWorld();
      const account = await world.connect();
      const metadata = {
        channel: "G0SECRET",
        thread: [{ caption: "More" }, { caption: "", mediaUrl: PHOTO_URL }],
      };
      metadata.thread[1]!.caption = "And more";
      const row = await world.end(await world.post(account, "A horn", mediaUrl, metadata));
      expect(row).toMatchObject({ status: "published", error: null, warnings: null });
      const [message] = world.fake.state.messages;
      expect(row.platform_post_id).toBe(`G0SECRET:${message?.ts}`);
      expect(row.platform_url).toContain("/archives/G0SECRET/p");
      expect(new Set(world.fake.state.messages.map(({ channel }) => channel))).toEqual(new Set(["G0SECRET"]));
      await world.ctx.clock.advance(5_000);
      await editPublishedPost(world.call, { id: row.id, caption: "New" });
      expect(message?.text).toBe("New");
      expect(await readInsights(world.ctx, row)).toMatchObject({ state: "live", metrics: { comments: 2 } });
      const io = await createPlatformIo(world.ctx, account, AbortSignal.timeout(5_000));
      const done = await readStepResults(world.ctx, row);
      await slack.remove?.(toPlatformPost(slack, row), { ...io, ...done } as never);
      expect(world.fake.state.messages.filter(({ isDeleted }) => !isDeleted)).toEqual([]);
    },
  );

  it.each([
    ["C0GONE", "", /^metadata\.channel: the bot cannot see this channel/],
    ["C0OTHER", PHOTO_URL, /^metadata\.channel: the bot is not in this channel/],
    ["C0OLD", "", /^metadata\.channel: this channel is archived/],
  ])("fails the post alone where the bot may not post in %s", async (channel, mediaUrl, words) => {
    await using world = await openWorld();
    const account = await world.connect();
    world.fake.state.channels.set("C0OLD", {
      id: "C0OLD",
      name: "old",
      is_archived: true,
      is_member: true,
      is_private: false,
    });
    const row = await world.end(await world.post(account, "A horn", mediaUrl, { channel }));
    expect(row).toMatchObject({ status: "failed", error: expect.stringMatching(words) });
    expect((await world.readAccount(account.id)).status).toBe("connected");
    expect(world.fake.state.messages).toEqual([]);
  });

  it("is named by its id", async () => {
    await using world = await openWorld();
    const { id: accountId } = await world.connect();
    const draft = { accountId, caption: "A horn", metadata: { channel: "#secret" }, dryRun: true };
    await expect(schedulePost(world.call, draft)).rejects.toThrow(/channel.* must be a channel's id/);
  });
});
