import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { AADS } from "../../src/app/secret-key.ts";
import { SEALED_COLUMNS, type SealedTable } from "../../src/store/backup/sealed-columns.ts";
import { openCalendarLink } from "../../src/reporting/feeds/calendar-link.ts";
import { createCipher } from "../../src/store/engine/cipher.ts";
import { authenticate, createKey, isKeyActive, listKeys, revokeKey } from "../../src/access/api-keys.ts";
import { callOf, callerOf, createTestContext } from "../support/context.ts";
import { rawOf } from "../support/handles.ts";

const cipher = createCipher(randomBytes(32));

/** Two rows of a table that differ in one of the columns by which they are found. */
function neighbours(keys: readonly string[]): Record<string, string | number>[] {
  const row = Object.fromEntries(keys.map((key) => [key, key === "run" ? 1 : `a-${key}`]));
  return keys.map((key) => ({ ...row, [key]: key === "run" ? 2 : `b-${key}` })).concat(row);
}

describe("what is sealed", () => {
  const tables = Object.keys(SEALED_COLUMNS) as SealedTable[];
  const rows = tables.flatMap((table) =>
    neighbours(SEALED_COLUMNS[table].keys).map((row) => ({ table, row, place: AADS[table](row) })),
  );
  const named = rows.filter(({ table }) => table !== "meta");

  it("opens in its own row and column alone", () => {
    for (const from of named) {
      const sealed = cipher.seal("canary", from.place);
      for (const to of named) {
        if (from.place === to.place) expect(cipher.open(sealed, to.place)).toBe("canary");
        else expect(() => cipher.open(sealed, to.place)).toThrow();
      }
    }
    // No two rows, and no two columns, have one place.
    expect(new Set(named.map(({ place }) => place)).size).toBe(named.length);
  });

  it("opens with its own key alone, and not at all once a bit of it has changed", () => {
    const sealed = cipher.seal("canary", "place");
    expect(() => createCipher(randomBytes(32)).open(sealed, "place")).toThrow();
    const [version = "", body = ""] = sealed.split(".");
    const bytes = Buffer.from(body, "base64url");
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => cipher.open(`${version}.${changed.toString("base64url")}`, "place")).toThrow();
    }
    for (const cut of [
      "",
      "v1.",
      "v2." + body,
      body,
      sealed.slice(0, -3),
      `${version}.${bytes.subarray(0, 20).toString("base64url")}`,
    ]) {
      expect(() => cipher.open(cut, "place")).toThrow();
    }
  });

  it("is never the same twice, and tells nothing but its length", () => {
    const many = Array.from({ length: 200 }, () => cipher.seal("canary", "place"));
    expect(new Set(many.map((sealed) => sealed.slice(0, 19))).size).toBe(many.length);
  });

  it("is signed for one purpose", () => {
    expect(cipher.sign("file download", "x")).not.toBe(cipher.sign("file upload", "x"));
    expect(cipher.sign("file download", "x")).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe("API keys", () => {
  it("hold 256 random bits, of which only a hash is kept", async () => {
    await using ctx = await createTestContext();
    const keys = await Promise.all(Array.from({ length: 50 }, () => createKey(callOf(ctx), {})));
    expect(new Set(keys.map(({ key }) => key.split("_")[2])).size).toBe(50);
    for (const { key } of keys) expect(key).toMatch(/^phk_[0-9a-z]{26}_[0-9a-f]{64}$/);
    const stored = JSON.stringify([
      rawOf(ctx.store).prepare("SELECT * FROM api_keys").all([]),
      await listKeys(callOf(ctx)),
      ctx.log.lines,
    ]);
    for (const { key } of keys) expect(stored).not.toContain(key.split("_")[2]);
  });

  it("that are revoked or run out end at once, in what is open already too", async () => {
    await using ctx = await createTestContext();
    const { key } = await createKey(callOf(ctx), {});
    const short = (await createKey(callOf(ctx), { expires: "1h" })).key;
    const [caller, other] = [await authenticate(ctx, key, null), await authenticate(ctx, short, null)];
    expect([await isKeyActive(ctx, caller!), await isKeyActive(ctx, other!)]).toEqual([true, true]);
    await revokeKey(callOf(ctx), { key });
    await ctx.clock.advance(3_600_000);
    expect([await authenticate(ctx, key, null), await authenticate(ctx, short, null)]).toEqual([null, null]);
    expect([await isKeyActive(ctx, caller!), await isKeyActive(ctx, other!)]).toEqual([false, false]);
  });

  it("of one owner cannot be revoked by another", async () => {
    await using ctx = await createTestContext();
    const { key } = await createKey(callOf(ctx, callerOf({ ownerId: "other" })), {});
    await expect(revokeKey(callOf(ctx), { key })).rejects.toMatchObject({ kind: "not_found" });
    expect(await authenticate(ctx, key, null)).not.toBeNull();
  });
});

it("an address of the calendar is kept as a hash and sealed, and one of 256 bits", async () => {
  await using ctx = await createTestContext();
  const { url } = await openCalendarLink(callOf(ctx), { isNew: false });
  const token = /\/calendar\/([\w-]+)\.ics$/.exec(url)?.[1] ?? "";
  expect(Buffer.from(token, "base64url")).toHaveLength(32);
  expect(JSON.stringify(rawOf(ctx.store).prepare("SELECT * FROM calendar_links").all([]))).not.toContain(
    token,
  );
  expect((await openCalendarLink(callOf(ctx), { isNew: true })).url).not.toBe(url);
});
