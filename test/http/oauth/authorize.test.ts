import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAY, MINUTE } from "../../../src/domain/time.ts";
import { insertOAuthClient } from "../../../src/store/queries/oauth/requests.ts";
import { isRegistered, redirectProblem } from "../../../src/access/oauth/redirects.ts";
import {
  type Agent,
  type AgentServer,
  askPerson,
  authorizePath,
  CALLBACK,
  connectAgent,
  newChallenge,
  PUBLIC_URL,
  refreshFields,
  register,
  requestOf,
  startAgentServer,
} from "../../support/agents.ts";

let server: AgentServer;
let agent: Agent;
const { challenge } = newChallenge();
const CURSOR = "cursor://anysphere.cursor-mcp/oauth/callback";

beforeAll(async () => {
  server = await startAgentServer();
  agent = await register(server, { redirect_uris: [CALLBACK, CURSOR, "http://localhost/callback"] });
});

afterAll(() => server[Symbol.asyncDispose]());

describe("registering", () => {
  it("answers what holds from now on", async () => {
    const json = {
      redirect_uris: [CALLBACK],
      client_name: "  An\u202e agent \n ",
      client_uri: "https://agent.example.com/about",
      grant_types: ["authorization_code", "refresh_token", "client_credentials"],
      logo_uri: "https://agent.example.com/logo.png",
    };
    const answer = await server.visit("POST /oauth/register", { json });
    expect([answer.status, answer.headers["cache-control"]]).toEqual([201, "no-store"]);
    expect(answer.json).toEqual({
      client_id: expect.stringMatching(/^cli_[0-9a-z]{26}$/),
      client_id_issued_at: Math.floor(server.ctx.clock.now() / 1000),
      client_secret: expect.stringMatching(/^phs_[0-9a-f]{64}$/),
      client_secret_expires_at: 0,
      client_name: "An agent",
      client_uri: "https://agent.example.com/about",
      redirect_uris: [CALLBACK],
      token_endpoint_auth_method: "client_secret_basic",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      scope: "mcp",
    });
  });

  it.each([
    [{ redirect_uris: [] }, "invalid_redirect_uri"],
    [{ redirect_uris: "https://agent.example.com" }, "invalid_redirect_uri"],
    [{ redirect_uris: undefined }, "invalid_redirect_uri"],
    [{ redirect_uris: ["http://agent.example.com/callback"] }, "invalid_redirect_uri"],
    [{ redirect_uris: Array.from({ length: 21 }, (_, at) => `${CALLBACK}/${at}`) }, "invalid_redirect_uri"],
    [{ token_endpoint_auth_method: "private_key_jwt" }, "invalid_client_metadata"],
    [{ grant_types: ["client_credentials"] }, "invalid_client_metadata"],
    [{ response_types: ["token"] }, "invalid_client_metadata"],
    [{ client_name: 7 }, "invalid_client_metadata"],
  ])("refuses %j", async (change, error) => {
    await using strict = await startAgentServer();
    const json = { redirect_uris: [CALLBACK], ...change };
    const answer = await strict.visit("POST /oauth/register", { json });
    expect([answer.status, answer.json.error]).toEqual([400, error]);
    expect(answer.json.error_description).toMatch(/: .+\.$/);
  });

  it("takes null and an empty list for what is left out", async () => {
    await using lenient = await startAgentServer();
    const left = { logo_uri: null, client_uri: null, client_name: null, scope: null };
    const json = { redirect_uris: ["http://[::1]:4000/cb"], grant_types: [], response_types: [], ...left };
    expect((await lenient.visit("POST /oauth/register", { json })).status).toBe(201);
  });

  it("is forgotten past 1,000 programs that hold nothing, the oldest first", async () => {
    await using full = await startAgentServer();
    const used = await register(full);
    const { refresh_token } = await connectAgent(full, used);
    const redirect_uris = JSON.stringify([CALLBACK]);
    await full.ctx.store.write(async (tx) => {
      const now = full.ctx.clock.now();
      const row = { secret_hash: null, name: "An agent", uri: null, redirect_uris };
      const limits = { unusedSince: 0, maxUnused: 1_000 };
      for (let count = 0; count < 1_000; count++) {
        const id = `cli_${1_000 + count}`;
        await insertOAuthClient(tx, { ...row, id, created_at: now, used_at: now }, limits);
      }
    });
    const { id } = await register(full);
    const knows = async (client: string): Promise<boolean> =>
      (await full.visit(`GET ${authorizePath(client, challenge)}`)).status === 302;
    expect([await knows("cli_1000"), await knows("cli_1001"), await knows(id)]).toEqual([false, true, true]);
    expect((await full.post("/oauth/token", refreshFields(used, refresh_token))).status).toBe(200);
  });

  it("is for 20 programs an hour and address", async () => {
    await using busy = await startAgentServer();
    const headers = { "Content-Type": "application/json" };
    for (let count = 0; count < 20; count++)
      expect((await busy.visit("POST /oauth/register", { body: "[", headers })).status).toBe(400);
    const { status, json, headers: more } = await busy.visit("POST /oauth/register", { json: {} });
    expect([status, json.error]).toEqual([429, "temporarily_unavailable"]);
    expect(Number(more["retry-after"])).toBeGreaterThan(3_000);
  });

  it("ends for programs that nobody uses for 30 days, and not for those that hold something", async () => {
    await using quiet = await startAgentServer();
    const unused = await register(quiet);
    const used = await register(quiet);
    const { refresh_token } = await connectAgent(quiet, used);
    await quiet.ctx.clock.advance(30 * DAY);
    await register(quiet);
    const gone = await quiet.visit(`GET ${authorizePath(unused.id, challenge)}`);
    expect([gone.status, gone.text]).toEqual([400, expect.stringContaining("does not know this program")]);
    expect((await quiet.post("/oauth/token", refreshFields(used, refresh_token))).status).toBe(200);
  });
});

