import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Answer } from "../support/http.ts";
import { callOf } from "../support/context.ts";
import type { Service } from "../support/service.ts";
import { startServiceWithMcp } from "./service-with-mcp.ts";

const PUBLIC_URL = "https://posts.example.com";
const METRICS_TOKEN = "a-token-for-the-scraper";

let service: Service;
let key: string;

beforeAll(async () => {
  service = await startServiceWithMcp({ publicUrl: PUBLIC_URL, metricsToken: METRICS_TOKEN });
  key = await service.keyFor("default");
});

afterAll(() => service[Symbol.asyncDispose]());

type Head = { readonly status: number; readonly headers: Readonly<Record<string, unknown>> };

/** Only the beginning of an answer: some of them never end. */
function headOf(target: string, headers: Readonly<Record<string, string>>): Promise<Head> {
  const [method, path] = target.split(" ");
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      { host: "127.0.0.1", port: service.port, method, path, headers, agent: false },
      (incoming) => {
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers });
        incoming.destroy();
      },
    );
    outgoing.on("error", reject);
    outgoing.end();
  });
}

const GUARDED = [
  "GET /api/v1/posts",
  "GET /api/v1/tools",
  "POST /api/v1/tools/list_posts",
  "POST /api/v1/files",
  "POST /api/v1/files/uploads",
  "GET /api/v1/files/file_x",
  "GET /api/v1/nowhere",
  "POST /mcp",
  "GET /mcp",
  "DELETE /mcp",
  "GET /sse",
  "POST /messages",
];

describe("Host and Origin", () => {
  it.each([
    ["localhost:4747", undefined, true],
    ["127.0.0.1:4747", undefined, true],
    ["127.8.9.10", undefined, true],
    ["[::1]:4747", undefined, true],
    ["posts.example.com", undefined, true],
    ["POSTS.EXAMPLE.COM:443", PUBLIC_URL, true],
    ["localhost:4747", "http://localhost:4747", true],
    // Names that an attacker's name server lets lead here.
    ["rebound.attacker.example", undefined, false],
    ["rebound.attacker.example:4747", "http://rebound.attacker.example:4747", false],
    ["rebound.attacker.example", PUBLIC_URL, false],
    ["127.0.0.1.nip.example", undefined, false],
    ["localhost.attacker.example", undefined, false],
    ["attacker.localhost.example", undefined, false],
    ["posts.example.com.attacker.example", undefined, false],
    ["0.0.0.0:4747", undefined, false],
    ["192.168.1.5:4747", undefined, false],
    ["169.254.169.254", undefined, false],
    ["2130706433", undefined, false],
    ["[::ffff:127.0.0.1]", undefined, false],
    ["localhost:4747, attacker.example", undefined, false],
    ["localhost@attacker.example", undefined, false],
    ["localhost:4747", "null", false],
    ["localhost:4747", "", false],
    ["localhost:4747", "https://attacker.example", false],
    ["localhost:4747", "http://localhost.attacker.example", false],
    ["localhost:4747", "file://", false],
    ["localhost:4747", "chrome-extension://abcdef", false],
    ["posts.example.com", "http://posts.example.com", false],
    ["posts.example.com", "https://posts.example.com:8443", false],
    ["posts.example.com", "https://posts.example.com.attacker.example", false],
    ["posts.example.com", "https://posts.example.com https://attacker.example", false],
  ])("%s with Origin %s: %s", async (host, origin, isAllowed) => {
    for (const target of GUARDED) {
      const sent = {
        Host: host,
        Authorization: `Bearer ${key}`,
        ...(origin === undefined ? {} : { Origin: origin }),
      };
      const { status, headers } = await headOf(target, sent);
      expect([target, status === 403]).toEqual([target, !isAllowed]);
      expect(status).not.toBe(401);
      expect(headers).not.toHaveProperty("access-control-allow-origin");
    }
  });

  it("do not replace the key, on loopback neither", async () => {
    for (const target of GUARDED) {
      expect([target, (await headOf(target, { Host: "localhost" })).status]).toEqual([target, 401]);
      expect((await headOf(target, { Host: "localhost", Authorization: "Bearer garbled" })).status).toBe(401);
      const inAddress = `${target}?key=${key}&access_token=${key}&apiKey=${key}`;
      expect((await headOf(inAddress, { Host: "localhost", Cookie: `key=${key}` })).status).toBe(401);
    }
  });

  it("of a request without any Host are refused", async () => {
    for (const target of GUARDED) {
      const socket = connect(service.port, "127.0.0.1");
      let text = "";
      socket.setEncoding("utf8").on("data", (part: string) => (text += part));
      socket.write(`${target} HTTP/1.0\r\nAuthorization: Bearer ${key}\r\n\r\n`);
      await new Promise((resolve) => socket.once("close", resolve));
      expect([target, text.split("\r\n")[0]]).toEqual([target, expect.stringMatching(/ 403 /)]);
    }
  });

  it("of a request with two Hosts are refused, whichever they are", async () => {
    for (const target of [...GUARDED, "GET /healthz"]) {
      for (const hosts of [
        ["localhost", "attacker.example"],
        ["localhost", "localhost"],
      ]) {
        const socket = connect(service.port, "127.0.0.1");
        let text = "";
        socket.setEncoding("utf8").on("data", (part: string) => (text += part));
        const lines = hosts.map((host) => `Host: ${host}\r\n`).join("");
        socket.write(
          `${target} HTTP/1.1\r\n${lines}Connection: close\r\nAuthorization: Bearer ${key}\r\n\r\n`,
        );
        await new Promise((resolve) => socket.once("close", resolve));
        expect([target, text.split("\r\n")[0]]).toEqual([target, expect.stringMatching(/ 400 /)]);
        expect(text).toContain("Host: stands there more than once");
      }
    }
  });
});

