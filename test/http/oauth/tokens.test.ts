import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../../src/domain/time.ts";
import {
  type Agent,
  type AgentServer,
  callMcp,
  CALLBACK,
  connectAgent,
  newChallenge,
  PUBLIC_URL,
  refreshFields,
  register,
  startAgentServer,
  takeCode,
  type Tokens,
} from "../../support/agents.ts";

let server: AgentServer;
let agent: Agent;
let other: Agent;

beforeAll(async () => {
  server = await startAgentServer();
  agent = await register(server);
  other = await register(server, { client_name: "Other" });
});

afterAll(() => server[Symbol.asyncDispose]());

async function refresh(token: string, by = agent): Promise<Tokens> {
  const answer = await server.post("/oauth/token", refreshFields(by, token));
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.json;
}

async function refusal(fields: Parameters<AgentServer["post"]>[1], headers = {}): Promise<[number, string]> {
  const { status, json } = await server.post("/oauth/token", fields, headers);
  return [status, json.error];
}

describe("a code", () => {
  it("becomes tokens that open /mcp and nothing else", async () => {
    const answer = await server.post("/oauth/token", await takeCode(server, agent));
    expect([answer.status, answer.headers["cache-control"]]).toEqual([200, "no-store"]);
    expect(answer.json).toEqual({
      access_token: expect.stringMatching(/^pha_[0-9a-f]{64}$/),
      token_type: "Bearer",
      expires_in: 3_600,
      refresh_token: expect.stringMatching(/^phr_[0-9a-f]{64}$/),
      scope: "mcp",
    });
    const { access_token: key, refresh_token } = answer.json;
    expect(await callMcp(server, key)).toBe(200);
    expect(await callMcp(server, refresh_token)).toBe(401);
    expect((await server.visit("GET /api/v1/tools", { key })).status).toBe(401);
    const json = { key };
    expect((await (await server.person()).ask("POST /app/api/session", { json })).status).toBe(401);
  });

  it("is refused with anything changed, and works on", async () => {
    const fields = await takeCode(server, agent);
    const wrong = [
      [{ code: `phc_${"0".repeat(64)}` }, 400, "invalid_grant"],
      [{ redirect_uri: `${CALLBACK}/` }, 400, "invalid_grant"],
      [{ code_verifier: newChallenge().verifier }, 400, "invalid_grant"],
      [{ client_id: other.id }, 400, "invalid_grant"],
      [{ client_id: "cli_unknown" }, 401, "invalid_client"],
      [{ client_secret: "one too many" }, 401, "invalid_client"],
      [{ resource: "https://elsewhere.example.com/mcp" }, 400, "invalid_target"],
      [{ resource: `${PUBLIC_URL}/mcp/x` }, 400, "invalid_target"],
      [{ code_verifier: "short" }, 400, "invalid_request"],
      [{ code_verifier: null }, 400, "invalid_request"],
      [{ redirect_uri: null }, 400, "invalid_request"],
      [{ code: null }, 400, "invalid_request"],
      [{ grant_type: "password" }, 400, "unsupported_grant_type"],
      [{ grant_type: null }, 400, "invalid_request"],
    ] as const;
    for (const [change, status, error] of wrong)
      expect(await refusal({ ...fields, ...change }), JSON.stringify(change)).toEqual([status, error]);
    const slash = { ...fields, resource: `${PUBLIC_URL}/mcp/` };
    expect((await server.post("/oauth/token", slash)).status).toBe(200);
  });

  it("lasts for 60 seconds", async () => {
    const fields = await takeCode(server, agent);
    await server.ctx.clock.advance(60 * SECOND);
    expect(await refusal(fields)).toEqual([400, "invalid_grant"]);
  });

  it("used again ends what it gave", async () => {
    const fields = await takeCode(server, agent);
    const { json } = await server.post("/oauth/token", fields);
    expect(await refusal({ ...fields, client_id: other.id })).toEqual([400, "invalid_grant"]);
    expect(await callMcp(server, json.access_token)).toBe(200);
    expect(await refusal(fields)).toEqual([400, "invalid_grant"]);
    expect(await callMcp(server, json.access_token)).toBe(401);
    expect(await refusal(refreshFields(agent, json.refresh_token))).toEqual([400, "invalid_grant"]);
  });

  it("gives one program something once, however often it is sent at once", async () => {
    const fields = await takeCode(server, agent);
    const answers = await Promise.all(Array.from({ length: 5 }, () => server.post("/oauth/token", fields)));
    expect(answers.filter(({ status }) => status === 200).length).toBe(1);
  });
});