describe("an address to be sent back to", () => {
  it.each([
    "https://claude.ai/api/mcp/auth_callback",
    "https://claude.com/api/mcp/auth_callback",
    "https://chatgpt.com/connector_platform_oauth_redirect",
    "https://chatgpt.com/connector/oauth/AbC_123",
    "http://localhost/callback",
    "http://127.0.0.1:33418/",
    "http://127.0.0.1:33418",
    "http://[::1]:8080/callback?x=1",
    "https://vscode.dev/redirect",
    "https://insiders.vscode.dev/redirect",
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "https://www.cursor.com/agents/mcp/oauth/callback",
    "vscode://vscode.github-authentication/did-authenticate",
    "vscode-insiders://vscode.mcp/callback",
    "windsurf://codeium.windsurf/callback",
    "com.example.app:/callback",
  ])("may be %s", (address) => expect(redirectProblem(address)).toBeNull());

  it.each([
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "blob:https://agent.example.com/1",
    "vbscript:x",
    "about:blank",
    "ms-excel:ofe|u|https://agent.example.com/x.xls",
    "ms-officecmd:x",
    "ms-word:x",
    "ms-appinstaller:?source=https://agent.example.com",
    "ms-settings:",
    "search:query=x",
    "search-ms:query=x",
    "shell:x",
    "ssh://agent.example.com",
    "myapp://callback",
    "http://agent.example.com/",
    "http://localhost.agent.example.com/",
    "http://127.0.0.1.agent.example.com/",
    "http://localhost@agent.example.com/",
    "http://user@localhost/",
    "http://10.0.0.1/",
    "https://user:password@agent.example.com/",
    "https://agent.example.com/#fragment",
    "https://agent.example.com/\n",
    " https://agent.example.com/",
    "https://",
    "/callback",
    "",
  ])("may not be %j", (address) => expect(redirectProblem(address)).not.toBeNull());

  it("is compared letter by letter, but for the port on loopback", () => {
    const callback = [
      "http://localhost/callback",
      "http://127.0.0.1:1/x",
      "https://a.example/cb",
      "cursor://a/b",
    ];
    for (const same of ["http://localhost:51234/callback", "http://127.0.0.1:65535/x", "http://127.0.0.1/x"])
      expect(isRegistered(callback, same), same).toBe(true);
    for (const other of [
      "http://localhost:51234/callback/",
      "http://localhost:51234/callback?x=1",
      "http://localhost:51234/Callback",
      "http://127.0.0.1/callback",
      "http://[::1]/callback",
      "https://localhost/callback",
      "https://a.example/cb/",
      "https://a.example:443/cb",
      "https://A.example/cb",
      "https://a.example/cb?x",
      "https://a.example/x/../cb",
      "cursor://a/b/",
      "cursor://a:1/b",
    ])
      expect(isRegistered(callback, other), other).toBe(false);
  });

  it("never becomes another one, whatever is asked for", () => {
    const registered = ["https://agent.example.com/cb", "http://localhost/cb"];
    const near = fc.oneof(
      fc.webUrl(),
      fc.string(),
      fc.string().map((text) => `${registered[0]}${text}`),
    );
    fc.assert(
      fc.property(near, (address) => {
        if (!isRegistered(registered, address)) return;
        const url = new URL(address);
        expect([url.hostname, url.pathname]).toEqual([
          expect.stringMatching(/^(agent\.example\.com|localhost)$/),
          "/cb",
        ]);
      }),
      { numRuns: 300 },
    );
  });
});

