import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PERMISSIONS } from "../../src/domain/permissions.ts";
import { DAY, MINUTE } from "../../src/domain/time.ts";
import { authenticate, createKey, ensureFirstKey, listKeys, revokeKey } from "../../src/access/api-keys.ts";
import { callOf, callerOf, createTestContext, type TestContext } from "../support/context.ts";
import { addAccount } from "../support/post-rows.ts";
import { queryOf } from "../support/handles.ts";

let ctx: TestContext;

beforeEach(async () => {
  ctx = await createTestContext();
});

afterEach(() => ctx[Symbol.asyncDispose]());

describe("createKey", () => {
  it("makes a key whose parts hold no underscore and whose secret is stored nowhere", async () => {
    const { key, apiKey } = await createKey(callOf(ctx), {});
    const [prefix, id, secret, ...rest] = key.split("_");
    expect([prefix, `key_${id}`, rest]).toEqual(["phk", apiKey.id, []]);
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    const rows = JSON.stringify(await queryOf(ctx.store).selectFrom("api_keys").selectAll().execute());
    expect(rows).not.toContain(secret);
    expect(apiKey).toEqual({
      id: apiKey.id,
      ownerId: "default",
      name: "API key",
      status: "active",
      permissions: ["read", "draft", "publish", "files"],
      role: "publisher",
      accountIds: null,
      createdAt: "2026-11-21T09:00:00.000Z",
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
    });
  });

  it.each([
    [
      { permissions: ["read", "write"] },
      /^permissions: "write" is not a permission. The permissions are read, draft, publish, accounts, files, admin/,
    ],
    [{ permissions: [] }, /^permissions: give at least one/],
    [
      { accountIds: ["acc_1"] },
      /^accounts: "acc_1" is not an account of the owner "default". There is none yet/,
    ],
    [{ accountIds: [] }, /^accounts: give at least one/],
    [{ expires: "soon" }, /^expires: "soon" is neither a date, a time nor a span. Give for example 90d/],
    [
      { expires: "2026-11-20" },
      /^expires: "2026-11-20" is not in the future. It is 2026-11-21T09:00:00.000Z now/,
    ],
    [{ expires: "0d" }, /is not in the future/],
    [{ name: "x".repeat(101) }, /^name: must be at most 100 characters/],
  ])("refuses %j", async (input, sentence) => {
    await expect(createKey(callOf(ctx), input)).rejects.toThrow(sentence);
    expect((await listKeys(callOf(ctx))).keys).toEqual([]);
  });

  it("limits a key to accounts of its owner", async () => {
    await addAccount(ctx.store, { id: "acc_mine", ownerId: "default" });
    await addAccount(ctx.store, { id: "acc_other", ownerId: "other" });
    await expect(createKey(callOf(ctx), { accountIds: ["acc_mine", "acc_other"] })).rejects.toThrow(
      /"acc_other" is not.*The accounts are acc_mine/,
    );
    const { key } = await createKey(callOf(ctx), { accountIds: ["acc_mine", "acc_mine"] });
    expect((await authenticate(ctx, key, null))?.accountIds).toEqual(["acc_mine"]);
  });

  it.each([
    ["90d", "2027-02-19T09:00:00.000Z"],
    ["12h", "2026-11-21T21:00:00.000Z"],
    ["2026-12-31", "2026-12-31T23:59:59.999Z"],
    ["2026-12-31T10:00:00+02:00", "2026-12-31T08:00:00.000Z"],
  ])("ends a key after %s", async (expires, at) => {
    expect((await createKey(callOf(ctx), { expires })).apiKey.expiresAt).toBe(at);
  });
});

