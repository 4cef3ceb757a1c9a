import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type AgentServer,
  authorizePath,
  callMcp,
  connectAgent,
  newChallenge,
  PUBLIC_URL,
  register,
  startAgentServer,
} from "../../support/agents.ts";

const ISSUER = `${PUBLIC_URL}/oauth`;
const PATHS = [
  "/.well-known/oauth-protected-resource/mcp",
  "/.well-known/oauth-protected-resource",
  "/.well-known/oauth-authorization-server/oauth",
  "/oauth/.well-known/oauth-authorization-server",
  "/.well-known/oauth-authorization-server",
  "/.well-known/oauth-authorization-server/mcp",
];

let server: AgentServer;

beforeAll(async () => {
  server = await startAgentServer();
});

afterAll(() => server[Symbol.asyncDispose]());

describe("what programs read of the authorization server", () => {
  it("names the resource and its server", async () => {
    for (const path of PATHS.slice(0, 2))
      expect((await server.visit(`GET ${path}`)).json, path).toEqual({
        resource: `${PUBLIC_URL}/mcp`,
        authorization_servers: [ISSUER],
        bearer_methods_supported: ["header"],
        scopes_supported: ["mcp"],
        resource_name: "Posthorn",
      });
  });

  it("names the server's addresses and ways", async () => {
    for (const path of PATHS.slice(2))
      expect((await server.visit(`GET ${path}`)).json, path).toMatchObject({
        issuer: ISSUER,
        authorization_endpoint: `${ISSUER}/authorize`,
        token_endpoint: `${ISSUER}/token`,
        registration_endpoint: `${ISSUER}/register`,
        revocation_endpoint: `${ISSUER}/revoke`,
        response_types_supported: ["code"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none", "client_secret_post", "client_secret_basic"],
        client_id_metadata_document_supported: true,
        authorization_response_iss_parameter_supported: true,
      });
  });

  it("can be read from pages of other sites, without their cookies", async () => {
    const headers = { Origin: "https://agent.example.com" };
    for (const path of [...PATHS, "/oauth/token", "/oauth/register", "/oauth/revoke"]) {
      const { status, headers: answer } = await server.visit(`OPTIONS ${path}`, { headers });
      expect([path, status, answer["access-control-allow-origin"]]).toEqual([path, 204, "*"]);
      expect(answer["access-control-allow-credentials"]).toBeUndefined();
    }
    const refused = await server.post("/oauth/token", {}, headers);
    expect(refused.headers["access-control-allow-origin"]).toBe("*");
    const page = await server.visit("GET /oauth/authorize", { headers });
    expect(page.headers["access-control-allow-origin"]).toBeUndefined();
  });

  it("is where those without a token are sent", async () => {
    const metadata = `${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp`;
    const without = await server.visit("POST /mcp", { json: {} });
    expect([without.status, without.headers["www-authenticate"]]).toEqual([
      401,
      `Bearer resource_metadata="${metadata}", scope="mcp"`,
    ]);
    const wrong = await server.visit("POST /mcp", { json: {}, key: `pha_${"0".repeat(64)}` });
    expect(wrong.headers["www-authenticate"]).toMatch(/error="invalid_token"$/);
    const api = await server.visit("GET /api/v1/tools");
    expect(api.headers["www-authenticate"]).toBe("Bearer");
  });

  it("is one resource, however its address is written", async () => {
    const slash = await server.visit("GET /.well-known/oauth-protected-resource/mcp/");
    expect(slash.json.resource).toBe(`${PUBLIC_URL}/mcp/`);
    const without = await server.visit("POST /mcp/", { json: {} });
    expect(without.headers["www-authenticate"]).toContain(
      `resource_metadata="${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp/"`,
    );
    const agent = await register(server);
    const { challenge } = newChallenge();
    const { host } = new URL(PUBLIC_URL);
    for (const resource of [
      `${PUBLIC_URL}/mcp/`,
      `https://${host.toUpperCase()}/mcp`,
      `https://${host}:443/mcp`,
    ])
      expect((await server.visit(`GET ${authorizePath(agent.id, challenge, { resource })}`)).status).toBe(
        302,
      );
  });

  it("gives tokens that open /mcp alone", async () => {
    const { access_token: key } = await connectAgent(server, await register(server));
    expect(await callMcp(server, key)).toBe(200);
    for (const target of [
      "GET /sse",
      "POST /messages?sessionId=none",
      "GET /api/v1/tools",
      "POST /api/v1/tools/list_accounts",
      "POST /api/v1/files",
      "GET /app/api/session",
    ])
      expect((await server.visit(target, { key })).status, target).toBe(401);
  });

  it("has nothing else, and takes no other method", async () => {
    for (const path of ["/.well-known/openid-configuration", "/oauth", "/oauth/nothing", "/oauth/userinfo"])
      expect((await server.visit(`GET ${path}`)).status, path).toBe(404);
    for (const target of ["POST /oauth/authorize", "GET /oauth/token", "PUT /oauth/register"])
      expect((await server.visit(target)).status, target).toBe(405);
  });
});

describe("a server without OAuth", () => {
  it("shows none of it", async () => {
    await using plain = await startAgentServer({ hasOAuth: false });
    for (const path of [...PATHS, "/oauth/authorize", "/oauth/token", "/oauth/register"])
      expect((await plain.visit(`GET ${path}`)).status, path).toBe(404);
    const { headers } = await plain.visit("POST /mcp", { json: {} });
    expect(headers["www-authenticate"]).toBe("Bearer");
    const person = await plain.person();
    for (const path of ["/consents/x", "/grants"])
      expect((await person.ask(`GET /app/api${path}`)).status, path).toBe(404);
  });

  it("is one without the page that asks people, too", async () => {
    await using plain = await startAgentServer({ page: null });
    expect((await plain.visit(`GET ${PATHS[0]}`)).status).toBe(404);
  });
});
