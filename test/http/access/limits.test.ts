import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Counts } from "../../../src/store/engine/counts.ts";
import { createTestContext, type TestContext } from "../../support/context.ts";
import { startTestServer } from "../../support/http.ts";

/** As a database on several machines, without the second after which others know. */
function createCounts(): Counts & { readonly keys: () => string[] } {
  const totals = new Map<string, number>();
  return {
    add(key, { windowMs, now, by }) {
      totals.set(key, (totals.get(key) ?? 0) + by);
      return { total: totals.get(key) ?? 0, endsAt: (Math.floor(now / windowMs) + 1) * windowMs };
    },
    keys: () => [...totals.keys()],
  };
}

let ctx: TestContext;
beforeEach(async () => {
  ctx = await createTestContext();
});
afterEach(() => ctx[Symbol.asyncDispose]());

describe("the limit of requests", () => {
  it("counts those to several servers together where the store does", async () => {
    const counts = createCounts();
    const shared = { ...ctx, store: { ...ctx.store, counts } };
    await using first = await startTestServer(shared, [], { routes: [], rateLimit: 2 });
    await using second = await startTestServer(shared, [], { routes: [], rateLimit: 2 });
    const key = await first.keyFor("default");
    const ask = (server: typeof first) => server.ask("GET /api/v1/tools", { key });
    expect([(await ask(first)).status, (await ask(second)).status]).toEqual([200, 200]);
    const refused = await ask(first);
    expect(refused.status).toBe(429);
    // Also where the clock that they share is another than the machine's.
    const seconds = Number(refused.headers["retry-after"]);
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect((await ask(second)).status).toBe(429);
  });

  it("counts what is another kind of request apart, and no secret is a key", async () => {
    const counts = createCounts();
    await using server = await startTestServer({ ...ctx, store: { ...ctx.store, counts } }, [], {
      routes: [],
    });
    await server.ask("GET /api/v1/tools", { key: "phk_canary" });
    await server.ask("GET /api/v1/tools");
    await server.ask("GET /api/v1/openapi.json", { key: null });
    expect(counts.keys().map((key) => key.replace(/key_\w+/, "key_…"))).toEqual([
      "no API key 127.0.0.1",
      "key key_…",
      "description 127.0.0.1",
    ]);
  });

  it.each([
    ["nobody's", false, ["127.0.0.1", "127.0.0.1"]],
    ["that of one proxy", 1, ["203.0.113.2", "198.51.100.7"]],
    ["that of two", 2, ["203.0.113.1", "198.51.100.7"]],
    ["that of this machine's", ["loopback"], ["203.0.113.2", "198.51.100.7"]],
    ["that of named ones", ["127.0.0.0/8", "203.0.113.2"], ["203.0.113.1", "198.51.100.7"]],
    ["that of others", ["10.0.0.0/8"], ["127.0.0.1", "127.0.0.1"]],
  ] as const)("counts by address, for which %s word is taken", async (_whose, trustProxy, addresses) => {
    const counts = createCounts();
    const shared = { ...ctx, store: { ...ctx.store, counts } };
    await using server = await startTestServer(shared, [], { routes: [], trustProxy });
    for (const given of ["203.0.113.1, 203.0.113.2", "198.51.100.7"])
      await server.ask("GET /api/v1/openapi.json", { key: null, headers: { "x-forwarded-for": given } });
    expect(counts.keys()).toEqual([...new Set(addresses.map((address) => `description ${address}`))]);
  });

  it("is each server's own where the store has none", async () => {
    await using first = await startTestServer(ctx, [], { routes: [], rateLimit: 1 });
    await using second = await startTestServer(ctx, [], { routes: [], rateLimit: 1 });
    const key = await first.keyFor("default");
    for (const server of [first, second])
      expect((await server.ask("GET /api/v1/tools", { key })).status).toBe(200);
    expect((await first.ask("GET /api/v1/tools", { key })).status).toBe(429);
  });
});
