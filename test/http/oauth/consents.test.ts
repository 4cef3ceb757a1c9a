import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PERMISSIONS, ROLES } from "../../../src/domain/permissions.ts";
import { createKey, listKeys, revokeKey } from "../../../src/access/api-keys.ts";
import { callOf } from "../../support/context.ts";
import { queryOf } from "../../support/handles.ts";
import { send } from "../../support/http.ts";
import { cookieOf, pageHeaders, type Visitor } from "../../support/page.ts";
import { addAccount } from "../../support/post-rows.ts";
import {
  type Agent,
  type AgentServer,
  ALLOW,
  askPerson,
  callMcp,
  CALLBACK,
  connectAgent,
  newChallenge,
  PUBLIC_URL,
  refreshFields,
  register,
  startAgentServer,
  takeCode,
} from "../../support/agents.ts";

let server: AgentServer;
let agent: Agent;
let admin: Visitor;
const account = "acc_one";
const other = "acc_other";
const { challenge } = newChallenge();

beforeAll(async () => {
  server = await startAgentServer();
  agent = await register(server, { client_uri: "https://agent.example.com/" });
  admin = await server.person();
  for (const id of [account, other]) await addAccount(server.ctx.store, { id, ownerId: "default" });
});

afterAll(() => server[Symbol.asyncDispose]());

function ask(): Promise<string> {
  return askPerson(server, agent.id, { challenge });
}

describe("the question to a person", () => {
  it("says who asks, and what may be given", async () => {
    const id = await ask();
    const { status, json } = await admin.ask(`GET /app/api/consents/${id}`);
    expect(status).toBe(200);
    expect(json.consent).toEqual({
      id,
      client: {
        name: "Agent",
        host: null,
        callbackHost: "agent.example.com",
        isVerified: false,
        uri: "https://agent.example.com/",
      },
      roles: [
        { name: "viewer", permissions: ROLES.viewer, isPreselected: false },
        { name: "writer", permissions: ROLES.writer, isPreselected: true },
        { name: "publisher", permissions: ROLES.publisher, isPreselected: false },
        { name: "admin", permissions: ROLES.admin, isPreselected: false },
      ],
      resource: `${PUBLIC_URL}/mcp`,
      expiresAt: new Date(server.ctx.clock.now() + 600_000).toISOString(),
    });
  });

  it("says for whom a server vouches", async () => {
    const seen = async (client: string, redirect_uri: string): Promise<unknown> => {
      const id = await askPerson(server, client, { challenge, redirect_uri });
      return (await admin.ask(`GET /app/api/consents/${id}`)).json.consent.client;
    };
    const claude = "https://claude.ai/oauth/mcp-oauth-client-metadata";
    expect(await seen(claude, "https://claude.ai/api/mcp/auth_callback")).toEqual({
      name: "Claude",
      host: "claude.ai",
      callbackHost: "claude.ai",
      isVerified: true,
      uri: "https://claude.ai",
    });
    const code = "https://claude.ai/oauth/claude-code-client-metadata";
    expect(await seen(code, "http://localhost:5/callback")).toMatchObject({
      host: "claude.ai",
      callbackHost: "localhost",
      isVerified: false,
    });
    const cursor = await register(server, {
      redirect_uris: ["cursor://anysphere.cursor-mcp/oauth/callback"],
    });
    expect(await seen(cursor.id, "cursor://anysphere.cursor-mcp/oauth/callback")).toMatchObject({
      callbackHost: "cursor:",
      isVerified: false,
    });
  });

  it("is shown to those who are signed in, and answered on our own page alone", async () => {
    const id = await ask();
    const path = `/app/api/consents/${id}`;
    expect((await server.visit(`GET ${path}`)).status).toBe(401);
    expect(
      (await send(server.port, `POST ${path}`, { json: ALLOW, headers: pageHeaders(server.port) })).status,
    ).toBe(401);
    const headers = { Cookie: admin.cookie, Host: `127.0.0.1:${server.port}` };
    expect((await send(server.port, `POST ${path}`, { json: ALLOW, headers })).status).toBe(403);
    const foreign = {
      ...pageHeaders(server.port),
      Cookie: admin.cookie,
      Origin: "https://agent.example.com",
    };
    expect((await send(server.port, `POST ${path}`, { json: ALLOW, headers: foreign })).status).toBe(403);
    for (const json of [
      {},
      { decision: "maybe" },
      { decision: "allow" },
      { ...ALLOW, role: "owner" },
      { ...ALLOW, more: 1 },
    ])
      expect((await admin.ask(`POST ${path}`, { json })).status, JSON.stringify(json)).toBe(400);
    expect((await admin.ask(`GET ${path}`)).status).toBe(200);
    expect((await admin.ask("GET /app/api/consents/unknown")).status).toBe(404);
    expect((await admin.ask(`PUT ${path}`)).status).toBe(405);
  });

  it("is answered once", async () => {
    const id = await ask();
    const answers = await Promise.all(
      [1, 2, 3].map(() => admin.ask(`POST /app/api/consents/${id}`, { json: ALLOW })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
    const url = new URL(answers.find(({ status }) => status === 200)?.json.redirectUrl);
    expect(`${url.origin}${url.pathname}`).toBe(CALLBACK);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      code: expect.stringMatching(/^phc_[0-9a-f]{64}$/),
      state: "s t&a=te",
      iss: `${PUBLIC_URL}/oauth`,
    });
  });

  it("may be answered with no", async () => {
    const id = await ask();
    const { json } = await admin.ask(`POST /app/api/consents/${id}`, { json: { decision: "deny" } });
    const answer = new URL(json.redirectUrl).searchParams;
    expect([answer.get("error"), answer.get("code"), answer.get("state"), answer.get("iss")]).toEqual([
      "access_denied",
      null,
      "s t&a=te",
      `${PUBLIC_URL}/oauth`,
    ]);
    expect((await admin.ask(`GET /app/api/consents/${id}`)).status).toBe(404);
  });
});

