import { expect, it } from "vitest";
import misskey from "../../../src/platforms/misskey/index.ts";
import { connectChannel } from "../../../src/channels/connecting/connections.ts";
import { capabilitiesFor } from "../../../src/channels/platform-io/connect-io.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { FakeClock } from "../../support/clock.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { connectOn } from "../../support/contract/connect-on.ts";
import { consentOn } from "../../support/contract/consent-on.ts";
import { createStageMedia } from "../../support/contract/stage-media.ts";
import { finish } from "../../support/contract/ends.ts";
import { addPost } from "../../support/publishing.ts";
import { createFakeMisskey, SERVER, type Profile } from "./fake.ts";

async function openWorld(profile: Partial<Profile> = {}) {
  const clock = new FakeClock();
  const server = createFakeMisskey({ now: () => clock.now(), profile });
  const parts = { platformList: [misskey], outbound: server.door, media: createStageMedia(), clock };
  const ctx = await createTestContext(parts);
  return { server, ctx, [Symbol.asyncDispose]: () => ctx[Symbol.asyncDispose]() };
}

const ASKED = { provider: "misskey", instanceUrl: "misskey.example" };

it("connects by MiAuth, and asks for what it needs", async () => {
  await using world = await openWorld();
  const { ctx, server } = world;
  const { rows, error, url } = await consentOn(callOf(ctx), ASKED, { agree: (at) => server.consent(at) });
  expect(error).toBeNull();
  const [row] = rows;
  expect(row).toMatchObject({
    platform_account_id: "9zuser0001",
    id_server: SERVER,
    name: "Alice",
    handle: "alice@misskey.example",
    profile_url: `${SERVER}/@alice`,
    avatar_url: `${SERVER}/avatar.webp`,
    status: "connected",
    token_expires_at: null,
  });
  expect(new URL(url).searchParams.get("permission")).toBe("read:account,write:notes,read:drive,write:drive");
  if (row === undefined) throw new Error("Nothing was connected.");
  const { id } = await addPost(ctx, row, { caption: "Hello" });
  expect(await finish(ctx, id)).toMatchObject({ status: "published", error: null });
  expect(server.wrong).toEqual([]);
});

it("connects nothing where access was not allowed, or where another consent came back", async () => {
  await using world = await openWorld();
  const { ctx, server } = world;
  const refused = await consentOn(callOf(ctx), ASKED, { agree: (at) => server.consent(at, false) });
  expect(refused).toMatchObject({ rows: [], error: expect.stringMatching(/access was not allowed/) });
  const foreign = await consentOn(callOf(ctx), ASKED, {
    agree: (at) => ({ ...server.consent(at), session: "11111111-2222-3333-4444-555555555555" }),
  });
  expect(foreign).toMatchObject({ rows: [], error: expect.stringMatching(/access was not allowed/) });
});

it("asks for the server, and says so where it is none of Misskey's", async () => {
  await using world = await openWorld();
  const { ctx } = world;
  await expect(connectChannel(callOf(ctx), { provider: "misskey" })).rejects.toThrow(/^instanceUrl: /);
  const asked = { provider: "misskey", way: "token", instanceUrl: "https://nobody.example" };
  await expect(connectOn(callOf(ctx), { ...asked, secrets: { accessToken: "x" } })).rejects.toThrow(
    /^instanceUrl: nobody\.example did not answer as a Misskey server does/,
  );
});

it("connects with a token, once for an account, and names the field where it is wrong", async () => {
  await using world = await openWorld();
  const { ctx, server } = world;
  const connect = (accessToken: string) =>
    connectOn(callOf(ctx), {
      provider: "misskey",
      way: "token",
      instanceUrl: SERVER,
      secrets: { accessToken },
    });
  const first = await connect(server.makeToken());
  expect((await connect(` ${server.makeToken()} `)).id).toBe(first.id);
  await expect(connect("wrong")).rejects.toThrow(/^accessToken: misskey\.example refused it\./);
  await expect(connect(server.makeToken(["write:notes"]))).rejects.toThrow(/^accessToken: /);
});

it.each([
  [
    "a role that is told",
    {
      maxNoteTextLength: 500,
      policies: { maxFileSizeMb: 2, uploadableFileTypes: ["image/png", "audio/*"] },
    },
    { maxLength: 500, maxBytes: 2_097_152, kinds: ["image", "audio"] },
  ],
  [
    "an older server",
    { meta: {}, policies: null },
    { maxLength: 3_000, maxBytes: 262_144_000, kinds: ["image", "video", "audio"] },
  ],
])("keeps to the limits of %s", async (_what, profile, expected) => {
  await using world = await openWorld(profile);
  const { ctx, server } = world;
  const account = await connectOn(callOf(ctx), {
    provider: "misskey",
    way: "token",
    instanceUrl: SERVER,
    secrets: { accessToken: server.makeToken() },
  });
  const io = await createPlatformIo(ctx, account, AbortSignal.timeout(5_000));
  const { limits, problem } = (await misskey.inspect?.(io)) ?? {};
  expect(problem).toBeNull();
  const row = { ...account, limits: JSON.stringify(limits) };
  const { caption, media } = capabilitiesFor(ctx, row, null);
  expect(caption.maxLength).toBe(expected.maxLength);
  expect(media.accepts.map(({ kind }) => kind)).toEqual(expected.kinds);
  expect(media.accepts[0]?.maxBytes).toBe(expected.maxBytes);
});
