import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { AppError, INTERNAL_ERROR_SENTENCE } from "../../src/domain/errors.ts";
import type { ResourceRoute } from "../../src/http/api/resource-routes.ts";
import { defineTool } from "../../src/toolkit/define-tool.ts";
import { createTestContext, type TestContext } from "../support/context.ts";
import { startTestServer, type TestServer } from "../support/http.ts";
import { rawOf } from "../support/handles.ts";

const hints = { readOnly: true, destructive: false, idempotent: true, openWorld: false };
const said = { title: "A tool", description: "A tool of the test." };

const echo = defineTool({
  ...said,
  name: "echo",
  permission: "read",
  hints,
  input: z.strictObject({
    text: z.string().optional(),
    list: z.array(z.string()).optional(),
    count: z.int().max(10).default(3),
    flag: z.boolean().optional(),
    data: z.json().optional(),
  }),
  output: z.object({ got: z.unknown() }),
  handle: async (args) => ({ got: args }),
});

const make = defineTool({
  ...said,
  name: "make",
  permission: "publish",
  hints: { ...hints, readOnly: false },
  input: z.strictObject({ name: z.string(), dryRun: z.boolean().optional() }),
  output: z.object({ post: z.object({ id: z.string(), name: z.string() }) }),
  handle: async (args) => ({ post: { id: "post_1", name: args.name } }),
});

const fail = defineTool({
  ...said,
  name: "fail",
  permission: "read",
  hints,
  input: z.strictObject({ kind: z.string() }),
  output: z.object({}),
  handle: async ({ kind }) => {
    if (kind === "bug") throw new TypeError("secret detail /srv/secret.key");
    throw new AppError(kind as never, `It is ${kind}.`, { cause: new Error("raw platform words") });
  },
});

const ROUTES: readonly ResourceRoute[] = [
  {
    method: "get",
    path: "/echoes",
    summary: "Echo",
    tools: ["echo"],
    body: "none",
    query: { text: "text", list: "list", count: "integer", flag: "flag" },
    defaults: { count: 7 },
  },
  {
    method: "post",
    path: "/echoes",
    summary: "Make",
    tools: ["make"],
    body: "required",
    query: {},
    success: {
      status: 201,
      isMade: (args) => args["dryRun"] !== true,
      location: () => "/api/v1/echoes/post_1",
    },
  },
  { method: "patch", path: "/echoes/{name}", summary: "Make", tools: ["make"], body: "optional", query: {} },
];

let ctx: TestContext;
let server: TestServer;

beforeEach(async () => {
  ctx = await createTestContext();
  server = await startTestServer(ctx, [echo, make, fail], { routes: ROUTES, rateLimit: 1_000 });
});

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await ctx[Symbol.asyncDispose]();
});

describe("keys", () => {
  it.each([
    ["no header", undefined],
    ["no scheme", "phk_x_y"],
    ["another scheme", "Basic cGhrOng="],
    ["garbage", "Bearer phk_%%%"],
    ["an unknown key", `Bearer phk_${"0".repeat(26)}_${"0".repeat(64)}`],
    ["two words", "Bearer a b"],
  ])("answers 401 to %s", async (_name, authorization) => {
    for (const target of [
      "GET /api/v1/echoes",
      "POST /api/v1/tools/echo",
      "GET /api/v1/tools",
      "GET /api/v1/nowhere",
      "PUT /api/v1/echoes",
    ]) {
      const answer = await server.ask(target, {
        key: null,
        headers: authorization === undefined ? {} : { authorization },
      });
      expect(answer.status).toBe(401);
      expect(answer.headers["www-authenticate"]).toBe("Bearer");
      expect(Object.keys(answer.json)).toEqual(["error"]);
      expect(answer.json.error).toContain("Authorization: Bearer");
    }
  });

  it("takes the scheme in any case", async () => {
    const key = await server.keyFor("default");
    const answer = await server.ask("GET /api/v1/echoes", {
      key: null,
      headers: { Authorization: `bearer ${key}` },
    });
    expect(answer.status).toBe(200);
  });

  it("answers 403 to a key without the permission, before the body is looked at", async () => {
    const key = await server.keyFor("default", { permissions: ["read"] });
    for (const target of ["POST /api/v1/echoes", "POST /api/v1/tools/make", "PATCH /api/v1/echoes/x"]) {
      const answer = await server.ask(target, {
        key,
        body: "{garbled",
        headers: { "Content-Type": "text/plain" },
      });
      expect(answer.status).toBe(403);
      expect(answer.json.error).toContain('lacks the permission "publish"');
    }
  });

  it("lists the tools the key may call, with their schemas", async () => {
    const key = await server.keyFor("default", { permissions: ["read"] });
    const { json } = await server.ask("GET /api/v1/tools", { key });
    expect(json.tools.map((tool: { name: string }) => tool.name)).toEqual(["echo", "fail"]);
    expect(Object.keys(json.tools[0])).toEqual([
      "name",
      "title",
      "description",
      "permission",
      "inputSchema",
      "outputSchema",
      "annotations",
    ]);
    const hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
    expect(Object.keys(json.tools[0].annotations)).toEqual(hints);
  });
});

