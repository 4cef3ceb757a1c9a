import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadCatalog } from "../../src/app/setup.ts";
import { startService, type Service } from "../support/service.ts";
import { startServiceWithMcp } from "./service-with-mcp.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const { tools } = await loadCatalog();

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service[Symbol.asyncDispose]());

const paged = tools.filter((tool) => "limit" in tool.input.shape);

describe("pages", () => {
  it.each(paged.map((tool) => [tool.name, tool] as const))("of %s have 500 items at most", (_name, tool) => {
    const field: { safeParse(value: unknown): { success: boolean } } = tool.input.shape.limit;
    for (const bad of [501, 1e9, Number.MAX_SAFE_INTEGER, 0, -1, 1.5, Number.NaN, Infinity, "500"])
      expect(field.safeParse(bad).success).toBe(false);
    expect(field.safeParse(500).success).toBe(true);
  });

  it.each(["posts", "files"])("of GET /%s have 500 items at most, and say so", async (name) => {
    for (const limit of ["501", "99999999999999999999", "-1", "0", "1e3", "0x10"]) {
      const { status, json } = await service.ask(`GET /api/v1/${name}?limit=${limit}`);
      expect([limit, status, Object.keys(json)]).toEqual([limit, 400, ["error"]]);
    }
  });
});

describe("what a caller may give", () => {
  it("has an end: no text, list or number of any tool is without one that the body's limit does not set", async () => {
    const big = "x".repeat(900_000);
    for (const tool of tools) {
      for (const name of Object.keys(tool.input.shape)) {
        for (const value of [big, [big], Array.from({ length: 60_000 }, () => "a"), 2 ** 53]) {
          const { status, text } = await service.ask(`POST /api/v1/tools/${tool.name}`, {
            json: { [name]: value },
          });
          expect(status).toBeLessThan(500);
          // What is wrong is quoted short, never whole.
          if (status >= 400) expect(text.length).toBeLessThan(2_000);
        }
      }
    }
  }, 120_000);

  it("to search for is 500 characters, of which the worst is answered like any other", async () => {
    const account = await service.addFeed();
    await service.call("schedule_post", {
      accountId: account,
      caption: "a ".repeat(2_000),
      scheduledAt: "2026-12-24T18:00:00Z",
    });
    for (const search of [
      "a ".repeat(249),
      `${"a".repeat(40)} `.repeat(12),
      "%".repeat(500),
      '"'.repeat(500),
      "日".repeat(500),
      "*()".repeat(160),
    ]) {
      const { status } = await service.ask("POST /api/v1/tools/list_posts", { json: { search } });
      expect(status).toBe(200);
    }
    expect(
      (await service.ask("POST /api/v1/tools/list_posts", { json: { search: "a".repeat(501) } })).status,
    ).toBe(400);
  });
});

describe("the limit of wrong keys", () => {
  it("is one of the connection's address, whatever headers claim", async () => {
    await using fresh = await startService();
    const tries = await Promise.all(
      Array.from({ length: 320 }, (_, at) => {
        const claimed = `10.0.${at >> 8}.${at & 255}`;
        const headers = {
          "X-Forwarded-For": claimed,
          Forwarded: `for=${claimed}`,
          "X-Real-IP": claimed,
          "CF-Connecting-IP": claimed,
        };
        return fresh.ask("GET /api/v1/posts", { key: `wrong-${at}`, headers });
      }),
    );
    expect(tries.filter(({ status }) => status === 429)).toHaveLength(20);
    expect((await fresh.ask("GET /api/v1/posts")).status).toBe(200);
  });

  it("rests on a proxy's word in one place only, where a setting names the proxy", () => {
    const files = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".ts"),
    );
    const words = files.flatMap(
      (name) => readFileSync(join(ROOT, "src", name), "utf8").match(/"trust proxy",[^)]*/g) ?? [],
    );
    expect(words).toEqual([expect.stringContaining("trustProxy")]);
  });
});

describe("the limit of a key", () => {
  const headers = { Accept: "application/json, text/event-stream" };
  const initialize = {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: {
      protocolVersion: "2025-03-26",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    },
  };

  it("counts each call of a batch", async () => {
    await using fresh = await startServiceWithMcp({ rateLimit: 60 });
    const opened = await fresh.ask("POST /mcp", { json: initialize, headers });
    const session = { ...headers, "Mcp-Session-Id": opened.headers["mcp-session-id"] ?? "" };
    const batch = (count: number) =>
      fresh.ask("POST /mcp", {
        json: Array.from({ length: count }, (_, id) => ({
          jsonrpc: "2.0",
          id: id + 1,
          method: "tools/call",
          params: { name: "connect_channel", arguments: { provider: "feed", name: `Feed ${count} ${id}` } },
        })),
        headers: session,
      });
    expect((await batch(40)).status).toBe(200);
    const refused = await batch(40);
    expect(refused).toMatchObject({
      status: 429,
      headers: { "retry-after": expect.stringMatching(/^\d+$/) },
    });
    expect(refused.json.error).toContain("each call of a batch counted");
    const { accounts } = await fresh.call("list_accounts", {});
    expect(accounts).toHaveLength(40);
  });
});

describe("pages that need no key", () => {
  it("are limited by address, each kind for itself, and hold up no call with a key", async () => {
    await using fresh = await startService();
    const feed = await fresh.addFeed();
    const visits = async (path: string): Promise<number[]> => {
      const statuses: number[] = [];
      while (statuses.length < 605) {
        const answers = await Promise.all(
          Array.from({ length: 55 }, () => fresh.ask(`GET ${path}`, { key: null })),
        );
        statuses.push(...answers.map(({ status }) => status));
      }
      return statuses;
    };
    for (const path of [`/feed/${feed}.html`, "/api/v1/docs", "/calendar/none.ics"]) {
      const statuses = await visits(path);
      expect(statuses.filter((status) => status === 429)).toHaveLength(5);
    }
    expect((await fresh.ask("GET /api/v1/posts")).status).toBe(200);
  });
});