describe("what is given", () => {
  it("is never more than the person may do", async () => {
    const writer = await server.person(await server.keyFor("default", { permissions: ROLES.writer }));
    const id = await ask();
    const { consent } = (await writer.ask(`GET /app/api/consents/${id}`)).json;
    expect(consent.roles.map(({ name }: { name: string }) => name)).toEqual(["viewer", "writer"]);
    for (const role of ["publisher", "admin"]) {
      const json = { decision: "allow", role };
      expect((await writer.ask(`POST /app/api/consents/${id}`, { json })).status, role).toBe(403);
    }
    const viewer = await server.person(await server.keyFor("default", { permissions: ROLES.viewer }));
    const seen = (await viewer.ask(`GET /app/api/consents/${id}`)).json.consent;
    expect(seen.roles).toEqual([{ name: "viewer", permissions: ["read"], isPreselected: true }]);
  });

  it("never reaches further than the person", async () => {
    const limited = await server.person(
      await server.keyFor("default", { permissions: ROLES.publisher, accountIds: [account] }),
    );
    const id = await ask();
    for (const accountIds of [[other], [account, other], ["acc_unknown"]]) {
      const json = { ...ALLOW, accountIds };
      expect((await limited.ask(`POST /app/api/consents/${id}`, { json })).status).toBe(403);
    }
    expect(
      (await admin.ask(`POST /app/api/consents/${id}`, { json: { ...ALLOW, accountIds: [] } })).status,
    ).toBe(400);
    expect(
      (await admin.ask(`POST /app/api/consents/${id}`, { json: { ...ALLOW, accountIds: ["acc_unknown"] } }))
        .status,
    ).toBe(403);
    await connectAgent(server, agent, { person: limited });
    const { grants } = (await limited.ask("GET /app/api/grants")).json;
    expect(grants).toMatchObject([{ role: "writer", accountIds: [account] }]);
  });

  it("is listed and ended", async () => {
    const key = await server.keyFor("default", { name: "Ann", permissions: ROLES.publisher });
    const ann = await server.person(key);
    const { access_token, refresh_token } = await connectAgent(server, agent, {
      person: ann,
      json: { decision: "allow", role: "publisher", accountIds: [account] },
    });
    expect(await callMcp(server, access_token)).toBe(200);
    const { grants } = (await ann.ask("GET /app/api/grants")).json;
    expect(grants).toEqual([
      {
        id: expect.stringMatching(/^key_/),
        client: expect.objectContaining({ name: "Agent", callbackHost: "agent.example.com" }),
        role: "publisher",
        permissions: ROLES.publisher,
        accountIds: [account],
        givenBy: "Ann",
        createdAt: expect.any(String),
        lastUsedAt: expect.any(String),
        expiresAt: expect.any(String),
      },
    ]);
    const { keys } = await listKeys(callOf(server.ctx));
    expect(keys.find(({ id }) => id === grants[0].id)).toMatchObject({ name: "Agent", status: "active" });
    const stranger = await server.person(await server.keyFor("default", { permissions: ROLES.publisher }));
    expect((await stranger.ask("GET /app/api/grants")).json.grants).toEqual([]);
    expect((await stranger.ask(`DELETE /app/api/grants/${grants[0].id}`)).status).toBe(404);
    const foreigner = await server.person(await server.keyFor("alice"));
    expect((await foreigner.ask(`DELETE /app/api/grants/${grants[0].id}`)).status).toBe(404);
    expect((await admin.ask(`DELETE /app/api/grants/${grants[0].id}`)).status).toBe(204);
    expect(await callMcp(server, access_token)).toBe(401);
    expect((await server.post("/oauth/token", refreshFields(agent, refresh_token))).json.error).toBe(
      "invalid_grant",
    );
    expect((await ann.ask("GET /app/api/grants")).json.grants).toEqual([]);
  });

  it("ends with the key that gave it, and not with the session", async () => {
    const key = await server.keyFor("default", { name: "Bob" });
    const bob = await server.person(key);
    const { access_token } = await connectAgent(server, agent, { person: bob });
    const pending = await takeCode(server, agent, { person: bob });
    expect((await bob.ask("DELETE /app/api/session")).status).toBe(204);
    expect(await callMcp(server, access_token)).toBe(200);
    await revokeKey(callOf(server.ctx), { key });
    expect(await callMcp(server, access_token)).toBe(401);
    expect((await server.post("/oauth/token", pending)).json.error).toBe("invalid_grant");
  });

  it("is narrowed with that key, in open sessions too", async () => {
    const { key, apiKey } = await createKey(callOf(server.ctx), { permissions: PERMISSIONS });
    const { access_token } = await connectAgent(server, agent, { person: await server.person(key) });
    const ask = (method: string, more: object, headers: Record<string, string> = {}) =>
      server.visit("POST /mcp", {
        key: access_token,
        json: { jsonrpc: "2.0", id: 1, method, ...more },
        headers: { Accept: "application/json, text/event-stream", ...headers },
      });
    const clientInfo = { name: "agent", version: "1" };
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    const opened = await ask("initialize", { params });
    const session = { "Mcp-Session-Id": opened.headers["mcp-session-id"] ?? "" };
    expect((await ask("tools/list", {}, session)).status).toBe(200);
    await server.ctx.store.write(async (tx) => {
      const permissions = JSON.stringify(["read"]);
      await queryOf(tx).updateTable("api_keys").set({ permissions }).where("id", "=", apiKey.id).execute();
    });
    expect((await ask("tools/list", {}, session)).status).toBe(404);
    expect((await ask("initialize", { params })).status).toBe(200);
  });

  it("ends when that key expires", async () => {
    const key = await server.keyFor("default", { expires: "30m" });
    const tokens = await connectAgent(server, agent, { person: await server.person(key) });
    expect(tokens.expires_in).toBe(1_800);
    await server.ctx.clock.advance(30 * 60_000);
    expect(await callMcp(server, tokens.access_token)).toBe(401);
    const late = await server.post("/oauth/token", refreshFields(agent, tokens.refresh_token));
    expect(late.json.error).toBe("invalid_grant");
  });

  it("cannot sign in to the page, nor give anything", async () => {
    const { access_token } = await connectAgent(server, agent);
    const headers = pageHeaders(server.port);
    const answer = await send(server.port, "POST /app/api/session", { headers, json: { key: access_token } });
    expect([answer.status, cookieOf(answer)]).toEqual([401, ""]);
    expect((await server.visit("GET /app/api/grants", { key: access_token })).status).toBe(401);
  });
});

describe("what a fixed key gave", () => {
  it("ends with that key", async () => {
    const fixedApiKey = "a fixed key of the settings, long enough";
    await using first = await startAgentServer({ fixedApiKey });
    const program = await register(first);
    const tokens = await connectAgent(first, program, { person: await first.person(fixedApiKey) });
    expect(await callMcp(first, tokens.access_token)).toBe(200);
    await using second = await startAgentServer(
      { fixedApiKey: "another fixed key of the settings, as long" },
      { store: first.ctx.store, cipher: first.ctx.cipher },
    );
    expect(await callMcp(second, tokens.access_token)).toBe(401);
    const answer = await second.post("/oauth/token", refreshFields(program, tokens.refresh_token));
    expect(answer.json.error).toBe("invalid_grant");
  });
});
