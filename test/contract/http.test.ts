import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Post } from "../../src/domain/posts/post.ts";
import { startService, type Service } from "../support/service.ts";
import { queryOf } from "../support/handles.ts";

const POST_FIELDS = Object.keys(Post.shape);

let service: Service;
let account: string;

beforeEach(async () => {
  service = await startService();
  account = await service.addFeed();
});

afterEach(() => service[Symbol.asyncDispose]());

async function schedule(fields: object = {}): Promise<any> {
  const answer = await service.ask("POST /api/v1/posts", {
    json: { accountId: account, scheduledAt: "2026-12-01T10:00:00+01:00", caption: "Hello", ...fields },
  });
  expect(answer.status).toBe(201);
  return answer.json.post;
}

/** Puts a post where only the publisher brings it. */
async function put(id: string, set: object): Promise<void> {
  await queryOf(service.ctx.store).updateTable("posts").set(set).where("id", "=", id).execute();
}

describe("GET /accounts", () => {
  it("answers the connected channels with what they support", async () => {
    const { status, json } = await service.ask("GET /api/v1/accounts");
    expect(status).toBe(200);
    expect(json.accounts).toEqual([
      expect.objectContaining({ id: account, provider: "feed", status: "connected", queuedCount: 0 }),
    ]);
    expect(json.accounts[0].capabilities.media.required).toBe(false);
  });
});

describe("POST /posts", () => {
  it("schedules: 201, Location, a whole post, warnings", async () => {
    const answer = await service.ask("POST /api/v1/posts", {
      json: {
        accountId: account,
        scheduledAt: "2026-12-01T10:00:00+01:00",
        caption: "Hello",
        metadata: { title: "T" },
      },
    });
    expect(answer.status).toBe(201);
    expect(Object.keys(answer.json)).toEqual(["post", "warnings"]);
    const { post } = answer.json;
    expect(answer.headers["location"]).toBe(`/api/v1/posts/${post.id}`);
    expect(Object.keys(post).sort()).toEqual([...POST_FIELDS].sort());
    expect(post).toMatchObject({
      status: "scheduled",
      scheduledAt: "2026-12-01T09:00:00.000Z",
      attempts: 0,
      mediaUrl: "",
      metadata: { title: "T" },
    });
    expect((await service.ask(`GET ${answer.headers["location"]}`)).json).toEqual({ post });
  });

  it("stores nothing on a dry run: 200 and no Location", async () => {
    const answer = await service.ask("POST /api/v1/posts", {
      json: { accountId: account, caption: "x", dryRun: true },
    });
    expect([answer.status, answer.headers["location"]]).toEqual([200, undefined]);
    expect((await service.ask("GET /api/v1/posts")).json).toEqual({ posts: [], nextCursor: null });
  });

  it.each([
    [{}, 400, /^accountId: is required/],
    [{ accountId: 7, caption: "x" }, 400, /^accountId: must be a text/],
    [{ accountId: "acc_nobody", caption: "x" }, 404, /acc_nobody/],
    [
      { captoin: "x" },
      400,
      /"captoin" is not a known field. The fields are accountId, scheduledAt, mediaUrl/,
    ],
    [{ scheduledAt: "yesterday", caption: "x" }, 400, /^scheduledAt: "yesterday" is not a date and time/],
    [{ scheduledAt: "2026-11-21T08:00:00Z", caption: "x" }, 400, /2026-11-21T09:00:00/],
    [{ metadata: { colour: "red" }, caption: "x" }, 400, /^metadata: "colour" is not a known field/],
    [{ leadMinutes: 1.5, caption: "x" }, 400, /^leadMinutes: /],
    [{ caption: "x", mediaUrl: "file:///etc/passwd" }, 400, /^mediaUrl: /],
    [{ caption: "x", mediaUrl: "file_nothing" }, 404, /file_nothing/],
  ])("answers %j with %i", async (fields, status, sentence) => {
    const answer = await service.ask("POST /api/v1/posts", {
      json: Object.keys(fields).length === 0 ? {} : { accountId: account, ...fields },
    });
    expect([answer.status, answer.json.error]).toEqual([status, expect.stringMatching(sentence)]);
  });

  it("schedules once for one idempotency key, in the header or the body", async () => {
    const json = { accountId: account, caption: "once" };
    const asks = [{ headers: { "Idempotency-Key": "k" }, json }, { json: { ...json, idempotencyKey: "k" } }];
    const [first, second] = [
      await service.ask("POST /api/v1/posts", asks[0]),
      await service.ask("POST /api/v1/posts", asks[1]),
    ];
    expect(second.json).toEqual(first.json);
    expect([second.status, second.headers["idempotent-replayed"]]).toEqual([201, "true"]);
    const other = await service.ask("POST /api/v1/posts", {
      headers: { "Idempotency-Key": "k" },
      json: { ...json, caption: "twice" },
    });
    expect(other.status).toBe(409);
    expect((await service.ask("GET /api/v1/posts")).json.posts).toHaveLength(1);
  });
});

