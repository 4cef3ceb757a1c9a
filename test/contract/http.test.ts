import { RESOURCE_ROUTES } from "../../src/http/api/resource-routes.ts";
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

describe("/accounts/{accountId}", () => {
  it("answers one channel, and disconnects it", async () => {
    const { accounts } = (await service.ask("GET /api/v1/accounts")).json;
    const id = await service.addFeed();
    const [all, one] = [accounts[0], await service.ask(`GET /api/v1/accounts/${account}`)];
    expect([one.status, one.json]).toEqual([200, { account: all }]);
    const gone = await service.ask(`DELETE /api/v1/accounts/${id}`);
    expect([gone.status, gone.json.account]).toEqual([
      200,
      expect.objectContaining({ id, status: "disconnected" }),
    ]);
    const { json } = await service.ask(`GET /api/v1/accounts/${id}`);
    expect(json).toEqual({ account: gone.json.account });
    for (const method of ["GET", "DELETE"]) {
      const { status, json } = await service.ask(`${method} /api/v1/accounts/acc_none`);
      expect([status, json.error]).toEqual([404, expect.stringContaining('no account "acc_none"')]);
    }
    // Tools take a channel's name or platform, too.
    expect((await service.ask("DELETE /api/v1/accounts/feed")).status).toBe(404);
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

  it.each(["disconnected", "reconnect_required"] as const)(
    "shows a dry run on a channel that is %s, too, and says so",
    async (status) => {
      const { id } = await schedule();
      const reason = "Somebody took it away.";
      await queryOf(service.ctx.store)
        .updateTable("accounts")
        .set({ status, status_reason: reason })
        .execute();
      const scheduledAt = "2027-01-04T09:00:00Z";
      const json = { accountId: account, caption: "x", scheduledAt, dryRun: true };
      for (const [method, body] of [
        ["POST /api/v1/posts", json],
        [`PATCH /api/v1/posts/${id}`, { caption: "x", dryRun: true }],
      ] as const) {
        const answer = await service.ask(method, { json: body });
        expect([answer.status, answer.json.dryRun, answer.json.post.caption]).toEqual([200, true, "x"]);
        expect(answer.json.warnings).toEqual([expect.stringMatching(/must be reconnected first\. Somebody/)]);
      }
      const stored = await service.ask("POST /api/v1/posts", { json: { ...json, dryRun: false } });
      expect(stored.status).toBe(status === "disconnected" ? 409 : 201);
    },
  );

  it("stores nothing on a dry run: 200 and no Location", async () => {
    const answer = await service.ask("POST /api/v1/posts", {
      json: { accountId: account, caption: "x", dryRun: true },
    });
    expect([answer.status, answer.headers["location"]]).toEqual([200, undefined]);
    expect(answer.json.preview).toMatchObject({ text: "x", count: { length: 1 } });
    expect((await service.ask("GET /api/v1/posts")).json).toEqual({ posts: [], nextCursor: null });
  });

  it.each([
    [{}, 400, /^accountId: is required/],
    [{ accountId: 7, caption: "x" }, 400, /^accountId: must be a string/],
    [{ accountId: "acc_nobody", caption: "x" }, 404, /acc_nobody/],
    [
      { captoin: "x" },
      400,
      /"captoin" is not a known field. Did you mean caption\? The fields are accountId, scheduledAt, mediaUrl/,
    ],
    [{ scheduledAt: "yesterday", caption: "x" }, 400, /^scheduledAt: "yesterday" is not a date and time/],
    [{ scheduledAt: "2026-11-21T08:00:00Z", caption: "x" }, 400, /2026-11-21T09:00Z/],
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

  it.each([
    [1, 201],
    [255, 201],
    [256, 400],
  ])("takes an idempotency key of %i characters with %i", async (length, status) => {
    const json = { accountId: account, caption: "once" };
    const key = "k".repeat(length);
    const answers = [
      await service.ask("POST /api/v1/posts", { headers: { "Idempotency-Key": key }, json }),
      await service.ask("POST /api/v1/posts", { json: { ...json, idempotencyKey: key } }),
    ];
    expect(answers.map((answer) => answer.status)).toEqual([status, status]);
  });

  it("takes 100 posts in one call, and no more", async () => {
    const posts = Array.from({ length: 101 }, (_, at) => ({ accountId: account, caption: `Post ${at}` }));
    const call = (count: number) =>
      service.ask("POST /api/v1/tools/schedule_posts", {
        json: { posts: posts.slice(0, count), dryRun: true },
      });
    const most = await call(100);
    expect([most.status, most.json.result.results.length]).toEqual([200, 100]);
    const more = await call(101);
    expect([more.status, more.json.error]).toEqual([400, "posts: must have at most 100 items."]);
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
      /^"sort" is not a known query parameter. The parameters are accountId, provider, status, label, draftId, search, from, to, limit, cursor/,
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
    const shown = await service.ask(`PATCH /api/v1/posts/${id}`, { json: { caption: "Seen", dryRun: true } });
    expect([shown.status, shown.json.dryRun, shown.json.preview.text]).toEqual([
      200,
      true,
      expect.stringContaining("Seen"),
    ]);
    expect((await service.ask(`GET /api/v1/posts/${id}`)).json.post.caption).toBe("New");
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

  it("sends it with what its body changes, and shows that before", async () => {
    const { id } = await schedule();
    await put(id, { status: "failed", error: "It failed.", next_at: null });
    const json = { caption: "Mended", scheduledAt: "2026-11-22T09:00:00Z", metadata: { title: "T" } };
    const shown = await service.ask(`POST /api/v1/posts/${id}`, { json: { ...json, dryRun: true } });
    expect(Object.keys(shown.json)).toEqual(["post", "warnings", "dryRun", "preview"]);
    expect(shown.json.post).toMatchObject({ id, caption: "Mended", status: "scheduled", error: null });
    expect((await service.ask(`GET /api/v1/posts/${id}`)).json.post).toMatchObject({ status: "failed" });
    const answer = await service.ask(`POST /api/v1/posts/${id}`, { json });
    expect([answer.status, Object.keys(answer.json)]).toEqual([200, ["post", "warnings"]]);
    const { post } = answer.json;
    expect(post).toMatchObject({ ...json, scheduledAt: "2026-11-22T09:00:00.000Z", status: "scheduled" });
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
      { thumbnail: "x" },
      { thumbnailUrl: "https://example.com/a.jpg", x: 1 },
    ]) {
      const answer = await service.ask(`POST /api/v1/posts/${id}`, { json: wrong });
      expect([answer.status, answer.json.error]).toEqual([400, expect.stringContaining("thumbnail")]);
    }
  });

  it.each([null, ""])("takes a thumbnailUrl of %j for one that is left out", async (thumbnailUrl) => {
    const { id } = await schedule();
    await put(id, { status: "failed", error: "It failed." });
    const { status, json } = await service.ask(`POST /api/v1/posts/${id}`, { json: { thumbnailUrl } });
    expect([status, json.post]).toEqual([200, expect.objectContaining({ status: "scheduled", error: null })]);
  });

  it.each([
    [
      "POST /api/v1/posts/{id}",
      { thumbnailUrl: "ftp://example.com/a.jpg" },
      /^thumbnailUrl: .*no media address/,
    ],
    [
      "POST /api/v1/posts/{id}",
      { thumbnailUrl: "http://127.0.0.1/a.jpg" },
      /^thumbnailUrl: .*private network/,
    ],
    [
      "PATCH /api/v1/posts/{id}",
      { thumbnailUrl: "ftp://example.com/a.jpg" },
      /^metadata\.thumbnailUrl: .*no media address/,
    ],
    ["PATCH /api/v1/posts/{id}", { mediaUrl: "file:///etc/passwd" }, /^mediaUrl: .*no media address/],
    ["PATCH /api/v1/posts/{id}", { scheduledAt: "soon" }, /^scheduledAt: /],
    ["PATCH /api/v1/posts/{id}", { metadata: { colour: "red" } }, /^metadata: "colour" is not a known field/],
    ["PATCH /api/v1/posts/{id}", { metadata: { colour: null } }, /^metadata: "colour" is not a known field/],
    ["PATCH /api/v1/posts/{id}", { leadMinutes: 99_999 }, /^leadMinutes: /],
    ["edit_published_post", { metadata: { colour: "red" } }, /^metadata: "colour" is not a known field/],
    ["edit_published_post", { metadata: { colour: null } }, /^metadata: "colour" is not a known field/],
    [
      "edit_published_post",
      { metadata: { thumbnailUrl: "ftp://example.com/a" } },
      /^metadata\.thumbnailUrl: .*no media address/,
    ],
    ["edit_published_post", { metadata: { title: 5 } }, /^metadata\.title: must be a string/],
    ["edit_published_post", { caption: "x".repeat(10_001) }, /^caption: has 10001/],
    ["update_post", { caption: "" }, /^caption: is empty/],
    ["set_thumbnail", { thumbnailUrl: "r3://a" }, /^thumbnailUrl: .*no media address/],
  ])("%s with %j is 400 whatever state the post is in", async (target, args, sentence) => {
    const { id } = await schedule();
    const isTool = !target.includes(" ");
    for (const status of [
      "publishing",
      "uploaded",
      "cancelled",
      "failed",
      ...(target.startsWith("edit") ? ["scheduled"] : []),
    ]) {
      await put(id, { status });
      const answer = isTool
        ? await service.ask(`POST /api/v1/tools/${target}`, { json: { id, ...args } })
        : await service.ask(target.replace("{id}", id), { json: args });
      expect([answer.status, answer.json.error]).toEqual([400, expect.stringMatching(sentence)]);
    }
  });

  it("tells what is wrong with the form alone before a post that is not there, and what its platform says after it", async () => {
    const nowhere = (target: string, json: object) =>
      service.ask(target.replace("{id}", "post_nothing"), { json });
    expect((await nowhere("POST /api/v1/posts/{id}", { thumbnailUrl: "ftp://example.com/a" })).status).toBe(
      400,
    );
    expect((await nowhere("PATCH /api/v1/posts/{id}", { mediaUrl: "ftp://example.com/a" })).status).toBe(400);
    expect((await nowhere("PATCH /api/v1/posts/{id}", { scheduledAt: "soon" })).status).toBe(400);
    expect((await nowhere("PATCH /api/v1/posts/{id}", { metadata: { colour: "red" } })).status).toBe(404);
    const draft = (fields: object) =>
      service.ask("POST /api/v1/posts", { json: { accountId: "acc_nobody", caption: "x", ...fields } });
    expect((await draft({ scheduledAt: "soon" })).status).toBe(400);
    expect((await draft({ mediaUrl: "ftp://example.com/a" })).status).toBe(400);
    expect((await draft({ metadata: { colour: "red" } })).status).toBe(404);
    const analytics = { accountId: "acc_nobody", from: "soon" };
    expect((await service.ask("POST /api/v1/tools/get_account_analytics", { json: analytics })).status).toBe(
      400,
    );
    expect(
      (await service.ask("POST /api/v1/webhooks/whk_nothing/replay", { json: { since: "soon" } })).status,
    ).toBe(400);
  });

  it("tells what is wrong with a post before what is wrong with its channel", async () => {
    await queryOf(service.ctx.store).updateTable("accounts").set({ status: "disconnected" }).execute();
    const draft = (fields: object) =>
      service.ask("POST /api/v1/posts", { json: { accountId: account, ...fields } });
    expect((await draft({ caption: "x", metadata: { colour: "red" } })).status).toBe(400);
    expect((await draft({ caption: "x".repeat(10_001) })).status).toBe(400);
    expect((await draft({ caption: "x" })).status).toBe(409);
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

describe("a tool", () => {
  it("needs a body, of JSON", async () => {
    for (const { name } of service.tools) {
      const target = `POST /api/v1/tools/${name}`;
      for (const ask of [
        {},
        { body: "" },
        { body: "", headers: { "Content-Type": "application/json" } },
        { body: "{}" },
      ]) {
        const answer = await service.ask(target, ask);
        expect([name, answer.status, answer.json.error]).toEqual([
          name,
          400,
          expect.stringMatching(/^(The body is missing\.|Content-Type: )/),
        ]);
      }
    }
    const plain = { body: "{}", headers: { "Content-Type": "text/plain" } };
    expect((await service.ask("POST /api/v1/tools/list_posts", plain)).json.error).toMatch(/^Content-Type: /);
    expect((await service.ask("POST /api/v1/tools/list_posts", { json: {} })).status).toBe(200);
  });
});

describe("text", () => {
  const NFD = "Cafe\u0301 \u1112\u1161\u11ab \ufb01 \u212b";

  it("is answered code point by code point as it came", async () => {
    const given = {
      caption: NFD,
      metadata: {
        title: NFD,
        tags: [NFD],
        moreMedia: [{ url: "https://media.example/a.png", altText: NFD }],
      },
    };
    const post = await schedule(given);
    expect(post).toMatchObject(given);
    expect((await service.ask(`GET /api/v1/posts/${post.id}`)).json.post).toMatchObject(given);
    const patched = await service.ask(`PATCH /api/v1/posts/${post.id}`, { json: { caption: `${NFD}!` } });
    expect(patched.json.post.caption).toBe(`${NFD}!`);
    const found = await service.call("list_posts", { search: "Café" });
    expect(found.posts.map(({ id }: { id: string }) => id)).toEqual([post.id]);
  });

  it("is the same post in another spelling of Unicode", async () => {
    const first = await schedule({ caption: NFD });
    const json = {
      accountId: account,
      scheduledAt: "2026-12-01T10:00:00+01:00",
      caption: NFD.normalize("NFC"),
    };
    const twin = await service.ask("POST /api/v1/posts", { json });
    expect(twin.json.warnings).toEqual([expect.stringContaining(first.id)]);
  });

  it.each([
    ["schedule_post", { caption: "a\0b" }, /^caption: holds the character NUL/],
    ["schedule_post", { caption: "a\ud83d" }, /^caption: holds half of a surrogate pair/],
    [
      "schedule_post",
      { metadata: { thread: [{ caption: "a" }, { caption: "\udc00" }] } },
      /^metadata\.thread\[1\]\.caption: holds half/,
    ],
    ["schedule_post", { metadata: { "a\0": 1 } }, /^metadata: the name "a\\u0000" holds the character NUL/],
    ["schedule_posts", { posts: [{ caption: "a\0b" }] }, /^posts\[0\]\.caption: holds the character NUL/],
    ["list_posts", { search: "a\0" }, /^search: holds the character NUL/],
    ["get_post", { id: "post_\0" }, /^id: holds the character NUL/],
  ])("that is broken is 400: %s %j", async (tool, args, sentence) => {
    const answer = await service.ask(`POST /api/v1/tools/${tool}`, { json: args });
    expect([answer.status, answer.json.error]).toEqual([400, expect.stringMatching(sentence)]);
  });

  it("that is broken is 400 in a query, of an upload and its import too, and an unknown id in a path", async () => {
    expect((await service.ask("GET /api/v1/posts?search=a%00")).status).toBe(400);
    expect((await service.ask("GET /api/v1/posts/post_%00")).status).toBe(404);
    const bytes = { body: "x", headers: { "Content-Type": "application/octet-stream" } };
    const uploaded = await service.ask("POST /api/v1/files?name=a%00.png", bytes);
    expect([uploaded.status, uploaded.json.error]).toEqual([400, expect.stringMatching(/^name: /)]);
    const imported = await service.ask("POST /api/v1/files", {
      json: { url: "https://media.example/a.png", altText: "\ud800" },
    });
    expect([imported.status, imported.json.error]).toEqual([400, expect.stringMatching(/^altText: /)]);
    const metadata = `filename ${Buffer.from("a\0.png").toString("base64")}`;
    const tus = { "Tus-Resumable": "1.0.0", "Upload-Length": "5", "Upload-Metadata": metadata };
    const created = await service.ask("POST /api/v1/files/uploads", { headers: tus });
    expect([created.status, created.json.error]).toEqual([
      400,
      expect.stringMatching(/^Upload-Metadata\.filename: /),
    ]);
  });

  it("is named in part where there is too much of it", async () => {
    const metadata = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`k${at}`, 1]));
    for (const args of [{ accountId: account, caption: "x", metadata }, metadata]) {
      const { status, json } = await service.ask("POST /api/v1/posts", { json: args });
      expect([status, json.error]).toEqual([
        400,
        expect.stringContaining('"k4" and 59995 more are not known fields'),
      ]);
      expect(json.error.length).toBeLessThan(1_000);
    }
  });
});

describe("the rest", () => {
  it.each([
    ["GET /api/v1/platforms", "list_platforms"],
    ["GET /api/v1/status", "get_status"],
    ["GET /api/v1/calendar", "show_calendar"],
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

  it("GET /api/v1/platforms tells those named whole, and refuses what is none", async () => {
    const { json } = await service.ask("GET /api/v1/platforms?provider=feed,bluesky");
    expect(json.platforms.map(({ provider }: { provider: string }) => provider)).toEqual(["bluesky", "feed"]);
    expect(json.platforms[0]).toHaveProperty("metadataSchema");
    const refused = await service.ask("GET /api/v1/platforms?provider=myspace");
    expect([refused.status, refused.json.error]).toEqual([
      400,
      expect.stringContaining("The platforms are bluesky, dailymotion, "),
    ]);
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

  it("a tool that does not exist is 404, with the one that is meant and the ones there are", async () => {
    const answer = await service.ask("POST /api/v1/tools/delete_posts", { json: {} });
    expect([answer.status, answer.json.error]).toEqual([
      404,
      expect.stringMatching(
        /^There is no tool "delete_posts"\. Did you mean cancel_post\? The tools are cancel_post, /,
      ),
    ]);
  });

  const taking = RESOURCE_ROUTES.filter(({ body }) => body !== undefined);
  it.each(taking.map(({ method, path }) => [method.toUpperCase(), path]))(
    "%s %s refuses an unknown field with those of its own body",
    async (method, path) => {
      const target = `${method} /api/v1${path.replace(/\{(\w+)\}/, path.startsWith("/accounts") ? account : "x_1")}`;
      const { status, json } = await service.ask(target, { json: { nonsense: 1 } });
      expect([status, json.error]).toEqual([
        400,
        expect.stringContaining('"nonsense" is not a known field.'),
      ]);
      const fields = /The fields are (.*)\.$/.exec(json.error)?.[1]?.split(", ") ?? [];
      for (const other of ["confirm", ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)])
        expect(fields).not.toContain(other);
      // Each that it names is known there.
      for (const field of fields) {
        const again = await service.ask(target, { json: { nonsense: 1, [field]: [[]] } });
        expect(again.json.error).not.toContain(`"${field}" is not a known field`);
        expect(again.json.error).not.toContain(`"${field}", `);
      }
    },
  );

  it("POST /api/v1/posts/{id} names the thumbnail that its body may hold", async () => {
    const { json } = await service.ask("POST /api/v1/posts/post_1", { json: { thumbnail: "x" } });
    expect(json.error).toBe(
      '"thumbnail" is not a known field. The fields are caption, mediaUrl, metadata, scheduledAt, dryRun, idempotencyKey, thumbnailUrl.',
    );
  });
});

describe("A query parameter that is not known", () => {
  const addresses = [
    ...RESOURCE_ROUTES.map(({ method, path }) => `${method.toUpperCase()} ${path}`),
    "GET /files/{id}",
    "GET /tools",
    "POST /tools/list_posts",
    "PUT /platforms/youtube/app",
    "DELETE /platforms/youtube/app",
    "GET /openapi.json",
    "GET /docs",
  ];

  it("is 400 at every address", async () => {
    for (const address of addresses) {
      const [method, path] = address.split(" ");
      const ask = `${method} /api/v1${path!.replace("{accountId}", account).replace("{id}", "x")}?zzz=1`;
      const answer = await service.ask(ask, method === "GET" || method === "DELETE" ? {} : { json: {} });
      expect([ask, answer.status, answer.json?.error]).toEqual([
        ask,
        400,
        expect.stringMatching(/^"zzz" is not a known query parameter\./),
      ]);
    }
  });
});
