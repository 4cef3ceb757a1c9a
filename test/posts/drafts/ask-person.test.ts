import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startRealServer, type RealServer } from "../../mcp/readers.ts";
import { queryOf, rowsOf } from "../../support/handles.ts";

let server: RealServer;
let asked: string[];

beforeEach(async () => {
  server = await startRealServer();
  asked = [];
});
afterEach(() => server[Symbol.asyncDispose]());

/** `answer`: what the person in front of the client says. Null: the client cannot ask one. */
async function connect(mode: "2026-07-28" | "legacy", answer: "accept" | "decline" | null): Promise<Client> {
  const capabilities = answer === null ? {} : { elicitation: {} };
  const client = new Client(
    { name: "test", version: "1" },
    { capabilities, versionNegotiation: { mode: mode === "legacy" ? mode : { pin: mode } } },
  );
  if (answer !== null)
    client.setRequestHandler("elicitation/create", ({ params }: any) => {
      asked.push(params.message);
      return { action: answer, content: {} };
    });
  const key = await server.http.keyFor("default");
  const requestInit = { headers: { Authorization: `Bearer ${key}` } };
  const url = new URL(`http://127.0.0.1:${server.http.port}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return client;
}

async function draft(client: Client): Promise<{ id: string; revision: number }> {
  const content = {
    title: "Opening",
    caption: "We open on Friday",
    targets: [{ accountId: "acc_1" }],
    scheduledAt: "2030-01-01T09:00:00Z",
    submit: true,
  };
  const { structuredContent } = (await client.callTool({ name: "save_draft", arguments: content })) as any;
  const { id, revision } = structuredContent.draft;
  return { id, revision };
}

async function approve(client: Client, args: object): Promise<any> {
  return client.callTool({ name: "decide_draft", arguments: { ...args, decision: "approve" } });
}

async function countPosts(): Promise<number> {
  return (await rowsOf(server.ctx.store, "SELECT id FROM posts")).length;
}

/** One that is told of drafts that wait. Nothing is sent to it here. */
async function addWebhook(): Promise<void> {
  const row = {
    id: "whk_1",
    owner_id: "default",
    address: "https://hooks.example/",
    secrets_enc: "sealed",
    events: JSON.stringify(["draft.waiting"]),
    account_ids: null,
    status: "active" as const,
    status_reason: null,
    failing_since: null,
    lease_worker: null,
    lease_until: 0,
    created_at: 0,
    updated_at: 0,
    format: "standard" as const,
    last_told: "{}",
  };
  await queryOf(server.ctx.store).insertInto("webhooks").values(row).execute();
}

describe.each(["2026-07-28", "legacy"] as const)("an approval over MCP (%s)", (mode) => {
  it("asks the person, with what goes where and when", async () => {
    const client = await connect(mode, "accept");
    const answer = await approve(client, await draft(client));
    expect(answer.structuredContent.draft).toMatchObject({ state: "scheduled", outcome: "waiting" });
    expect(asked).toEqual([
      expect.stringMatching(
        /^Approve the draft "Opening"\? It schedules 1 post\. .*Tuesday 1 January 2030, 09:00 \(UTC\): “We open on Friday”/,
      ),
    ]);
    expect(await countPosts()).toBe(1);
    await client.close();
  });

  it("says what goes out at once, and how much of a long text it shows", async () => {
    const client = await connect(mode, "decline");
    const long = "word ".repeat(200).trim();
    for (const content of [
      { caption: long, scheduledAt: "2030-01-01T09:00:00Z" },
      { metadata: { title: "Title" }, caption: "A lake" },
    ]) {
      const args = { ...content, targets: [{ accountId: "acc_1" }] };
      const { structuredContent } = (await client.callTool({ name: "save_draft", arguments: args })) as any;
      const { id, revision } = structuredContent.draft;
      await approve(client, { id, revision });
    }
    expect(asked[0]).toMatch(/: “(word ){119}w?or?…?.*” \(the first 599 of 999 characters\)\./);
    expect(asked[1]).toMatch(
      /^Approve the draft "A lake"\? It publishes 1 post now\. acc_1, now: “Title A lake”\./,
    );
    await client.close();
  });

  it("asks once about several, and names each", async () => {
    const client = await connect(mode, "accept");
    const [one, two] = [await draft(client), await draft(client)];
    const answer = await approve(client, { drafts: [one, { ...two, revision: 9 }] });
    expect(answer.structuredContent.results).toMatchObject([
      { id: one.id, draft: { state: "scheduled" } },
      { id: two.id, error: expect.stringMatching(/^revision: 9 is not the last one/) },
    ]);
    expect(asked).toEqual([
      expect.stringMatching(
        /^Approve 1 draft\?\n1\. .*, Tuesday 1 January 2030, 09:00 \(UTC\): “We open on Friday”\..*\n2\. The draft "Opening": left out, as it is not what it was when it was read\.$/,
      ),
    ]);
    expect(await countPosts()).toBe(1);
    await client.close();
  });

  it("tells the person by notice where the client cannot ask them, once a revision", async () => {
    const client = await connect(mode, null);
    const { structuredContent } = (await client.callTool({
      name: "save_draft",
      arguments: { caption: "Open still", targets: [{ accountId: "acc_1" }] },
    })) as any;
    const { id, revision } = structuredContent.draft;
    await addWebhook();
    for (let round = 0; round < 2; round++)
      expect((await approve(client, { id, revision })).isError).toBe(true);
    const told = await rowsOf<{ snapshot: string }>(
      server.ctx.store,
      "SELECT snapshot FROM webhook_deliveries",
    );
    expect(told.map(({ snapshot }) => JSON.parse(snapshot).draftId)).toEqual([id]);
    await client.close();
  });

  it("schedules nothing where the person declines, or where the client cannot ask one", async () => {
    for (const answer of ["decline", null] as const) {
      const client = await connect(mode, answer);
      const saved = await draft(client);
      const refused = await approve(client, saved);
      expect(refused.isError).toBe(true);
      expect(refused.content[0].text).toMatch(
        answer === null ? /is for a person, and this client cannot ask one/ : /The person declined/,
      );
      // Neither an address nor a token that the model could use by itself.
      expect(refused.content[0].text).not.toMatch(/https?:/);
      expect((await approve(client, { ...saved, confirm: "1.2.3" })).isError).toBe(true);
      expect((await approve(client, { drafts: [saved] })).isError).toBe(true);
      const sent = (await client.callTool({
        name: "decide_draft",
        arguments: { ...saved, decision: "changes", note: "Shorter" },
      })) as any;
      expect(sent.structuredContent.draft).toMatchObject({ state: "open" });
      await client.close();
    }
    expect(await countPosts()).toBe(0);
  });
});
