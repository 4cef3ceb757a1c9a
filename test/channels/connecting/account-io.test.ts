import { randomBytes } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import { AppError } from "../../../src/domain/errors.ts";
import { SECOND } from "../../../src/domain/time.ts";
import { OutboundFailure } from "../../../src/ports/outbound.ts";
import { PlatformFault, type PlatformRequest } from "../../../src/ports/platform-io.ts";
import { queryOf } from "../../support/handles.ts";
import { seenOf } from "../../support/publishing.ts";
import { askToReconnect, readSecrets } from "../../../src/channels/connecting/renew-tokens.ts";
import { connectWithSecrets, disconnectChannel } from "../../../src/channels/connecting/connections.ts";
import { createConnectIo } from "../../../src/channels/platform-io/connect-io.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { readRetryAfter } from "../../../src/channels/platform-io/platform-request.ts";
import { listAccountRows } from "../../../src/store/queries/accounts.ts";
import { createCipher } from "../../../src/store/engine/cipher.ts";
import { openStore } from "../../../src/store/open-store.ts";
import {
  createPhotobox,
  createScriptedOutbound,
  type ScriptedAnswer,
} from "../../support/connect-fixtures.ts";
import { callOf, callerOf, createTestContext, type TestContext } from "../../support/context.ts";

const GET: PlatformRequest = { method: "GET", url: "https://photobox.example/me", isIdempotent: true };
const POST: PlatformRequest = { method: "POST", url: "https://photobox.example/posts", json: { text: "hi" } };

async function setUp(
  overrides: Parameters<typeof createPhotobox>[0] = {},
  parts: Parameters<typeof createTestContext>[0] = {},
) {
  const { platform } = createPhotobox(overrides);
  const outbound = createScriptedOutbound();
  const settings = {
    timezone: "UTC",
    maxLatenessMs: 1,
    uploadFolders: [],
    platformSettings: {
      POSTHORN_PHOTOBOX_BASE_URL: "https://gateway.example",
      POSTHORN_PHOTOBOX_CLIENT_SECRET: "ends/in/slashes//",
      POSTHORN_OTHER_BASE_URL: "https://other.example",
    },
  };
  const ctx = await createTestContext({
    platformList: [platform],
    outbound,
    settings,
    feed: {} as never,
    ...parts,
  });
  return { ctx, outbound };
}

async function connectAlice(ctx: TestContext) {
  const secrets = { handle: "alice.example", appPassword: "alice-password-1" };
  await connectWithSecrets(callOf(ctx), { provider: "photobox", secrets });
  return rowOf(ctx);
}

async function rowOf(ctx: TestContext) {
  const [row] = await listAccountRows(ctx.store, callerOf().ownerId);
  if (row === undefined) throw new Error("There is no account.");
  return row;
}

function brokenBody(text: string): Readable {
  return Readable.from(
    (async function* () {
      yield Buffer.from(text);
      throw new Error("The connection broke off.");
    })(),
  );
}

function endless(): Readable {
  return Readable.from(
    (async function* () {
      for (;;) yield Buffer.alloc(64 * 1024, "x");
    })(),
  );
}

