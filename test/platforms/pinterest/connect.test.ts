import { describe, expect, it } from "vitest";
import { listChoices } from "../../../src/channels/connecting/list-choices.ts";
import { connectChannel } from "../../../src/channels/connecting/connections.ts";
import { inspectAccount } from "../../../src/channels/connecting/inspect.ts";
import { DAY } from "../../../src/domain/time.ts";
import pinterest from "../../../src/platforms/pinterest/index.ts";
import { SCOPES } from "./fake.ts";
import { openWorld } from "./world.ts";

describe("connecting Pinterest", () => {
  it("asks its page for all permissions, and stores who it is", async () => {
    await using world = await openWorld();
    const { rows, url } = await world.consent();
    const { origin, pathname, searchParams } = new URL(url);
    expect(origin + pathname).toBe("https://www.pinterest.com/oauth/");
    expect(searchParams.get("scope")).toBe(SCOPES.join(","));
    expect(rows).toMatchObject([
      {
        platform_account_id: "2783136121146311751",
        name: "Posthorn Inc",
        handle: "posthorn",
        profile_url: "https://www.pinterest.com/posthorn/",
        avatar_url: "https://i.pinimg.com/horn.jpg",
        status: "connected",
      },
    ]);
    expect((await world.connect()).id).toBe(rows[0]?.id);
  });

  it("keeps nothing where a permission is missing", async () => {
    await using world = await openWorld();
    const { rows, error } = await world.consent(["user_accounts:read", "boards:read"]);
    expect([rows, error]).toEqual([[], expect.stringContaining("pins:write")]);
  });

  it("names both settings and the redirect address where the app is missing", async () => {
    await using world = await openWorld(pinterest, {});
    await expect(connectChannel(world.call, { provider: "pinterest" })).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringMatching(
        /POSTHORN_PINTEREST_CLIENT_ID.*POSTHORN_PINTEREST_CLIENT_SECRET.*\/connect\/callback/s,
      ),
    });
  });

  it("renews the access once for several posts, and asks for the person when that is refused", async () => {
    await using world = await openWorld();
    const { state } = world.fake;
    const account = await world.connect();
    state.tokens.clear();
    const posts = [await world.post(account, { title: "One" }), await world.post(account, { title: "Two" })];
    for (const post of posts) expect((await world.end(post)).status).toBe("published");
    expect(state.tokens.size).toBe(1);
    state.tokens.clear();
    state.refreshTokens.clear();
    expect((await world.run(await world.post(account))).status).toBe("scheduled");
    expect((await world.readAccount(account.id))?.status).toBe("reconnect_required");
  });

  it("is good until 60 days have passed without a renewal", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    const left = (account.access_ends_at ?? 0) - world.ctx.clock.now();
    expect(Math.round(left / DAY)).toBe(60);
  });
});

describe("a connected account", () => {
  it("lists its boards, by a part of their names", async () => {
    await using world = await openWorld();
    const { id: accountId } = await world.connect();
    expect((await listChoices(world.call, { accountId, field: "boardId" })).choices).toEqual([
      { value: "111", label: "Horns" },
      { value: "222", label: "Posts" },
      { value: "333", label: "Hidden horns (secret)" },
    ]);
    const { choices } = await listChoices(world.call, { accountId, field: "boardId", search: "HORN" });
    expect(choices.map(({ value }) => value)).toEqual(["111", "333"]);
  });

  it("is looked after", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    await inspectAccount(world.ctx, { ...account, name: "Old" });
    expect(await world.readAccount(account.id)).toMatchObject({ name: "Posthorn Inc", status_reason: null });
  });
});