describe("asking a person", () => {
  it("sends the browser to the page with a question", async () => {
    const { status, headers } = await server.visit(`GET ${authorizePath(agent.id, challenge)}`);
    expect([status, headers["cache-control"]]).toEqual([302, "no-store"]);
    expect(headers["location"]).toMatch(
      new RegExp(`^${PUBLIC_URL}/app/consent\\?request=[A-Za-z0-9_-]{32}$`),
    );
    const plain = await server.visit(
      `GET ${authorizePath(agent.id, challenge, { resource: null, state: null })}`,
    );
    expect(requestOf(plain)).toMatch(/^.{32}$/);
  });

  it.each([
    [{ client_id: "cli_unknown" }, /client_id/],
    [{ client_id: null }, /client_id/],
    [{ redirect_uri: "https://elsewhere.example.com/" }, /redirect_uri/],
    [{ redirect_uri: "javascript:alert(1)" }, /redirect_uri/],
    [{ redirect_uri: null }, /redirect_uri/],
    [{ state: "x".repeat(5_000) }, /state/],
    [{ client_id: "https://unknown.example.com/agent.json" }, /document/],
    [{ client_id: "https://unknown.example.com" }, /address is not one/],
  ])("shows a page, and sends nobody anywhere, for %j", async (change, words) => {
    const { status, headers, text } = await server.visit(`GET ${authorizePath(agent.id, challenge, change)}`);
    expect([status, headers["location"], headers["content-type"]]).toEqual([
      400,
      undefined,
      "text/html; charset=utf-8",
    ]);
    expect(text).toMatch(words);
    expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
  });

  it.each([
    [{ response_type: "token" }, "unsupported_response_type"],
    [{ response_type: null }, "unsupported_response_type"],
    [{ code_challenge: null }, "invalid_request"],
    [{ code_challenge: "short" }, "invalid_request"],
    [{ code_challenge_method: "plain" }, "invalid_request"],
    [{ code_challenge_method: null }, "invalid_request"],
    [{ resource: "https://elsewhere.example.com/mcp" }, "invalid_target"],
    [{ resource: PUBLIC_URL }, "invalid_target"],
    [{ resource: "" }, "invalid_target"],
  ])("shows what is wrong with %j, and tells a program on this machine alone", async (change, error) => {
    const path = (more: object) => `GET ${authorizePath(agent.id, challenge, { ...change, ...more })}`;
    for (const redirect_uri of [CALLBACK, CURSOR]) {
      const shown = await server.visit(path({ redirect_uri }));
      expect([shown.status, shown.headers["location"]]).toEqual([400, undefined]);
      expect(shown.text).toContain("This program cannot be connected");
    }
    const { status, headers } = await server.visit(path({ redirect_uri: "http://localhost:4711/callback" }));
    const url = new URL(headers["location"] ?? "");
    expect([status, `${url.origin}${url.pathname}`]).toEqual([302, "http://localhost:4711/callback"]);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      error,
      error_description: expect.stringMatching(/\.$/),
      state: "s t&a=te",
      iss: `${PUBLIC_URL}/oauth`,
    });
  });

  it("refuses parameters that stand there twice", async () => {
    const path = authorizePath(agent.id, challenge);
    expect((await server.visit(`GET ${path}&client_id=x`)).status).toBe(400);
    expect((await server.visit(`GET ${path}&redirect_uri=x`)).status).toBe(400);
    const twice = await server.visit(`GET ${path}&response_type=code`);
    expect([twice.status, twice.text]).toEqual([400, expect.stringContaining("response_type")]);
  });

  it("never fails and never leads elsewhere, whatever the parameters are", async () => {
    await using busy = await startAgentServer();
    const someone = await register(busy);
    const name = fc.constantFrom(
      ...["client_id", "redirect_uri", "state", "response_type", "code_challenge", "resource", "scope"],
    );
    await fc.assert(
      fc.asyncProperty(name, fc.oneof(fc.string({ unit: "binary" }), fc.webUrl()), async (field, value) => {
        const path = authorizePath(someone.id, challenge, { [field]: value });
        const { status, headers } = await busy.visit(`GET ${path}`);
        expect([302, 400, 429]).toContain(status);
        const place = headers["location"] ?? CALLBACK;
        expect(place.startsWith(CALLBACK) || place.startsWith(`${PUBLIC_URL}/app/consent?`)).toBe(true);
      }),
      { numRuns: 55 },
    );
  });
});

