import { describe, expect, it } from "vitest";
import discord from "../../../src/platforms/discord/index.ts";
import { contentOf } from "../../../src/platforms/discord/metadata.ts";
import { OutboundFailure } from "../../../src/ports/outbound.ts";
import { listChoices } from "../../../src/channels/connecting/list-choices.ts";
import { editPublishedPost } from "../../../src/posts/live-posts.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { readStepResults } from "../../../src/publishing/publish-io.ts";
import { callOf } from "../../support/context.ts";
import { finish } from "../../support/contract/ends.ts";
import { addPost, drain } from "../../support/publishing.ts";
import { CLOSED_ID, GUILD_ID, OTHER_ID, refuse, render } from "./fake.ts";
import { createDiscordWorld } from "./world.ts";

type World = Awaited<ReturnType<typeof createDiscordWorld>>;

const POLL = { options: ["Brass", "Wood"], hours: 768 };

async function refusal(world: World, accountId: string, post: object): Promise<string> {
  const draft = { accountId, caption: "A horn", dryRun: true, ...post };
  return schedulePost(callOf(world.ctx), draft).then(
    () => "",
    ({ message }: Error) => message,
  );
}

describe("a text", () => {
  it("in Markdown goes as it is, pings those who are mentioned, and nobody else", async () => {
    await using world = await createDiscordWorld();
    const account = await world.connectBot();
    const caption = "**Hi** @[Ann](8001), @[Bob](8002) & @[Ann](8001)\n@everyone <#1> @[No *one*](x)";
    const row = await world.publish(account, { caption, metadata: { format: "markdown" } });
    expect(row).toMatchObject({ status: "published", error: null });
    expect(world.state.messages[0]).toMatchObject({
      content: "**Hi** <@8001>, <@8002> & <@8001>\n@everyone <#1> @No \\*one\\*",
      body: { allowed_mentions: { parse: [], users: ["8001", "8002"] } },
    });
    await editPublishedPost(callOf(world.ctx), { id: row.id, caption: "*For* @[Ann](8001)" });
    expect(world.state.messages[0]?.content).toBe("*For* <@8001>");
    await editPublishedPost(callOf(world.ctx), { id: row.id, metadata: { format: null } });
    expect(world.state.messages[0]?.content).toBe("\\*For\\* <@8001>");
  });

  it("is escaped around those who are mentioned", () => {
    const text = "1. *a* @[A_n*n*](8001) - b\n# c@[Bob](8002)\n2.\nd";
    const content = contentOf(text, { metadata: {} });
    expect(content).toBe("1\\. \\*a\\* <@8001> \\- b\n\\# c<@8002>\n2\\.\nd");
    expect(render(content)).toBe("1. *a* @8001 - b\n# c@8002\n2.\nd");
  });

  it("counts what is sent, mentions among it", async () => {
    await using world = await createDiscordWorld();
    const { id } = await world.connectBot();
    const markdown = { format: "markdown" };
    expect(await refusal(world, id, { caption: "*".repeat(2_000), metadata: markdown })).toBe("");
    expect(await refusal(world, id, { caption: "*".repeat(2_001), metadata: markdown })).toMatch(
      /^caption: /,
    );
    // <@8001> has seven.
    const mention = "@[A long name](8001)";
    for (const metadata of [{}, markdown]) {
      expect(await refusal(world, id, { caption: `${"x".repeat(1_993)}${mention}`, metadata })).toBe("");
      expect(await refusal(world, id, { caption: `${"x".repeat(1_994)}${mention}`, metadata })).toMatch(
        /^caption: has 2001/,
      );
    }
  });

  it("finds members to mention by how their names begin", async () => {
    await using world = await createDiscordWorld();
    const { id: accountId } = await world.connectBot();
    const call = callOf(world.ctx);
    expect(await listChoices(call, { accountId, field: "mention", search: "@an" })).toEqual({
      choices: [
        { value: "@[Ann](8001)", label: "Ann (@ann)" },
        { value: "@[Annabel x](8002)", label: "Annabel [x] (@anna)" },
      ],
    });
    const webhook = await world.connectWebhook();
    await expect(
      listChoices(call, { accountId: webhook.id, field: "mention", search: "an" }),
    ).rejects.toMatchObject({ kind: "invalid", message: expect.stringContaining("webhook") });
  });
});

describe("a poll", () => {
  it.each(["bot", "webhook"])("of a %s is asked with its answers", async (way) => {
    await using world = await createDiscordWorld();
    const account = way === "bot" ? await world.connectBot() : await world.connectWebhook();
    const metadata = { poll: { ...POLL, multiple: true } };
    const row = await world.publish(account, { caption: "Which *one*, @[Ann](8001)?", metadata });
    expect(row).toMatchObject({ status: "published", error: null });
    expect(world.state.messages[0]?.body["poll"]).toEqual({
      question: { text: "Which *one*, @Ann?" },
      answers: [{ poll_media: { text: "Brass" } }, { poll_media: { text: "Wood" } }],
      duration: 768,
      allow_multiselect: true,
    });
    const edit = editPublishedPost(callOf(world.ctx), { id: row.id, caption: "Another?" });
    await expect(edit).rejects.toMatchObject({ kind: "conflict" });
  });

  it("is found again by its question once its nonce is forgotten", async () => {
    await using world = await createDiscordWorld();
    const account = await world.connectBot();
    let isLost = false;
    const request: typeof world.fake.request = async (one) => {
      const answer = await world.fake.request(one);
      if (one.method !== "POST" || isLost) return answer;
      isLost = true;
      throw new OutboundFailure("The answer broke off.", true);
    };
    const metadata = JSON.stringify({ poll: POLL });
    const { id } = await addPost(world.ctx, account, { caption: "Which?", metadata });
    await drain({ ...world.ctx, outbound: { ...world.fake, request } });
    const [message] = world.state.messages;
    world.state.messages = [{ ...message!, nonce: null }];
    await world.ctx.clock.advance(10 * 60_000);
    expect(await finish(world.ctx, id)).toMatchObject({ status: "published", error: null });
    expect(world.state.messages.length).toBe(1);
  });

  it("fails alone where the bot may send no polls", async () => {
    await using world = await createDiscordWorld();
    const account = await world.connectBot();
    world.state.meets = (method) => (method === "POST" ? refuse(403, 50013, "Missing Permissions") : null);
    const row = await world.publish(account, { caption: "Which?", metadata: { poll: POLL } });
    expect(row).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/^metadata\.poll: the bot may not/),
    });
    expect((await world.readAccount(account)).status).toBe("connected");
  });
});