describe("GET /posts", () => {
  it("pages newest first, 100 unless told otherwise, 50 as a tool", async () => {
    const posts = Array.from({ length: 100 }, (_, at) => ({
      accountId: account,
      scheduledAt: "2027-01-01T00:00:00Z",
      caption: `p${at}`,
    }));
    await service.call("schedule_posts", { posts });
    await schedule({ caption: "last", scheduledAt: "2027-02-01T00:00:00Z" });
    const first = await service.ask("GET /api/v1/posts");
    expect(first.json.posts).toHaveLength(100);
    expect(first.json.posts[0].caption).toBe("last");
    const second = await service.ask(
      `GET /api/v1/posts?limit=500&cursor=${encodeURIComponent(first.json.nextCursor)}`,
    );
    expect([second.json.posts.length, second.json.nextCursor]).toEqual([1, null]);
    expect((await service.ask("POST /api/v1/tools/list_posts", { json: {} })).json.result.posts).toHaveLength(
      50,
    );
  });

  it("takes comma lists, several values as alternatives", async () => {
    const other = await service.addFeed();
    const mine = await schedule({ caption: "summer sale" });
    await service.call("schedule_post", { accountId: other, caption: "winter" });
    const ids = async (query: string): Promise<string[]> =>
      (await service.ask(`GET /api/v1/posts?${query}`)).json.posts.map(
        (post: { accountId: string }) => post.accountId,
      );
    expect((await ids(`accountId=${account},${other}`)).sort()).toEqual([account, other].sort());
    expect(await ids(`accountId=${account}`)).toEqual([account]);
    expect(await ids("accountId=acc_unknown")).toEqual([]);
    expect(await ids("status=failed,published")).toEqual([]);
    expect(await ids("status=scheduled,failed&provider=feed&search=SUMM")).toEqual([account]);
    expect(await ids(`from=${encodeURIComponent(mine.scheduledAt)}&to=2026-12-01`)).toEqual([account]);
  });

  it.each([
    ["limit=0", /^limit: /],
    ["limit=501", /^limit: must be at most 500/],
    ["limit=ten", /^limit: /],
    ["status=done", /^status\[0\]: must be one of "scheduled"/],
    ["provider=myspace", /provider.*feed/],
    ["from=never", /^from: /],
    ["cursor=garbled", /cursor/],
    [
      "sort=asc",
      /^"sort" is not a known query parameter. The parameters are accountId, provider, status, search, from, to, limit, cursor/,
    ],
    ["limit=1&limit=2", /^limit: is given more than once/],
  ])("answers 400 to %s", async (query, sentence) => {
    const answer = await service.ask(`GET /api/v1/posts?${query}`);
    expect([answer.status, answer.json.error]).toEqual([400, expect.stringMatching(sentence)]);
  });

  it("refuses a cursor of other filters", async () => {
    await schedule();
    await schedule();
    const { nextCursor } = (await service.ask("GET /api/v1/posts?limit=1")).json;
    expect(
      (await service.ask(`GET /api/v1/posts?limit=2&cursor=${encodeURIComponent(nextCursor)}`)).status,
    ).toBe(200);
    expect(
      (await service.ask(`GET /api/v1/posts?status=failed&cursor=${encodeURIComponent(nextCursor)}`)).status,
    ).toBe(400);
  });
});

describe("one post", () => {
  it("adds insights when asked", async () => {
    const { id } = await schedule();
    const { json } = await service.ask(`GET /api/v1/posts/${id}?insights=1`);
    expect(Object.keys(json)).toEqual(["post", "insights"]);
    expect(Object.keys(json.insights.metrics)).toHaveLength(8);
    expect(Object.keys((await service.ask(`GET /api/v1/posts/${id}?insights=0`)).json)).toEqual(["post"]);
  });

  it.each(["post_nothing", "%00", "a%2Fb", "🎉", "%zz", "x".repeat(99), "' OR 1=1 --"])(
    "is 404 for the id %s",
    async (id) => {
      for (const method of ["GET", "DELETE", "POST"]) {
        const answer = await service.ask(`${method} /api/v1/posts/${encodeURI(id).replaceAll("%25", "%")}`);
        expect([method, answer.status, Object.keys(answer.json)]).toEqual([method, 404, ["error"]]);
      }
    },
  );

  it("changes while it is scheduled, metadata key by key", async () => {
    const { id } = await schedule({ metadata: { title: "T", tags: ["a"] } });
    const answer = await service.ask(`PATCH /api/v1/posts/${id}`, {
      json: { caption: "New", metadata: { title: null } },
    });
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.json)).toEqual(["post", "warnings"]);
    expect(answer.json.post).toMatchObject({ caption: "New", metadata: { tags: ["a"] } });
    for (const json of [{}, { id: "post_other" }, { status: "published" }]) {
      expect((await service.ask(`PATCH /api/v1/posts/${id}`, { json })).status).toBe(400);
    }
    expect((await service.ask(`PATCH /api/v1/posts/${id}`)).status).toBe(400);
    await put(id, { status: "published", next_at: null });
    expect((await service.ask(`PATCH /api/v1/posts/${id}`, { json: { caption: "x" } })).status).toBe(409);
  });

  it("is cancelled while it is scheduled, and only then", async () => {
    const { id } = await schedule();
    const answer = await service.ask(`DELETE /api/v1/posts/${id}`);
    expect([answer.status, Object.keys(answer.json), answer.json.post.status]).toEqual([
      200,
      ["post"],
      "cancelled",
    ]);
    expect((await service.ask(`DELETE /api/v1/posts/${id}`)).status).toBe(409);
    expect((await service.ask(`DELETE /api/v1/posts/${id}?fromPlatform=1`)).status).toBe(409);
    expect((await service.ask(`DELETE /api/v1/posts/${id}?fromPlatform=maybe`)).status).toBe(400);
    expect((await service.ask(`DELETE /api/v1/posts/${id}`, { json: { fromPlatform: true } })).status).toBe(
      400,
    );
  });
});

