import { describe, expect, it } from "vitest";
import { connectChannel } from "../../../src/channels/connecting/connections.ts";
import { inspectAccount } from "../../../src/channels/connecting/inspect.ts";
import tumblr from "../../../src/platforms/tumblr/index.ts";
import { BLOG, OTHER_BLOG, SCOPES } from "./fake.ts";
import { openWorld } from "./world.ts";

describe("connecting Tumblr", () => {
  it("gives every blog that the person may post to, with one consent", async () => {
    await using world = await openWorld();
    const { rows, url } = await world.consent();
    const { origin, pathname, searchParams } = new URL(url);
    expect(origin + pathname).toBe("https://www.tumblr.com/oauth2/authorize");
    expect(searchParams.get("scope")).toBe(SCOPES.join(" "));
    expect(rows).toMatchObject([
      {
        platform_account_id: BLOG,
        name: "Posthorn Inc",
        handle: "posthorn",
        profile_url: "https://www.tumblr.com/posthorn",
        avatar_url: "https://64.media.tumblr.com/avatar_512.png",
        status: "connected",
      },
      { platform_account_id: OTHER_BLOG, name: "horns", handle: "horns", avatar_url: null },
    ]);
    expect((await world.connect()).id).toBe(rows[0]?.id);
  });

  it("keeps nothing where a permission is missing", async () => {
    await using world = await openWorld();
    const { rows, error } = await world.consent(["basic", "write"]);
    expect([rows, error]).toEqual([[], expect.stringContaining("offline_access")]);
  });

  it("names both settings and the redirect address where the app is missing", async () => {
    await using world = await openWorld(tumblr, {});
    await expect(connectChannel(world.call, { provider: "tumblr" })).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringMatching(
        /POSTHORN_TUMBLR_CLIENT_ID.*POSTHORN_TUMBLR_CLIENT_SECRET.*\/connect\/callback/s,
      ),
    });
  });

  it("renews the access once for several blogs, and asks for the person when that is refused", async () => {
    await using world = await openWorld();
    const { state } = world.fake;
    const { rows } = await world.consent();
    state.tokens.clear();
    for (const row of rows) expect((await world.end(await world.post(row))).status).toBe("published");
    expect(state.tokens.size).toBe(1);
    state.tokens.clear();
    state.refreshTokens.clear();
    const account = await world.readAccount(rows[0]?.id ?? "");
    if (account === undefined) throw new Error("It is gone.");
    expect((await world.run(await world.post(account))).status).toBe("scheduled");
    expect((await world.readAccount(account.id))?.status).toBe("reconnect_required");
  });
});

describe("a connected blog", () => {
  it("is looked after, also when the person may not post to it any more", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    await inspectAccount(world.ctx, { ...account, name: "Old" });
    expect(await world.readAccount(account.id)).toMatchObject({ name: "Posthorn Inc", status_reason: null });
    world.fake.state.myBlogs.shift();
    await inspectAccount(world.ctx, account);
    expect((await world.readAccount(account.id))?.status_reason).toContain("Tumblr does not list the blog");
  });
});
