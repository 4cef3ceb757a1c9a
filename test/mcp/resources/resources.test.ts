import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadCatalog } from "../../../src/app/setup.ts";
import { addPosts } from "../../support/post-rows.ts";
import type { Line } from "../peers.ts";
import { connectReader, startRealServer, type Reader, type RealServer } from "../readers.ts";
import { queryOf } from "../../support/handles.ts";

const LINES: readonly Line[] = ["sdk 1", "sdk 2, sessions", "sdk 2, stateless"];
const POST = "posthorn://posts/{id}";
const PLATFORMS = (await loadCatalog()).platforms.map(({ name }) => name);

let server: RealServer;
let key: string;
let reader: Reader;

async function connect(line: Line, permissions?: string, accountIds?: string[]): Promise<Reader> {
  key = await server.http.keyFor("default", {
    ...(permissions === undefined ? {} : { permissions: [permissions as "read"] }),
    ...(accountIds === undefined ? {} : { accountIds }),
  });
  return connectReader(line, server.http.port, key);
}

beforeEach(async () => {
  server = await startRealServer();
  await addPosts(server.ctx.store, [
    { id: "post_1", caption: "Ein Gruß", scheduledAt: "2026-11-25T09:00:00Z" },
    {
      id: "post_2",
      accountId: "acc_2",
      provider: "webhook",
      caption: "Later",
      scheduledAt: "2026-12-05T09:00:00Z",
      status: "failed",
    },
    { id: "post_theirs", accountId: "acc_theirs", ownerId: "other", caption: "Not yours" },
  ]);
});