describe("POST /posts/{id}", () => {
  it.each([
    ["no body", {}],
    ["an empty body", { body: "", headers: { "Content-Type": "application/json" } }],
    ["an empty body of another type", { body: "", headers: { "Content-Type": "text/plain" } }],
    ["{}", { json: {} }],
  ])("sends a failed post again with %s", async (_name, ask) => {
    const { id } = await schedule();
    await put(id, { status: "failed", error: "It failed.", attempts: 3, next_at: null });
    const answer = await service.ask(`POST /api/v1/posts/${id}`, ask);
    expect([answer.status, Object.keys(answer.json)]).toEqual([200, ["post"]]);
    expect(answer.json.post).toMatchObject({
      status: "scheduled",
      error: null,
      attempts: 3,
      scheduledAt: "2026-11-21T09:00:00.000Z",
    });
  });

  it("is 409 for a post that has not failed", async () => {
    const { id } = await schedule();
    const answer = await service.ask(`POST /api/v1/posts/${id}`);
    expect([answer.status, answer.json.error]).toEqual([409, expect.stringContaining("scheduled")]);
  });

  it("sets a thumbnail only on what is on the platform", async () => {
    const { id } = await schedule();
    const json = { thumbnailUrl: "https://example.com/a.jpg" };
    expect((await service.ask(`POST /api/v1/posts/${id}`, { json })).status).toBe(409);
    expect((await service.ask("POST /api/v1/posts/post_nothing", { json })).status).toBe(404);
    for (const wrong of [
      { thumbnailUrl: 1 },
      { thumbnailUrl: null },
      { thumbnail: "x" },
      { thumbnailUrl: "https://example.com/a.jpg", x: 1 },
    ]) {
      const answer = await service.ask(`POST /api/v1/posts/${id}`, { json: wrong });
      expect([answer.status, answer.json.error]).toEqual([400, expect.stringContaining("thumbnail")]);
    }
  });

  it("needs the publish permission", async () => {
    const { id } = await schedule();
    const key = await service.keyFor("default", { permissions: ["read", "accounts", "files"] });
    for (const target of ["POST", "PATCH", "DELETE"])
      expect((await service.ask(`${target} /api/v1/posts/${id}`, { key })).status).toBe(403);
    expect((await service.ask("POST /api/v1/posts", { key, json: {} })).status).toBe(403);
    expect((await service.ask(`GET /api/v1/posts/${id}`, { key })).status).toBe(200);
  });
});

describe("the rest", () => {
  it.each([
    ["GET /api/v1/platforms", "list_platforms"],
    ["GET /api/v1/status", "get_status"],
    ["GET /api/v1/files", "list_files"],
    ["GET /api/v1/accounts", "list_accounts"],
  ])("%s answers what %s answers", async (target, tool) => {
    const [resource, asTool] = [
      await service.ask(target),
      await service.ask(`POST /api/v1/tools/${tool}`, { json: {} }),
    ];
    expect(resource.status).toBe(200);
    expect(asTool.json).toEqual({ result: resource.json });
  });

  it.each([
    ["PUT /api/v1/posts", "GET, HEAD, POST"],
    ["PUT /api/v1/posts/post_1", "GET, HEAD, PATCH, DELETE, POST"],
    ["POST /api/v1/accounts", "GET, HEAD"],
    ["DELETE /api/v1/files", "GET, HEAD, POST"],
    ["PATCH /api/v1/files/file_1", "GET, HEAD, DELETE"],
    ["POST /api/v1/openapi.json", "GET, HEAD"],
    ["DELETE /api/v1/docs", "GET, HEAD"],
  ])("%s is 405", async (target, allow) => {
    const answer = await service.ask(target);
    expect([answer.status, answer.headers["allow"]]).toEqual([405, allow]);
  });

  it("a tool that does not exist is 404, with the ones there are", async () => {
    const answer = await service.ask("POST /api/v1/tools/send_post", { json: {} });
    expect([answer.status, answer.json.error]).toEqual([404, expect.stringContaining("schedule_post")]);
  });
});
