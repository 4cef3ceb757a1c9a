import { mkdtemp, rm } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../../src/domain/time.ts";
import type { OAuthWay } from "../../../src/ports/connect.ts";
import { PlatformFault } from "../../../src/ports/platform-io.ts";
import { listAccounts } from "../../../src/channels/accounts/accounts.ts";
import type { AppContext } from "../../../src/context.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { renewDueGrants } from "../../../src/channels/connecting/renewal.ts";
import { createCipher } from "../../../src/store/engine/cipher.ts";
import { openStore } from "../../../src/store/open-store.ts";
import { listAccountRows, type AccountRow } from "../../../src/store/queries/accounts.ts";
import { insertWorker } from "../../../src/store/queries/workers.ts";
import { callOf } from "../../support/context.ts";
import { startFakeOAuth, type FakeOAuth } from "../../support/fake-oauth.ts";
import { queryOf } from "../../support/handles.ts";
import { createInstantClock } from "../../support/instant-clock.ts";
import { createOAuthWorld, oauthWay } from "../../support/oauth-world.ts";
import { disconnectChannel } from "../../../src/channels/connecting/connections.ts";

const EXPIRED = new PlatformFault("auth", "Scripted does not accept the channel's credentials any more.");
const signal = new AbortController().signal;

let fake: FakeOAuth;
const closing: AsyncDisposable[] = [];
beforeEach(async () => {
  fake = await startFakeOAuth();
});
afterEach(async () => {
  for (const one of closing.splice(0).reverse()) await one[Symbol.asyncDispose]();
  await fake[Symbol.asyncDispose]();
});

async function open(parts: Partial<OAuthWay> = {}, overrides: Partial<AppContext> = {}) {
  const world = await createOAuthWorld(fake, oauthWay(fake, { scopeSeparator: " ", ...parts }), {
    clock: createInstantClock(),
    ...overrides,
  });
  closing.push(world);
  return world;
}

type World = Awaited<ReturnType<typeof open>>;

/** Posts once; the platform does not take `refused` any more, by default the token that was stored when it began. */
async function use({ ctx }: World, row: AccountRow, refused: string | null = null): Promise<string> {
  const io = await createPlatformIo(ctx, row, signal);
  let old = refused;
  return io.authorized(async ({ accessToken = "" }) => {
    old ??= accessToken;
    if (accessToken === old) throw EXPIRED;
    return accessToken;
  });
}

const presentToken = async ({ ctx }: World, row: AccountRow): Promise<string> =>
  (await createPlatformIo(ctx, row, signal)).authorized(async ({ accessToken = "" }) => accessToken);

const grants = ({ ctx }: World) => queryOf(ctx.store).selectFrom("grants").selectAll().execute();
const statuses = async ({ ctx }: World) =>
  (await listAccountRows(ctx.store, "default")).map(({ status }) => status);

