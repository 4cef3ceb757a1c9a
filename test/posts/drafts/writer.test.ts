import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RESOURCE_ROUTES } from "../../../src/http/api/resource-routes.ts";
import { createMcpEndpoints, type McpEndpoints } from "../../../src/mcp/transports/endpoints.ts";
import { createToolbox } from "../../../src/toolkit/toolbox.ts";
import { startTestServer, type TestServer } from "../../support/http.ts";
import { rowsOf } from "../../support/handles.ts";
import { signIn, type Visitor } from "../../support/page.ts";
import { startService, type Service } from "../../support/service.ts";
import { connectReader, type Reader } from "../../mcp/readers.ts";

/*
 * A key that may write drafts makes nothing go out, whatever it tries. Each way is tried on a draft in each state,
 * and what there is of posts is compared afterwards.
 */

let service: Service;
let mcp: McpEndpoints;
let server: TestServer;
let reader: Reader;
let account: string;
let key: string;
/** The key's session at the page. */
let visitor: Visitor;
let failed: string;
let waiting: string;
let keys = 0;
let ways = 0;

beforeAll(async () => {
  service = await startService();
  mcp = createMcpEndpoints({
    toolbox: createToolbox(service.ctx, service.tools),
    ctx: service.ctx,
    version: "1.2.3",
  });
  server = await startTestServer(service.ctx, service.tools, { mcp });
  account = await service.addFeed();
  key = await service.keyFor("default", { name: "Claude", permissions: ["read", "draft", "files"] });
  visitor = await signIn(service, key);
  reader = await connectReader("sdk 2, sessions", server.port, key);
  failed = await addPost("Failed");
  waiting = await addPost("Waiting");
  await rowsOf(
    service.ctx.store,
    `UPDATE posts SET status = 'failed', next_at = NULL WHERE id = '${failed}'`,
  );
  keys = (await rowsOf(service.ctx.store, "SELECT id FROM api_keys")).length;
});

