import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  findAccountRow,
  giveGrant,
  insertAccount,
  reconnectAccount,
  storeSettings,
  type AccountRow,
} from "../../../src/store/queries/accounts.ts";
import { findCalendarLink, insertCalendarLink, putCalendarLink } from "../../../src/store/queries/feeds.ts";
import {
  completeKey,
  findKey,
  insertKey,
  takeOverKey,
  type IdempotencyRow,
} from "../../../src/store/queries/access.ts";
import { createTestContext, type TestContext } from "../../support/context.ts";
import { addAccount } from "../../support/publishing.ts";

/*
 * What is written for a row as somebody has read it: where another process was faster, it changes nothing and
 * says so.
 */

let ctx: TestContext;
beforeEach(async () => {
  ctx = await createTestContext();
});
afterEach(() => ctx[Symbol.asyncDispose]());

describe("an idempotency key of a dead process", () => {
  const row: IdempotencyRow = {
    owner_id: "default",
    key_hash: "k",
    tool: "schedule_post",
    fingerprint: "f",
    worker_id: "wrk_dead",
    result: null,
    created_at: 1,
    expires_at: Number.MAX_SAFE_INTEGER,
  };

  it("is taken over by one of those who saw it", async () => {
    expect(await ctx.store.write((tx) => insertKey(tx, row))).toBe(true);
    expect(await ctx.store.write((tx) => insertKey(tx, row))).toBe(false);
    expect(await ctx.store.write((tx) => takeOverKey(tx, row, "wrk_a"))).toBe(true);
    expect(await ctx.store.write((tx) => takeOverKey(tx, row, "wrk_b"))).toBe(false);
    expect(await ctx.store.write((tx) => findKey(tx, row))).toMatchObject({ worker_id: "wrk_a" });
  });

  it("is nobody's any more once it has its answer", async () => {
    await ctx.store.write((tx) => insertKey(tx, row));
    await ctx.store.write((tx) => completeKey(tx, row, { workerId: "wrk_dead", result: "{}" }));
    expect(await ctx.store.write((tx) => takeOverKey(tx, row, "wrk_b"))).toBe(false);
    expect(await ctx.store.write((tx) => takeOverKey(tx, { ...row, worker_id: null }, "wrk_b"))).toBe(false);
    expect(await ctx.store.write((tx) => findKey(tx, row))).toMatchObject({
      worker_id: null,
      result: "{}",
    });
  });
});

describe("an account as somebody has read it", () => {
  let seen: AccountRow;
  const reread = (): Promise<AccountRow | undefined> => findAccountRow(ctx.store, seen.owner_id, seen.id);
  const RECONNECTED = { status: "connected", updated_at: 2, name: "Anew" } as const;

  beforeEach(async () => {
    const { id } = await addAccount(ctx);
    seen = (await findAccountRow(ctx.store, "default", id))!;
  });

  it("is not stored twice under one identity", async () => {
    const row = { ...seen, id: "acc_other", platform_account_id: "12345", name: "Other" };
    expect(await ctx.store.write((tx) => insertAccount(tx, row))).toBe(true);
    expect(await ctx.store.write((tx) => insertAccount(tx, { ...row, id: "acc_twin" }))).toBe(false);
  });

  it("is reconnected by one", async () => {
    expect(await ctx.store.write((tx) => reconnectAccount(tx, seen, RECONNECTED))).toBe(true);
    const late = { ...RECONNECTED, name: "Too late" };
    expect(await ctx.store.write((tx) => reconnectAccount(tx, seen, late))).toBe(false);
    expect(await reread()).toMatchObject({ name: "Anew", secrets_version: seen.secrets_version + 1 });
  });

  it("gets one grant", async () => {
    const give = (id: string): Promise<boolean> =>
      ctx.store.write((tx) => giveGrant(tx, seen, { grant_id: id, secrets_enc: "" }));
    expect([await give("grt_a"), await give("grt_b")]).toEqual([true, false]);
    expect(await reread()).toMatchObject({ grant_id: "grt_a" });
  });

  it("keeps the settings that came with newer secrets", async () => {
    await ctx.store.write((tx) => reconnectAccount(tx, seen, RECONNECTED));
    const change = { settings: '{"old":1}', secrets_enc: "", secrets_version: 9, updated_at: 3 };
    expect(await ctx.store.write((tx) => storeSettings(tx, seen, change))).toBe(false);
    expect(await reread()).toMatchObject({ settings: seen.settings });
  });
});

it("a calendar's address is made once, and replaced when that is wanted", async () => {
  const row = (token: string) => ({
    owner_id: "default",
    token_hash: token,
    token_enc: token,
    created_at: 1,
  });
  expect(await ctx.store.write((tx) => insertCalendarLink(tx, row("first")))).toBe(true);
  expect(await ctx.store.write((tx) => insertCalendarLink(tx, row("second")))).toBe(false);
  expect(await findCalendarLink(ctx.store, "default")).toMatchObject({ token_hash: "first" });
  await ctx.store.write((tx) => putCalendarLink(tx, row("third")));
  expect(await findCalendarLink(ctx.store, "default")).toMatchObject({ token_hash: "third" });
});
