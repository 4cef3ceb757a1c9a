import { Readable } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { AppError } from "../../../src/domain/errors.ts";
import { listGrants } from "../../../src/access/oauth/grants.ts";
import { examineOAuth } from "../../../src/app/operations/doctor-oauth.ts";
import { OutboundFailure, type Outbound } from "../../../src/ports/outbound.ts";
import type { Finding } from "../../../src/domain/health/findings.ts";
import { type AgentServer, PUBLIC_URL, startAgentServer } from "../../support/agents.ts";
import { callerOf, callOf, createTestContext } from "../../support/context.ts";
import { type Answer, send } from "../../support/http.ts";

/** What the proxy in front makes of an answer. */
type Proxy = (path: string, answer: Answer) => Partial<Answer> & { readonly headers?: Answer["headers"] };

const HTML = { "content-type": "text/html; charset=utf-8" };

let server: AgentServer;
let proxy: Proxy;
let asked: string[];

/** Others come to the public address, which leads to the server by a proxy. */
const outbound: Outbound = {
  assertAllowed: (_field, url) => new URL(url),
  async request({ method, url, headers = {}, body }) {
    const { host, pathname, search } = new URL(url);
    asked.push(`${method} ${pathname}`);
    const ask = { headers: { ...headers, Host: host }, ...(typeof body === "string" ? { body } : {}) };
    const answer = await send(server.port, `${method} ${pathname}${search}`, ask);
    const { status, headers: shown, text } = { ...answer, ...proxy(pathname, answer) };
    return { status, headers: shown, url, body: Readable.from([Buffer.from(text)]) };
  },
};

beforeAll(async () => {
  server = await startAgentServer({}, { outbound });
});

afterAll(() => server[Symbol.asyncDispose]());

beforeEach(() => {
  proxy = () => ({});
  asked = [];
});

const settings = { url: null, publicUrl: PUBLIC_URL };

const examine = (more: Partial<Parameters<typeof examineOAuth>[1]> = {}): Promise<Finding[]> =>
  examineOAuth(server.ctx, { ...settings, ...more });

/** The steps that went well, and the one that did not. */
async function stopped(change: Proxy): Promise<{ passed: string[]; at: string[]; text: string }> {
  proxy = change;
  const findings = await examine();
  const problems = findings.filter(({ verdict }) => verdict === "problem");
  return {
    passed: findings.filter(({ verdict }) => verdict === "ok").map(({ topic }) => topic),
    at: problems.map(({ topic }) => topic),
    text: problems[0]?.text ?? "",
  };
}

const at =
  (path: string, change: Partial<Answer> | ((answer: Answer) => Partial<Answer>)): Proxy =>
  (asked, answer) =>
    asked !== path ? {} : typeof change === "function" ? change(answer) : change;

/** A document with something changed in it. */
const changed =
  (fields: object) =>
  ({ json }: Answer): Partial<Answer> => ({ text: JSON.stringify({ ...json, ...fields }) });

const SERVER = "/.well-known/oauth-authorization-server/oauth";
const RESOURCE = "/.well-known/oauth-protected-resource/mcp";
const FOUND = ["address", "challenge", "resource metadata", "server metadata"];
const ACCESS = ["consent", "tokens", "tools", "refresh", "revoke"];

describe("the way of a program by OAuth", () => {
  it("is walked to its end, and leaves nothing open", async () => {
    const findings = await examine();
    expect(findings.filter(({ verdict }) => verdict !== "ok")).toEqual([]);
    expect(findings.map(({ topic }) => topic)).toEqual([...FOUND, ...ACCESS]);
    expect(asked[0]).toBe("POST /mcp");
    expect((await listGrants(callOf(server.ctx, callerOf({ ownerId: "default" })))).grants).toEqual([]);
  });

  it("ends where a person is asked, where the server has another data folder", async () => {
    await using here = await createTestContext({ outbound });
    const findings = await examineOAuth(here, { ...settings, url: `${PUBLIC_URL}/`, publicUrl: null });
    expect(findings.map(({ topic, verdict }) => [topic, verdict])).toEqual([
      ...FOUND.map((topic) => [topic, "ok"]),
      ["consent", "ok"],
      ["tokens", "note"],
    ]);
    expect(findings.at(-1)?.text).toContain("MCP Inspector");
    expect(asked).not.toContain("POST /oauth/token");
  });
});

describe("what stands in the way is named: an address", () => {
  it("that is missing, or not of https", async () => {
    for (const asks of [{ publicUrl: null }, { url: "http://posts.example.com/mcp" }, { url: "bluesky" }])
      expect(await examine(asks)).toEqual([
        { topic: "address", verdict: "problem", text: expect.stringContaining("https address") },
      ]);
    expect(asked).toEqual([]);
  });

  it("that nobody knows", async () => {
    const request = () => Promise.reject(new OutboundFailure("lost", false, { reason: "unknown_name" }));
    await using here = await createTestContext({ outbound: { ...outbound, request } });
    const [finding, ...others] = await examineOAuth(here, settings);
    expect([finding?.topic, finding?.verdict, others]).toEqual(["address", "problem", []]);
    expect(finding?.text).toContain("No name server knows the name.");
  });
});

