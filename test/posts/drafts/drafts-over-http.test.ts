import { afterAll, beforeAll, expect, it } from "vitest";
import { startService, type Service } from "../../support/service.ts";

let service: Service;
let accountId: string;
let others: string;
beforeAll(async () => {
  service = await startService();
  accountId = await service.addFeed();
  others = await service.keyFor("someone-else");
});
afterAll(() => service[Symbol.asyncDispose]());

const PATH = "/api/v1/drafts";
const LATER = "2099-01-01T09:00:00.000Z";

async function write(json: object = {}): Promise<string> {
  const answer = await service.ask(`POST ${PATH}`, { json });
  expect(answer).toMatchObject({ status: 201, json: { draft: { state: "open", revision: 1 } } });
  const { id } = answer.json.draft;
  expect(answer.headers["location"]).toBe(`${PATH}/${id}`);
  return id;
}

it("writes, changes, shows, decides about and lists a draft", async () => {
  const id = await write({ caption: "One", targets: [accountId], scheduledAt: LATER });
  const changed = await service.ask(`PATCH ${PATH}/${id}`, {
    json: { revision: 1, caption: "Two", submit: true },
  });
  expect(changed).toMatchObject({
    status: 200,
    json: { draft: { state: "waiting", revision: 2 }, warnings: [] },
  });
  expect((await service.ask(`GET ${PATH}/${id}`)).json).toEqual({ draft: changed.json.draft });
  const decided = await service.ask(`POST ${PATH}/${id}`, { json: { revision: 2, decision: "approve" } });
  expect(decided).toMatchObject({ status: 200, json: { draft: { state: "scheduled", outcome: "waiting" } } });
  const listed = await service.ask(`GET ${PATH}?state=scheduled,repeating&limit=1`);
  expect(listed.json).toMatchObject({ drafts: [{ id, posts: [{ accountId, status: "scheduled" }] }] });
  expect(await service.ask(`DELETE ${PATH}/${id}`)).toMatchObject({ status: 409 });
});

it("discards a draft, which is then decided", async () => {
  const id = await write();
  const { status, json } = await service.ask(`DELETE ${PATH}/${id}`);
  expect([status, json.draft.state, json.draft.decision.what]).toEqual([200, "discarded", "discarded"]);
  for (const again of [`DELETE ${PATH}/${id}`, `GET ${PATH}/${id}`])
    expect((await service.ask(again)).status).toBe(again.startsWith("GET") ? 200 : 409);
});

it("names the zone of a time without an offset in a decision, too", async () => {
  const id = await write({ caption: "One", targets: [accountId] });
  const soon = new Date(service.clock.now() + 3_600_000).toISOString().slice(0, 16);
  const json = { revision: 1, decision: "approve", scheduledAt: soon };
  const { json: answer } = await service.ask(`POST ${PATH}/${id}`, { json });
  expect(answer.warnings).toEqual([expect.stringMatching(/^scheduledAt has no offset\. It was read as /)]);
});

it("does not know what is someone else's, whatever is asked of it", async () => {
  const id = await write();
  const writing = { json: { revision: 1, caption: "Mine" }, key: others };
  const deciding = { json: { revision: 1, decision: "discard" }, key: others };
  for (const one of [id, "dft_none", "%20"]) {
    expect((await service.ask(`GET ${PATH}/${one}`, { key: others })).status).toBe(404);
    expect((await service.ask(`PATCH ${PATH}/${one}`, writing)).status).toBe(404);
    expect((await service.ask(`POST ${PATH}/${one}`, deciding)).status).toBe(404);
    expect((await service.ask(`DELETE ${PATH}/${one}`, { key: others })).status).toBe(404);
  }
  expect((await service.ask(`GET ${PATH}`, { key: others })).json).toEqual({ drafts: [], nextCursor: null });
});

it.each([
  ["POST", "", undefined],
  ["POST", "", { colour: "red" }],
  ["POST", "", { revision: 1 }],
  ["PATCH", "/dft_none", undefined],
  ["PATCH", "/dft_none", {}],
  ["PATCH", "/dft_none", { id: "dft_other", revision: 1, caption: "x" }],
  ["POST", "/dft_none", undefined],
  ["POST", "/dft_none", {}],
  ["POST", "/dft_none", { revision: 1, decision: "maybe" }],
  ["POST", "/dft_none", { revision: 0, decision: "approve" }],
  ["POST", "/dft_none", { drafts: [{ id: "dft_none", revision: 1 }], decision: "approve" }],
])("refuses the form of %s %s with %j", async (method, path, json) => {
  expect((await service.ask(`${method} ${PATH}${path}`, { json })).status).toBe(400);
});

it("takes 20 labels of 50 characters, and no more, for drafts and posts", async () => {
  const labels = Array.from({ length: 20 }, (_, at) => `${at}`.padStart(50, "l"));
  const post = { accountId, caption: "x", scheduledAt: LATER, dryRun: true };
  for (const [path, body, taken] of [
    [PATH, { caption: "x" }, 201],
    ["/api/v1/posts", post, 200],
  ] as const) {
    const statusOf = async (given: readonly string[]): Promise<number> =>
      (await service.ask(`POST ${path}`, { json: { ...body, labels: given } })).status;
    expect(await statusOf(labels)).toBe(taken);
    for (const bad of [[...labels, "one more"], ["l".repeat(51)], [""], [" "]])
      expect(await statusOf(bad)).toBe(400);
  }
});
