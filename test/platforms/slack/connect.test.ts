import { describe, expect, it } from "vitest";
import {
  connectChannel,
  connectWithSecrets,
  disconnectChannel,
} from "../../../src/channels/connecting/connections.ts";
import { consentOn } from "../../support/contract/consent-on.ts";
import { SCOPES, TOKEN } from "./fake.ts";
import { openWorld } from "./world.ts";

const APP = {
  POSTHORN_SLACK_CLIENT_ID: "client-1",
  POSTHORN_SLACK_CLIENT_SECRET: "secret-canary/+%:=",
  POSTHORN_SLACK_REDIRECT_URL: "https://posts.example/connect/callback",
};

describe("by the bot's token", () => {
  it.each([["#news"], ["news"], ["C0NEWS"], ["https://acme.slack.com/archives/C0NEWS"]])(
    "finds the channel by %s",
    async (channel) => {
      await using world = await openWorld();
      expect(await world.connect(channel)).toMatchObject({
        platform_account_id: "T0ACME:C0NEWS",
        name: "#news (Acme)",
        handle: "#news",
        profile_url: "https://acme.slack.com/archives/C0NEWS",
        status: "connected",
        limits: JSON.stringify({ isMember: true }),
      });
    },
  );

  it("is the same account when it is connected again", async () => {
    await using world = await openWorld();
    const first = await world.connect();
    const renamed = world.fake.state.channels.get("C0NEWS");
    if (renamed !== undefined) renamed.name = "tidings";
    const again = await world.connect("C0NEWS");
    expect([again.id, again.name]).toEqual([first.id, "#tidings (Acme)"]);
  });

  it("says once that the bot is not in the channel", async () => {
    await using world = await openWorld();
    const { notice } = await connectWithSecrets(world.call, {
      provider: "slack",
      secrets: { botToken: TOKEN, channel: "other" },
    });
    expect(notice).toContain("The bot is not in #other. Invite it there with /invite and its name");
  });

  it.each([
    ["xoxp-1", "#news", "botToken: this is a user's token"],
    ["xoxb-unknown", "#news", "botToken: Slack does not accept it"],
    [TOKEN, "#nowhere", "channel: the bot sees no channel with this name"],
    [TOKEN, "C0NOWHERE", "channel: the bot cannot see such a channel"],
  ])("refuses %s for %s: %s", async (botToken, channel, sentence) => {
    await using world = await openWorld();
    await expect(world.connect(channel, botToken)).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringContaining(sentence),
    });
  });

  it("names the scopes that are missing, and archived channels", async () => {
    await using world = await openWorld();
    const { tokens, channels } = world.fake.state;
    tokens.set("xoxb-poor", ["channels:read"]);
    await expect(world.connect("#news", "xoxb-poor")).rejects.toThrow("botToken: the app lacks chat:write.");
    const news = channels.get("C0NEWS");
    if (news !== undefined) news.is_archived = true;
    await expect(world.connect("C0NEWS")).rejects.toThrow("channel: This channel is archived.");
  });
});