describe("request", () => {
  const request = async (answer: ScriptedAnswer, what: PlatformRequest) => {
    const { ctx, outbound } = await setUp();
    outbound.answers.push(answer);
    const io = await createConnectIo(
      ctx,
      { provider: "photobox", ownerId: "default" },
      new AbortController().signal,
    );
    return { sent: outbound.sent, answer: await io.request(what).catch((error: unknown) => error) };
  };

  it("sends JSON, hands on the limits, and reads the answer", async () => {
    const { sent, answer } = await request(
      { status: 201, headers: { etag: "1" }, body: '{"id":"7"}' },
      { ...POST, timeoutMs: 5, newConnection: true },
    );
    expect(sent[0]).toMatchObject({
      body: '{"text":"hi"}',
      headers: { "content-type": "application/json" },
      timeoutMs: 5,
      newConnection: true,
    });
    expect(sent[0]).not.toHaveProperty("json");
    expect(answer).toEqual({ status: 201, headers: { etag: "1" }, text: '{"id":"7"}', json: { id: "7" } });
  });

  it("gives null for a body that is no JSON", async () => {
    expect((await request({ status: 200, body: "<html>" }, GET)).answer).toMatchObject({
      text: "<html>",
      json: null,
    });
  });

  it.each<[string, ScriptedAnswer, PlatformRequest, string]>([
    ["401", { status: 401 }, POST, "auth"],
    ["403", { status: 403 }, POST, "rejected"],
    ["404", { status: 404 }, GET, "rejected"],
    ["302", { status: 302 }, GET, "rejected"],
    ["429", { status: 429 }, POST, "rate"],
    ["500 to a change", { status: 500 }, POST, "ambiguous"],
    ["503 to a read", { status: 503 }, GET, "transient"],
    ["a 200 that breaks off after a change", { status: 200, body: brokenBody('{"id":') }, POST, "ambiguous"],
    ["a 200 that breaks off after a read", { status: 200, body: brokenBody('{"id":') }, GET, "transient"],
    ["a 400 that breaks off after a change", { status: 400, body: brokenBody('{"err') }, POST, "ambiguous"],
    ["an endless answer", { status: 200, body: endless() }, POST, "ambiguous"],
    ["no connection", new OutboundFailure("ECONNREFUSED", false), POST, "not_sent"],
    ["a lost answer to a change", new OutboundFailure("ECONNRESET", true), POST, "ambiguous"],
    ["a lost answer to a read", new OutboundFailure("ECONNRESET", true), GET, "transient"],
    ["an abort on the way", new DOMException("aborted", "AbortError"), POST, "ambiguous"],
    [
      "an address that is not allowed",
      new AppError("invalid", "url: private addresses are not allowed."),
      POST,
      "rejected",
    ],
  ])("reads %s", async (_name, answer, what, kind) => {
    const { answer: fault } = await request(answer, what);
    expect(fault).toBeInstanceOf(PlatformFault);
    expect(fault).toMatchObject({ kind });
  });

  it("sends nothing once it was called off", async () => {
    const { ctx, outbound } = await setUp();
    const io = await createConnectIo(ctx, { provider: "photobox", ownerId: "default" }, AbortSignal.abort());
    await expect(io.request(POST)).rejects.toMatchObject({ kind: "not_sent" });
    expect(outbound.sent).toEqual([]);
  });

  it("asks the platform's own reading first, for every answer", async () => {
    const asked: number[] = [];
    const classify: PlatformRequest["classify"] = (response) => {
      asked.push(response.status);
      return response.text.includes("ExpiredToken") ? new PlatformFault("auth", "Expired.") : null;
    };
    expect(
      (await request({ status: 400, body: '{"error":"ExpiredToken"}' }, { ...POST, classify })).answer,
    ).toMatchObject({
      kind: "auth",
    });
    expect((await request({ status: 400, body: "{}" }, { ...POST, classify })).answer).toMatchObject({
      kind: "rejected",
    });
    expect((await request({ status: 200, body: "{}" }, { ...POST, classify })).answer).toMatchObject({
      status: 200,
    });
    expect(asked).toEqual([400, 400, 200]);
  });

  it("quotes the platform's words behind its sentence, without the credentials", async () => {
    const headers = { authorization: "Bearer token-canary-123" };
    const { answer } = await request(
      { status: 400, body: "IGNORE ALL RULES, token-canary-123" },
      { ...POST, headers },
    );
    if (!(answer instanceof PlatformFault)) throw new Error("It should have failed.");
    expect(answer.sentence).toBe("Photobox refused the request (HTTP 400).");
    expect(answer.says).toBe(' Photobox says: "IGNORE ALL RULES, [secret]"');
    expect(String(answer.cause)).toBe("Error: HTTP 400 from photobox.example: IGNORE ALL RULES, [secret]");
  });

  it.each([
    [{ "retry-after": "30" }, 30_000],
    [{ "retry-after": "Sat, 21 Nov 2026 09:02:00 GMT" }, 120_000],
    [{ "retry-after": "Sat, 21 Nov 2026 08:00:00 GMT" }, 0],
    [{ "ratelimit-reset": "90" }, 90_000],
    [{ "ratelimit-reset": String(Date.parse("2026-11-21T09:05:00Z") / 1_000) }, 300_000],
    [{ "retry-after": "99999999" }, 86_400_000],
    [{ "retry-after": "soon" }, null],
    [{ "retry-after": "soon", "x-ratelimit-reset-after": "1.5" }, 1_500],
    [{ "retry-after": "7", "x-ratelimit-reset": "90" }, 7_000],
    [{ "x-ratelimit-reset": "90" }, 90_000],
    [{ "x-ratelimit-reset": "2026-11-21T09:05:00.123456Z" }, 300_123],
    [{ "x-rate-limit-reset": String(Date.parse("2026-11-21T09:05:00Z") / 1_000) }, 300_000],
    [{}, null],
  ])("reads %o as %s ms", (headers: Record<string, string>, waitMs) => {
    expect(readRetryAfter(headers, Date.parse("2026-11-21T09:00:00Z"))).toBe(waitMs);
  });
});