describe("programs with a document", () => {
  const id = "https://agent.example.net/oauth/client.json";
  const document = {
    client_id: id,
    client_name: "Documented",
    redirect_uris: [CALLBACK, "http://localhost/callback"],
    token_endpoint_auth_method: "none",
  };
  const asks = async (client: string, redirect_uri = CALLBACK): Promise<number> =>
    (await server.visit(`GET ${authorizePath(client, challenge, { redirect_uri })}`)).status;

  it("are read from their own server, once an hour", async () => {
    server.documents.set(id, { json: document });
    expect(await asks(id)).toBe(302);
    expect(await asks(id, "http://localhost:4711/callback")).toBe(302);
    expect(await asks(id, "https://elsewhere.example.com/")).toBe(400);
    expect(server.asked.filter((url) => url === id)).toHaveLength(1);
    await server.ctx.clock.advance(60 * MINUTE);
    expect(await asks(id)).toBe(302);
    expect(server.asked.filter((url) => url === id)).toHaveLength(2);
  });

  it.each([
    ["another's", { json: { ...document, client_id: "https://agent.example.net/other.json" } }],
    ["moved", { status: 302, headers: { location: id } }],
    ["missing", { status: 404 }],
    ["no JSON object", { json: [document] }],
    ["with a secret", { json: { ...document, token_endpoint_auth_method: "client_secret_post" } }],
    ["with a wrong address", { json: { ...document, redirect_uris: ["javascript:alert(1)"] } }],
    ["too long", { json: { ...document, padding: "x".repeat(70_000) } }],
  ])("are refused where it is %s", async (name, answer) => {
    const address = `https://agent.example.net/${name.replaceAll(/\W/g, "-")}.json`;
    const json = "json" in answer && !Array.isArray(answer.json) ? { json: { ...answer.json } } : {};
    const own = name === "another's" ? json : mended(json, address);
    server.documents.set(address, { ...answer, ...own });
    expect(await asks(address)).toBe(400);
  });

  it("are known where their servers do not answer", async () => {
    for (const [client, address] of [
      ["https://claude.ai/oauth/mcp-oauth-client-metadata", "https://claude.ai/api/mcp/auth_callback"],
      ["https://claude.ai/oauth/claude-code-client-metadata", "http://localhost:51234/callback"],
      ["https://chatgpt.com/oauth/client.json", "https://chatgpt.com/connector_platform_oauth_redirect"],
      ["https://chatgpt.com/oauth/AbC_1/client.json", "https://chatgpt.com/connector/oauth/AbC_1"],
    ] as const)
      expect(await asks(client, address), client).toBe(302);
    expect(
      await asks("https://chatgpt.com/oauth/AbC_1/client.json", "https://chatgpt.com/connector/oauth/x"),
    ).toBe(400);
  });
});

function mended<T extends { json?: { client_id?: string } }>(answer: T, id: string): T {
  return answer.json === undefined ? answer : { ...answer, json: { ...answer.json, client_id: id } };
}

it("has 10 minutes, and one answer", async () => {
  const person = await server.person();
  const request = await askPerson(server, agent.id, { challenge });
  await server.ctx.clock.advance(10 * MINUTE);
  expect((await person.ask(`GET /app/api/consents/${request}`)).status).toBe(404);
  const json = { decision: "allow", role: "writer" };
  expect((await person.ask(`POST /app/api/consents/${request}`, { json })).status).toBe(404);
});
