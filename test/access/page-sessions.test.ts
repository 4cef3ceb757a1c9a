import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { authenticate, createKey, revokeKey } from "../../src/access/api-keys.ts";
import {
  endPageSession,
  findVisitor,
  isWelcome,
  listPageSessions,
  makeSignIn,
  putAwayWelcome,
  SESSION_LIFE_MS,
  SIGN_IN_LIFE_MS,
  signInAddress,
  signInByKey,
  signInByToken,
  signOut,
} from "../../src/access/page-sessions.ts";
import { PERMISSIONS, ROLES } from "../../src/domain/permissions.ts";
import { DAY, MINUTE } from "../../src/domain/time.ts";
import { addAccount } from "../support/post-rows.ts";
import { callOf, callerOf, createTestContext, type TestContext } from "../support/context.ts";
import { queryOf } from "../support/handles.ts";

const FIXED = "f".repeat(40);
const FROM = { fixedKey: null, userAgent: "", former: null };
const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
const EDGE =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/123.0 Safari/537.36 Edg/123.0";

let ctx: TestContext;

beforeEach(async () => {
  ctx = await createTestContext();
});

afterEach(() => ctx[Symbol.asyncDispose]());

async function signIn(from: { readonly userAgent?: string; readonly former?: string } = {}) {
  const done = await signInByToken(ctx, await makeSignIn(ctx), { ...FROM, ...from });
  if (done === null) throw new Error("The token was not taken.");
  return done;
}

async function signInWith(key: string, from: Partial<{ fixedKey: string | null }> = {}) {
  const done = await signInByKey(ctx, key, { ...FROM, ...from });
  if (done === null) throw new Error("The key was not taken.");
  return done;
}

describe("a one-time address", () => {
  it("signs the person at this machine in, with everything but this machine's paths", async () => {
    const { token, caller } = await signIn();
    expect(caller).toEqual(callerOf({ keyId: "local", isLocal: false, permissions: PERMISSIONS }));
    expect((await findVisitor(ctx, token, null))?.caller).toEqual(caller);
  });

  it("works once", async () => {
    const token = await makeSignIn(ctx);
    expect(await signInByToken(ctx, token, FROM)).not.toBeNull();
    expect(await signInByToken(ctx, token, FROM)).toBeNull();
  });

  it("makes one session, however many come at once", async () => {
    const token = await makeSignIn(ctx);
    const all = await Promise.all(Array.from({ length: 10 }, () => signInByToken(ctx, token, FROM)));
    expect(all.filter((one) => one !== null)).toHaveLength(1);
    expect(await queryOf(ctx.store).selectFrom("page_sessions").selectAll().execute()).toHaveLength(1);
  });

  it("works for 10 minutes, and is forgotten with the next one", async () => {
    const early = await makeSignIn(ctx);
    await ctx.clock.advance(SIGN_IN_LIFE_MS - 1);
    expect(await signInByToken(ctx, early, FROM)).not.toBeNull();
    const late = await makeSignIn(ctx);
    await ctx.clock.advance(10 * MINUTE);
    expect(await signInByToken(ctx, late, FROM)).toBeNull();
    await makeSignIn(ctx);
    expect(await queryOf(ctx.store).selectFrom("page_sign_ins").selectAll().execute()).toHaveLength(1);
  });

  it("holds its token behind the #, where servers and their logs do not see it", () => {
    expect(signInAddress("https://posts.example", "secret")).toBe("https://posts.example/app/sign-in#secret");
  });
});

