import { beforeAll, describe, expect, it } from "vitest";
import { connectWithSecrets } from "../../../src/channels/connecting/connections.ts";
import { readSecrets } from "../../../src/channels/connecting/renew-tokens.ts";
import { openGrant, sealGrant } from "../../../src/channels/platform-io/secrets.ts";
import { createBlueskyWorld, type BlueskyWorld } from "../../support/bluesky.ts";
import { callOf } from "../../support/context.ts";
import { startLosingProxy } from "../../support/losing-proxy.ts";
import { startPds, type TestPds } from "../../support/pds.ts";
import { queryOf } from "../../support/handles.ts";

let pds: TestPds;
beforeAll(async () => {
  pds = await startPds();
});

const SIGN_IN = "com.atproto.server.createSession";
const REFRESH = "com.atproto.server.refreshSession";
const WRITE = "com.atproto.repo.applyWrites";

function connect(
  world: BlueskyWorld,
  secrets: Record<string, string>,
  more: { handle?: string; instanceUrl?: string; accountId?: string } = {},
) {
  return connectWithSecrets(callOf(world.ctx), { provider: "bluesky", secrets, ...more });
}

/** Changes what is stored, as time would. */
async function setSecrets(world: BlueskyWorld, id: string, changes: Record<string, string>): Promise<void> {
  const { grant_id: grantId } = await world.readAccount(id);
  const query = queryOf(world.ctx.store);
  const grant = await query
    .selectFrom("grants")
    .selectAll()
    .where("id", "=", grantId)
    .executeTakeFirstOrThrow();
  const sealed = sealGrant(world.ctx, grant, { ...openGrant(world.ctx, grant), ...changes });
  await query.updateTable("grants").set({ secrets_enc: sealed }).where("id", "=", grant.id).execute();
}

describe("connecting", () => {
  it("finds the account and its server with handle and app password", async () => {
    await using world = await createBlueskyWorld({ baseUrl: pds.url });
    const user = await pds.createUser();
    const { account, notice } = await connect(world, {
      handle: `@${user.handle}\u202c`,
      appPassword: await user.appPassword("one"),
    });
    expect(account).toMatchObject({
      provider: "bluesky",
      status: "connected",
      platformAccountId: user.did,
      handle: user.handle,
      name: user.handle,
      profileUrl: `https://bsky.app/profile/${user.handle}`,
      tokenExpiresAt: null,
    });
    expect(notice).toBeNull();
    expect(JSON.parse((await world.readAccount(account.id)).settings)).toEqual({
      instanceUrl: null,
      pdsUrl: pds.url,
    });
  });

  it("takes a server of one's own and follows it to where the account is", async () => {
    await using proxy = await startLosingProxy(pds.url);
    await using world = await createBlueskyWorld({ baseUrl: "http://127.0.0.1:9" });
    const user = await pds.createUser();
    const { account } = await connect(
      world,
      { appPassword: await user.appPassword("one") },
      { handle: user.handle, instanceUrl: proxy.url },
    );
    expect(JSON.parse((await world.readAccount(account.id)).settings)).toEqual({
      instanceUrl: proxy.url,
      pdsUrl: pds.url,
    });
    expect(await world.publish(await world.readAccount(account.id), { caption: "Own server" })).toMatchObject(
      { status: "published" },
    );
    expect(proxy.count(WRITE)).toBe(0);
    expect(await user.records()).toHaveLength(1);
  });

  it("names the field that is wrong", async () => {
    await using world = await createBlueskyWorld({ baseUrl: pds.url });
    const user = await pds.createUser();
    const appPassword = await user.appPassword("one");
    await expect(connect(world, { handle: user.handle, appPassword: "abcd-efgh-ijkl-mnop" })).rejects.toThrow(
      /^appPassword: .* refused it/,
    );
    await expect(connect(world, { handle: "nobody-here.test", appPassword })).rejects.toThrow(
      /^handle: .* knows no account/,
    );
    await expect(connect(world, { handle: "alice", appPassword })).rejects.toThrow(
      /^handle: is not a full handle/,
    );
    await expect(connect(world, { handle: user.handle, appPassword: " " })).rejects.toThrow(/^appPassword: /);
    await expect(
      connect(world, { handle: user.handle, appPassword }, { instanceUrl: "http://169.254.169.254/" }),
    ).rejects.toThrow(/instanceUrl: /);
    await using proxy = await startLosingProxy(pds.url);
    proxy.fail(SIGN_IN, "garbage");
    await expect(
      connect(world, { handle: user.handle, appPassword }, { instanceUrl: proxy.url }),
    ).rejects.toThrow(/^instanceUrl: .* did not answer as/);
    proxy.fail(SIGN_IN, { status: 429, when: "before" });
    await expect(
      connect(world, { handle: user.handle, appPassword }, { instanceUrl: proxy.url }),
    ).rejects.toThrow(/no more sign-ins/);
    expect(await queryOf(world.ctx.store).selectFrom("accounts").select("id").execute()).toEqual([]);
  });

  it("looks at the form of a handle before anybody is asked", async () => {
    await using world = await createBlueskyWorld({ baseUrl: "http://127.0.0.1:9" });
    for (const handle of ["not a handle", "alice..example", "al_ice", "-a.example"])
      await expect(connect(world, { handle, appPassword: "x" })).rejects.toThrow(/^handle: is not a handle,/);
  });

  it("blames no field that nobody gave where the server cannot be reached", async () => {
    await using world = await createBlueskyWorld({ baseUrl: "http://127.0.0.1:9" });
    const secrets = { handle: "alice.example", appPassword: "x" };
    await expect(connect(world, secrets)).rejects.toThrow(
      "Bluesky could not be reached: nothing listens at 127.0.0.1:9. Check the network of Posthorn's server, or try again later.",
    );
    await expect(connect(world, secrets, { instanceUrl: "http://127.0.0.1:9" })).rejects.toThrow(
      "instanceUrl: Bluesky could not be reached: nothing listens at 127.0.0.1:9. Check the address, or try again later.",
    );
  });

  it("tells who gave the main password to make another", async () => {
    await using world = await createBlueskyWorld({ baseUrl: pds.url });
    const user = await pds.createUser();
    const { notice } = await connect(world, { handle: user.handle, appPassword: user.password });
    expect(notice).toContain("main password");
  });

  it("keeps no secret in the open", async () => {
    await using world = await createBlueskyWorld({ baseUrl: pds.url });
    const user = await pds.createUser();
    const appPassword = await user.appPassword("one");
    const { account } = await connect(world, { handle: user.handle, appPassword });
    const row = await world.readAccount(account.id);
    const { accessJwt = "?", refreshJwt = "?" } = await readSecrets(world.ctx, world.ctx.store, row);
    for (const secret of [appPassword, accessJwt, refreshJwt]) {
      expect(JSON.stringify([row, account, world.ctx.log.lines])).not.toContain(secret);
    }
  });
});

