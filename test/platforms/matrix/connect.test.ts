import { describe, expect, it } from "vitest";
import { inspectAccount } from "../../../src/channels/connecting/inspect.ts";
import {
  connectChannel,
  connectWithSecrets,
  disconnectChannel,
} from "../../../src/channels/connecting/connections.ts";
import {
  openConnection,
  submitChoice,
  submitSecrets,
} from "../../../src/channels/connecting/connect-page.ts";
import { guestCall } from "../../../src/context.ts";
import { queryOf } from "../../support/handles.ts";
import { PASSWORD, ROOM, SERVER, TOKEN, USER } from "./fake.ts";
import { openMatrix } from "./world.ts";

describe("connecting", () => {
  it("takes an access token, joins the room, and knows it again", async () => {
    await using world = await openMatrix();
    const room = world.fake.addRoom("!other:horn.example", {
      name: "Other",
      alias: "#other:horn.example",
      members: [],
    });
    const row = await world.connect({ room: "https://matrix.to/#/%23other%3Ahorn.example?via=horn.example" });
    expect(room.state.get(`m.room.member ${USER}`)?.content).toEqual({ membership: "join" });
    expect(row).toMatchObject({
      platform_account_id: `${USER}/!other:horn.example`,
      name: "Other",
      handle: "#other:horn.example",
      profile_url: "https://matrix.to/#/%23other%3Ahorn.example",
      token_expires_at: null,
    });
    expect(JSON.parse(row.settings)).toMatchObject({
      instanceUrl: SERVER,
      baseUrl: SERVER,
      deviceId: "ELEMENT",
    });
    expect((await world.connect({ room: "!other:horn.example" })).id).toBe(row.id);
  });

  it("signs in with a password as one device, which stays when it is reconnected", async () => {
    await using world = await openMatrix();
    const row = await world.signIn();
    const { deviceId } = JSON.parse(row.settings);
    expect(deviceId).toMatch(/^POSTHORN[0-9A-F]{10}$/);
    const again = await world.signIn({ room: "" }, { accountId: row.id });
    expect([again.id, JSON.parse(again.settings).deviceId]).toEqual([row.id, deviceId]);
    expect([...world.state.sessions.values()].map(({ device }) => device)).toEqual(["ELEMENT", deviceId]);
    // Connected with a token since, its device is that of the person's own app.
    await world.connect({}, { accountId: row.id });
    const third = await world.signIn({ room: "" }, { accountId: row.id });
    expect(JSON.parse(third.settings).deviceId).toMatch(/^POSTHORN/);
    expect(world.state.sessions.has(TOKEN)).toBe(true);
    await disconnectChannel(world.call, { accountId: row.id });
    const devices = () => [...world.state.sessions.values()].map(({ device }) => device);
    await expect.poll(devices).not.toContain(JSON.parse(third.settings).deviceId);
  });

  it("renews the token of every room when one is reconnected", async () => {
    await using world = await openMatrix();
    world.fake.addRoom("!other:horn.example", { name: "Other" });
    const link = await connectChannel(world.call, {
      provider: "matrix",
      way: "password",
      instanceUrl: SERVER,
    });
    const ref = { token: link.url?.split("/connect/")[1] ?? "" };
    const guest = guestCall(world.ctx);
    await submitSecrets(guest, { ...ref, secrets: { user: USER, password: PASSWORD } });
    const page = await openConnection(guest, ref);
    if (page.state !== "choose") throw new Error(page.state);
    const done = await submitChoice(guest, { ...ref, keys: page.choice.channels.map(({ key }) => key) });
    if (done.state !== "connected") throw new Error(done.state);
    const [one, other] = await queryOf(world.ctx.store).selectFrom("accounts").selectAll().execute();
    if (one === undefined || other === undefined) throw new Error("There are no accounts.");
    // The same device: the former token ends.
    await world.signIn({ room: "" }, { accountId: one.id });
    const row = await world.readAccount(other);
    expect(await world.publish(row, {})).toMatchObject({ status: "published", error: null });
  });

  it("lists the rooms that the account is in, with the reason where one cannot post", async () => {
    await using world = await openMatrix();
    const rooms: Record<string, [object, RegExp | null]> = {
      Secret: [{ more: { "m.room.encryption": { algorithm: "m.megolm.v1.aes-sha2" } } }, /is encrypted/],
      Quiet: [{ power: { events_default: 50 } }, /power level/],
      Space: [{ type: "m.space" }, /is a space/],
      Closed: [{ more: { "m.room.tombstone": { replacement_room: "!new:x" } } }, /replaced by a new one/],
      Own: [{ version: "12", creator: USER, power: { events_default: 50 } }, null],
    };
    for (const [name, [options]] of Object.entries(rooms))
      world.fake.addRoom(`!${name}:horn.example`, { name, ...options });
    const args = { provider: "matrix", way: "token", instanceUrl: SERVER };
    const link = await connectChannel(world.call, args);
    const ref = { token: link.url?.split("/connect/")[1] ?? "" };
    const guest = guestCall(world.ctx);
    await submitSecrets(guest, { ...ref, secrets: { accessToken: TOKEN } });
    const page = await openConnection(guest, ref);
    if (page.state !== "choose") throw new Error(page.state);
    const told = new Map(page.choice.channels.map(({ name, problem }) => [name, problem]));
    expect(told.get("News")).toBeNull();
    for (const [name, [, problem]] of Object.entries(rooms)) {
      if (problem === null) expect([name, told.get(name)]).toEqual([name, null]);
      else expect(told.get(name)).toMatch(problem);
    }
    await expect(world.connect({ room: "!Quiet:horn.example" })).rejects.toThrow(
      /^room: The account may not send/,
    );
  });

  it.each([
    ["accessToken", { accessToken: "wrong" }, /^accessToken: The server no longer accepts the access token/],
    ["an unknown room", { room: "#nowhere:horn.example" }, /^room: /],
    ["no room", { room: "news" }, /^room: is not a room's address/],
  ])("says what is wrong with %s", async (_what, secrets, message) => {
    await using world = await openMatrix();
    await expect(world.connect(secrets)).rejects.toThrow(message);
  });

  it("says what is wrong with a password, or that the server takes none", async () => {
    await using world = await openMatrix();
    await expect(world.signIn({ password: "wrong" })).rejects.toThrow(
      /^password: the server does not accept it/,
    );
    world.state.takesPasswords = false;
    await expect(world.signIn()).rejects.toThrow(/^password: this server takes no passwords from apps/);
  });

  it("finds the server by its well-known page, and by the user's id, and never outside of TLS", async () => {
    await using world = await openMatrix();
    world.state.wellKnown = { "m.homeserver": { base_url: "http://horn.example/" } };
    expect(JSON.parse((await world.connect()).settings).baseUrl).toBe(SERVER);
    world.state.wellKnown = { "m.homeserver": { base_url: "https://elsewhere.example" } };
    await expect(world.connect()).rejects.toThrow(/^instanceUrl: elsewhere\.example did not answer/);
    world.state.wellKnown = null;
    const secrets = { user: USER, password: PASSWORD, room: ROOM };
    const { account } = await connectWithSecrets(world.call, {
      provider: "matrix",
      way: "password",
      secrets,
    });
    expect(account.handle).toBe("#news:horn.example");
    const nobody = { provider: "matrix", way: "token", secrets: { accessToken: TOKEN } };
    await expect(connectWithSecrets(world.call, nobody)).rejects.toThrow(/^instanceUrl: is required/);
  });
});

describe("what the server says of a channel", () => {
  it("is its name, and how large files may be, on older servers too", async () => {
    await using world = await openMatrix();
    world.state.hasOldMediaApi = true;
    world.state.maxBytes = 1_000_000;
    const row = await world.connect();
    world.state.rooms.get(ROOM)?.state.set("m.room.name", { content: { name: "Newer" }, sender: USER });
    await inspectAccount(world.ctx, row);
    const now = await world.readAccount(row);
    expect([now.name, now.limits]).toEqual(["Newer", '{"maxBytes":1000000}']);
  });
});
