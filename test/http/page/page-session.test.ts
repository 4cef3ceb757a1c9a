import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { endPageSession, makeSignIn } from "../../../src/access/page-sessions.ts";
import { revokeKey } from "../../../src/access/api-keys.ts";
import { ROLES } from "../../../src/domain/permissions.ts";
import { callOf } from "../../support/context.ts";
import { send } from "../../support/http.ts";
import { cookieOf, pageHeaders, signIn } from "../../support/page.ts";
import { startService, type Service } from "../../support/service.ts";
import { startServiceWithMcp } from "../../security/service-with-mcp.ts";

const PUBLIC = "https://posts.example";
const FIXED = "f".repeat(40);

let service: Service;
let proxied: Service;

beforeAll(async () => {
  service = await startServiceWithMcp({ fixedApiKey: FIXED });
  proxied = await startService({ publicUrl: PUBLIC });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await proxied[Symbol.asyncDispose]();
});

describe("the cookie", () => {
  it("on loopback is for this host and the page alone, and no script reads it", async () => {
    const { answer } = await signIn(service);
    expect(answer.status).toBe(201);
    const [pair, ...flags] = (answer.headers["set-cookie"] ?? "").split("; ");
    expect(pair).toMatch(/^posthorn_page=[\w-]{43}$/);
    expect(flags.filter((flag) => !flag.startsWith("Expires="))).toEqual([
      "Max-Age=2592000",
      "Path=/app",
      "HttpOnly",
      "SameSite=Strict",
    ]);
  });

  it("over https is Secure, and bound to the host by its name", async () => {
    const headers = { Host: "posts.example", Origin: PUBLIC, "X-Posthorn-Page": "1" };
    const json = { token: await makeSignIn(proxied.ctx) };
    const answer = await send(proxied.port, "POST /app/api/session", { headers, json });
    const [pair, ...flags] = (answer.headers["set-cookie"] ?? "").split("; ");
    expect(pair).toMatch(/^__Host-posthorn=[\w-]{43}$/);
    expect(flags).toEqual(expect.arrayContaining(["Path=/", "HttpOnly", "Secure", "SameSite=Strict"]));
    expect(flags.join()).not.toContain("Domain");
    const get = (cookie: string) =>
      send(proxied.port, "GET /app/api/session", { headers: { Host: "posts.example", Cookie: cookie } });
    expect((await get(cookieOf(answer))).status).toBe(200);
    // A neighbour's host, or who is on the line, can set only the other one.
    expect((await get(cookieOf(answer).replace("__Host-posthorn", "posthorn_page"))).status).toBe(401);
  });

  it("is renewed when the page is opened", async () => {
    const { ask, cookie } = await signIn(service);
    const { headers } = await ask("GET /app/api/session");
    expect(headers["set-cookie"]).toContain(`${cookie}; Max-Age=2592000; Path=/app`);
  });

  it("opens neither the API nor MCP", async () => {
    const { cookie } = await signIn(service);
    const headers = { ...pageHeaders(service.port), Cookie: cookie };
    const json = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    for (const target of [
      "GET /api/v1/accounts",
      "POST /api/v1/tools/list_accounts",
      "POST /mcp",
      "GET /sse",
    ])
      expect((await send(service.port, target, { headers, json })).status, target).toBe(401);
    const token = cookie.split("=")[1] ?? "";
    expect((await service.ask("GET /api/v1/accounts", { key: token })).status).toBe(401);
  });

  it("has the place of a key: none opens the page's own calls", async () => {
    const key = await service.keyFor("default");
    expect((await send(service.port, "GET /app/api/session", { key })).status).toBe(401);
  });
});

