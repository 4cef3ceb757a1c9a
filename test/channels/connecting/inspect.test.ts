import { describe, expect, it } from "vitest";
import { DAY } from "../../../src/domain/time.ts";
import type { Inspection, Platform } from "../../../src/ports/platform.ts";
import { PlatformFault } from "../../../src/ports/platform-io.ts";
import { listAccounts } from "../../../src/channels/accounts/accounts.ts";
import { accountsToInspect, inspectAccount } from "../../../src/channels/connecting/inspect.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { openSecrets, sealSecrets } from "../../../src/channels/platform-io/secrets.ts";
import { findAccountRow, type AccountRow } from "../../../src/store/queries/accounts.ts";
import { callOf, createTestContext, type TestContext } from "../../support/context.ts";
import { queryOf } from "../../support/handles.ts";
import { addAccount } from "../../support/publishing.ts";
import { scriptedPlatform } from "../../support/scripted-platform.ts";

const publish = async () => ({ state: "live", platformPostId: "1", platformUrl: null }) as const;

async function setUp(inspect: NonNullable<Platform["inspect"]>): Promise<TestContext> {
  return createTestContext({ platformList: [scriptedPlatform({ publish, inspect })] });
}

async function read(ctx: TestContext, { owner_id, id }: AccountRow): Promise<AccountRow> {
  return (await findAccountRow(ctx.store, owner_id, id))!;
}

describe("inspecting an account", () => {
  it("stores who it is and what it may do, and shows what stands in the way", async () => {
    const told: Inspection = {
      name: "New\u202e name".padEnd(300, "x"),
      handle: "@new",
      avatarUrl: "https://platform.example/a.png",
      limits: { maxSeconds: 60 },
      quotaUse: { posts: 7 },
      problem: "The bot may not post here. Make it an administrator.",
    };
    await using ctx = await setUp(async () => told);
    const account = await addAccount(ctx);
    await ctx.clock.advance(1_000);
    await inspectAccount(ctx, account);
    const row = await read(ctx, account);
    expect(row.name).toMatch(/^New name/);
    expect([...row.name]).toHaveLength(100);
    expect(JSON.parse(row.limits)).toEqual({ maxSeconds: 60, quotaUse: { posts: 7 } });
    expect([row.inspected_at, row.updated_at]).toEqual([ctx.clock.now(), ctx.clock.now()]);
    const [shown] = (await listAccounts(callOf(ctx))).accounts;
    expect(shown).toMatchObject({ status: "connected", statusReason: told.problem, handle: "@new" });
  });

  it("leaves what it was not told, and takes the problem back when it is gone", async () => {
    await using ctx = await setUp(async () => ({ problem: null }));
    const account = await addAccount(ctx, { limits: '{"a":1}', handle: "@old", status_reason: "Was wrong." });
    await inspectAccount(ctx, account);
    expect(await read(ctx, account)).toMatchObject({
      limits: '{"a":1}',
      handle: "@old",
      status_reason: null,
    });
  });

  it("asks to reconnect where the access is refused, and takes other trouble for what it is", async () => {
    let kind: "auth" | "transient" = "transient";
    await using ctx = await setUp(async () => {
      throw new PlatformFault(kind, "It says no.");
    });
    const account = await addAccount(ctx);
    await inspectAccount(ctx, account);
    expect(await read(ctx, account)).toMatchObject({ status: "connected", inspected_at: ctx.clock.now() });
    kind = "auth";
    await inspectAccount(ctx, account);
    expect(await read(ctx, account)).toMatchObject({
      status: "reconnect_required",
      status_reason: "It says no.",
    });
  });

  it("is due once a day, for connected accounts of platforms that tell", async () => {
    await using ctx = await setUp(async () => ({ problem: null }));
    const account = await addAccount(ctx);
    await addAccount(ctx, { status: "disconnected", platform_account_id: "2" });
    await addAccount(ctx, { provider: "other", platform_account_id: "3" });
    expect((await accountsToInspect(ctx, 10)).map(({ id }) => id)).toEqual([account.id]);
    await inspectAccount(ctx, account);
    expect(await accountsToInspect(ctx, 10)).toEqual([]);
    await ctx.clock.advance(DAY + 1);
    expect(await accountsToInspect(ctx, 10)).toHaveLength(1);
  });
});

describe("what a platform remembers", () => {
  async function connected(ctx: TestContext): Promise<AccountRow> {
    const row = await addAccount(ctx, { settings: '{"chat":1,"kind":"group"}' });
    const secrets_enc = sealSecrets(ctx, row, { botToken: "token-canary" });
    await queryOf(ctx.store).updateTable("accounts").set({ secrets_enc }).where("id", "=", row.id).execute();
    return { ...row, secrets_enc };
  }

  it("is merged into its settings at once, and its secrets go on to work", async () => {
    await using ctx = await setUp(async () => ({ problem: null }));
    const account = await connected(ctx);
    const io = { ...(await createPlatformIo(ctx, account, new AbortController().signal)) };
    await io.remember({ chat: 2 });
    expect(io.account.settings).toEqual({ chat: 2, kind: "group" });
    expect(await io.authorized(async (secrets) => secrets["botToken"])).toBe("token-canary");
    await io.remember({ topic: 3 });
    const row = await read(ctx, account);
    expect(JSON.parse(row.settings)).toEqual({ chat: 2, kind: "group", topic: 3 });
    expect(openSecrets(ctx, row)).toEqual({ botToken: "token-canary" });
    expect(row.secrets_version).toBe(account.secrets_version + 2);
  });

  it("is nothing where somebody connected it anew meanwhile, and never another server", async () => {
    await using ctx = await setUp(async () => ({ problem: null }));
    const account = await connected(ctx);
    const io = await createPlatformIo(ctx, account, new AbortController().signal);
    await expect(io.remember({ instanceUrl: "https://evil.example" })).rejects.toThrow("Only a person");
    await queryOf(ctx.store).updateTable("accounts").set({ settings: '{"chat":9}' }).execute();
    await expect(io.remember({ chat: 2 })).rejects.toMatchObject({ kind: "not_sent" });
    expect((await read(ctx, account)).settings).toBe('{"chat":9}');
  });
});