describe("authenticate", () => {
  it("knows the key's owner, permissions and id", async () => {
    const { key, apiKey } = await createKey(callOf(ctx, callerOf({ ownerId: "team" })), {
      permissions: ["publish", "read", "read"],
    });
    expect(await authenticate(ctx, key, null)).toEqual({
      ownerId: "team",
      permissions: ["read", "publish"],
      accountIds: null,
      keyId: apiKey.id,
      isLocal: false,
    });
  });

  it("refuses whatever is not exactly the key", async () => {
    const { key } = await createKey(callOf(ctx), {});
    const { key: other } = await createKey(callOf(ctx), {});
    const [, id] = key.split("_");
    const [, , secret] = other.split("_");
    const last = key.endsWith("0") ? "1" : "0";
    for (const wrong of [
      "",
      "phk",
      `phk_${id}_${secret}`,
      key.slice(0, -1),
      `${key}0`,
      key.slice(0, -1) + last,
      key.toUpperCase(),
      ` ${key}`,
      `key_${id}`,
    ]) {
      expect(await authenticate(ctx, wrong, null)).toBeNull();
    }
  });

  it("refuses an expired key from its very moment on", async () => {
    const { key } = await createKey(callOf(ctx), { expires: "1d" });
    await ctx.clock.advance(DAY - 1);
    expect(await authenticate(ctx, key, null)).not.toBeNull();
    await ctx.clock.advance(1);
    expect(await authenticate(ctx, key, null)).toBeNull();
    expect((await listKeys(callOf(ctx))).keys[0]?.status).toBe("expired");
  });

  it("takes the fixed key of the settings for the default owner with everything", async () => {
    const fixed = "a fixed key of thirty-two letters or more";
    expect(await authenticate(ctx, fixed, fixed)).toMatchObject({
      ownerId: "default",
      permissions: PERMISSIONS,
      accountIds: null,
    });
    expect(await authenticate(ctx, fixed.slice(1), fixed)).toBeNull();
    expect(await authenticate(ctx, fixed, null)).toBeNull();
  });

  it("notes the latest use to the minute", async () => {
    const { key } = await createKey(callOf(ctx), {});
    await authenticate(ctx, key, null);
    await lastUse("2026-11-21T09:00:00.000Z");
    await ctx.clock.advance(MINUTE - 1);
    await authenticate(ctx, key, null);
    await lastUse("2026-11-21T09:00:00.000Z");
    await ctx.clock.advance(1);
    await authenticate(ctx, key, null);
    await lastUse("2026-11-21T09:01:00.000Z");
  });

  async function lastUse(at: string): Promise<void> {
    // The note is written beside the request.
    await expect.poll(async () => (await listKeys(callOf(ctx))).keys[0]?.lastUsedAt).toBe(at);
  }
});

describe("revokeKey", () => {
  it.each([
    ["the whole key", (key: string) => key],
    ["key_<id>", (key: string) => `key_${key.split("_")[1]}`],
    ["<id>", (key: string) => key.split("_")[1] ?? ""],
  ])("takes %s", async (_name, text) => {
    const { key } = await createKey(callOf(ctx), {});
    expect((await revokeKey(callOf(ctx), { key: text(key) })).apiKey.status).toBe("revoked");
    expect(await authenticate(ctx, key, null)).toBeNull();
    await ctx.clock.advance(MINUTE);
    expect((await revokeKey(callOf(ctx), { key: text(key) })).apiKey.revokedAt).toBe(
      "2026-11-21T09:00:00.000Z",
    );
  });

  it("does not find another owner's key, and repeats no secret", async () => {
    const { key } = await createKey(callOf(ctx), {});
    const refusal = await revokeKey(callOf(ctx, callerOf({ ownerId: "other" })), { key }).catch(
      (error: Error) => error.message,
    );
    expect(refusal).toContain("has no such key");
    expect(refusal).not.toContain(key.split("_")[2]);
    expect(await authenticate(ctx, key, null)).not.toBeNull();
  });
});

describe("listKeys", () => {
  it("shows the owner's alone", async () => {
    await createKey(callOf(ctx), { name: "one" });
    await createKey(callOf(ctx, callerOf({ ownerId: "other" })), { name: "two" });
    expect((await listKeys(callOf(ctx))).keys.map((key) => key.name)).toEqual(["one"]);
  });
});

describe("ensureFirstKey", () => {
  /** A file that holds what it is given. */
  const keyFile = (kept: string | null = null) => ({
    kept,
    read(): string | null {
      return this.kept;
    },
    write(key: string): void {
      this.kept = key;
    },
  });

  it("makes one full key, once, also for several that start together", async () => {
    const file = keyFile();
    const made = await Promise.all([1, 2, 3].map(() => ensureFirstKey(ctx, file)));
    const keys = made.filter((key) => key !== null);
    expect(keys).toEqual([file.kept]);
    expect(await authenticate(ctx, keys[0]!, null)).toMatchObject({
      ownerId: "default",
      permissions: PERMISSIONS,
    });
    await revokeKey(callOf(ctx), { key: keys[0]! });
    expect(await ensureFirstKey(ctx, file)).toBeNull();
  });

  it("takes the key that a start left in the file before it was committed", async () => {
    const left = `phk_${"0".repeat(25)}1_${"ab".repeat(32)}`;
    const file = keyFile(left);
    expect(await ensureFirstKey(ctx, file)).toBe(left);
    expect(file.kept).toBe(left);
    expect(await authenticate(ctx, left, null)).toMatchObject({ permissions: PERMISSIONS });
  });

  it("replaces a first key that was committed beside an empty file, and no other", async () => {
    const unseen = await ensureFirstKey(ctx, keyFile());
    const file = keyFile("");
    const shown = await ensureFirstKey(ctx, file);
    expect(shown).toBe(file.kept);
    expect(await authenticate(ctx, unseen!, null)).toBeNull();
    expect(await authenticate(ctx, shown!, null)).not.toBeNull();
    expect(await ensureFirstKey(ctx, keyFile(""))).toBeNull();
  });
});