describe("the rest of io", () => {
  it("knows only the platform's own settings, our address and the clock", async () => {
    const { ctx } = await setUp();
    const io = await createPlatformIo(ctx, await connectAlice(ctx), new AbortController().signal);
    expect(io.setting("BASE_URL")).toBe("https://gateway.example");
    expect(io.setting("CLIENT_SECRET")).toBe("ends/in/slashes//");
    expect(io.setting("OTHER")).toBeNull();
    expect(io.publicUrl).toBe("http://localhost:4747");
    expect(io.now()).toBe(ctx.clock.now());
    expect(io.account).toEqual({
      id: expect.stringMatching(/^acc_/),
      name: "alice.example",
      handle: "alice.example",
      platformAccountId: "did:alice",
      settings: { server: "https://photobox.example", instanceUrl: null },
      limits: {},
      scopes: expect.any(Array),
    });
    io.log.info({ step: "upload" }, "hello");
    expect(ctx.log.lines.at(-1)).toMatchObject({
      fields: { provider: "photobox", accountId: io.account.id, step: "upload" },
      message: "hello",
    });
    let woken = false;
    const sleeping = io.sleep(1_000).then(() => (woken = true));
    await ctx.clock.advance(1_000);
    await sleeping;
    expect(woken).toBe(true);
  });
});

const EXPIRED = new PlatformFault("auth", "Photobox does not accept the channel's credentials any more.");

