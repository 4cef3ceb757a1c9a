import { describe, expect, it } from "vitest";
import { listChoices } from "../../../src/channels/connecting/list-choices.ts";
import { connectChannel } from "../../../src/channels/connecting/connections.ts";
import { inspectAccount } from "../../../src/channels/connecting/inspect.ts";
import { DAY } from "../../../src/domain/time.ts";
import reddit from "../../../src/platforms/reddit/index.ts";
import { NEWS_FLAIR } from "./communities.ts";
import { SCOPES } from "./fake.ts";
import { openWorld } from "./world.ts";

describe("connecting Reddit", () => {
  it("asks for access that lasts, and stores who it is", async () => {
    await using world = await openWorld();
    const { rows, url } = await world.consent();
    const { origin, pathname, searchParams } = new URL(url);
    expect(origin + pathname).toBe("https://www.reddit.com/api/v1/authorize");
    expect(searchParams.get("scope")).toBe(SCOPES.join(" "));
    expect(searchParams.get("duration")).toBe("permanent");
    expect(rows).toMatchObject([
      {
        platform_account_id: "t2_6hk60",
        name: "posthorn",
        profile_url: "https://www.reddit.com/user/posthorn",
        avatar_url: "https://styles.redditmedia.com/horn.png",
        status: "connected",
      },
    ]);
    expect((await world.connect()).id).toBe(rows[0]?.id);
  });

  it("keeps nothing where a permission is missing, or the account is suspended", async () => {
    await using world = await openWorld();
    const first = await world.consent(["identity", "read"]);
    expect([first.rows, first.error]).toEqual([[], expect.stringContaining("submit")]);
    world.fake.state.isSuspended = true;
    expect((await world.consent()).rows).toEqual([]);
  });

  it("says first that Reddit is closed to new apps, where the app is missing", async () => {
    await using world = await openWorld(reddit, {});
    await expect(connectChannel(world.call, { provider: "reddit" })).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringMatching(
        /POSTHORN_REDDIT_CLIENT_ID.*POSTHORN_REDDIT_CLIENT_SECRET.*\/connect\/callback/s,
      ),
    });
    const [way] = reddit.connect;
    expect(way.kind === "oauth" && way.setup?.steps[0]).toContain("closed to new apps");
  });

  it("names itself where tokens are got and renewed, too", async () => {
    const agent = "node:horns.example:1 (by /u/horn)";
    await using world = await openWorld(reddit, {
      POSTHORN_REDDIT_CLIENT_ID: "client-1",
      POSTHORN_REDDIT_CLIENT_SECRET: "secret-1",
      POSTHORN_REDDIT_USER_AGENT: agent,
    });
    const account = await world.connect();
    world.fake.state.tokens.clear();
    await world.clock.advance(DAY);
    expect((await world.end(await world.post(account, { title: "One" }))).status).toBe("published");
    expect(world.fake.state.agents).toEqual([agent, agent]);
  });

  it("keeps its refresh token over renewals, until it is revoked", async () => {
    await using world = await openWorld();
    const { state } = world.fake;
    const account = await world.connect();
    for (const title of ["One", "Two"]) {
      state.tokens.clear();
      await world.clock.advance(DAY);
      expect((await world.end(await world.post(account, { title }))).status).toBe("published");
    }
    expect(state.refreshTokens.size).toBe(1);
    state.tokens.clear();
    state.refreshTokens.clear();
    expect((await world.run(await world.post(account, { title: "Three" }))).status).toBe("scheduled");
    expect((await world.readAccount(account.id))?.status).toBe("reconnect_required");
  });

  it("says who asks as it is told to", async () => {
    await using world = await openWorld(reddit, {
      POSTHORN_REDDIT_CLIENT_ID: "client-1",
      POSTHORN_REDDIT_CLIENT_SECRET: "secret-1",
      POSTHORN_REDDIT_USER_AGENT: "nobody",
    });
    // The fake throttles whoever does not say it in Reddit's form.
    expect((await world.consent()).rows).toEqual([]);
  });
});

describe("a connected account", () => {
  it("finds communities, and what they ask of posts", async () => {
    await using world = await openWorld();
    const { id: accountId } = await world.connect();
    const ask = async (search: string) =>
      (await listChoices(world.call, { accountId, field: "subreddit", search })).choices;
    expect(await ask("")).toEqual([{ value: "u_posthorn", label: "The account's own profile" }]);
    expect(await ask("r/horn")).toEqual([
      { value: "horns", label: "r/horns (1200 members)" },
      { value: "hornpics", label: "r/hornpics (30 members, no texts, no videos)" },
      { value: "news_of_horns", label: "r/news_of_horns (7 members, NSFW, only texts)" },
      { value: "u_posthorn", label: "r/u_posthorn (3 members)" },
    ]);
    expect(await ask("News_of_Horns")).toEqual([
      {
        value: "news_of_horns",
        label:
          "r/news_of_horns (7 members, NSFW, only texts, a flair is required, " +
          'titles of at most 120 characters, text is required, one of ["[News]"] in the title)',
      },
    ]);
  });

  it("finds a community's flairs, none where it has none", async () => {
    await using world = await openWorld();
    const { id: accountId } = await world.connect();
    const ask = async (search: string) =>
      (await listChoices(world.call, { accountId, field: "flairId", search })).choices;
    expect(await ask("r/news_of_horns")).toMatchObject([
      { value: NEWS_FLAIR, label: "News (flairText may be given)" },
      { label: "Old news" },
    ]);
    expect(await ask("news_of_horns old")).toMatchObject([{ label: "Old news" }]);
    expect(await ask("horns")).toEqual([]);
    expect(await ask("")).toEqual([]);
  });

  it("is looked after", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    await inspectAccount(world.ctx, { ...account, name: "Old" });
    expect(await world.readAccount(account.id)).toMatchObject({ name: "posthorn", status_reason: null });
    world.fake.state.isSuspended = true;
    await inspectAccount(world.ctx, account);
    expect((await world.readAccount(account.id))?.status_reason).toContain("Reddit has suspended");
  });
});
