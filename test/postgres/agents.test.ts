import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import {
  type AgentDoor,
  allow,
  ALLOW,
  askPerson,
  authorizePath,
  callMcp,
  CALLBACK,
  newChallenge,
  openDoor,
  PUBLIC_URL,
  refreshFields,
  register,
} from "../support/agents.ts";
import { type BuiltServer, startBuiltServer } from "../support/built-server.ts";
import { signInWith } from "../support/page.ts";
import { createDatabase } from "../support/postgres.ts";
import type { TestDatabase } from "../support/postgres-server.ts";

/* Two servers as shipped, as on two hosts, with one database. */

let database: TestDatabase;
let servers: BuiltServer[];
let doors: (AgentDoor & { readonly port: number })[];

beforeAll(async () => {
  database = await createDatabase();
  const settings = {
    DATABASE_URL: database.url,
    POSTHORN_FILES: "folder",
    POSTHORN_SECRET_KEY: "5".repeat(64),
    POSTHORN_API_KEY: "a-fixed-key-of-this-test-alone-0123456789",
    POSTHORN_PUBLIC_URL: PUBLIC_URL,
    POSTHORN_OAUTH: "on",
  };
  servers = [];
  for (let at = 0; at < 2; at++) servers.push(await startBuiltServer(inject("program"), settings));
  doors = servers.map(({ origin, key }) => {
    const port = Number(new URL(origin).port);
    return { port, ...openDoor(port, () => signInWith(port, { key })) };
  });
});
afterAll(async () => {
  await Promise.all((servers ?? []).map((one) => one[Symbol.asyncDispose]()));
  await database?.[Symbol.asyncDispose]();
});

/** A session of a program with this token, and its open stream. */
async function openStream({ port, visit }: (typeof doors)[number], token: string) {
  const clientInfo = { name: "agent", version: "1" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  const json = { jsonrpc: "2.0", id: 1, method: "initialize", params };
  const Accept = "application/json, text/event-stream";
  const { headers } = await visit("POST /mcp", { key: token, json, headers: { Accept } });
  const outgoing = request({
    port,
    path: "/mcp",
    headers: {
      Host: new URL(PUBLIC_URL).host,
      Authorization: `Bearer ${token}`,
      Accept,
      "Mcp-Session-Id": headers["mcp-session-id"] ?? "",
    },
    agent: false,
  }).end();
  outgoing.on("error", () => {});
  const [stream] = (await once(outgoing, "response")) as [IncomingMessage];
  expect(stream.statusCode).toBe(200);
  stream.on("error", () => {}).resume();
  const ended = new Promise<number>((resolve) => stream.once("close", () => resolve(performance.now())));
  return { stream, ended };
}

/** Asked at one host, allowed at the other, and exchanged at the first. */
async function connect() {
  const [here, there] = doors as [(typeof doors)[number], (typeof doors)[number]];
  const agent = await register(here);
  const { verifier, challenge } = newChallenge();
  const code = await allow(await there.person(), await askPerson(here, agent.id, { challenge }), ALLOW);
  const answer = await here.post("/oauth/token", {
    grant_type: "authorization_code",
    code,
    redirect_uri: CALLBACK,
    code_verifier: verifier,
    client_id: agent.id,
  });
  expect([answer.status, answer.json.error]).toEqual([200, undefined]);
  return { here, there, agent, tokens: answer.json };
}

const ways = ["the person", "the program"] as const;

it.each(ways)("access that %s ends is over on all hosts within a second, open streams too", async (who) => {
  const { here, there, agent, tokens } = await connect();
  const other = await connect();
  const token: string = tokens.access_token;
  const streams = await Promise.all(doors.map((door) => openStream(door, token)));
  const kept = await openStream(there, other.tokens.access_token);
  expect(await Promise.all(doors.map((door) => callMcp(door, token)))).toEqual([200, 200]);

  const endedAt = performance.now();
  if (who === "the person") {
    const person = await there.person();
    const { grants } = (await person.ask("GET /app/api/grants")).json;
    // The latest comes first, which is the other's.
    expect((await person.ask(`DELETE /app/api/grants/${grants[1].id}`)).status).toBe(204);
  } else {
    const fields = { token: tokens.refresh_token, client_id: agent.id };
    expect((await there.post("/oauth/revoke", fields)).status).toBe(200);
  }
  expect(await Promise.all(doors.map((door) => callMcp(door, token)))).toEqual([401, 401]);
  const refreshed = await here.post("/oauth/token", refreshFields(agent, tokens.refresh_token));
  expect([refreshed.status, refreshed.json.error]).toEqual([400, "invalid_grant"]);
  for (const at of await Promise.all(streams.map(({ ended }) => ended)))
    expect(at - endedAt).toBeLessThan(1_000);
  expect(kept.stream.closed).toBe(false);
  expect(await callMcp(there, other.tokens.access_token)).toBe(200);
  kept.stream.destroy();
});

it("what a program sends may hold NUL, which PostgreSQL keeps in no text", async () => {
  const [door] = doors as [(typeof doors)[number]];
  const agent = await register(door, { client_name: "A\0gent" });
  const { challenge } = newChallenge();
  const { status, headers } = await door.visit(
    `GET ${authorizePath(agent.id, challenge, { state: "a\0b" })}`,
  );
  expect([status, headers["location"]]).toEqual([302, expect.stringMatching(/request=|error=/)]);
  const fields = refreshFields({ ...agent, id: "cli_\0" }, "phr_\0");
  expect((await door.post("/oauth/token", fields)).status).toBe(401);
  const unknown = await door.visit(`GET ${authorizePath("cli_\0", challenge)}`);
  expect(unknown.status).toBe(400);
});
