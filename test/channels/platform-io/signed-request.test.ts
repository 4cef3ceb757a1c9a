import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { PlatformFault, PlatformRequest, SignedRequest } from "../../../src/ports/platform-io.ts";
import { connectWithSecrets } from "../../../src/channels/connecting/connections.ts";
import { createConnectIo } from "../../../src/channels/platform-io/connect-io.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { listAccountRows } from "../../../src/store/queries/accounts.ts";
import {
  createPhotobox,
  createScriptedOutbound,
  type ScriptedAnswer,
} from "../../support/connect-fixtures.ts";
import { callOf, callerOf, createTestContext } from "../../support/context.ts";

const TOKEN = "access-did:alice-canary";
const GET: PlatformRequest = { method: "GET", url: "https://photobox.example/me" };
const POST: PlatformRequest = { method: "POST", url: "https://photobox.example/posts", json: { text: "hi" } };
const sign: SignedRequest["sign"] = ({ accessToken = "" }) => ({
  headers: { authorization: `Bearer ${accessToken}` },
});

async function setUp(
  answers: readonly ScriptedAnswer[],
  overrides: Parameters<typeof createPhotobox>[0] = {},
) {
  const outbound = createScriptedOutbound();
  outbound.answers.push(...answers);
  const { platform } = createPhotobox(overrides);
  const ctx = await createTestContext({ platformList: [platform], outbound, feed: {} as never });
  const secrets = { handle: "alice.example", appPassword: "alice-password-1" };
  await connectWithSecrets(callOf(ctx), { provider: "photobox", secrets });
  const [row] = await listAccountRows(ctx.store, callerOf().ownerId);
  if (row === undefined) throw new Error("There is no account.");
  const { signal } = new AbortController();
  return {
    ctx,
    sent: outbound.sent,
    io: await createPlatformIo(ctx, row, signal),
    connectIo: await createConnectIo(ctx, { provider: "photobox", ownerId: "default" }, signal),
  };
}

const faultOf = (answer: Promise<unknown>): Promise<PlatformFault> =>
  answer.then(
    () => {
      throw new Error("It should have failed.");
    },
    (error: PlatformFault) => error,
  );

describe("a signed request", () => {
  it("is sent with the account's secrets beside its own fields", async () => {
    const { io, sent } = await setUp([{ status: 200 }, { status: 200 }]);
    await io.request({ ...POST, headers: { accept: "application/json" }, sign });
    expect(sent[0]?.headers).toMatchObject({ accept: "application/json", authorization: `Bearer ${TOKEN}` });
    await io.request({
      ...POST,
      query: { a: 1 },
      sign: ({ accessToken = "" }) => ({ query: { b: 2 }, json: { i: accessToken } }),
    });
    expect(sent[1]).toMatchObject({
      url: "https://photobox.example/posts?a=1&b=2",
      body: JSON.stringify({ text: "hi", i: TOKEN }),
    });
    expect(sent[1]).not.toHaveProperty("sign");
  });

  it("is sent again with fresh secrets and a fresh body", async () => {
    const { io, sent } = await setUp([{ status: 401 }, { status: 200, body: '{"id":"7"}' }], {
      refresh: async () => ({ secrets: { accessToken: "fresh-token" }, tokenExpiresAt: null }),
    });
    let opened = 0;
    const body = (): Readable => Readable.from([Buffer.from(`film ${++opened}`)]);
    const request = { method: "PUT", url: POST.url, body, sign } as const;
    expect(await io.ask(request, z.object({ id: z.string() }))).toEqual({ id: "7" });
    expect(sent.map(({ headers }) => headers?.["authorization"])).toEqual([
      `Bearer ${TOKEN}`,
      "Bearer fresh-token",
    ]);
    expect(opened).toBe(2);
  });

  it("keeps a token that stands in the address out of causes and the log", async () => {
    const path = encodeURIComponent(TOKEN);
    const words = `Not Found: /bot${TOKEN}/x /bot${path}/x /bot${path.toLowerCase()}/x`;
    const { ctx, io } = await setUp([{ status: 404, body: words }]);
    const fault = await faultOf(
      io.request({
        ...POST,
        sign: ({ accessToken = "" }) => ({ url: `https://photobox.example/bot${accessToken}/x` }),
      }),
    );
    ctx.log.warn({ err: fault }, "it failed");
    expect(String(fault.cause)).toBe(
      "Error: HTTP 404 from photobox.example: Not Found: /bot[secret]/x /bot[secret]/x /bot[secret]/x",
    );
    expect(ctx.log.text()).not.toMatch(/canary/i);
  });

  it("has a connection of its own unless it may be repeated", async () => {
    const { io, sent } = await setUp(Array.from({ length: 4 }, () => ({ status: 200 })));
    await io.request(GET);
    await io.request({ ...POST, isIdempotent: true });
    await io.request(POST);
    await io.request({ ...POST, newConnection: false });
    expect(sent.map(({ newConnection }) => newConnection)).toEqual([false, false, true, false]);
  });
});

describe("ask", () => {
  const Answer = z.object({ id: z.string() });

  it.each<[string, ScriptedAnswer, PlatformRequest, string]>([
    ["another form, to a change", { status: 200, body: '{"token":"canary-1"}' }, POST, "ambiguous"],
    ["another form, to a read", { status: 200, body: '{"id":7}' }, GET, "transient"],
    ["no JSON, to a change", { status: 200, body: "<html>" }, POST, "ambiguous"],
    ["no body, to a change", { status: 204 }, POST, "ambiguous"],
  ])("reads an answer of %s as lost", async (_name, answer, request, kind) => {
    const { io, connectIo } = await setUp([answer, answer]);
    for (const some of [io, connectIo]) {
      const fault = await faultOf(some.ask(request, Answer));
      expect(fault).toMatchObject({ kind, httpStatus: answer instanceof Error ? null : answer.status });
      expect(String(fault.cause)).not.toMatch(/canary/);
    }
  });

  it("gives an empty body to the schema as null", async () => {
    const { io } = await setUp([{ status: 204 }]);
    expect(await io.ask(POST, z.null())).toBeNull();
  });
});
