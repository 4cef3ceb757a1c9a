import peertube from "../../../src/platforms/peertube/index.ts";
import { describe, expect, it } from "vitest";
import { DAY } from "../../../src/domain/time.ts";
import { inspectAccount } from "../../../src/channels/connecting/inspect.ts";
import {
  connectChannel,
  connectWithSecrets,
  disconnectChannel,
} from "../../../src/channels/connecting/connections.ts";
import { submitChoice, submitSecrets } from "../../../src/channels/connecting/connect-page.ts";
import { guestCall } from "../../../src/context.ts";
import { findAccountRow } from "../../../src/store/queries/accounts.ts";
import { FakeClock } from "../../support/clock.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { finish } from "../../support/contract/ends.ts";
import { CLIP_URL, createStageMedia } from "../../support/contract/stage-media.ts";
import { queryOf } from "../../support/handles.ts";
import { addPost } from "../../support/publishing.ts";
import { CHANNELS, createFakePeertube, SERVER } from "./fake.ts";
import { problem } from "./spec.ts";
import { OTP, PERSON } from "./tokens.ts";
import { createPeertubeWorld } from "./world.ts";

async function openWorld() {
  const clock = new FakeClock();
  const fake = createFakePeertube({ now: () => clock.now() });
  const media = createStageMedia();
  const ctx = await createTestContext({ platformList: [peertube], outbound: fake.outbound, media, clock });
  const connect = (secrets: Record<string, string> = PERSON) =>
    connectWithSecrets(callOf(ctx), { provider: "peertube", instanceUrl: "tube.example", secrets });
  return { fake, ctx, clock, connect, [Symbol.asyncDispose]: () => ctx[Symbol.asyncDispose]() };
}

const rowsOf = ({ ctx }: Awaited<ReturnType<typeof openWorld>>) =>
  queryOf(ctx.store).selectFrom("accounts").selectAll().execute();

describe("connecting PeerTube", () => {
  it("signs in with the server's own client and keeps the tokens alone", async () => {
    await using world = await openWorld();
    world.fake.state.channels = CHANNELS.slice(0, 1);
    await world.connect();
    const [row] = await rowsOf(world);
    expect(row).toMatchObject({
      platform_account_id: "7",
      name: "Horns",
      handle: "horns@tube.example",
      profile_url: `${SERVER}/c/horns`,
      avatar_url: `${SERVER}/lazy-static/avatars/7.png`,
      status: "connected",
    });
    expect(JSON.parse(row!.settings)).toMatchObject({ instanceUrl: SERVER, accountName: "alice" });
    // Two days later its access token is over; the next post renews it, once.
    await world.clock.advance(2 * DAY);
    const { id } = await addPost(world.ctx, row!, { media_url: CLIP_URL, metadata: '{"title":"The horn"}' });
    expect(await finish(world.ctx, id)).toMatchObject({ status: "published", error: null });
    expect([world.fake.tokens.logins, world.fake.tokens.refreshes]).toEqual([1, 1]);
    await disconnectChannel(callOf(world.ctx), { accountId: row!.id });
    expect(world.fake.tokens.revoked).toEqual(["access-2"]);
    expect(world.fake.wrong).toEqual([]);
  });

  it("lets a person choose among the channels of the account", async () => {
    await using world = await openWorld();
    const { ctx } = world;
    const { url } = await connectChannel(callOf(ctx), { provider: "peertube", instanceUrl: SERVER });
    const token = (url ?? "").split("/").at(-1) ?? "";
    const given = await submitSecrets(guestCall(ctx), { token, secrets: PERSON });
    if (given.state !== "choose") throw new Error(JSON.stringify(given));
    const keys = given.choice.channels.map(({ key }) => key);
    expect(given.choice.channels.map(({ name }) => name)).toEqual(["Horns", "Other"]);
    expect((await submitChoice(guestCall(ctx), { token, keys })).state).toBe("connected");
    const rows = await rowsOf(world);
    expect(rows.map(({ platform_account_id }) => platform_account_id).toSorted()).toEqual(["7", "8"]);
    // One sign-in for both.
    expect(new Set(rows.map(({ grant_id }) => grant_id)).size).toBe(1);
  });

  it("asks for the two-factor code where the account has one", async () => {
    await using world = await openWorld();
    world.fake.state.channels = CHANNELS.slice(0, 1);
    world.fake.tokens.needsOtp = true;
    await expect(world.connect()).rejects.toThrow(/^otp: is missing/);
    await expect(world.connect({ ...PERSON, otp: "000000" })).rejects.toThrow(/^otp: the server refused/);
    await world.connect({ ...PERSON, otp: `${OTP.slice(0, 3)} ${OTP.slice(3)}` });
    expect(await rowsOf(world)).toHaveLength(1);
  });

  it.each([
    [problem(400, "invalid_grant"), /^password: tube\.example refused it/],
    [problem(400, "account_waiting_for_approval"), /^username: .*moderators/],
    [problem(403, "account_blocked"), /^username: .*blocked/],
    [problem(400, "email_not_verified"), /^username: .*e-mail/],
  ])("says why the server lets nobody in (%#)", async (refusal, sentence) => {
    await using world = await openWorld();
    world.fake.tokens.refusal = refusal;
    await expect(world.connect()).rejects.toThrow(sentence);
    expect(await rowsOf(world)).toEqual([]);
  });

  it("says so when nobody named a server, when it is none, and when the account has no channel", async () => {
    await using world = await openWorld();
    const named = { provider: "peertube", secrets: PERSON };
    await expect(connectWithSecrets(callOf(world.ctx), named)).rejects.toThrow(/^instanceUrl: is required/);
    world.fake.state.next.set("GET /oauth-clients/local", [{ status: 404, text: "no" }]);
    await expect(world.connect()).rejects.toThrow(/^instanceUrl: .* did not answer as a PeerTube server/);
    world.fake.state.channels = [];
    await expect(world.connect()).rejects.toThrow(/^username: the account has no channel/);
  });
});

describe("what a server says of a channel", () => {
  it("is kept: its name, the files that it takes, and how large they may be", async () => {
    const { ctx, account, fake } = await createPeertubeWorld();
    fake.state.channels = CHANNELS.map((channel) => ({ ...channel, displayName: `New ${channel.name}` }));
    fake.uploads.extensions = [".mp4", ".ogv", ".webm"];
    fake.state.quota = 5_000_000;
    await inspectAccount(ctx, account);
    const row = await findAccountRow(ctx.store, account.owner_id, account.id);
    expect(row).toMatchObject({ name: "New horns", status: "connected", status_reason: null });
    const limits = JSON.parse(row?.limits ?? "{}");
    const film = peertube.capabilitiesOf?.({ limits } as never, null).media.accepts[0];
    expect(film).toMatchObject({ mimeTypes: ["video/mp4", "video/webm"], maxBytes: 5_000_000 });
  });

  it("tells that the channel is gone, and asks to be connected again when its sign-in is over", async () => {
    const { ctx, account, fake } = await createPeertubeWorld();
    const read = async () => findAccountRow(ctx.store, account.owner_id, account.id);
    fake.state.channels = CHANNELS.slice(1);
    await inspectAccount(ctx, account);
    expect((await read())?.status_reason).toMatch(/no longer has this channel/);
    fake.tokens.forgetAll();
    await inspectAccount(ctx, account);
    expect((await read())?.status).toBe("reconnect_required");
  });
});
