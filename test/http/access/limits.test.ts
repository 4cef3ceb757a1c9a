import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestContext, type TestContext } from "../../support/context.ts";
import { startTestServer, type TestServer } from "../../support/http.ts";

let ctx: TestContext;
beforeEach(async () => {
  ctx = await createTestContext();
});
afterEach(() => ctx[Symbol.asyncDispose]());

describe("the limit of requests", () => {
  it("is each process's own", async () => {
    await using first = await startTestServer(ctx, [], { routes: [], rateLimit: 1 });
    await using second = await startTestServer(ctx, [], { routes: [], rateLimit: 1 });
    const key = await first.keyFor("default");
    for (const server of [first, second])
      expect((await server.ask("GET /api/v1/tools", { key })).status).toBe(200);
    expect((await first.ask("GET /api/v1/tools", { key })).status).toBe(429);
  });

  /** How many of 600 are left after one request that says it comes from there. */
  async function leftFor(server: TestServer, from: string): Promise<number> {
    const headers = { "x-forwarded-for": from };
    const answer = await server.ask("GET /api/v1/docs", { key: null, headers });
    return Number(/r=(\d+)/.exec(answer.headers["ratelimit"] ?? "")?.[1]);
  }

  it.each([
    ["nobody's", false, true],
    ["that of one proxy", 1, false],
    ["that of two", 2, false],
    ["that of this machine's", ["loopback"], false],
    ["that of named ones", ["127.0.0.0/8", "203.0.113.2"], false],
    ["that of others", ["10.0.0.0/8"], true],
  ] as const)("counts by address, for which %s word is taken", async (_whose, trustProxy, isSame) => {
    await using server = await startTestServer(ctx, [], { routes: [], trustProxy });
    expect(await leftFor(server, "203.0.113.1, 203.0.113.2")).toBe(599);
    expect(await leftFor(server, "198.51.100.7, 198.51.100.7")).toBe(isSame ? 598 : 599);
  });

  it("counts a network of IPv6, and IPv4 in its clothes as what it is", async () => {
    await using server = await startTestServer(ctx, [], { routes: [], trustProxy: 1 });
    const left: number[] = [];
    for (const from of ["2001:db8:1:2300::1", "2001:db8:1:23ff:ffff::2", "2001:db8:1:2400::1"])
      left.push(await leftFor(server, from));
    for (const from of ["192.0.2.7", "::ffff:192.0.2.7"]) left.push(await leftFor(server, from));
    expect(left).toEqual([599, 598, 599, 599, 598]);
  });
});