describe("a refresh token", () => {
  it("is exchanged for new ones, before and after the access token's hour", async () => {
    const first = await connectAgent(server, agent);
    const second = await refresh(first.refresh_token);
    expect(await callMcp(server, second.access_token)).toBe(200);
    await server.ctx.clock.advance(HOUR);
    expect(await callMcp(server, second.access_token)).toBe(401);
    const third = await refresh(second.refresh_token);
    expect(await callMcp(server, third.access_token)).toBe(200);
  });

  it("works on for two minutes, and ends all of it when it comes later", async () => {
    const first = await connectAgent(server, agent);
    await refresh(first.refresh_token);
    await server.ctx.clock.advance(2 * MINUTE);
    const late = await refresh(first.refresh_token);
    await server.ctx.clock.advance(1);
    expect(await refusal(refreshFields(agent, first.refresh_token))).toEqual([400, "invalid_grant"]);
    expect(await callMcp(server, late.access_token)).toBe(401);
    expect(await refusal(refreshFields(agent, late.refresh_token))).toEqual([400, "invalid_grant"]);
  });

  it("signs nobody out who asks twice at once", async () => {
    const agents = await Promise.all(Array.from({ length: 10 }, () => connectAgent(server, agent)));
    const pairs = await Promise.all(
      agents.map(({ refresh_token }) => Promise.all([refresh(refresh_token), refresh(refresh_token)])),
    );
    for (const tokens of pairs.flat()) {
      expect(await callMcp(server, tokens.access_token)).toBe(200);
      expect(await callMcp(server, (await refresh(tokens.refresh_token)).access_token)).toBe(200);
    }
  });

  it("lasts for 60 days from its latest use", async () => {
    await using quiet = await startAgentServer();
    const program = await register(quiet);
    let { refresh_token } = await connectAgent(quiet, program);
    const again = () => quiet.post("/oauth/token", refreshFields(program, refresh_token));
    for (let times = 0; times < 2; times++) {
      await quiet.ctx.clock.advance(59 * DAY);
      refresh_token = (await again()).json.refresh_token;
    }
    await quiet.ctx.clock.advance(60 * DAY - 1);
    refresh_token = (await again()).json.refresh_token;
    await quiet.ctx.clock.advance(60 * DAY);
    // The program itself was not used for so long that it is forgotten, too.
    expect((await again()).json.error).toBe("invalid_client");
  });

  it("is its program's alone", async () => {
    const { refresh_token, access_token } = await connectAgent(server, agent);
    expect(await refusal(refreshFields(other, refresh_token))).toEqual([400, "invalid_grant"]);
    expect(await refusal(refreshFields(agent, access_token))).toEqual([400, "invalid_grant"]);
    const elsewhere = { ...refreshFields(agent, refresh_token), resource: "https://elsewhere.example.com" };
    expect(await refusal(elsewhere)).toEqual([400, "invalid_target"]);
    expect(await refusal(refreshFields(agent, ""))).toEqual([400, "invalid_request"]);
    await refresh(refresh_token);
  });
});

describe("a program with a secret", () => {
  const basic = (id: string, secret: string): { Authorization: string } => ({
    Authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64")}`,
  });

  it("shows it in the form or in the header, and not in both", async () => {
    const secretive = await register(server, { token_endpoint_auth_method: "client_secret_basic" });
    const { id, secret } = secretive;
    const first = await connectAgent(server, secretive);
    const fields = { grant_type: "refresh_token", refresh_token: first.refresh_token };
    const inHeader = basic(id, secret ?? "");
    expect((await server.post("/oauth/token", fields, inHeader)).status).toBe(200);
    const both = { ...fields, client_secret: secret };
    expect(await refusal(both, inHeader)).toEqual([400, "invalid_request"]);
    const others = { ...fields, client_id: agent.id };
    expect(await refusal(others, inHeader)).toEqual([400, "invalid_request"]);
    for (const headers of [basic(id, "wrong"), basic(id, ""), { Authorization: "Basic %%" }]) {
      const answer = await server.post("/oauth/token", fields, headers);
      expect([answer.status, answer.json.error]).toEqual([401, "invalid_client"]);
      expect(answer.headers["www-authenticate"]).toMatch(/^Basic /);
    }
    const without = await server.post("/oauth/token", { ...fields, client_id: id });
    expect([without.status, without.headers["www-authenticate"]]).toEqual([401, undefined]);
  });
});

describe("what is sent", () => {
  it("must be a form with each field once", async () => {
    const json = { grant_type: "refresh_token" };
    expect((await server.visit("POST /oauth/token", { json })).json.error).toBe("invalid_request");
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    const body = `grant_type=refresh_token&refresh_token=a&refresh_token=b&client_id=${agent.id}`;
    expect((await server.visit("POST /oauth/token", { body, headers })).json.error).toBe("invalid_request");
    const many = Array.from({ length: 60 }, (_, at) => `f${at}=1`).join("&");
    expect((await server.visit("POST /oauth/token", { body: many, headers })).status).toBe(400);
    const large = `x=${"y".repeat(2 * 1024 * 1024)}`;
    const answer = await server.visit("POST /oauth/token", { body: large, headers });
    expect([answer.status, answer.json.error]).toEqual([413, "invalid_request"]);
  });
});

describe("revoking", () => {
  it("ends an access token alone, and with a refresh token everything", async () => {
    const one = await connectAgent(server, agent);
    const revoke = (token: string, by = agent) =>
      server.post("/oauth/revoke", { token, client_id: by.id, client_secret: by.secret });
    expect((await revoke(one.access_token, other)).status).toBe(200);
    expect(await callMcp(server, one.access_token)).toBe(200);
    expect((await revoke(one.access_token)).status).toBe(200);
    expect(await callMcp(server, one.access_token)).toBe(401);
    const two = await refresh(one.refresh_token);
    expect((await revoke(two.refresh_token)).status).toBe(200);
    expect(await callMcp(server, two.access_token)).toBe(401);
    expect((await revoke("nothing that is known")).status).toBe(200);
    expect((await revoke("")).json.error).toBe("invalid_request");
    expect((await revoke(two.refresh_token, { id: "cli_x", secret: null })).status).toBe(401);
  });
});