describe("tokens of a grant", () => {
  it("are renewed once for all of its channels and calls", async () => {
    const world = await open();
    const rows = await world.connect(3);
    // A call that comes a little later gets the new one at once.
    const expired = await presentToken(world, rows[0]!);
    const calls = rows.flatMap((row) => [use(world, row, expired), use(world, row, expired)]);
    const tokens = await Promise.all(calls);
    expect(new Set(tokens).size).toBe(1);
    expect(fake.state).toMatchObject({ refreshes: 1, isRevoked: false, wrong: [] });
    const { accounts } = await listAccounts(callOf(world.ctx));
    expect(new Set(accounts.map(({ tokenExpiresAt }) => tokenExpiresAt)).size).toBe(1);
    expect(accounts.map(({ status }) => status)).toEqual(["connected", "connected", "connected"]);
  });

  it("are renewed once by two processes that find them expired together, 20 times", async () => {
    const folder = await mkdtemp(join(tmpdir(), "posthorn-renew-"));
    const shared = { cipher: createCipher(randomBytes(32)) };
    const at = async (workerId: string) =>
      open({}, { ...shared, workerId, store: await openStore({ file: join(folder, "posthorn.db") }) });
    const [one, two] = [await at("wrk_one"), await at("wrk_two")];
    const [row] = await one.connect();
    let token = await use(one, row!);
    for (let round = 1; round <= 20; round++) {
      const [a, b] = await Promise.all([use(one, row!, token), use(two, row!, token)]);
      expect(a).toBe(b);
      expect(fake.state).toMatchObject({ refreshes: round + 1, isRevoked: false, wrong: [] });
      token = a;
    }
    expect(await statuses(one)).toEqual(["connected"]);
    await rm(folder, { recursive: true, force: true });
  });

  it("whose answer is lost are asked for again, and a person is asked only if they are spent", async () => {
    const world = await open();
    const rows = await world.connect(2);
    fake.state.losing = 1;
    await expect(use(world, rows[0]!)).rejects.toMatchObject({
      kind: "auth",
      message: expect.stringMatching(/once, and its answer to the last one was lost.*Reconnect/),
    });
    expect(fake.state.refreshes).toBe(2);
    expect(await statuses(world)).toEqual(["reconnect_required", "reconnect_required"]);
    expect(await grants(world)).toMatchObject([{ renew_at: null, renewing_worker: null }]);
  });

  it("that may be used again survive a lost answer", async () => {
    await fake[Symbol.asyncDispose]();
    fake = await startFakeOAuth({ rotates: false });
    const world = await open({ renewal: { beforeMs: 0, isSingleUse: false } });
    const [row] = await world.connect();
    fake.state.losing = 1;
    await expect(use(world, row!)).rejects.toMatchObject({ kind: "not_sent" });
    expect(await use(world, row!)).toMatch(/^access-/);
    expect(await statuses(world)).toEqual(["connected"]);
  });

  it("stay while the app is refused: that is for the administrator", async () => {
    const world = await open();
    const [row] = await world.connect();
    fake.state.knowsClient = false;
    await expect(use(world, row!)).rejects.toMatchObject({
      message: expect.stringContaining("POSTHORN_SCRIPTED_CLIENT_ID"),
    });
    expect(await statuses(world)).toEqual(["connected"]);
    fake.state.knowsClient = true;
    expect(await use(world, row!)).toMatch(/^access-/);
  });

  it("wait for a worker that lives, and are taken over from one that is proven dead", async () => {
    const world = await open();
    const [row] = await world.connect();
    const now = world.ctx.clock.now();
    const other = { id: "wrk_other", role: "caller", host: "h", pid: 1, version: "1" } as const;
    await world.ctx.store.write((tx) => insertWorker(tx, { ...other, started_at: now, heartbeat_at: now }));
    await queryOf(world.ctx.store)
      .updateTable("grants")
      .set({ renewing_worker: other.id, renewing_since: now - DAY })
      .execute();
    await expect(use(world, row!)).rejects.toMatchObject({ kind: "not_sent" });
    expect(fake.state.refreshes).toBe(0);
    await world.ctx.store.claims.freeWorker(other.id, now);
    expect(await use(world, row!)).toMatch(/^access-/);
    expect(await grants(world)).toMatchObject([{ renewing_worker: null, renewing_since: null }]);
  });

  it("open for no other server, grant or owner", async () => {
    const world = await open();
    const [row] = await world.connect();
    const change = async (table: "accounts" | "grants", set: object) => {
      await queryOf(world.ctx.store).updateTable(table).set(set).execute();
      const [after] = await listAccountRows(world.ctx.store, "default");
      await expect(use(world, after!)).rejects.toMatchObject({
        message: expect.stringContaining("cannot be read"),
      });
    };
    await change("accounts", { settings: '{"instanceUrl":"https://evil.example"}' });
    await change("accounts", { settings: row!.settings, secrets_enc: null });
    await queryOf(world.ctx.store).updateTable("accounts").set({ secrets_enc: row!.secrets_enc }).execute();
    await change("grants", { instance_url: "https://evil.example" });
    expect(fake.state.refreshes).toBe(0);
  });

  it("are given back with the last channel", async () => {
    const revoked: string[] = [];
    const world = await open({
      revoke: async ({ accessToken = "" }) => void revoked.push(accessToken),
    });
    const [one, two] = await world.connect(2);
    await disconnectChannel(callOf(world.ctx), { accountId: one!.id });
    expect([revoked.length, (await grants(world)).length]).toEqual([0, 1]);
    await disconnectChannel(callOf(world.ctx), { accountId: two!.id });
    expect([revoked.length, (await grants(world)).length]).toEqual([1, 0]);
  });
});

describe("maintenance", () => {
  it("renews what ends soon and what was not renewed for long, and nothing else", async () => {
    const soon = await open({ renewal: { beforeMs: 2 * HOUR, isSingleUse: true } });
    await soon.connect();
    await renewDueGrants(soon.ctx, signal);
    expect(fake.state.refreshes).toBe(1);

    const clock = createInstantClock();
    const idle = await open({ renewal: { beforeMs: 0, everyMs: 30 * DAY, isSingleUse: true } }, { clock });
    await idle.connect();
    await renewDueGrants(idle.ctx, signal);
    expect(fake.state.refreshes).toBe(1);
    clock.skewMs = 31 * DAY;
    await renewDueGrants(idle.ctx, signal);
    await renewDueGrants(idle.ctx, signal);
    expect(fake.state.refreshes).toBe(2);
  });

  it("tries again with the next pass where it did not work, and logs why", async () => {
    const world = await open({ renewal: { beforeMs: 2 * HOUR, isSingleUse: true } });
    await world.connect();
    fake.state.knowsClient = false;
    await renewDueGrants(world.ctx, signal);
    expect(world.ctx.log.text()).toContain("could not be renewed ahead");
    fake.state.knowsClient = true;
    await renewDueGrants(world.ctx, signal);
    expect(fake.state.refreshes).toBe(1);
  });

  it("does not bring a channel back that a person must look at", async () => {
    const world = await open({ renewal: { beforeMs: 2 * HOUR, isSingleUse: true } });
    await world.connect();
    await queryOf(world.ctx.store).updateTable("accounts").set({ status: "reconnect_required" }).execute();
    await renewDueGrants(world.ctx, signal);
    expect([fake.state.refreshes, await statuses(world)]).toEqual([1, ["reconnect_required"]]);
  });

  it("shows an access that nobody renews as expiring in its last week", async () => {
    const clock = createInstantClock();
    const world = await open({ renewal: null }, { clock });
    await world.connect();
    const { accounts } = await listAccounts(callOf(world.ctx));
    expect(accounts[0]).toMatchObject({ status: "expiring" });
    clock.skewMs = -8 * DAY - MINUTE;
    expect((await listAccounts(callOf(world.ctx))).accounts[0]).toMatchObject({ status: "connected" });
  });
});