describe("another channel", () => {
  const metadata = { channel: OTHER_ID };

  it("is chosen among those where the bot may post", async () => {
    await using world = await createDiscordWorld();
    const { id: accountId } = await world.connectBot();
    const call = callOf(world.ctx);
    const choices = async (search?: string) =>
      (await listChoices(call, { accountId, field: "channel", search })).choices.map(({ label }) => label);
    expect(await choices()).toEqual(["#news", "#other"]);
    expect(await choices("oth")).toEqual(["#other"]);
    // Hidden from everybody, and shown to the bot again.
    Object.assign(world.state.others[1]!, {
      permission_overwrites: [
        { id: GUILD_ID, type: 0, allow: "0", deny: "3072" },
        { id: "9000", type: 1, allow: "3072", deny: "0" },
      ],
    });
    expect(await choices()).toEqual(["#news", "#other", "#closed"]);
  });

  it("gets the post, its change, its numbers and its end", async () => {
    await using world = await createDiscordWorld();
    const account = await world.connectBot();
    const row = await world.publish(account, { metadata });
    expect(row.platform_url).toBe(
      `https://discord.com/channels/${GUILD_ID}/${OTHER_ID}/${row.platform_post_id}`,
    );
    expect(world.state.messages).toMatchObject([{ channelId: OTHER_ID }]);
    await editPublishedPost(callOf(world.ctx), { id: row.id, caption: "New" });
    expect(world.state.messages[0]?.content).toBe("New");
    expect(await readInsights(world.ctx, row)).toMatchObject({ state: "live", metrics: { likes: 3 } });
    await discord.remove?.(world.postOf(row), await world.ioOf(account));
    expect(world.state.messages).toEqual([]);
  });

  it("that is a forum gets a thread with a title, and is refused without one", async () => {
    await using world = await createDiscordWorld();
    world.state.others[0]!.type = 15;
    const account = await world.connectBot();
    expect(await world.publish(account, { metadata })).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/^metadata\.title: /),
    });
    const row = await world.publish(account, { metadata: { ...metadata, title: "A horn" } });
    expect(world.state.threads).toMatchObject([{ parentId: OTHER_ID, name: "A horn" }]);
    const io = { ...(await world.ioOf(account)), ...(await readStepResults(world.ctx, row)) };
    await discord.remove?.(world.postOf(row), io);
    expect(world.state.threads).toEqual([]);
  });

  it.each([
    [{ channel: CLOSED_ID }, /^metadata\.channel: the bot may not post in this channel/],
    [{ channel: "404" }, /^metadata\.channel: the bot may not post in this channel, or it is gone/],
    [{ channel: "60004" }, /^metadata\.channel: is no text/],
    [{ channel: OTHER_ID, title: "A horn" }, /^metadata\.title: only a new post in a forum/],
    [{ channel: OTHER_ID, crosspost: true }, /^metadata\.crosspost: /],
  ])("fails the post alone where it cannot be: %j", async (wrong, words) => {
    await using world = await createDiscordWorld();
    const account = await world.connectBot();
    const row = await world.publish(account, { metadata: wrong });
    expect(row).toMatchObject({ status: "failed", error: expect.stringMatching(words) });
    expect((await world.readAccount(account)).status).toBe("connected");
    expect(world.state.messages).toEqual([]);
  });

  it("leaves it to a person where its messages may not be read after a lost answer", async () => {
    await using world = await createDiscordWorld();
    const account = await world.connectBot();
    world.state.meets = (method, path) =>
      path === `/channels/${OTHER_ID}/messages`
        ? method === "POST"
          ? { status: 502 }
          : refuse(403, 50001, "Missing Access")
        : null;
    const { id } = await world.publish(account, { metadata });
    await world.ctx.clock.advance(10 * 60_000);
    const row = await finish(world.ctx, id);
    expect(row).toMatchObject({ status: "failed", error: expect.stringMatching(/^outcome unknown: /) });
    expect((await world.readAccount(account)).status).toBe("connected");
  });

  it("is none for a webhook, nor beside a thread", async () => {
    await using world = await createDiscordWorld();
    const webhook = await world.connectWebhook();
    expect(await refusal(world, webhook.id, { metadata })).toMatch(
      /^metadata\.channel: a webhook posts only/,
    );
    expect(await refusal(world, webhook.id, { metadata: { crosspost: true } })).toMatch(
      /^metadata\.crosspost: /,
    );
    const bot = await world.connectBot();
    expect(await refusal(world, bot.id, { metadata: { ...metadata, threadId: "1" } })).toMatch(
      /^metadata\.channel: threadId/,
    );
  });
});