describe("a session", () => {
  it("has 256 random bits, of which only hashes are stored", async () => {
    const [waiting, { token }] = [await makeSignIn(ctx), await signIn()];
    for (const text of [waiting, token]) expect(text).toMatch(/^[\w-]{43}$/);
    const rows = await Promise.all([
      queryOf(ctx.store).selectFrom("page_sessions").selectAll().execute(),
      queryOf(ctx.store).selectFrom("page_sign_ins").selectAll().execute(),
    ]);
    expect(JSON.stringify(rows)).not.toContain(token);
    expect(JSON.stringify(rows)).not.toContain(waiting);
  });

  it("may do what its key may, as it is now, and ends with it", async () => {
    await addAccount(ctx.store, { id: "acc_mine" });
    const input = { permissions: ROLES.writer, accountIds: ["acc_mine"] };
    const { key, apiKey } = await createKey(callOf(ctx), input);
    const { token } = await signInWith(key);
    const expected = {
      keyId: apiKey.id,
      permissions: ROLES.writer,
      accountIds: ["acc_mine"],
      isLocal: false,
    };
    expect((await findVisitor(ctx, token, null))?.caller).toMatchObject(expected);
    await queryOf(ctx.store).updateTable("api_keys").set({ permissions: '["read"]' }).execute();
    expect((await findVisitor(ctx, token, null))?.caller.permissions).toEqual(["read"]);
    await revokeKey(callOf(ctx), { key: apiKey.id });
    expect(await findVisitor(ctx, token, null)).toBeNull();
    expect((await listPageSessions(callOf(ctx), "")).sessions).toEqual([]);
  });

  it("ends when its key expires", async () => {
    const { key } = await createKey(callOf(ctx), { expires: "1h" });
    const { token } = await signInWith(key);
    await ctx.clock.advance(60 * MINUTE);
    expect(await findVisitor(ctx, token, null)).toBeNull();
    expect(await signInByKey(ctx, key, FROM)).toBeNull();
  });

  it("of the fixed key ends with it, also where another one takes its place", async () => {
    const { token, caller } = await signInWith(FIXED, { fixedKey: FIXED });
    expect(caller).toEqual(await authenticate(ctx, FIXED, FIXED));
    expect((await findVisitor(ctx, token, FIXED))?.caller).toEqual(caller);
    expect(await findVisitor(ctx, token, null)).toBeNull();
    expect(await findVisitor(ctx, token, "g".repeat(40))).toBeNull();
  });

  it("lasts for 30 days without use, and longer with it", async () => {
    const { token } = await signIn();
    for (let month = 0; month < 3; month++) {
      await ctx.clock.advance(SESSION_LIFE_MS - DAY);
      expect(await findVisitor(ctx, token, null)).not.toBeNull();
      await vi.waitFor(async () => expect(await lastSeen()).toBe(ctx.clock.now()));
    }
    await ctx.clock.advance(SESSION_LIFE_MS);
    expect(await findVisitor(ctx, token, null)).toBeNull();
    await signIn();
    expect(await queryOf(ctx.store).selectFrom("page_sessions").selectAll().execute()).toHaveLength(1);
  });

  it("is written at most once a minute", async () => {
    const { token } = await signIn();
    const began = ctx.clock.now();
    await ctx.clock.advance(MINUTE - 1);
    const write = vi.spyOn(ctx.store, "write");
    await findVisitor(ctx, token, null);
    expect(write).not.toHaveBeenCalled();
    expect(await lastSeen()).toBe(began);
  });

  it("takes the place of the one that this browser had", async () => {
    const first = await signIn();
    const second = await signIn({ former: first.token });
    expect(await findVisitor(ctx, first.token, null)).toBeNull();
    expect(await findVisitor(ctx, second.token, null)).not.toBeNull();
  });

  it("ends when the person signs out", async () => {
    const { token } = await signIn();
    await signOut(ctx, token);
    expect(await findVisitor(ctx, token, null)).toBeNull();
  });

  async function lastSeen(): Promise<number | undefined> {
    const row = await queryOf(ctx.store)
      .selectFrom("page_sessions")
      .select("last_seen_at")
      .executeTakeFirst();
    return row?.last_seen_at;
  }
});

describe("the list of sessions", () => {
  it("names keys and browsers, the latest first", async () => {
    const { key } = await createKey(callOf(ctx), { name: "Reports" });
    const here = await signIn({ userAgent: FIREFOX });
    await ctx.clock.advance(MINUTE);
    await signInByKey(ctx, key, { ...FROM, userAgent: EDGE });
    const { sessions } = await listPageSessions(callOf(ctx, here.caller), here.sessionId);
    expect(sessions.map(({ name, browser, isCurrent }) => [name, browser, isCurrent])).toEqual([
      ["Reports", "Edge on Windows", false],
      ["This machine", "Firefox on Linux", true],
    ]);
    expect(sessions[1]).toMatchObject({
      id: here.sessionId,
      createdAt: "2026-11-21T09:00:00.000Z",
      lastSeenAt: "2026-11-21T09:00:00.000Z",
      expiresAt: "2026-12-21T09:00:00.000Z",
    });
  });

  it("shows and ends those of one's own key alone, for who may not do everything", async () => {
    const [one, other] = [await createKey(callOf(ctx), {}), await createKey(callOf(ctx), {})];
    const [mine, theirs] = [await signInWith(one.key), await signInWith(other.key)];
    const list = await listPageSessions(callOf(ctx, mine.caller), mine.sessionId);
    expect(list.sessions.map(({ id }) => id)).toEqual([mine.sessionId]);
    await expect(endPageSession(callOf(ctx, mine.caller), theirs.sessionId)).rejects.toThrow(
      /no such session/,
    );
    await endPageSession(callOf(ctx, mine.caller), mine.sessionId);
    expect(await findVisitor(ctx, mine.token, null)).toBeNull();
    expect(await findVisitor(ctx, theirs.token, null)).not.toBeNull();
  });

  it("does not know another owner's", async () => {
    const here = await signIn();
    const other = callOf(ctx, callerOf({ ownerId: "other" }));
    expect((await listPageSessions(other, "")).sessions).toEqual([]);
    await expect(endPageSession(other, here.sessionId)).rejects.toThrow(/no such session/);
    expect(await findVisitor(ctx, here.token, null)).not.toBeNull();
  });
});

it("the greeting is dismissed for good, for one owner", async () => {
  const other = callOf(ctx, callerOf({ ownerId: "other" }));
  expect(await isWelcome(callOf(ctx))).toBe(true);
  await putAwayWelcome(callOf(ctx));
  await putAwayWelcome(callOf(ctx));
  expect(await isWelcome(callOf(ctx))).toBe(false);
  expect(await isWelcome(other)).toBe(true);
});