afterAll(async () => {
  await reader[Symbol.asyncDispose]();
  await mcp.close();
  await server[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

async function addPost(caption: string): Promise<string> {
  const post = { accountId: account, caption, scheduledAt: "2030-01-01T09:00:00Z" };
  return (await service.call("schedule_post", post)).post.id;
}

/** What may not change by anything that a writer does. */
function posts(): Promise<unknown[]> {
  return rowsOf(service.ctx.store, "SELECT * FROM posts ORDER BY id");
}

/** Does it, whatever is answered, and holds that no post was made or changed. */
async function holds(what: string, way: () => Promise<unknown>): Promise<void> {
  const before = await posts();
  await way().catch(() => {});
  expect(await posts(), what).toEqual(before);
  ways += 1;
}

/** The page's own calls, with what would open more. */
const PAGE_CALLS: readonly (readonly [string, object?])[] = [
  ["GET /app/api/session"],
  ["GET /app/api/sessions"],
  ["GET /app/api/tools"],
  ["GET /app/api/keys"],
  ["POST /app/api/keys", { name: "More", role: "admin" }],
  ["POST /app/api/keys", { permissions: ["draft", "publish"] }],
  ["DELETE /app/api/keys/key_x"],
  ["PUT /app/api/platforms/mastodon/app", { clientId: "x", clientSecret: "y" }],
  ["DELETE /app/api/platforms/mastodon/app"],
  ["POST /app/api/push", { endpoint: "https://push.example/1", keys: { p256dh: "x", auth: "y" } }],
  ["DELETE /app/api/push", { endpoint: "https://push.example/1" }],
  ["POST /app/api/welcome", {}],
  ["GET /app/api/backup"],
  ["POST /app/api/files", { url: "https://example.com/a.png" }],
];

const REPEAT = { unit: "day", time: "09:00" };

interface Made {
  readonly id: string;
  readonly revision: number;
}

async function draftIn(state: string): Promise<Made> {
  const args = {
    caption: `A draft that is ${state}`,
    targets: [{ accountId: account }],
    ...(state === "repeating" || state === "ended" ? { repeat: REPEAT } : {}),
    submit: state !== "open",
  };
  let { draft } = await service.call("save_draft", args);
  const decide = async (decision: string): Promise<void> => {
    const { id, revision } = draft;
    ({ draft } = await service.call("decide_draft", { id, revision, decision }));
  };
  if (["scheduled", "repeating", "ended"].includes(state)) await decide("approve");
  if (state === "ended") await decide("stop");
  if (state === "discarded") await decide("discard");
  return { id: draft.id, revision: draft.revision };
}

/** One decision about several drafts, in every face. */
async function approveAll(made: Made): Promise<void> {
  const json = { drafts: [made], decision: "approve" };
  await holds("HTTP, several", () => service.ask("POST /api/v1/tools/decide_draft", { key, json }));
  await holds("MCP, several", () => reader.call("decide_draft", json));
  await holds("page, several", () => visitor.ask("POST /app/api/tools/decide_draft", { json }));
  await holds("route, several", () => service.ask(`POST /api/v1/drafts/${made.id}`, { key, json }));
}

/** Arguments that a writer may think of for any tool. */
function argsFor({ id, revision }: Made): Readonly<Record<string, Record<string, unknown>>> {
  const now = { accountId: account, caption: "Out at once" };
  return {
    cancel_post: { id: waiting },
    change_posts: { ids: [waiting], shiftMinutes: 5 },
    create_webhook: { url: "https://hooks.example/" },
    decide_draft: { id, revision, decision: "approve" },
    disconnect_channel: { accountId: account },
    edit_published_post: { id: waiting, caption: "Changed" },
    import_posts: { csv: `accountId,caption\n${account},Out at once\n`, dryRun: false },
    resolve_post: { id: failed, outcome: "not_published" },
    retry_post: { id: failed },
    save_draft: { id, revision, caption: "Changed", submit: true },
    schedule_post: now,
    schedule_posts: { posts: [now] },
    set_thumbnail: { id: waiting, thumbnailUrl: "https://example.com/a.jpg" },
    update_account: { accountId: account, move: true },
    update_post: { id: waiting, caption: "Changed" },
  };
}

describe.each(["open", "waiting", "scheduled", "repeating", "ended", "discarded"])(
  "a writer and a draft that is %s",
  (state) => {
    let made: Made;

    beforeAll(async () => {
      made = await draftIn(state);
    });

    it("calls every tool over HTTP and MCP, and as a dry run", async () => {
      for (const { name } of service.tools) {
        const args = argsFor(made)[name] ?? { id: made.id };
        if (name === "decide_draft") await approveAll(made);
        await holds(`HTTP ${name}`, () => service.ask(`POST /api/v1/tools/${name}`, { key, json: args }));
        await holds(`MCP ${name}`, () => reader.call(name, { ...args, confirm: "yes" }));
      }
      const table = { ...argsFor(made)["import_posts"], as: "drafts" };
      await holds("a table of drafts", () =>
        service.ask("POST /api/v1/tools/import_posts", { key, json: table }),
      );
      for (const { name } of service.tools) {
        const json = { ...argsFor(made)[name], dryRun: true };
        await holds(`dry run ${name}`, () => service.ask(`POST /api/v1/tools/${name}`, { key, json }));
      }
    });

    it("asks every route", async () => {
      for (const { method, path, tools } of RESOURCE_ROUTES) {
        const { id: _id, accountId: _account, ...json } = argsFor(made)[tools[0]] ?? {};
        for (const id of [made.id, waiting, failed]) {
          const target = `${method.toUpperCase()} /api/v1${path.replace("{id}", id).replace("{accountId}", account)}`;
          const body = method === "get" || method === "delete" ? {} : { json };
          await holds(target, () => service.ask(target, { key, ...body }));
        }
      }
    });

    it("calls everything of the page, where no tool asks a person again", async () => {
      for (const { name } of service.tools) {
        const args = argsFor(made)[name] ?? { id: made.id };
        for (const json of [args, { ...args, confirm: "yes", isConfirmed: true }, { ...args, dryRun: true }])
          await holds(`page ${name}`, () => visitor.ask(`POST /app/api/tools/${name}`, { json }));
      }
      for (const [target, json] of PAGE_CALLS)
        await holds(target, () => visitor.ask(target, json === undefined ? {} : { json }));
      const headers = { "Content-Type": "image/png" };
      await holds("upload", () => visitor.ask("POST /app/api/files?name=a.png", { body: "x", headers }));
    });

    it("forges revisions and decisions", async () => {
      for (const revision of [
        0,
        -1,
        made.revision - 1,
        made.revision,
        made.revision + 1,
        "1",
        null,
        undefined,
      ])
        for (const decision of ["approve", "changes", "discard", "stop", "approved", "APPROVE"])
          await holds(`decide ${decision} ${revision}`, () =>
            service.ask(`POST /api/v1/drafts/${made.id}`, { key, json: { revision, decision } }),
          );
      for (const sneaked of [
        { state: "scheduled" },
        { decision: { what: "approved" } },
        { approved: true },
        { posts: [{ accountId: account }] },
        { id: "post_1", caption: "x" },
        { submit: "approve" },
      ])
        await holds(`save ${JSON.stringify(sneaked)}`, () =>
          service.ask(`PATCH /api/v1/drafts/${made.id}`, {
            key,
            json: { revision: made.revision, ...sneaked },
          }),
        );
    });

    it("replays what a publisher has done", async () => {
      const other = await draftIn(state === "repeating" ? "open" : "waiting");
      const args = { id: other.id, revision: other.revision, decision: "approve" };
      const headers = { "Idempotency-Key": `approval of ${other.id}` };
      await service.ask("POST /api/v1/tools/decide_draft", { json: args, headers });
      for (const target of ["POST /api/v1/tools/decide_draft", `POST /api/v1/drafts/${made.id}`])
        for (const json of [args, { ...args, id: made.id, revision: made.revision }]) {
          await holds("a key replayed", () => service.ask(target, { key, json, headers }));
          await holds("a key in the body", () =>
            service.ask(target, { key, json: { ...json, idempotencyKey: headers["Idempotency-Key"] } }),
          );
        }
    });

    it("reads prompts, resources and pages, and time passes", async () => {
      for (const { name } of await reader.prompts())
        await holds(name, () => reader.prompt(name, { topics: "x" }));
      for (const uri of [
        `posthorn://drafts/${made.id}`,
        `posthorn://posts/${waiting}`,
        "ui://posthorn/calendar.html",
      ])
        await holds(uri, () => reader.read(uri));
      for (const path of [`/drafts/${made.id}`, `/review/${made.id}`, `/drafts/${made.id}/approve`, "/"])
        for (const method of ["GET", "POST"])
          await holds(`${method} ${path}`, () => service.ask(`${method} ${path}`, { key, json: {} }));
    });
  },
);

it("has made no key, and its session still has the permissions of its own", async () => {
  expect(await rowsOf(service.ctx.store, "SELECT id FROM api_keys")).toHaveLength(keys);
  const { session } = (await visitor.ask("GET /app/api/session")).json;
  expect(session.permissions).toEqual(["read", "draft", "files"]);
});

it("has tried at least 300 ways, and not one brought a post about", () => {
  expect(ways).toBeGreaterThanOrEqual(300);
});