describe("order of checks", () => {
  const tooLarge = "x".repeat(1024 * 1024 + 1);
  const text = { "Content-Type": "text/plain" };

  it("is 401, 403, 429, 413, 400, 404", async () => {
    await using narrow = await startTestServer(ctx, [echo, make, fail], { routes: ROUTES, rateLimit: 2 });
    const reader = await narrow.keyFor("default", { permissions: ["read"] });
    const all = await narrow.keyFor("default");
    const target = "POST /api/v1/tools/make";
    expect(
      (await narrow.ask(target, { key: null, body: tooLarge, headers: { ...text, Host: "evil.example" } }))
        .status,
    ).toBe(401);
    expect(
      (await narrow.ask(target, { key: all, body: tooLarge, headers: { ...text, Host: "evil.example" } }))
        .status,
    ).toBe(403);
    expect((await narrow.ask(target, { key: reader, body: tooLarge, headers: text })).status).toBe(403);
    expect((await narrow.ask(target, { key: all, body: tooLarge, headers: text })).status).toBe(413);
    expect(
      (await narrow.ask("POST /api/v1/tools/nothing", { key: all, body: "{", headers: text })).status,
    ).toBe(400);
    expect((await narrow.ask(target, { key: all, body: tooLarge, headers: text })).status).toBe(429);
    expect((await narrow.ask("GET /api/v1/nowhere", { key: all })).status).toBe(429);
    expect((await narrow.ask("PUT /api/v1/tools", { key: all })).status).toBe(429);
    expect((await server.ask("POST /api/v1/tools/nothing", { json: {} })).status).toBe(404);
  });

  it("tells the limit in headers and, past it, when to come again", async () => {
    await using narrow = await startTestServer(ctx, [echo], { routes: [], rateLimit: 1 });
    const first = await narrow.ask("POST /api/v1/tools/echo", { json: {} });
    expect(first.status).toBe(200);
    expect(first.headers["ratelimit-policy"]).toMatch(/q=1; w=60/);
    expect(first.headers["ratelimit"]).toMatch(/r=0/);
    const second = await narrow.ask("POST /api/v1/tools/echo", { json: {} });
    expect(second.status).toBe(429);
    expect(Number(second.headers["retry-after"])).toBeGreaterThan(0);
    expect(Object.keys(second.json)).toEqual(["error"]);
    const other = await narrow.keyFor("default");
    expect((await narrow.ask("POST /api/v1/tools/echo", { key: other, json: {} })).status).toBe(200);
  });

  it("limits wrong keys by address and leaves right ones alone", async () => {
    const wrong = await Promise.all(
      Array.from({ length: 301 }, () => server.ask("GET /api/v1/tools", { key: "wrong" })),
    );
    const statuses = wrong.map((answer) => answer.status).sort();
    expect(statuses.filter((status) => status === 401)).toHaveLength(300);
    expect(statuses.at(-1)).toBe(429);
    expect(wrong.find((answer) => answer.status === 429)?.headers["retry-after"]).toMatch(/^\d+$/);
    expect((await server.ask("GET /api/v1/tools")).status).toBe(200);
  });
});