const PAGES = [
  "GET /healthz",
  "GET /readyz",
  "GET /api/v1/docs",
  "GET /api/v1/openapi.json",
  "GET /connect/x",
  "GET /calendar/x.ics",
  "GET /nowhere",
];

describe("what is there without a key", () => {
  it("gives no other site's pages anything to read, whatever name leads here", async () => {
    for (const target of [...PAGES, "GET /metrics"]) {
      const { headers } = await headOf(target, {
        Host: "rebound.attacker.example",
        Origin: "https://attacker.example",
      });
      expect([target, headers["access-control-allow-origin"]]).toEqual([target, undefined]);
      expect(headers).not.toHaveProperty("set-cookie");
    }
  });

  it("answers no preflight", async () => {
    for (const target of [...GUARDED, ...PAGES]) {
      const preflight = {
        Host: "localhost",
        Origin: "https://attacker.example",
        "Access-Control-Request-Method": "POST",
      };
      const { status, headers } = await headOf(`OPTIONS ${target.split(" ")[1]}`, preflight);
      expect([target, status >= 400]).toEqual([target, true]);
      expect(headers).not.toHaveProperty("access-control-allow-methods");
    }
  });

  it("shows the numbers of the instance to whoever brings their token alone", async () => {
    const ask = (authorization?: string) =>
      headOf("GET /metrics", {
        Host: "posthorn:4747",
        ...(authorization === undefined ? {} : { Authorization: authorization }),
      });
    for (const wrong of [
      undefined,
      "Bearer",
      "Bearer garbled",
      `Bearer ${key}`,
      `Basic ${METRICS_TOKEN}`,
      `Bearer ${METRICS_TOKEN}x`,
    ]) {
      expect([wrong, (await ask(wrong)).status]).toEqual([wrong, 401]);
    }
    expect((await ask(`Bearer ${METRICS_TOKEN}`)).status).toBe(200);
  });

  it("limits guesses at that token, and lets the right one through all the same", async () => {
    const guesses = await Promise.all(
      Array.from({ length: 310 }, () => service.ask("GET /metrics", { key: "guess" })),
    );
    expect(guesses.filter(({ status }) => status === 429).length).toBeGreaterThan(0);
    expect((await service.ask("GET /metrics", { key: METRICS_TOKEN })).status).toBe(200);
  });
});

describe("every answer", () => {
  const ANSWERED = [...PAGES, ...GUARDED.filter((target) => !target.startsWith("GET /sse"))];

  it("forbids guessing its type, framing and everything it does not need", async () => {
    for (const target of ANSWERED) {
      for (const asked of [null, key]) {
        const { headers } = await service.ask(target, { key: asked });
        expect([target, headers["x-content-type-options"]]).toEqual([target, "nosniff"]);
        expect(headers["content-security-policy"]).toMatch(/default-src 'none'/);
        expect(headers["content-security-policy"]).toMatch(/frame-ancestors 'none'/);
        expect(headers["referrer-policy"]).toBe("no-referrer");
        expect(headers["strict-transport-security"]).toMatch(/^max-age=\d{7,}/);
        expect(headers).not.toHaveProperty("x-powered-by");
        expect(headers).not.toHaveProperty("server");
      }
    }
  });

  it("says of a key that is no good only that it is none", async () => {
    const [expired, revoked] = [
      await service.keyFor("default", { expires: "1m" }),
      await service.keyFor("default"),
    ];
    await service.clock.advance(120_000);
    const { revokeKey } = await import("../../src/access/api-keys.ts");
    await revokeKey(callOf(service.ctx), { key: revoked });
    const bodies: Answer[] = [];
    for (const bad of [
      expired,
      revoked,
      `${key}0`,
      `${key.slice(0, -1)}x`,
      `phk_${"0".repeat(26)}_${"0".repeat(64)}`,
      "garbled",
    ]) {
      bodies.push(await service.ask("GET /api/v1/posts", { key: bad }));
    }
    expect(new Set(bodies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(bodies[0]?.status).toBe(401);
  });

  it("that refuses tells nothing of inside", async () => {
    const reader = await service.keyFor("default", { permissions: ["read"] });
    for (const target of GUARDED) {
      for (const ask of [
        { key: null },
        { key: reader, headers: { Host: "attacker.example" } },
        { key: reader, body: "{" },
      ]) {
        if (target === "GET /sse" && !("headers" in ask) && ask.key !== null) continue;
        const { text } = await service.ask(target, ask);
        expect(text).not.toMatch(
          /\/(?:work|tmp|home|usr|src)\/|node_modules|\.ts\b|\.js:\d|SQLITE|at \w+ \(/,
        );
        expect(text.length).toBeLessThan(600);
      }
    }
  });
});

describe("the description for programs", () => {
  it("names what a key opens, and nothing else", async () => {
    const { json } = await service.ask("GET /api/v1/openapi.json", { key: null });
    const paths = Object.keys(json.paths);
    expect(paths.length).toBeGreaterThan(15);
    const elsewhere = paths.filter(
      (path) =>
        !/^\/(?:api\/v1\/)?(?:accounts|calendar|drafts|posts|files|tools|platforms|report|status|webhooks|openapi\.json|docs|healthz|readyz)\b/.test(
          path,
        ),
    );
    expect(elsewhere).toEqual([]);
    expect(JSON.stringify(json)).not.toMatch(
      /\/metrics|\/connect\/|\/calendar\/[^"]|\/sse|\/messages|secret\.key|owner_id/,
    );
  });
});