describe("signing in", () => {
  it("answers who it is, and what the page shows them", async () => {
    const { answer, ask } = await signIn(service);
    const { session } = answer.json;
    expect(session).toEqual({
      id: expect.stringMatching(/^ses_/),
      keyId: "local",
      name: "This machine",
      permissions: ["read", "draft", "publish", "accounts", "files", "admin"],
      role: "admin",
      accountIds: null,
      timezone: "UTC",
      version: expect.stringMatching(/^\d/),
      publicUrl: expect.stringMatching(/^http:\/\/localhost:/),
      isWelcome: true,
      hasBackup: expect.any(Boolean),
      hasOAuth: false,
      push: { publicKey: expect.stringMatching(/^[\w-]{80,}$/) },
    });
    expect((await ask("GET /app/api/session")).json).toEqual({ session });
  });

  it("works with a token once, also where ten come at once", async () => {
    const json = { token: await makeSignIn(service.ctx) };
    const post = () =>
      send(service.port, "POST /app/api/session", { headers: pageHeaders(service.port), json });
    const statuses = (await Promise.all(Array.from({ length: 10 }, post))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    const again = await post();
    expect([again.status, again.json.error]).toEqual([401, expect.stringContaining("Run `posthorn open`")]);
    expect(again.headers["set-cookie"]).toBeUndefined();
  });

  it("works with a token for 10 minutes", async () => {
    const json = { token: await makeSignIn(service.ctx) };
    await service.clock.advance(10 * 60_000);
    const headers = pageHeaders(service.port);
    expect((await send(service.port, "POST /app/api/session", { headers, json })).status).toBe(401);
  });

  it("works with a key, and with the fixed one", async () => {
    const { answer } = await signIn(
      service,
      await service.keyFor("alice", { name: "Alice", permissions: ROLES.viewer }),
    );
    expect(answer.json.session).toMatchObject({ name: "Alice", role: "viewer", permissions: ["read"] });
    expect((await signIn(service, FIXED)).answer.json.session).toMatchObject({ name: "POSTHORN_API_KEY" });
    const wrong = await signIn(service, `${FIXED}x`);
    expect([wrong.answer.status, wrong.answer.json.error]).toEqual([
      401,
      expect.stringMatching(/^The API key is not valid/),
    ]);
  });

  it("wants one of the two", async () => {
    const headers = pageHeaders(service.port);
    for (const json of [{}, { key: "a", token: "b" }, { token: 1 }, { user: "a" }])
      expect((await send(service.port, "POST /app/api/session", { headers, json })).status).toBe(400);
  });

  it("is limited by address where it fails", async () => {
    await using strict = await startService();
    const statuses = new Set<number>();
    for (let tries = 0; tries < 310; tries++) statuses.add((await signIn(strict, "wrong")).answer.status);
    expect([...statuses]).toEqual([401, 429]);
    expect((await signIn(strict)).answer.status).toBe(201);
  });
});

describe("what is not our own page", () => {
  const target = "POST /app/api/welcome";

  it("may not write: it lacks the header, or comes from elsewhere", async () => {
    const { cookie } = await signIn(service);
    const own: Record<string, string> = { ...pageHeaders(service.port), Cookie: cookie };
    const without = (name: string) => Object.fromEntries(Object.entries(own).filter(([one]) => one !== name));
    const elsewhere = [
      "null",
      "https://evil.example",
      // Another program of this machine, and the same port by another name.
      `http://127.0.0.1:${service.port + 1}`,
      `http://localhost:${service.port}`,
      `https://127.0.0.1:${service.port}`,
    ].map((Origin) => ({ ...own, Origin }));
    for (const headers of [
      without("Origin"),
      without("X-Posthorn-Page"),
      { ...own, "X-Posthorn-Page": "yes" },
      ...elsewhere,
    ]) {
      const answer = await send(service.port, target, { headers });
      expect([answer.status, answer.json.error], JSON.stringify(headers)).toEqual([
        403,
        expect.stringMatching(/\.$/),
      ]);
    }
    expect((await send(service.port, target, { headers: own })).status).toBe(204);
  });

  it("may not sign anyone in either", async () => {
    const json = { token: await makeSignIn(service.ctx) };
    const answer = await send(service.port, "POST /app/api/session", { json });
    expect([answer.status, answer.headers["set-cookie"]]).toEqual([403, undefined]);
    expect(
      (await send(service.port, "POST /app/api/session", { json, headers: pageHeaders(service.port) }))
        .status,
    ).toBe(201);
  });

  it("is every name but loopback's and the public one", async () => {
    const { cookie } = await signIn(service);
    for (const path of ["/app", "/app/api/session", "/app/sign-in"]) {
      const headers = { Host: "evil.example", Cookie: cookie, Accept: "text/html" };
      expect((await send(service.port, `GET ${path}`, { headers })).status, path).toBe(403);
    }
  });

  it("comes at the public address from its own origin", async () => {
    const json = { token: "x" };
    const ask = (Origin: string) =>
      send(proxied.port, "POST /app/api/session", {
        json,
        headers: { Host: "posts.example", "X-Posthorn-Page": "1", Origin },
      });
    expect((await ask(PUBLIC)).status).toBe(401);
    for (const origin of ["http://posts.example", "https://posts.example:444", "https://a.posts.example"])
      expect((await ask(origin)).status, origin).toBe(403);
  });
});

describe("a session", () => {
  it("ends at once with its key", async () => {
    const key = await service.keyFor("default");
    const { ask } = await signIn(service, key);
    expect((await ask("GET /app/api/session")).status).toBe(200);
    await revokeKey(callOf(service.ctx), { key });
    for (const target of ["GET /app/api/session", "POST /app/api/tools/list_accounts", "POST /app/api/files"])
      expect((await ask(target, { json: {} })).status, target).toBe(401);
  });

  it("ends when the person signs out, and the cookie goes", async () => {
    const { ask } = await signIn(service);
    const out = await ask("DELETE /app/api/session");
    expect([out.status, out.headers["set-cookie"]]).toEqual([
      204,
      expect.stringContaining("posthorn_page=; Path=/app; Expires=Thu, 01 Jan 1970"),
    ]);
    expect((await ask("GET /app/api/session")).status).toBe(401);
  });

  it("is listed, and ended from another one", async () => {
    await using quiet = await startService();
    const [one, other] = [await signIn(quiet), await signIn(quiet)];
    const { sessions } = (await one.ask("GET /app/api/sessions")).json;
    expect(sessions).toHaveLength(2);
    const theirs = sessions.find((session: { isCurrent: boolean }) => !session.isCurrent);
    expect(theirs.id).toBe(other.answer.json.session.id);
    expect((await one.ask(`DELETE /app/api/sessions/${theirs.id}`)).status).toBe(204);
    expect((await one.ask(`DELETE /app/api/sessions/${theirs.id}`)).status).toBe(404);
    expect((await other.ask("GET /app/api/session")).status).toBe(401);
    await endPageSession(callOf(quiet.ctx), one.answer.json.session.id);
    expect((await one.ask("GET /app/api/sessions")).status).toBe(401);
  });

  it("puts the greeting away", async () => {
    const key = await service.keyFor("greeted");
    const { ask } = await signIn(service, key);
    expect((await ask("GET /app/api/session")).json.session.isWelcome).toBe(true);
    expect((await ask("POST /app/api/welcome")).status).toBe(204);
    expect((await ask("GET /app/api/session")).json.session.isWelcome).toBe(false);
  });
});

it("no token stands in a log, or in an answer", async () => {
  const waiting = await makeSignIn(service.ctx);
  const { cookie, answer, ask } = await signIn(service);
  const tokens = [waiting, cookie.split("=")[1] ?? ""];
  const wrong = await send(service.port, "POST /app/api/session", {
    headers: { ...pageHeaders(service.port), Cookie: cookie },
    json: { token: `${waiting}x` },
  });
  const answers = [answer, wrong];
  for (const target of [
    "GET /app/api/session",
    "GET /app/api/sessions",
    "GET /app/api/keys",
    "GET /app/api/tools",
  ])
    answers.push(await ask(target));
  for (const { name, hints } of service.tools)
    if (hints.readOnly) answers.push(await ask(`POST /app/api/tools/${name}`, { json: {} }));
  for (const token of tokens) {
    expect(token).toHaveLength(43);
    expect(service.log.text()).not.toContain(token);
    expect(answers.map(({ text }) => text).join("\n")).not.toContain(token);
  }
});