describe("a session that is over", () => {
  it("is refreshed once, and the post goes on", async () => {
    await using proxy = await startLosingProxy(pds.url);
    await using world = await createBlueskyWorld({ baseUrl: proxy.url });
    const user = await pds.createUser();
    const account = await world.connect(user);
    await setSecrets(world, account.id, { accessJwt: user.expiredToken() });
    const posts = [
      await world.schedule(account, { caption: "One" }),
      await world.schedule(account, { caption: "Two" }),
    ];
    for (const { id } of posts)
      expect(await world.finish(id)).toMatchObject({ status: "published", attempts: 1 });
    expect(proxy.count(REFRESH)).toBe(1);
    expect(proxy.count(SIGN_IN)).toBe(1);
    expect(await user.records()).toHaveLength(2);
  });

  it("is signed in anew with the app password where the refresh token is spent too", async () => {
    await using proxy = await startLosingProxy(pds.url);
    await using world = await createBlueskyWorld({ baseUrl: proxy.url });
    const user = await pds.createUser();
    const account = await world.connect(user);
    await setSecrets(world, account.id, { accessJwt: user.expiredToken(), refreshJwt: "spent" });
    expect(await world.publish(account, { caption: "One" })).toMatchObject({ status: "published" });
    expect(proxy.count(SIGN_IN)).toBe(2);
  });

  it("survives a refresh whose answer was lost", async () => {
    await using proxy = await startLosingProxy(pds.url);
    await using world = await createBlueskyWorld({ baseUrl: proxy.url });
    const user = await pds.createUser();
    const account = await world.connect(user);
    await setSecrets(world, account.id, { accessJwt: user.expiredToken() });
    proxy.fail(REFRESH, "lose_answer");
    expect(await world.publish(account, { caption: "One" })).toMatchObject({
      status: "published",
      error: null,
    });
    expect(await user.records()).toHaveLength(1);
  });

  it("asks for a reconnection when the app password was revoked, and goes on after it", async () => {
    await using world = await createBlueskyWorld({ baseUrl: pds.url });
    const user = await pds.createUser();
    const account = await world.connect(user, await user.appPassword("doomed"));
    await user.revokeAppPassword("doomed");
    await setSecrets(world, account.id, { accessJwt: user.expiredToken() });
    const post = await world.publish(account, { caption: "Waits" });
    expect(post).toMatchObject({ status: "scheduled", in_doubt: 0 });
    expect(post.error).toContain("must be reconnected");
    expect(await world.readAccount(account.id)).toMatchObject({
      status: "reconnect_required",
      status_reason: "Bluesky no longer accepts the app password. It was revoked or changed.",
    });
    expect(await user.records()).toEqual([]);

    await connect(world, { appPassword: await user.appPassword("new") }, { accountId: account.id });
    expect(await world.finish(post.id)).toMatchObject({ status: "published", error: null });
    expect(await user.records()).toHaveLength(1);
  });
});
