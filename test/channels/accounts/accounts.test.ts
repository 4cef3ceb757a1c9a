import { describe, expect, it } from "vitest";
import { showCapabilities } from "../../../src/domain/accounts/capabilities.ts";
import { DAY } from "../../../src/domain/time.ts";
import { findAccount, listAccounts } from "../../../src/channels/accounts/accounts.ts";
import {
  connectChannel,
  connectWithSecrets,
  disconnectChannel,
} from "../../../src/channels/connecting/connections.ts";
import { createPhotobox, createPinboard, createScriptedOutbound } from "../../support/connect-fixtures.ts";
import { callerOf, callOf, createTestContext, isOnPostgres } from "../../support/context.ts";
import { queryOf, rawOf } from "../../support/handles.ts";

async function setUp(refresh?: Parameters<typeof createPhotobox>[0]) {
  const ctx = await createTestContext({
    platformList: [createPhotobox(refresh).platform, createPinboard()],
    outbound: createScriptedOutbound(),
  });
  const secrets = { handle: "alice.example", appPassword: "alice-password-1" };
  const { account } = await connectWithSecrets(callOf(ctx), { provider: "photobox", secrets });
  return { ctx, account };
}

describe("listAccounts", () => {
  it("shows every field of an account and none beside", async () => {
    const { ctx, account } = await setUp();
    expect((await listAccounts(callOf(ctx))).accounts).toEqual([account]);
    expect(account).toEqual({
      id: expect.stringMatching(/^acc_/),
      provider: "photobox",
      name: "alice.example",
      handle: "alice.example",
      platformAccountId: "did:alice",
      profileUrl: "https://photobox.example/alice.example",
      avatarUrl: null,
      status: "connected",
      statusReason: null,
      tokenExpiresAt: null,
      scopes: ["write"],
      schedule: null,
      utm: null,
      capabilities: showCapabilities(createPhotobox().platform.capabilities, false),
      queuedCount: 0,
      lastPublishedAt: null,
      createdAt: "2026-11-21T09:00:00.000Z",
      updatedAt: "2026-11-21T09:00:00.000Z",
    });
  });

  it.skipIf(isOnPostgres)("counts waiting posts per account in one index", async () => {
    const { ctx, account } = await setUp();
    const { account: pinboard } = await connectChannel(callOf(ctx), { provider: "pinboard" });
    let made = 0;
    for (const [accountId, status, times] of [
      [account.id, "scheduled", 3],
      [account.id, "published", 2],
      [pinboard?.id ?? "", "scheduled", 1],
    ] as const) {
      for (let at = 0; at < times; at++) {
        rawOf(ctx.store)
          .prepare(
            `INSERT INTO posts (id, owner_id, account_id, provider, media_url, scheduled_at, due_at, status, in_doubt, attempts, tries, run,
              fence, content_hash, created_at, updated_at) VALUES (?, 'default', ?, 'x', '', 1, 1, ?, 0, 0, 0, 1, 0, 'h', 1, 1)`,
          )
          .run([`post_${made++}`, accountId, status]);
      }
    }
    expect((await listAccounts(callOf(ctx))).accounts.map((one) => one.queuedCount)).toEqual([3, 1]);
    const plan = rawOf(ctx.store)
      .prepare(
        `EXPLAIN QUERY PLAN SELECT account_id, count(*) FROM posts
          WHERE account_id IN (SELECT id FROM accounts WHERE owner_id = 'default') AND status = 'scheduled' GROUP BY account_id`,
      )
      .all([]);
    expect(JSON.stringify(plan)).toMatch(/SEARCH posts USING COVERING INDEX/);
  });

  it("warns a week before the access ends, unless the platform renews it", async () => {
    const { ctx } = await setUp();
    const endsIn = async (ms: number) => {
      await queryOf(ctx.store)
        .updateTable("accounts")
        .set({ token_expires_at: ctx.clock.now() + ms, access_ends_at: ctx.clock.now() + ms })
        .execute();
      return (await listAccounts(callOf(ctx))).accounts[0];
    };
    expect(await endsIn(8 * DAY)).toMatchObject({ status: "connected", statusReason: null });
    expect(await endsIn(6 * DAY)).toMatchObject({
      status: "expiring",
      statusReason: expect.stringContaining("ends on Friday 27 November 2026, 09:00 (UTC)"),
    });
    expect(await endsIn(-DAY)).toMatchObject({ status: "expiring" });
    await queryOf(ctx.store)
      .updateTable("accounts")
      .set({ status: "reconnect_required", status_reason: "Revoked." })
      .execute();
    expect(await endsIn(DAY)).toMatchObject({ status: "reconnect_required", statusReason: "Revoked." });

    const renewed = await setUp({ refresh: async () => ({ secrets: {}, tokenExpiresAt: null }) });
    await queryOf(renewed.ctx.store)
      .updateTable("accounts")
      .set({ token_expires_at: renewed.ctx.clock.now() + DAY })
      .execute();
    expect((await listAccounts(callOf(renewed.ctx))).accounts[0]).toMatchObject({ status: "connected" });
  });

  it("still shows an account whose platform is gone", async () => {
    const { ctx } = await setUp();
    await queryOf(ctx.store).updateTable("accounts").set({ provider: "gone" }).execute();
    expect((await listAccounts(callOf(ctx))).accounts[0]).toMatchObject({
      status: "reconnect_required",
      statusReason: expect.stringContaining('"gone"'),
    });
  });
});

describe("disconnectChannel", () => {
  it("forgets the secrets and keeps identity, posts and settings; again changes nothing", async () => {
    const { ctx, account } = await setUp();
    const { account: gone } = await disconnectChannel(callOf(ctx), { accountId: account.id });
    expect(gone).toMatchObject({
      id: account.id,
      status: "disconnected",
      platformAccountId: "did:alice",
      scopes: [],
      tokenExpiresAt: null,
    });
    const row = await findAccount(ctx, callerOf(), account.id);
    expect(row).toMatchObject({ secrets_enc: null, secrets_version: 2 });
    await ctx.clock.advance(1_000);
    expect((await disconnectChannel(callOf(ctx), { accountId: account.id })).account).toEqual(gone);
  });
});
