import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createCipher } from "../../src/store/engine/cipher.ts";
import type { Store } from "../../src/store/engine/store.ts";
import type { Connections } from "../../src/store/postgres/connect/connections.ts";
import { revokeKey } from "../../src/access/api-keys.ts";
import {
  type Agent,
  type AgentServer,
  callMcp,
  connectAgent,
  PUBLIC_URL,
  refreshFields,
  register,
  startAgentServer,
} from "../support/agents.ts";
import { callOf } from "../support/context.ts";
import { createDatabase, openTestConnections } from "../support/postgres.ts";
import type { TestDatabase } from "../support/postgres-server.ts";

/* What is ended on one host is ended on the other at once. */

let database: TestDatabase;
let open: Connections[];
let hosts: AgentServer[];

beforeEach(async () => {
  database = await createDatabase();
  open = await Promise.all([openTestConnections(database.url), openTestConnections(database.url)]);
  const cipher = createCipher(Buffer.alloc(32, 7));
  hosts = await Promise.all(
    open.map((one, at) =>
      startAgentServer({}, { store: { ...one } as unknown as Store, workerId: `wrk_${at}`, cipher }),
    ),
  );
});

afterEach(async () => {
  await Promise.all(hosts.map((one) => one[Symbol.asyncDispose]()));
  await Promise.all(open.map((one) => one[Symbol.asyncDispose]()));
  await database[Symbol.asyncDispose]();
});

async function openStream({ port }: AgentServer, token: string): Promise<IncomingMessage> {
  const host = new URL(PUBLIC_URL).host;
  const headers = { Host: host, Authorization: `Bearer ${token}`, Accept: "text/event-stream" };
  const outgoing = request({ port, path: "/sse", headers, agent: false }).end();
  outgoing.on("error", () => {});
  const [stream]: [IncomingMessage] = (await once(outgoing, "response")) as never;
  expect(stream.statusCode).toBe(200);
  stream.on("error", () => {}).resume();
  return stream;
}

const ENDINGS: readonly (readonly [
  string,
  (here: AgentServer, agent: Agent, refresh: string) => Promise<unknown>,
])[] = [
  [
    "by a person on the page",
    async (here) => {
      const person = await here.person();
      const { grants } = (await person.ask("GET /app/api/grants")).json;
      return person.ask(`DELETE /app/api/grants/${grants[0].id}`);
    },
  ],
  [
    "by the program itself",
    (here, agent, token) => here.post("/oauth/revoke", { token, client_id: agent.id }),
  ],
];

it.each(ENDINGS)("access that is ended %s", async (_how, end) => {
  const [here, there] = hosts as [AgentServer, AgentServer];
  const agent = await register(here);
  const { access_token: token, refresh_token: refresh } = await connectAgent(here, agent);
  expect(await callMcp(there, token)).toBe(200);
  const stream = await openStream(there, token);
  const closed = once(stream, "close");
  await end(here, agent, refresh);
  expect(await callMcp(there, token)).toBe(401);
  expect((await there.post("/oauth/token", refreshFields(agent, refresh))).status).toBe(400);
  await there.ctx.clock.advance(1_000);
  await closed;
});

it("access that came of a key that is revoked", async () => {
  const [here, there] = hosts as [AgentServer, AgentServer];
  const key = await here.keyFor("default");
  const { access_token: token } = await connectAgent(here, await register(here), {
    person: await here.person(key),
  });
  expect(await callMcp(there, token)).toBe(200);
  await revokeKey(callOf(here.ctx), { key });
  expect(await callMcp(there, token)).toBe(401);
});