describe("a name that leads to a private address from here", () => {
  it("is walked, and told", async () => {
    const request: Outbound["request"] = (asks) => {
      if (asks.mayBePrivate === true) return outbound.request(asks);
      return Promise.reject(new AppError("invalid", "The address leads to a private network."));
    };
    await using here = await createTestContext({ outbound: { ...outbound, request } });
    const [first, ...others] = await examineOAuth(here, settings);
    expect([first?.topic, first?.verdict]).toEqual(["address", "note"]);
    expect(first?.text).toContain("try it from another network");
    expect(others.filter(({ topic }) => topic === "address").map(({ verdict }) => verdict)).toEqual(["ok"]);
    expect(others.some(({ verdict }) => verdict === "problem")).toBe(false);
  });
});

describe("what stands in the way is named: a proxy", () => {
  it("that takes WWW-Authenticate out", async () => {
    const without = at("/mcp", ({ headers }) => {
      const kept = Object.entries(headers).filter(([name]) => name !== "www-authenticate");
      return { headers: Object.fromEntries(kept) };
    });
    const { passed, at: step, text } = await stopped(without);
    expect([passed, step]).toEqual([["address"], ["challenge"]]);
    expect(text).toContain("A proxy in front takes it out");
  });

  it("that shows a login of its own", async () => {
    const login = { location: "https://team.cloudflareaccess.com/cdn-cgi/access/login/posts" };
    const logins: [Partial<Answer>, string][] = [
      [{ status: 302, headers: login }, "Cloudflare Access asks for a login"],
      [{ status: 403, headers: { ...HTML, "cf-access-domain": "posts" } }, "Cloudflare Access"],
      [{ status: 403, headers: { ...HTML, "cf-mitigated": "challenge" } }, "bot protection"],
      [{ status: 302, headers: { location: "https://login.tailscale.com/a/1" } }, "Use Funnel and not Serve"],
      [{ status: 301, headers: { location: "https://www.example.com/mcp" } }, "https://www.example.com/mcp"],
      [{ status: 200, headers: HTML, text: "<h1>Log in</h1>" }, "A page answers where Posthorn should"],
      [{ status: 401, headers: HTML, text: "<h1>Log in</h1>" }, "A page answers where Posthorn should"],
      [{ status: 502, headers: HTML, text: "Bad gateway" }, "Posthorn behind it does not"],
    ];
    for (const [change, sentence] of logins) {
      const { passed, at: step, text } = await stopped(at("/mcp", change));
      expect([passed, step], sentence).toEqual([["address"], ["challenge"]]);
      expect(text).toContain(sentence);
    }
  });

  it("that lets a part of the paths through alone", async () => {
    const missing = { status: 404, headers: HTML, text: "<h1>Nothing here</h1>" };
    const parts: [string, string][] = [
      [RESOURCE, "resource metadata"],
      [SERVER, "server metadata"],
      ["/app/consent", "consent"],
      ["/oauth/authorize", "consent"],
      ["/oauth/token", "tokens"],
      ["/oauth/revoke", "revoke"],
    ];
    for (const [path, topic] of parts) expect((await stopped(at(path, missing))).at[0]).toBe(topic);
    expect((await listGrants(callOf(server.ctx, callerOf({ ownerId: "default" })))).grants).toEqual([]);
  });

  it("that leads to another server", async () => {
    const elsewhere = { authorization_servers: ["https://login.example.com"] };
    const wrong: [Proxy, string, string][] = [
      [at(RESOURCE, changed({ resource: "https://old.example.com/mcp" })), FOUND[2] ?? "", "old.example.com"],
      [at(RESOURCE, changed(elsewhere)), FOUND[2] ?? "", "login.example.com"],
      [at(SERVER, changed({ issuer: "https://login.example.com" })), FOUND[3] ?? "", "login.example.com"],
      [at(SERVER, changed({ code_challenge_methods_supported: ["plain"] })), FOUND[3] ?? "", "S256"],
      [
        at(SERVER, changed({ registration_endpoint: "https://login.example.com/register" })),
        FOUND[3] ?? "",
        "registration is https://login.example.com/register",
      ],
    ];
    for (const [change, topic, sentence] of wrong) {
      const { at: step, text } = await stopped(change);
      expect(step).toEqual([topic]);
      expect(text).toContain(sentence);
    }
  });

  it("that keeps what a token opened", async () => {
    const first: Answer[] = [];
    const cached: Proxy = (path, answer) => {
      if (path !== "/mcp" || (answer.status !== 200 && first.length === 0)) return {};
      first.push(answer);
      return answer.status === 401 ? { status: 200 } : {};
    };
    const { at: step, text } = await stopped(cached);
    expect(step[0]).toBe("revoke");
    expect(text).toContain("cache nothing");
  });
});

describe("a server without OAuth", () => {
  it("is told from a proxy", async () => {
    const plain = at("/mcp", ({ headers }) => ({ headers: { ...headers, "www-authenticate": "Bearer" } }));
    const { at: step, text } = await stopped(plain);
    expect([step, text]).toEqual([["challenge"], expect.stringContaining("Set POSTHORN_OAUTH=on")]);
  });
});