afterEach(async () => {
  await reader[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

/** Other people's things do not exist: the same sentence, but for the id. */
async function refusalOf(work: Promise<unknown>): Promise<any> {
  return work.then(
    () => expect.unreachable("It should have been refused."),
    (error: unknown) => error,
  );
}

describe.each(LINES)("a client of %s", (line) => {
  beforeEach(async () => {
    reader = await connect(line);
  });

  it("is told what there is", async () => {
    expect(reader.capabilities()).toMatchObject({
      tools: {},
      resources: line === "sdk 2, stateless" ? {} : { subscribe: true },
      prompts: {},
      completions: {},
    });
    expect(reader.capabilities().resources.listChanged ?? false).toBe(false);
    expect(reader.capabilities().prompts.listChanged ?? false).toBe(false);
    const { resources, nextCursor } = await reader.list();
    expect(resources.map(({ uri }: { uri: string }) => uri)).toEqual([
      "skill://posthorn/SKILL.md",
      "ui://posthorn/calendar.html",
      "ui://posthorn/review.html",
      "posthorn://calendar/2026-11",
      "posthorn://calendar/2026-12",
      "posthorn://accounts/acc_1",
      "posthorn://accounts/acc_2",
      ...PLATFORMS.map((name) => `posthorn://platforms/${name}`),
      "posthorn://posts/post_2",
      "posthorn://posts/post_1",
    ]);
    expect(nextCursor).toBeUndefined();
    for (const resource of resources)
      expect(resource).toMatchObject({ title: expect.any(String), description: expect.any(String) });
    expect((await reader.templates()).map(({ uriTemplate }) => uriTemplate)).toEqual([
      "posthorn://calendar/{month}",
      "posthorn://accounts/{id}",
      "posthorn://platforms/{provider}",
      POST,
    ]);
  });

  it("reads each kind, as the tools answer it", async () => {
    const { content } = await reader.call("get_post", { id: "post_1" });
    const post = await reader.read("posthorn://posts/post_1");
    expect(post).toMatchObject({ uri: "posthorn://posts/post_1", mimeType: "application/json" });
    expect(JSON.parse(post.text)).toEqual(JSON.parse(content[0].text).post);
    expect(JSON.parse((await reader.read("posthorn://accounts/acc_2")).text)).toMatchObject({
      id: "acc_2",
      provider: "webhook",
    });
    expect(JSON.parse((await reader.read("posthorn://platforms/bluesky")).text)).toMatchObject({
      provider: "bluesky",
      metadataSchema: { properties: expect.any(Object) },
    });
    expect(JSON.parse((await reader.read("posthorn://calendar/2026-11")).text)).toMatchObject({
      month: "2026-11",
      timezone: "UTC",
      posts: [{ id: "post_1", caption: "Ein Gruß", status: "scheduled" }],
    });
  });

  it("finds nothing of others, and is told the way", async () => {
    const theirs = await refusalOf(reader.read("posthorn://posts/post_theirs"));
    const none = await refusalOf(reader.read("posthorn://posts/post_nothing"));
    expect(theirs.message.replace("post_theirs", "…")).toBe(none.message.replace("post_nothing", "…"));
    expect(none).toMatchObject({ code: -32602, data: { uri: "posthorn://posts/post_nothing" } });
    expect(none.message).toContain("Take ids from list_posts");
    expect((await refusalOf(reader.read("posthorn://accounts/acc_theirs"))).message).toContain(
      "Take ids from list_accounts",
    );
    expect((await refusalOf(reader.read("posthorn://platforms/mastodn"))).message).toContain(
      '"mastodn" is not a known platform. Did you mean mastodon? The platforms are ',
    );
    expect((await refusalOf(reader.read("posthorn://platforms/myspace"))).message).toContain(
      `The platforms are ${PLATFORMS.join(", ")}`,
    );
    expect((await refusalOf(reader.read("posthorn://calendar/2026-13"))).message).toContain("yyyy-mm");
    expect((await refusalOf(reader.read("posthorn://nowhere"))).message).toContain(POST);
  });
});

describe.each(["sdk 1", "sdk 2, sessions"] as const)("a subscription of %s", (line) => {
  it("tells of changes that another process made, until it ends", async () => {
    reader = await connect(line);
    const stop = await reader.subscribe("posthorn://posts/post_1");
    await server.ctx.clock.advance(3_000);
    expect(reader.updates.list).toEqual([]);
    await changeElsewhere("post_1");
    const heard = once(reader.updates, "note");
    await server.ctx.clock.advance(1_000);
    await heard;
    expect(reader.updates.list).toEqual(["posthorn://posts/post_1"]);
    await stop();
    await changeElsewhere("post_1");
    await server.ctx.clock.advance(2_000);
    expect(reader.updates.list).toHaveLength(1);
  });

  it("is refused for what is not there", async () => {
    reader = await connect(line);
    expect((await refusalOf(reader.subscribe("posthorn://posts/post_theirs"))).message).toContain(
      "There is no post",
    );
  });
});

describe("a key", () => {
  it("that may not read is shown the skill alone", async () => {
    reader = await connect("sdk 1", "files");
    expect((await reader.list()).resources).toMatchObject([{ uri: "skill://posthorn/SKILL.md" }]);
    expect(await reader.templates()).toEqual([]);
    expect((await refusalOf(reader.read("posthorn://posts/post_1"))).message).toContain('permission "read"');
    expect((await refusalOf(reader.subscribe("posthorn://posts/post_1"))).message).toContain(
      'permission "read"',
    );
    expect((await reader.complete({ type: "ref/resource", uri: POST }, "id", "")).values).toEqual([]);
  });

  it("for one account sees that one alone", async () => {
    reader = await connect("sdk 2, stateless", "read", ["acc_2"]);
    const uris = (await reader.list()).resources.map(({ uri }: { uri: string }) => uri);
    expect(uris).toContain("posthorn://posts/post_2");
    expect(uris).toContain("posthorn://accounts/acc_2");
    expect(uris).not.toContain("posthorn://posts/post_1");
    expect(uris).not.toContain("posthorn://accounts/acc_1");
    expect((await refusalOf(reader.read("posthorn://posts/post_1"))).message).toContain("There is no post");
  });
});

describe("the list of posts", () => {
  it("comes in pages", async () => {
    await addPosts(
      server.ctx.store,
      Array.from({ length: 60 }, (_, index) => ({ id: `post_more_${index}`, caption: `More ${index}` })),
    );
    reader = await connect("sdk 1");
    const first = await reader.list();
    const second = await reader.list(first.nextCursor);
    const posts = [...first.resources, ...second.resources].filter(({ uri }: { uri: string }) =>
      uri.startsWith("posthorn://posts/"),
    );
    expect(new Set(posts.map(({ uri }: { uri: string }) => uri)).size).toBe(62);
    expect(second.nextCursor).toBeUndefined();
    expect((await refusalOf(reader.list("nonsense"))).message).toContain("cursor");
  });
});

/** Past the service, as another process on the database does. */
async function changeElsewhere(id: string): Promise<void> {
  await queryOf(server.ctx.store)
    .updateTable("posts")
    .set((row) => ({ updated_at: row("updated_at", "+", 1) }))
    .where("id", "=", id)
    .execute();
}
