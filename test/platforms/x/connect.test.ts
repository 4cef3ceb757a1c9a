import { describe, expect, it } from "vitest";
import { DAY, HOUR } from "../../../src/domain/time.ts";
import { listAccounts } from "../../../src/channels/accounts/accounts.ts";
import { connectChannel, disconnectChannel } from "../../../src/channels/connecting/connections.ts";
import { renewDueGrants } from "../../../src/channels/connecting/renewal.ts";
import { callOf } from "../../support/context.ts";
import { endOf, finish } from "../../support/contract/ends.ts";
import { queryOf } from "../../support/handles.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import { USER } from "./fake.ts";
import { APP } from "./fake-tokens.ts";
import { createWorld, type World } from "./world.ts";

const ID_ONLY = { POSTHORN_X_CLIENT_ID: APP.clientId };

const statusOf = async ({ ctx }: World) =>
  (await queryOf(ctx.store).selectFrom("accounts").selectAll().executeTakeFirstOrThrow()).status;

describe("signing in with X", () => {
  it.each(["a web app, which has a secret", "a native app, which has none"])("works for %s", async (kind) => {
    const isNative = kind.startsWith("a native");
    await using world = await createWorld(undefined, isNative ? ID_ONLY : undefined);
    world.fake.tokens.hasSecret = !isNative;
    expect(await world.consent()).toMatchObject({ state: "connected" });
    const [account] = (await listAccounts(callOf(world.ctx))).accounts;
    expect(account).toMatchObject({
      name: USER.name,
      handle: USER.username,
      platformAccountId: USER.id,
      profileUrl: `https://x.com/${USER.username}`,
      status: "connected",
    });
    // An access token of two hours is renewed without a person.
    await world.ctx.clock.advance(3 * HOUR);
    const row = await queryOf(world.ctx.store).selectFrom("accounts").selectAll().executeTakeFirstOrThrow();
    const { id } = await addPost(world.ctx, row);
    expect(await finish(world.ctx, id)).toMatchObject({ status: "published", error: null });
    expect(world.fake.tokens.refreshes).toBe(1);
  });

  it("needs the app's id, and says where to get it", async () => {
    await using world = await createWorld(undefined, {});
    await expect(connectChannel(callOf(world.ctx), { provider: "x", way: "oauth" })).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringMatching(
        /POSTHORN_X_CLIENT_ID is not set.*http:\/\/127\.0\.0\.1:\d+\/connect\/callback.*\/connect\/setup\/x/,
      ),
    });
    // Keys need none, and are taken where no app is set up.
    const begun = await connectChannel(callOf(world.ctx), { provider: "x" });
    expect(String(begun.instructions)).toContain("API key");
    expect(begun).toMatchObject({
      status: "authorization_required",
    });
  });

  it("connects nothing where a permission is missing", async () => {
    await using world = await createWorld();
    expect(await world.consent("tweet.read users.read offline.access")).not.toMatchObject({
      state: "connected",
    });
    expect((await listAccounts(callOf(world.ctx))).accounts).toEqual([]);
  });

  it("refreshes once for several posts that find the token expired", async () => {
    await using world = await createWorld();
    const { ctx, fake } = world;
    const account = await world.connect();
    fake.tokens.expire();
    const posts = [];
    for (const caption of ["One", "Two", "Three"]) posts.push(await addPost(ctx, account, { caption }));
    for (const { id } of posts) expect(await finish(ctx, id)).toMatchObject({ status: "published" });
    expect([fake.tokens.refreshes, fake.posts.heads.length]).toEqual([1, 3]);
  });

  it("asks to be reconnected where X takes the refresh token no more, and the posts wait", async () => {
    await using world = await createWorld();
    const { ctx, fake } = world;
    const { id } = await addPost(ctx, await world.connect());
    fake.tokens.endAll();
    await drain(ctx);
    expect(await statusOf(world)).toBe("reconnect_required");
    expect((await readPost(ctx, id)).status).toBe("scheduled");
    await world.consent();
    expect(await finish(ctx, id)).toMatchObject({ status: "published" });
  });

  it("renews an idle channel every month, before its refresh token dies", async () => {
    await using world = await createWorld();
    await world.connect();
    await world.ctx.clock.advance(29 * DAY);
    await renewDueGrants(world.ctx, new AbortController().signal);
    expect(world.fake.tokens.refreshes).toBe(0);
    await world.ctx.clock.advance(2 * DAY);
    await renewDueGrants(world.ctx, new AbortController().signal);
    expect(world.fake.tokens.refreshes).toBe(1);
  });

  it.each([true, false])(
    "gives the tokens back when it is disconnected (a secret: %s)",
    async (hasSecret) => {
      await using world = await createWorld(undefined, hasSecret ? undefined : ID_ONLY);
      world.fake.tokens.hasSecret = hasSecret;
      const { id } = await world.connect();
      await disconnectChannel(callOf(world.ctx), { accountId: id });
      await expect.poll(() => world.fake.tokens.revoked).toBe(1);
    },
  );
});

describe("connecting with four keys", () => {
  it("signs every request, media among them", async () => {
    await using world = await createWorld(undefined, {});
    const account = await world.connectWithKeys();
    expect(account).toMatchObject({ platform_account_id: USER.id, handle: USER.username });
    const stage = { ctx: world.ctx } as Parameters<typeof endOf>[0];
    const { id } = await addPost(world.ctx, account, {
      media_url: "https://media.example/photo.jpg",
      metadata: JSON.stringify({ altText: "A horn" }),
    });
    expect(await endOf(stage, id)).toMatchObject({ status: "published", error: null });
    expect(world.fake.requests).toContain("POST /2/media/metadata");
  });

  it("names what is wrong with them", async () => {
    await using world = await createWorld(undefined, {});
    await expect(world.connectWithKeys({ accessSecret: "other" })).rejects.toThrow(
      /^apiKey: X refused the four/,
    );
    await expect(world.connectWithKeys({ apiSecret: " " })).rejects.toThrow(/^apiSecret: is required/);
    expect(world.ctx.log.text()).not.toContain("canary");
  });

  it("becomes a sign-in when it is connected anew so, and the keys are forgotten", async () => {
    await using world = await createWorld();
    const first = await world.connectWithKeys();
    const second = await world.connect();
    expect(second.id).toBe(first.id);
    const { id } = await addPost(world.ctx, second);
    await finish(world.ctx, id);
    world.fake.tokens.endAll();
    const later = await addPost(world.ctx, second, { caption: "Later" });
    await drain(world.ctx);
    expect((await readPost(world.ctx, later.id)).status).toBe("scheduled");
  });
});