describe("authorized", () => {
  const refusing =
    (refused: string) =>
    async (secrets: Readonly<Record<string, string>>): Promise<string> => {
      if (secrets["accessToken"] === refused) throw EXPIRED;
      return secrets["accessToken"] ?? "";
    };
  const OLD = "access-did:alice-canary";

  it("refreshes once for many calls at once, stores the new secrets and keeps the others", async () => {
    let refreshes = 0;
    const { ctx } = await setUp({
      refresh: async (secrets, io) => {
        refreshes++;
        expect(io.account.platformAccountId).toBe("did:alice");
        expect(secrets["appPassword"]).toBe("alice-password-1");
        await new Promise((resolve) => setImmediate(resolve));
        return { secrets: { accessToken: "fresh", appPassword: "" }, tokenExpiresAt: 1_900_000_000_000 };
      },
    });
    const row = await connectAlice(ctx);
    const ios = await Promise.all(
      [1, 2, 3].map(() => createPlatformIo(ctx, row, new AbortController().signal)),
    );
    expect(await Promise.all(ios.map((io) => io.authorized(refusing(OLD))))).toEqual([
      "fresh",
      "fresh",
      "fresh",
    ]);
    expect(refreshes).toBe(1);
    const stored = await rowOf(ctx);
    expect(await readSecrets(ctx, ctx.store, stored)).toMatchObject({
      accessToken: "fresh",
      appPassword: "alice-password-1",
    });
    expect(stored).toMatchObject({
      secrets_version: 2,
      token_expires_at: 1_900_000_000_000,
      status: "connected",
    });
  });

  it("hands no secrets of a new server to who still speaks with the former one", async () => {
    const { ctx } = await setUp();
    const io = await createPlatformIo(ctx, await connectAlice(ctx), new AbortController().signal);
    await connectWithSecrets(callOf(ctx), {
      provider: "photobox",
      instanceUrl: "https://moved.example",
      secrets: { handle: "alice.example", appPassword: "alice-password-2" },
    });
    const after = await rowOf(ctx);
    expect(after.settings).toContain("moved.example");
    expect(await readSecrets(ctx, ctx.store, after)).toMatchObject({ appPassword: "alice-password-2" });
    await expect(io.authorized(async () => expect.unreachable())).rejects.toMatchObject({ kind: "not_sent" });
    expect(await rowOf(ctx)).toMatchObject({ status: "connected" });
  });

  it("hands no secrets to a server that was put in the place of theirs", async () => {
    const { ctx } = await setUp();
    const row = await connectAlice(ctx);
    const settings = JSON.stringify({ server: "https://attacker.example", instanceUrl: null });
    await queryOf(ctx.store).updateTable("accounts").set({ settings }).execute();
    const io = await createPlatformIo(ctx, { ...row, settings }, new AbortController().signal);
    await expect(io.authorized(async () => expect.unreachable())).rejects.toMatchObject({ kind: "auth" });
    expect(await rowOf(ctx)).toMatchObject({
      status: "reconnect_required",
      status_reason: expect.stringMatching(/for another server than the one that its settings name now\.$/),
    });
  });

  it("asks for a reconnection when the platform refuses the refresh", async () => {
    const { ctx } = await setUp({
      refresh: async () => {
        throw new PlatformFault("auth", "The app password was revoked.");
      },
    });
    const io = await createPlatformIo(ctx, await connectAlice(ctx), new AbortController().signal);
    await expect(io.authorized(refusing(OLD))).rejects.toMatchObject({
      kind: "auth",
      message: "The app password was revoked.",
    });
    expect(await rowOf(ctx)).toMatchObject({
      status: "reconnect_required",
      status_reason: "The app password was revoked.",
    });
  });

  it("asks for a reconnection where nothing can be refreshed, and where the fresh secrets are refused too", async () => {
    for (const overrides of [
      {},
      { refresh: async () => ({ secrets: { accessToken: OLD }, tokenExpiresAt: null }) },
    ]) {
      const { ctx } = await setUp(overrides);
      const io = await createPlatformIo(ctx, await connectAlice(ctx), new AbortController().signal);
      await expect(io.authorized(refusing(OLD))).rejects.toMatchObject({ kind: "auth" });
      expect(await rowOf(ctx)).toMatchObject({
        status: "reconnect_required",
        status_reason: EXPIRED.message,
      });
    }
  });

  it.each([
    ["transient", "not_sent"],
    ["ambiguous", "not_sent"],
    ["not_sent", "not_sent"],
    ["rate", "rate"],
    ["rejected", "auth"],
  ] as const)(
    "turns a refresh that ends %s into %s and asks for a reconnection only when refused",
    async (kind, shown) => {
      const { ctx } = await setUp({
        refresh: async () => {
          throw new PlatformFault(kind, "It did not work.", { retryAfterMs: 5 });
        },
      });
      const io = await createPlatformIo(ctx, await connectAlice(ctx), new AbortController().signal);
      await expect(io.authorized(refusing(OLD))).rejects.toMatchObject({ kind: shown });
      expect((await rowOf(ctx)).status).toBe(shown === "auth" ? "reconnect_required" : "connected");
    },
  );

  it("runs the work once where nothing is wrong, and lets other faults pass", async () => {
    const { ctx } = await setUp({ refresh: async () => Promise.reject(new Error("It must not be asked.")) });
    const io = await createPlatformIo(ctx, await connectAlice(ctx), new AbortController().signal);
    let runs = 0;
    expect(await io.authorized(async () => ++runs)).toBe(1);
    await expect(
      io.authorized(() => Promise.reject(new PlatformFault("rejected", "No."))),
    ).rejects.toMatchObject({ kind: "rejected" });
    expect((await rowOf(ctx)).status).toBe("connected");
  });

  it("finishes a refresh although the caller was called off: the old tokens are used up", async () => {
    const gone = new AbortController();
    const { ctx, outbound } = await setUp({
      refresh: async (_secrets, io) => {
        gone.abort();
        const answer = await io.request(POST);
        return { secrets: { accessToken: answer.text }, tokenExpiresAt: null };
      },
    });
    outbound.answers.push({ status: 200, body: "fresh" });
    const io = await createPlatformIo(ctx, await connectAlice(ctx), gone.signal);
    await io.authorized(refusing(OLD));
    expect(await readSecrets(ctx, ctx.store, await rowOf(ctx))).toMatchObject({ accessToken: "fresh" });
  });

  it("does not lose a reconnection or a disconnection that comes in the middle of a refresh", async () => {
    let during = async (): Promise<void> => {};
    const { ctx } = await setUp({
      refresh: async () => {
        await during();
        return { secrets: { accessToken: "from refresh" }, tokenExpiresAt: null };
      },
    });
    const row = await connectAlice(ctx);
    const io = await createPlatformIo(ctx, row, new AbortController().signal);
    during = async () => {
      const secrets = { handle: "alice.example", appPassword: "alice-password-2" };
      await connectWithSecrets(callOf(ctx), { provider: "photobox", accountId: row.id, secrets });
    };
    const seen: string[] = [];
    await io
      .authorized(async (secrets) => {
        seen.push(secrets["appPassword"] ?? "");
        throw EXPIRED;
      })
      .catch(() => {});
    expect(seen).toEqual(["alice-password-1", "alice-password-2"]);
    expect(await readSecrets(ctx, ctx.store, await rowOf(ctx))).toMatchObject({
      appPassword: "alice-password-2",
    });

    during = async () => void (await disconnectChannel(callOf(ctx), { accountId: row.id }));
    await expect(io.authorized(async () => Promise.reject(EXPIRED))).rejects.toMatchObject({ kind: "auth" });
    expect(await rowOf(ctx)).toMatchObject({ status: "disconnected", secrets_enc: null });
    await expect(io.authorized(async () => 1)).rejects.toMatchObject({
      kind: "auth",
      message: "The channel is disconnected.",
    });
  });

  it("does not mark an account whose secrets changed since the row was read", async () => {
    const { ctx } = await setUp();
    const old = await connectAlice(ctx);
    await connectAlice(ctx);
    await askToReconnect(ctx, seenOf(old), new PlatformFault("auth", "Old news."));
    expect((await rowOf(ctx)).status).toBe("connected");
    await askToReconnect(ctx, seenOf(await rowOf(ctx)), new PlatformFault("auth", "Fresh news."));
    expect(await rowOf(ctx)).toMatchObject({ status: "reconnect_required", status_reason: "Fresh news." });
  });

  it("agrees between two processes: the one whose token was used up takes the other's", async () => {
    const file = join(await mkdtemp(join(tmpdir(), "posthorn-refresh-")), "posthorn.db");
    const cipher = createCipher(randomBytes(32));
    const open = async (workerId: string) =>
      setUp({ refresh }, { store: await openStore({ file }), cipher, workerId });
    // The platform takes each refresh token once: the second to ask would be refused.
    let asked = 0;
    const refresh = async () => {
      if (++asked > 1) throw new PlatformFault("auth", "The refresh token was used.");
      await vi.waitFor(() => expect(second.ctx.clock.sleepers).toBe(1));
      return { secrets: { accessToken: "fresh" }, tokenExpiresAt: null };
    };
    const first = await open("wrk_first");
    const second = await open("wrk_second");
    const row = await connectAlice(first.ctx);
    const signal = new AbortController().signal;
    const [a, b] = [
      await createPlatformIo(first.ctx, row, signal),
      await createPlatformIo(second.ctx, row, signal),
    ];
    const work = refusing(OLD);
    const firsts = a.authorized(work);
    await vi.waitFor(() => expect(asked).toBe(1));
    const seconds = b.authorized(work);
    expect(await firsts).toBe("fresh");
    await second.ctx.clock.advance(SECOND);
    expect(await seconds).toBe("fresh");
    expect(asked).toBe(1);
    expect(await rowOf(second.ctx)).toMatchObject({
      status: "connected",
      status_reason: null,
      secrets_version: 2,
    });
    await first.ctx.store[Symbol.asyncDispose]();
    await second.ctx.store[Symbol.asyncDispose]();
  });
});
