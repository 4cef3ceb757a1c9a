import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  type Agent,
  type AgentServer,
  connectAgent,
  refreshFields,
  register,
  startAgentServer,
  takeCode,
} from "../../support/agents.ts";

let server: AgentServer;
let agent: Agent;

beforeAll(async () => {
  server = await startAgentServer({ rateLimit: 1_000_000 } as never);
  agent = await register(server);
});

afterAll(() => server[Symbol.asyncDispose]());

/** What RFC 6749 (5.2), RFC 7591 (3.2.2) and RFC 8707 (2) name. */
const ERRORS = [
  "invalid_request",
  "invalid_client",
  "invalid_grant",
  "unauthorized_client",
  "unsupported_grant_type",
  "invalid_scope",
  "invalid_target",
  "invalid_redirect_uri",
  "invalid_client_metadata",
];

const strange = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom(
    "",
    "\0",
    "null",
    "[]",
    "%00",
    "a".repeat(20_000),
    "../..",
    "' OR 1=1 --",
    "javascript:alert(1)",
  ),
);

/** Of a good form, one field is missing, there twice, or another. */
const change = (names: readonly string[]) =>
  fc.record({
    name: fc.constantFrom(...names),
    how: fc.constantFrom("missing", "twice", "strange", "strange", "strange"),
    value: strange,
  });

function formWith(fields: Readonly<Record<string, string | null>>, { name, how, value }: any): string {
  const form = new URLSearchParams();
  for (const [key, given] of Object.entries(fields)) if (given !== null) form.set(key, given);
  if (how === "missing") form.delete(name);
  else if (how === "twice") form.append(name, value);
  else form.set(name, value);
  return form.toString();
}

const FORM = { "Content-Type": "application/x-www-form-urlencoded" };

async function send(path: string, body: string, headers: Record<string, string>) {
  const { status, text, json } = await server.visit(`POST ${path}`, { body, headers });
  return { status, text, error: status >= 400 ? json?.error : undefined };
}

function expectRefused({ status, text, error }: Awaited<ReturnType<typeof send>>): void {
  expect([400, 401, 413, 429]).toContain(status);
  if (status === 400 || status === 401) expect(ERRORS).toContain(error);
  expect(text).not.toMatch(/ph[ar]_[0-9a-f]{64}|\bat .*\.ts|node_modules/);
}

it("gives no token for a code whose parameters were changed", async () => {
  const fields = await takeCode(server, agent);
  const names = ["grant_type", "code", "redirect_uri", "code_verifier", "client_id", "resource"];
  await fc.assert(
    fc.asyncProperty(change(names), async (changed) => {
      // It need not be there.
      fc.pre(!(changed.how === "missing" && changed.name === "resource"));
      expectRefused(await send("/oauth/token", formWith(fields, changed), FORM));
    }),
    { numRuns: 150 },
  );
  expect((await server.post("/oauth/token", fields)).status).toBe(200);
});

it("gives no token for a refresh token whose parameters were changed", async () => {
  const { refresh_token } = await connectAgent(server, agent);
  const fields = refreshFields(agent, refresh_token);
  await fc.assert(
    fc.asyncProperty(change(["grant_type", "refresh_token", "client_id"]), async (changed) => {
      expectRefused(await send("/oauth/token", formWith(fields, changed), FORM));
    }),
    { numRuns: 100 },
  );
  expect((await server.post("/oauth/token", fields)).status).toBe(200);
});

it("reads forms alone where tokens are given and taken", async () => {
  const fields = await takeCode(server, agent);
  const kinds = [
    "application/json",
    "text/plain",
    "multipart/form-data",
    "",
    "application/x-www-form-urlencoded; charset=utf-7",
  ];
  for (const path of ["/oauth/token", "/oauth/revoke"]) {
    for (const type of kinds.slice(0, 3)) {
      const headers: Record<string, string> = { "Content-Type": type };
      expectRefused(await send(path, JSON.stringify(fields), headers));
    }
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 200 }), async (body) => {
        const answer = await send(path, body, FORM);
        expectRefused(answer);
      }),
      { numRuns: 60 },
    );
  }
  expect((await server.post("/oauth/token", fields)).status).toBe(200);
});

it("registers nothing that it could not keep to", async () => {
  const good = { redirect_uris: ["https://agent.example.com/callback"], client_name: "Agent" };
  const value = fc.oneof(
    strange,
    fc.integer(),
    fc.constant(null),
    fc.array(strange, { maxLength: 3 }),
    fc.object(),
  );
  const names = [
    "redirect_uris",
    "client_name",
    "client_uri",
    "logo_uri",
    "token_endpoint_auth_method",
    "grant_types",
    "response_types",
    "scope",
    "contacts",
    "software_id",
  ];
  const all = fc.sample(fc.tuple(fc.constantFrom(...names), value), 152);
  // 20 an hour are let in from one address.
  for (const some of Array.from({ length: 8 }, (_, at) => all.slice(at * 19, at * 19 + 19))) {
    await using fresh = await startAgentServer();
    for (const [name, given] of some) {
      const answer = await fresh.visit("POST /oauth/register", { json: { ...good, [name]: given } });
      expect([201, 400], JSON.stringify([name, given])).toContain(answer.status);
      if (answer.status === 400) expect(ERRORS).toContain(answer.json.error);
      if (answer.status !== 201) continue;
      for (const uri of answer.json.redirect_uris)
        expect(uri).not.toMatch(/^(?:javascript|data|vbscript|file):/i);
      expect(["none", "client_secret_post", "client_secret_basic"]).toContain(
        answer.json.token_endpoint_auth_method,
      );
    }
  }
});

it("ends nothing by a token that is no one's, and says nothing of it", async () => {
  const { access_token, refresh_token } = await connectAgent(server, agent);
  const fields = { token: refresh_token, token_type_hint: "refresh_token", client_id: agent.id };
  await fc.assert(
    fc.asyncProperty(change(["token", "client_id"]), async (changed) => {
      const answer = await send("/oauth/revoke", formWith(fields, changed), FORM);
      // RFC 7009: an unknown token is as good as revoked.
      if (answer.status !== 200) expectRefused(answer);
      else expect(changed.name).toBe("token");
    }),
    { numRuns: 80 },
  );
  expect((await server.post("/oauth/token", refreshFields(agent, refresh_token))).status).toBe(200);
  expect(access_token).toMatch(/^pha_/);
});