describe("Host and Origin", () => {
  const own = "https://posts.example.com";
  it.each([
    ["127.0.0.1:4747", undefined, 200],
    ["localhost:4747", undefined, 200],
    ["[::1]:4747", undefined, 200],
    ["LOCALHOST", undefined, 200],
    ["posts.example.com", undefined, 200],
    ["posts.example.com", own, 200],
    ["localhost:4747", "http://localhost:3000", 200],
    ["localhost:4747", "http://[::1]:4747", 200],
    ["evil.example", undefined, 403],
    ["evil.example:4747", "http://evil.example:4747", 403],
    ["127.0.0.1.evil.example", undefined, 403],
    ["localhost.evil.example", undefined, 403],
    ["localhost:4747@evil.example", undefined, 403],
    ["169.254.169.254", undefined, 403],
    ["localhost:4747", "null", 403],
    ["localhost:4747", "https://evil.example", 403],
    ["posts.example.com", "http://posts.example.com", 403],
    ["posts.example.com", "https://posts.example.com.evil.example", 403],
    ["localhost:4747", "file://", 403],
    ["localhost:4747", "chrome-extension://abc", 403],
  ])("Host %s with Origin %s is %i", async (host, origin, status) => {
    const mcp = { streamable: ok, sse: ok, messages: ok };
    await using named = await startTestServer(ctx, [echo], { routes: [], publicUrl: own, mcp });
    const headers = { Host: host, ...(origin === undefined ? {} : { Origin: origin }) };
    for (const target of ["GET /api/v1/tools", "POST /mcp", "GET /sse", "POST /messages"]) {
      const answer = await named.ask(target, { headers });
      expect([target, answer.status]).toEqual([target, status]);
      expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
    }
    expect((await named.ask("GET /healthz", { headers })).status).toBe(200);
  });

  it("refuses a request without a Host", async () => {
    const key = await server.keyFor("default");
    const socket = connect(server.port, "127.0.0.1");
    socket.write(`GET /api/v1/tools HTTP/1.1\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`);
    expect(await readAll(socket)).toMatch(/^HTTP\/1.1 403 /);
  });

  function ok(_request: unknown, response: { json(value: object): void }): void {
    response.json({});
  }
});

describe("bodies", () => {
  const target = "POST /api/v1/tools/echo";
  const json = { "Content-Type": "application/json" };

  it.each([
    ["another type", { "Content-Type": "text/plain" }, "{}"],
    ["a form", { "Content-Type": "application/x-www-form-urlencoded" }, "{}"],
    ["no type", {}, "{}"],
    ["no type and no body", {}, undefined],
    ["a type that only begins like it", { "Content-Type": "application/jsonp" }, "{}"],
    ["another charset", { "Content-Type": "application/json; charset=latin1" }, "{}"],
    ["garbled JSON", json, '{"text": '],
    ["a list", json, "[]"],
    ["null", json, "null"],
    ["a text", json, '"x"'],
    ["bytes that are no UTF-8", json, Buffer.from([0x7b, 0xff, 0x7d])],
    ["an unknown encoding", { ...json, "Content-Encoding": "rot13" }, "{}"],
    ["none with the right type", json, ""],
    ["gzip that is none", { ...json, "Content-Encoding": "gzip" }, "{}"],
  ])("answers 400 to %s", async (_name, headers, body) => {
    const answer = await server.ask(target, { headers, ...(body === undefined ? {} : { body }) });
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.json)).toEqual(["error"]);
    expect(answer.json.error).not.toMatch(/SyntaxError|position|at .*\.js/);
  });

  it.each([
    ["with a charset", { "Content-Type": 'application/json; charset="UTF-8"' }, "{}"],
    ["with a byte order mark", json, "\ufeff{}"],
    ["compressed", { ...json, "Content-Encoding": "gzip" }, gzipSync("{}")],
  ])("takes a body %s", async (_name, headers, body) => {
    expect((await server.ask(target, { headers, body })).status).toBe(200);
  });

  it("counts inflated bytes", async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024, 0x20));
    expect(bomb.length).toBeLessThan(1024 * 1024);
    const answer = await server.ask(target, { headers: { ...json, "Content-Encoding": "gzip" }, body: bomb });
    expect(answer.status).toBe(413);
  });

  it("takes exactly 1 MiB and not a byte more, chunked or not", async () => {
    const fit = `{"text":"${"x".repeat(1024 * 1024 - 11)}"}`;
    expect(Buffer.byteLength(fit)).toBe(1024 * 1024);
    expect((await server.ask(target, { headers: json, body: fit })).status).toBe(200);
    expect((await server.ask(target, { headers: json, body: `${fit} ` })).status).toBe(413);
    const chunked = { ...json, "Transfer-Encoding": "chunked" };
    expect((await server.ask(target, { headers: chunked, body: `${fit} ` })).status).toBe(413);
  });

  it.each([
    ["lists", "[", "]"],
    ["objects", '{"a":', "}"],
  ])("refuses deep %s", async (_name, open, close) => {
    const depth = 100_000;
    const body = `{"data":${open.repeat(depth)}${open === "[" ? "" : "1"}${close.repeat(depth)}}`;
    const answer = await server.ask(target, { headers: json, body });
    expect(answer.status).toBe(400);
    expect(answer.json.error).toContain("nested deeper");
  });

  it("refuses fields in a body where the address takes none", async () => {
    const answer = await server.ask("GET /api/v1/echoes", { json: { text: "x" } });
    expect(answer.status).toBe(400);
    expect((await server.ask("GET /api/v1/echoes", { json: {} })).status).toBe(200);
  });
});

