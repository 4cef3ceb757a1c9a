import lemmy from "../../../src/platforms/lemmy/index.ts";
import { expect, it } from "vitest";
import type { Outbound } from "../../../src/ports/outbound.ts";
import { capabilitiesFor } from "../../../src/channels/platform-io/connect-io.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { FakeClock } from "../../support/clock.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { connectOn } from "../../support/contract/connect-on.ts";
import { createStageMedia } from "../../support/contract/stage-media.ts";
import { createFakeLemmy, SERVER, type Profile } from "./fake.ts";
import { disconnectChannel } from "../../../src/channels/connecting/connections.ts";

async function openWorld(profile: Partial<Profile> = {}) {
  const clock = new FakeClock();
  const server = createFakeLemmy({ now: () => clock.now(), profile });
  const parts = { platformList: [lemmy], outbound: server.door, media: createStageMedia(), clock };
  const ctx = await createTestContext(parts);
  const connect = (secrets: Record<string, string> = {}, instanceUrl: string = SERVER) =>
    connectOn(callOf(ctx), { provider: "lemmy", instanceUrl, secrets: { ...server.login, ...secrets } });
  return { server, ctx, connect, [Symbol.asyncDispose]: () => ctx[Symbol.asyncDispose]() };
}

it.each(["v3", "v4"] as const)("signs in at a server of %s, and keeps its login alone", async (version) => {
  await using world = await openWorld({ version });
  const row = await world.connect();
  expect(row).toMatchObject({
    platform_account_id: "42",
    id_server: SERVER,
    name: "Alice",
    handle: "alice@lemmy.example",
    profile_url: `${SERVER}/u/alice`,
    avatar_url: `${SERVER}/pictrs/image/alice.webp`,
    status: "connected",
    token_expires_at: null,
  });
  expect(JSON.parse(row.settings)).toMatchObject({ instanceUrl: SERVER, api: version });
  expect(JSON.stringify(row)).not.toContain(world.server.login.password);
  expect((await world.connect()).id).toBe(row.id);
  expect(world.server.wrong).toEqual([]);
  await disconnectChannel(callOf(world.ctx), { accountId: row.id });
});

it("says which field of the login is wrong", async () => {
  await using world = await openWorld({ totp: "123456" });
  const { connect } = world;
  await expect(connect({ password: "other" })).rejects.toThrow(
    /^password: the name or the password is wrong/,
  );
  await expect(connect({ username: "bob" })).rejects.toThrow(/^password: the name/);
  await expect(connect()).rejects.toThrow(/^totp: the account asks for a code/);
  await expect(connect({ totp: "654321" })).rejects.toThrow(/^totp: the code is wrong or has expired/);
  await expect(connect({ username: "new" })).rejects.toThrow(
    /^username: the server has not let the account in yet/,
  );
  await expect(connect({}, "https://nobody.example")).rejects.toThrow(
    /^instanceUrl: nobody\.example did not answer as a Lemmy server does/,
  );
  const call = connectOn(callOf(world.ctx), { provider: "lemmy", secrets: world.server.login });
  await expect(call).rejects.toThrow(/^instanceUrl: is required/);
  expect((await connect({ totp: "123 456" })).status).toBe("connected");
});

it("goes on with the fourth version where a server was brought to it", async () => {
  const clock = new FakeClock();
  const [old, brought] = (["v3", "v4"] as const).map((version) =>
    createFakeLemmy({ now: () => clock.now(), profile: { version, imagesAllowed: version === "v3" } }),
  );
  if (old === undefined || brought === undefined) throw new Error("There are no servers.");
  let current = old;
  const outbound: Outbound = { ...old.door, request: (request) => current.door.request(request) };
  await using ctx = await createTestContext({
    platformList: [lemmy],
    outbound,
    media: createStageMedia(),
    clock,
  });
  const row = await connectOn(callOf(ctx), { provider: "lemmy", instanceUrl: SERVER, secrets: old.login });
  for (const token of old.tokens) brought.tokens.add(token);
  current = brought;
  const io = await createPlatformIo(ctx, row, AbortSignal.timeout(5_000));
  const inspection = await lemmy.inspect?.(io);
  expect(inspection).toMatchObject({ limits: { api: "v4", takesImages: false }, problem: null });
  const after = { ...row, limits: JSON.stringify(inspection?.limits) };
  expect(capabilitiesFor(ctx, after, null).media.accepts).toEqual([]);
  expect([...old.wrong, ...brought.wrong]).toEqual([]);
});