describe("by consent", () => {
  const agreeWith =
    (world: Awaited<ReturnType<typeof openWorld>>, scopes: string[] = SCOPES) =>
    (url: string) => {
      world.fake.state.codes.set("code-1", scopes);
      return { code: "code-1", state: new URL(url).searchParams.get("state") ?? "" };
    };

  it("asks Slack's page for the scopes, and connects the channels that were chosen", async () => {
    await using world = await openWorld(APP);
    const { rows, url } = await consentOn(
      world.call,
      { provider: "slack", way: "oauth" },
      {
        agree: agreeWith(world),
        choose: (found) => found.filter(({ name }) => !name.includes("other")).map(({ key }) => key),
      },
    );
    const { searchParams, origin, pathname } = new URL(url);
    expect(origin + pathname).toBe("https://slack.com/oauth/v2/authorize");
    const asked = SCOPES.filter((scope) => scope !== "users:read");
    expect(searchParams.get("scope")).toBe(asked.join(","));
    expect(searchParams.get("redirect_uri")).toBe(APP.POSTHORN_SLACK_REDIRECT_URL);
    expect(rows.map((row) => row.platform_account_id)).toEqual(["T0ACME:C0NEWS", "T0ACME:G0SECRET"]);
    const [news, secret] = rows;
    if (news === undefined || secret === undefined) throw new Error("Two were chosen.");
    expect(secret.grant_id).toBe(news.grant_id);
    expect(await world.end(await world.post(secret, "Quiet"))).toMatchObject({ status: "published" });
    expect(world.fake.state.messages.map(({ channel }) => channel)).toEqual(["G0SECRET"]);
  });

  it("keeps nothing where a permission is missing", async () => {
    await using world = await openWorld(APP);
    const { rows, error } = await consentOn(
      world.call,
      { provider: "slack", way: "oauth" },
      { agree: agreeWith(world, ["channels:read"]) },
    );
    expect([rows, error]).toEqual([[], expect.stringContaining("chat:write")]);
  });

  it("names both settings and the redirect address where the app is missing", async () => {
    await using world = await openWorld();
    await expect(connectChannel(world.call, { provider: "slack", way: "oauth" })).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringMatching(
        /POSTHORN_SLACK_CLIENT_ID.*POSTHORN_SLACK_CLIENT_SECRET.*\/connect\/setup\/slack.*way "bot" \(Bot token\), which works now/s,
      ),
    });
  });

  const connectBoth = async (world: Awaited<ReturnType<typeof openWorld>>) => {
    const { rows } = await consentOn(
      world.call,
      { provider: "slack", way: "oauth" },
      { agree: agreeWith(world) },
    );
    const [news, , other] = rows;
    if (news === undefined || other === undefined) throw new Error("Three were found.");
    return { news, other };
  };

  it("renews a token that rotates, once, and goes on", async () => {
    await using world = await openWorld(APP);
    const { state, calls } = world.fake;
    state.rotates = true;
    const { news } = await connectBoth(world);
    expect(news.status).toBe("connected");
    state.tokens.clear();
    const posts = [await world.post(news, "One"), await world.post(news, "Two")];
    for (const post of posts) expect(await world.end(post)).toMatchObject({ status: "published" });
    expect(calls.filter(({ args }) => args["grant_type"] === "refresh_token")).toHaveLength(1);
  });

  it("asks for one channel alone to be reconnected that the bot was thrown out of", async () => {
    await using world = await openWorld(APP);
    const { news, other } = await connectBoth(world);
    world.fake.refuse("chat.postMessage", "not_in_channel");
    world.fake.refuse("chat.postMessage", "not_in_channel");
    const post = await world.run(await world.post(news, "Out"));
    expect(post.error).toContain("The bot is not in this Slack channel. Invite it there");
    expect((await world.readAccount(news.id)).status).toBe("reconnect_required");
    expect((await world.readAccount(other.id)).status).toBe("connected");
  });

  it("asks for all of them where the app was removed", async () => {
    await using world = await openWorld(APP);
    const { news, other } = await connectBoth(world);
    world.fake.state.tokens.clear();
    await world.run(await world.post(news, "Gone"));
    for (const { id } of [news, other])
      expect((await world.readAccount(id)).status).toBe("reconnect_required");
    const { news: anew } = await connectBoth(world);
    expect(anew.id).toBe(news.id);
    expect(anew.status).toBe("connected");
  });

  it("gives the token back when the last channel is disconnected", async () => {
    await using world = await openWorld(APP);
    const { rows } = await consentOn(
      world.call,
      { provider: "slack", way: "oauth" },
      { agree: agreeWith(world) },
    );
    for (const { id } of rows) await disconnectChannel(world.call, { accountId: id });
    expect([...world.fake.state.tokens.keys()]).toEqual([TOKEN]);
  });
});