describe("resource routes", () => {
  it("says that fields belong in the body, where an address takes one", async () => {
    for (const target of ["POST /api/v1/echoes?dryRun=1", "POST /api/v1/tools/echo?dryRun=1"]) {
      const { status, json } = await server.ask(target, { json: {} });
      expect([status, json.error]).toEqual([
        400,
        expect.stringMatching(/"dryRun" .* belong in the body, as JSON\.$/),
      ]);
    }
    expect((await server.ask("GET /api/v1/echoes?dryRun=1")).json.error).not.toContain("body");
  });

  it("turns a query into arguments", async () => {
    const { json } = await server.ask(
      "GET /api/v1/echoes?list=a,%20b,,c&count=2&flag=1&text=%F0%9F%8E%89+x%2By",
    );
    expect(json.got).toEqual({ list: ["a", "b", "c"], count: 2, flag: true, text: "🎉 x+y" });
    expect((await server.ask("GET /api/v1/echoes?list=&text=&count=")).json.got).toEqual({ count: 7 });
  });

  it.each([
    ["?unknown=1", /"unknown" is not a known query parameter. The parameters are text, list, count, flag/],
    ["?text=a&text=b", /^text: is given more than once. Give it once/],
    ["?list=a&list=b", /^list: is given more than once. Separate several values by commas/],
    ["?count=1.5", /^count: "1.5" is not a whole number/],
    ["?count=11", /^count: must be at most 10/],
    ["?count=99999999999999999999", /^count: /],
    ["?flag=yes", /^flag: "yes" is neither 1 nor 0/],
    ["?__proto__=1", /"__proto__" is not a known/],
    ["?toString=1", /"toString" is not a known/],
    ["?text[a]=1", /is not a known query parameter/],
  ])("answers 400 to %s", async (query, sentence) => {
    const answer = await server.ask(`GET /api/v1/echoes${query}`);
    expect(answer.status).toBe(400);
    expect(answer.json.error).toMatch(sentence);
  });

  it("answers 201 with a Location for something made, 200 for a dry run", async () => {
    const made = await server.ask("POST /api/v1/echoes", { json: { name: "x" } });
    expect([made.status, made.headers["location"]]).toEqual([201, "/api/v1/echoes/post_1"]);
    const dry = await server.ask("POST /api/v1/echoes", { json: { name: "x", dryRun: true } });
    expect([dry.status, dry.headers["location"]]).toEqual([200, undefined]);
  });

  it("keeps what the address says out of the body", async () => {
    expect((await server.ask("PATCH /api/v1/echoes/a")).json.post.name).toBe("a");
    const doubled = await server.ask("PATCH /api/v1/echoes/a", { json: { name: "b" } });
    expect([doubled.status, doubled.json.error]).toEqual([
      400,
      "name: stands in the address. Leave it out of the body.",
    ]);
  });

  it("repeats the answer for an idempotency key, and refuses it for another body", async () => {
    const headers = { "Idempotency-Key": "k1" };
    const first = await server.ask("POST /api/v1/echoes", { json: { name: "x" }, headers });
    const second = await server.ask("POST /api/v1/echoes", { json: { name: "x" }, headers });
    expect(first.headers["idempotent-replayed"]).toBeUndefined();
    expect([second.status, second.headers["idempotent-replayed"], second.text]).toEqual([
      201,
      "true",
      first.text,
    ]);
    expect((await server.ask("POST /api/v1/echoes", { json: { name: "y" }, headers })).status).toBe(409);
    expect(
      (await server.ask("POST /api/v1/echoes", { json: { name: "y" }, headers: { "Idempotency-Key": "" } }))
        .status,
    ).toBe(400);
  });

  it.each([
    ["PUT /api/v1/echoes", "GET, HEAD, POST"],
    ["OPTIONS /api/v1/echoes", "GET, HEAD, POST"],
    ["DELETE /api/v1/tools", "GET, HEAD"],
    ["GET /api/v1/tools/echo", "POST"],
    ["GET /api/v1/tools/nothing", "POST"],
    ["POST /healthz", "GET, HEAD"],
  ])("answers 405 to %s", async (target, allow) => {
    const answer = await server.ask(target);
    expect([answer.status, answer.headers["allow"], Object.keys(answer.json)]).toEqual([
      405,
      allow,
      ["error"],
    ]);
  });

  it.each([
    "/api/v1/nowhere",
    "/api/v1/Echoes",
    "/api/v1",
    "/api/v2/echoes",
    "/api/v1/echoes/%zz",
    "/api/v1/echoes/a/b",
    "/nowhere",
  ])("answers 404 to %s", async (path) => {
    const answer = await server.ask(`PATCH ${path}`);
    expect([answer.status, Object.keys(answer.json)]).toEqual([404, ["error"]]);
  });

  it.each([
    "POST /register",
    "GET /.well-known/oauth-authorization-server",
    "GET /.well-known/oauth-protected-resource/mcp?x=1",
    "GET /.well-known/openid-configuration",
    "GET /mcp/.well-known/openid-configuration",
    "GET /authorize?response_type=code",
    "POST /token",
  ])("tells clients that look for OAuth what to send instead: %s", async (target) => {
    const answer = await server.ask(target);
    expect(answer.status).toBe(404);
    expect(answer.json.error).toMatch(
      /^Posthorn knows API keys, not OAuth: add the header Authorization: Bearer <key>/,
    );
  });

  it("refuses a table whose tool is missing", async () => {
    await expect(startTestServer(ctx, [echo], { routes: ROUTES })).rejects.toThrow(/needs the tool make/);
  });

  it("answers HEAD as GET, without a body", async () => {
    const answer = await server.ask("HEAD /api/v1/echoes");
    expect([answer.status, answer.text]).toEqual([200, ""]);
  });
});

