import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestContext, type TestContext } from "../../support/context.ts";
import { startTestServer } from "../../support/http.ts";

let ctx: TestContext;
beforeEach(async () => {
  ctx = await createTestContext();
});
afterEach(() => ctx[Symbol.asyncDispose]());

describe("the limit of requests", () => {
  it.each([
    ["nobody's", false, ["127.0.0.1", "127.0.0.1"]],
    ["that of one proxy", 1, ["203.0.113.2", "198.51.100.7"]],
    ["that of two", 2, ["203.0.113.1", "198.51.100.7"]],
    ["that of this machine's", ["loopback"], ["203.0.113.2", "198.51.100.7"]],
    ["that of named ones", ["127.0.0.0/8", "203.0.113.2"], ["203.0.113.1", "198.51.100.7"]],
    ["that of others", ["10.0.0.0/8"], ["127.0.0.1", "127.0.0.1"]],
  ] as const)("counts by address, for which %s word is taken", async (_whose, trustProxy, addresses) => {
    await using server = await startTestServer(ctx, [], { routes: [], trustProxy });
    const ask = (forwarded: string) =>
      server.ask("GET /api/v1/openapi.json", { key: null, headers: { "x-forwarded-for": forwarded } });
    const left = async (forwarded: string): Promise<string> =>
      /r=(\d+)/.exec(String((await ask(forwarded)).headers["ratelimit"]))?.[1] ?? "";
    const [first, second] = [await left("203.0.113.1, 203.0.113.2"), await left("198.51.100.7")];
    expect([first === "599", second === "599"]).toEqual([true, addresses[0] !== addresses[1]]);
  });

  it("is each server's own", async () => {
    await using first = await startTestServer(ctx, [], { routes: [], rateLimit: 1 });
    await using second = await startTestServer(ctx, [], { routes: [], rateLimit: 1 });
    const key = await first.keyFor("default");
    for (const server of [first, second])
      expect((await server.ask("GET /api/v1/tools", { key })).status).toBe(200);
    expect((await first.ask("GET /api/v1/tools", { key })).status).toBe(429);
  });
});
