import mastodon from "../../../src/platforms/mastodon/index.ts";
import { expect, it } from "vitest";
import { comeBack, leadOn } from "../../../src/channels/connecting/consent.ts";
import {
  connectChannel,
  connectWithSecrets,
  disconnectChannel,
} from "../../../src/channels/connecting/connections.ts";
import { guestCall } from "../../../src/context.ts";
import type { AccountRow } from "../../../src/store/queries/accounts.ts";
import { FakeClock } from "../../support/clock.ts";
import { queryOf } from "../../support/handles.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { createStageMedia } from "../../support/contract/stage-media.ts";
import { addPost } from "../../support/publishing.ts";
import { finish } from "../../support/contract/ends.ts";
import { createFakeMastodon, SERVER } from "./fake.ts";
import { PROFILES, type Profile } from "./profiles.ts";

async function openWorld(profile: Partial<Profile> = {}) {
  const clock = new FakeClock();
  const server = createFakeMastodon({ now: () => clock.now(), profile });
  const parts = { platformList: [mastodon], outbound: server.door, media: createStageMedia(), clock };
  const ctx = await createTestContext(parts);
  return { server, ctx, [Symbol.asyncDispose]: () => ctx[Symbol.asyncDispose]() };
}

type World = Awaited<ReturnType<typeof openWorld>>;

/** A person opens the page, goes on to their server, agrees, and comes back. */
async function agree({ server, ctx }: World): Promise<{ row: AccountRow; address: string }> {
  const { url } = await connectChannel(callOf(ctx), { provider: "mastodon", instanceUrl: "social.example" });
  const guest = guestCall(ctx);
  const lead = await leadOn(guest, { token: (url ?? "").split("/").at(-1) ?? "" });
  if (lead.state !== "lead") throw new Error(JSON.stringify(lead));
  const done = await comeBack(guest, { answer: server.consents.consent(lead.url), isBegunHere: true });
  if (done.state !== "connected") throw new Error(JSON.stringify(done));
  const row = await queryOf(ctx.store).selectFrom("accounts").selectAll().executeTakeFirstOrThrow();
  return { row, address: lead.url };
}

it("registers itself at a server, and connects by its consent with PKCE", async () => {
  await using world = await openWorld();
  const { row, address } = await agree(world);
  expect(row).toMatchObject({
    platform_account_id: "109344536734567890",
    name: "Alice",
    handle: "alice@social.example",
    profile_url: `${SERVER}/@alice`,
    avatar_url: `${SERVER}/avatars/alice.png`,
    status: "connected",
    token_expires_at: null,
    scopes: JSON.stringify(["read:accounts", "read:statuses", "write:statuses", "write:media"]),
  });
  expect(JSON.parse(row.settings)).toMatchObject({ instanceUrl: SERVER });
  expect(address).toContain("code_challenge_method=S256");
  const { id } = await addPost(world.ctx, row, { caption: "Hello" });
  expect(await finish(world.ctx, id)).toMatchObject({ status: "published", error: null });
  // The app is kept for the next one.
  await agree(world);
  expect(world.server.count("POST /api/v1/apps")).toBe(1);
  expect(world.server.wrong).toEqual([]);
});

it("leaves PKCE away where the server does not say that it knows it", async () => {
  await using world = await openWorld(PROFILES.old);
  const { row, address } = await agree(world);
  expect(address).not.toContain("code_challenge");
  expect(row.status).toBe("connected");
  expect(world.server.wrong).toEqual([]);
});

it("gives the token back when the channel is disconnected", async () => {
  await using world = await openWorld();
  const { row } = await agree(world);
  expect(world.server.consents.tokens.size).toBe(1);
  await disconnectChannel(callOf(world.ctx), { accountId: row.id });
  await expect.poll(() => world.server.consents.tokens.size).toBe(0);
  expect(world.server.wrong).toEqual([]);
});

it("renews a token that ends, as Akkoma's do, and goes on", async () => {
  await using world = await openWorld(PROFILES.akkoma);
  const { row } = await agree(world);
  world.server.consents.tokens.clear();
  const { id } = await addPost(world.ctx, row, { caption: "Hello" });
  expect(await finish(world.ctx, id)).toMatchObject({ status: "published", error: null });
  expect(world.server.posts.heads()).toHaveLength(1);
  expect(world.server.wrong).toEqual([]);
});

const connectToken = ({ ctx }: World, accessToken: string, instanceUrl: string | undefined = SERVER) =>
  connectWithSecrets(callOf(ctx), {
    provider: "mastodon",
    way: "token",
    ...(instanceUrl === undefined ? {} : { instanceUrl }),
    secrets: { accessToken },
  });

it("connects with a token, and takes it at once for the account that is there", async () => {
  await using world = await openWorld();
  const first = await connectToken(world, world.server.makeToken());
  const again = await connectToken(world, world.server.makeToken());
  expect(again.account.id).toBe(first.account.id);
});

it("says which field of a token's form is wrong", async () => {
  await using world = await openWorld();
  const { ctx, server } = world;
  await expect(connectToken(world, "wrong")).rejects.toThrow(/^accessToken: social\.example refused it\./);
  const narrow = server.makeToken(["read", "write:media"]);
  await expect(connectToken(world, narrow)).rejects.toThrow(
    /^accessToken: its application may not write:statuses\./,
  );
  const call = connectWithSecrets(callOf(ctx), {
    provider: "mastodon",
    way: "token",
    secrets: { accessToken: server.makeToken() },
  });
  await expect(call).rejects.toThrow(/^instanceUrl: is required/);
  await expect(connectToken(world, "x", "https://nobody.example")).rejects.toThrow(
    /^instanceUrl: nobody\.example did not answer as a Mastodon server does/,
  );
});

it("asks for the server where none is named and none is set", async () => {
  await using world = await openWorld();
  await expect(connectChannel(callOf(world.ctx), { provider: "mastodon" })).rejects.toThrow(/^instanceUrl: /);
  Object.assign(world.ctx.settings.platformSettings, { POSTHORN_MASTODON_BASE_URL: SERVER });
  expect((await connectChannel(callOf(world.ctx), { provider: "mastodon" })).status).toBe(
    "authorization_required",
  );
});