describe("answers", () => {
  it.each([
    ["invalid", 400],
    ["unauthenticated", 401],
    ["forbidden", 403],
    ["not_found", 404],
    ["conflict", 409],
    ["too_large", 413],
    ["rate_limited", 429],
    ["unavailable", 503],
  ])("shows %s as %i with its sentence, and its cause only in the log", async (kind, status) => {
    const answer = await server.ask("POST /api/v1/tools/fail", { json: { kind } });
    expect([answer.status, answer.json]).toEqual([status, { error: `It is ${kind}.` }]);
    expect(ctx.log.text()).toContain("raw platform words");
  });

  it("shows a bug as 500 with a fixed sentence, its stack only in the log", async () => {
    const answer = await server.ask("POST /api/v1/tools/fail", { json: { kind: "bug" } });
    expect([answer.status, answer.json]).toEqual([500, { error: INTERNAL_ERROR_SENTENCE }]);
    const line = ctx.log.lines.find((candidate) => candidate.level === "error");
    expect(line?.fields).toMatchObject({
      requestId: answer.headers["x-request-id"],
      err: { message: expect.stringContaining("secret detail") },
    });
  });

  it("name the request, and keep a proxy's name for it", async () => {
    expect((await server.ask("GET /nowhere")).headers["x-request-id"]).toMatch(/^[\w-]{36}$/);
    expect(
      (await server.ask("GET /healthz", { headers: { "X-Request-Id": "abc-1" } })).headers["x-request-id"],
    ).toBe("abc-1");
    expect(
      (await server.ask("GET /healthz", { headers: { "X-Request-Id": "a b<script>" } })).headers[
        "x-request-id"
      ],
    ).toMatch(/^[\w-]{36}$/);
  });

  it("carry strict headers and tell nothing of what runs here", async () => {
    const { headers } = await server.ask("GET /api/v1/tools");
    expect(headers["x-powered-by"]).toBeUndefined();
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["cache-control"]).toBe("no-store");
    expect(headers["content-security-policy"]).toBe("default-src 'none';frame-ancestors 'none'");
  });

  it("never hold or log a key", async () => {
    const key = await server.keyFor("default");
    await server.ask("GET /api/v1/nowhere", { key });
    await server.ask("GET /connect/some-token?x=1", { key });
    expect(ctx.log.text()).not.toContain(key);
    expect(ctx.log.text()).not.toContain("some-token");
  });
});

describe("health", () => {
  it("answers without a key", async () => {
    expect((await server.ask("GET /healthz", { key: null })).json).toEqual({ status: "ok" });
    expect((await server.ask("GET /readyz", { key: null })).json).toEqual({ status: "ready" });
  });

  it("is not ready without a publisher or a database", async () => {
    await using idle = await startTestServer(ctx, [], { routes: [], isReady: () => false });
    expect((await idle.ask("GET /readyz", { key: null })).status).toBe(503);
    rawOf(ctx.store).exec("ALTER TABLE meta RENAME TO gone");
    const answer = await server.ask("GET /readyz", { key: null });
    expect([answer.status, Object.keys(answer.json)]).toEqual([503, ["error"]]);
    expect((await server.ask("GET /healthz", { key: null })).status).toBe(200);
  });
});

function readAll(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    socket.setEncoding("utf8");
    socket.on("data", (part: string) => (text += part));
    socket.on("close", () => resolve(text));
    socket.on("error", reject);
  });
}
