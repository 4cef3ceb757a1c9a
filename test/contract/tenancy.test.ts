import { createReadStream } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RESOURCE_ROUTES, type ResourceRoute } from "../../src/http/api/resource-routes.ts";
import { loadCatalog } from "../../src/app/setup.ts";
import { getFile } from "../../src/files/files.ts";
import { storeUpload } from "../../src/files/file-uploads.ts";
import { type Permission, PERMISSIONS } from "../../src/domain/permissions.ts";
import type { AnyTool } from "../../src/toolkit/define-tool.ts";
import { callOf, callerOf } from "../support/context.ts";
import type { Answer } from "../support/http.ts";
import { signIn } from "../support/page.ts";
import { startService, type Service } from "../support/service.ts";

const PHOTO = new URL("../fixtures/photo.png", import.meta.url);

const { tools } = await loadCatalog();

/** What of an owner's a tool can be pointed at, by the argument that points. */
interface Things {
  readonly account: string;
  readonly post: string;
  readonly file: string;
  readonly connection: string;
  readonly webhook: string;
  readonly draft: string;
}

const MISSING: Things = {
  account: "acc_missing",
  post: "post_missing",
  file: "file_missing",
  connection: "con_missing",
  webhook: "whk_missing",
  draft: "dft_missing",
};

/** Arguments that a tool needs besides; a new tool with others adds them here. */
const FILLERS: Readonly<Record<string, unknown>> = {
  caption: "x",
  field: "boardId",
  thumbnailUrl: "https://example.com/a.jpg",
  outcome: "not_published",
  decision: "discard",
  from: "2026-11-01",
  paused: true,
  revision: 1,
  since: "2026-11-01",
  provider: "feed",
  posts: [{ accountId: "acc_missing" }],
  url: "https://hooks.example/secret-of",
  csv: "scheduledAt,caption\n2150-01-01T09:00:00Z,x",
};

/**
 * Given although they are not needed: a change without a change or of no revision, or a replay of nothing, is
 * refused for that alone.
 */
const ALWAYS = ["caption", "since", "csv", "paused", "revision"];

/** What an id is of, by the end of the tool's name; a post's where none fits. */
const KINDS = ["file", "webhook", "draft"] as const;

/** Lists answer with what is the caller's own instead of refusing; batches refuse each item for itself. */
const POINTERS: Readonly<Record<string, (tool: AnyTool, things: Things) => object>> = {
  id: (tool, things) => ({
    id: things[KINDS.find((kind) => new RegExp(`_${kind}s?$`).test(tool.name)) ?? "post"],
  }),
  accountId: (_tool, things) => ({ accountId: things.account }),
  connectId: (_tool, things) => ({ connectId: things.connection }),
};

let service: Service;
let own: Things;
let foreign: Things;
let mine: string;

beforeAll(async () => {
  service = await startService();
  own = await makeThings("default");
  foreign = await makeThings("other");
  mine = await service.keyFor("default");
});

afterAll(() => service[Symbol.asyncDispose]());

async function makeThings(ownerId: string): Promise<Things> {
  const account = await service.addFeed(ownerId);
  const { post } = await service.call(
    "schedule_post",
    { accountId: account, caption: `secret of ${ownerId}` },
    { ownerId },
  );
  const { connectId } = await service.call("connect_channel", { provider: "webhook" }, { ownerId });
  const { webhook } = await service.call(
    "create_webhook",
    { url: `https://hooks.example/secret of ${ownerId}` },
    { ownerId },
  );
  const upload = {
    name: "photo.png",
    body: createReadStream(PHOTO),
    altText: `secret of ${ownerId}`,
  };
  const { file } = await storeUpload(callOf(service.ctx, callerOf({ ownerId })), upload);
  const { draft } = await service.call(
    "save_draft",
    { caption: `secret of ${ownerId}`, targets: [{ accountId: account }] },
    { ownerId },
  );
  return {
    account,
    post: post.id,
    connection: connectId,
    file: file.id,
    webhook: webhook.id,
    draft: draft.id,
  };
}

function pointersOf(tool: AnyTool): string[] {
  const shape: Record<string, { safeParse(value: unknown): { success: boolean } }> = tool.input.shape;
  return Object.keys(POINTERS).filter((name) => shape[name]?.safeParse("x").success === true);
}

function argsFor(tool: AnyTool, things: Things): Record<string, unknown> {
  const needed = Object.entries(
    tool.input.shape as Record<string, { safeParse(value: unknown): { success: boolean } }>,
  )
    .filter(
      ([name, field]) =>
        (ALWAYS.includes(name) || !field.safeParse(undefined).success) && !(name in POINTERS),
    )
    .map(([name]) => {
      expect(FILLERS, `the tool ${tool.name} needs a filler for ${name}`).toHaveProperty(name);
      return [name, FILLERS[name]] as const;
    });
  const pointed = pointersOf(tool).map((name) => POINTERS[name]!(tool, things));
  return Object.assign(Object.fromEntries(needed), ...pointed);
}

function callTool(tool: AnyTool, args: object, key: string | null = mine): Promise<Answer> {
  return service.ask(`POST /api/v1/tools/${tool.name}`, { key, json: args });
}

function without(answer: Answer, things: Things): string {
  return Object.values(things).reduce((text, id) => text.replaceAll(id, "<id>"), answer.text);
}

const pointing = tools.filter((tool) => pointersOf(tool).length > 0);
const listing = tools.filter((tool) => tool.hints.readOnly && pointersOf(tool).length === 0);

describe.each(pointing.map((tool) => [tool.name, tool] as const))("%s", (_name, tool) => {
  it("answers another owner's id as one that does not exist", async () => {
    const [theirs, missing] = [
      await callTool(tool, argsFor(tool, foreign)),
      await callTool(tool, argsFor(tool, MISSING)),
    ];
    expect([theirs.status, missing.status]).toEqual([404, 404]);
    expect(without(theirs, foreign)).toBe(without(missing, MISSING));
  });

  it("leaves the other owner's things as they were", async () => {
    const { post } = await service.call("get_post", { id: foreign.post }, { ownerId: "other" });
    expect(post).toMatchObject({ status: "scheduled", caption: "secret of other" });
  });
});

describe.each(listing.map((tool) => [tool.name, tool] as const))("%s", (_name, tool) => {
  it("shows nothing of another owner's", async () => {
    const answer = await callTool(tool, argsFor(tool, own));
    expect(answer.status).toBe(200);
    for (const id of Object.values(foreign)) expect(answer.text).not.toContain(id);
    expect(answer.text).not.toContain("secret of other");
  });
});

describe("a session of the page", () => {
  it("answers another owner's id as one that does not exist, in every tool", async () => {
    const { ask } = await signIn(service, mine);
    for (const tool of pointing) {
      const target = `POST /app/api/tools/${tool.name}`;
      const theirs = await ask(target, { json: argsFor(tool, foreign) });
      const missing = await ask(target, { json: argsFor(tool, MISSING) });
      expect([theirs.status, missing.status], tool.name).toEqual([404, 404]);
      expect(without(theirs, foreign), tool.name).toBe(without(missing, MISSING));
    }
    const [theirs, missing] = [
      await ask(`GET /app/api/files/${foreign.file}`),
      await ask(`GET /app/api/files/${MISSING.file}`),
    ];
    expect([theirs.status, without(theirs, foreign)]).toEqual([404, without(missing, MISSING)]);
  });

  it("may do in each tool what its key may", async () => {
    for (const tool of tools) {
      const key = await service.keyFor("default", { permissions: lackedBy(tool) });
      const { ask } = await signIn(service, key);
      const answer = await ask(`POST /app/api/tools/${tool.name}`, { json: argsFor(tool, own) });
      expect(answer.status, tool.name).toBe(403);
    }
  });

  it("knows neither keys nor sessions of another owner", async () => {
    const [here, there] = [await signIn(service, mine), await signIn(service, await service.keyFor("other"))];
    const { apiKey } = (await there.ask("POST /app/api/keys", { json: { name: "secret of other" } })).json;
    for (const target of ["GET /app/api/keys", "GET /app/api/sessions"]) {
      const { text } = await here.ask(target);
      for (const theirs of [apiKey.id, there.answer.json.session.id, "secret of other"])
        expect(text).not.toContain(theirs);
    }
    for (const target of [
      `DELETE /app/api/keys/${apiKey.id}`,
      `DELETE /app/api/sessions/${there.answer.json.session.id}`,
    ])
      expect((await here.ask(target)).status).toBe(404);
    expect((await there.ask("GET /app/api/session")).status).toBe(200);
  });
});

describe("batches and filters", () => {
  it("refuse another owner's account item by item", async () => {
    const answer = await service.ask("POST /api/v1/tools/schedule_posts", {
      key: mine,
      json: { posts: [{ accountId: foreign.account }, { accountId: "acc_missing" }] },
    });
    const [theirs, missing] = answer.json.result.results;
    expect(theirs.post).toBeNull();
    expect(theirs.error.replace(foreign.account, "<id>")).toBe(missing.error.replace("acc_missing", "<id>"));
  });

  it("find nothing on another owner's account", async () => {
    for (const name of ["list_posts", "show_calendar"]) {
      const answer = await service.ask(`POST /api/v1/tools/${name}`, {
        key: mine,
        json: { accountId: [foreign.account] },
      });
      expect(answer.json.result.posts).toEqual([]);
    }
  });

  it("do not take another owner's file into a post", async () => {
    for (const mediaUrl of [foreign.file, "file_missing"]) {
      const answer = await service.ask("POST /api/v1/posts", {
        key: mine,
        json: { accountId: own.account, mediaUrl },
      });
      expect(answer.status).toBe(404);
    }
    const { file } = await getFile(callOf(service.ctx, callerOf({ ownerId: "other" })), { id: foreign.file });
    const answer = await service.ask("POST /api/v1/posts", {
      key: mine,
      json: { accountId: own.account, mediaUrl: file.url },
    });
    expect([answer.status, answer.json.post]).toEqual([
      expect.toSatisfy((status: number) => status === 400 || status === 404),
      undefined,
    ]);
  });
});

describe("GET /files/{id}", () => {
  it("answers another owner's file as one that does not exist", async () => {
    expect((await service.ask(`GET /api/v1/files/${own.file}`, { key: mine })).status).toBe(200);
    const theirs = await service.ask(`GET /api/v1/files/${foreign.file}`, { key: mine });
    const missing = await service.ask(`GET /api/v1/files/${MISSING.file}`, { key: mine });
    expect([theirs.status, missing.status]).toEqual([404, 404]);
    expect(without(theirs, foreign)).toBe(without(missing, MISSING));
  });
});

describe.each(
  RESOURCE_ROUTES.map((route) => [`${route.method.toUpperCase()} ${route.path}`, route] as const),
)("%s", (_name, route) => {
  const tool = tools.find((candidate) => candidate.name === route.tools[0])!;
  const change = route.path.startsWith("/accounts/")
    ? { paused: true }
    : { caption: "x", ...(route.path.startsWith("/drafts/") && { revision: 1 }) };
  const body = route.path.endsWith("/replay")
    ? { json: { since: "2026-11-01" } }
    : route.tools[0] === "decide_draft" && route.method === "post"
      ? { json: { decision: "discard" } }
      : { delete: {}, get: {}, patch: { json: change }, post: {} }[route.method];

  it("answers another owner's id as one that does not exist", async () => {
    if (!route.path.includes("{")) {
      expect((await service.ask(targetOf(route, own), { key: mine })).text).not.toContain("secret of other");
      return;
    }
    for (const extra of [
      body,
      ...(route.tools.includes("set_thumbnail")
        ? [{ json: { thumbnailUrl: "https://example.com/a.jpg" } }]
        : []),
    ]) {
      const theirs = await service.ask(targetOf(route, foreign), { key: mine, ...extra });
      const missing = await service.ask(targetOf(route, MISSING), { key: mine, ...extra });
      expect([theirs.status, missing.status]).toEqual([404, 404]);
      expect(without(theirs, foreign)).toBe(without(missing, MISSING));
    }
  });

  it("is 403 for a key without the permission and 401 without a key", async () => {
    const lacking = lackedBy(tool);
    const key = await service.keyFor("default", { permissions: lacking });
    expect((await service.ask(targetOf(route, own), { key, ...body })).status).toBe(403);
    for (const none of [null, "garbled", `${mine}x`])
      expect((await service.ask(targetOf(route, own), { key: none, ...body })).status).toBe(401);
  });
});

/** `publish` holds `draft`. */
function lackedBy({ permission }: Pick<AnyTool, "permission">): Permission[] {
  const held = permission === "draft" ? ["draft", "publish"] : [permission];
  return PERMISSIONS.filter((one) => one !== "admin" && !held.includes(one));
}

describe.each(tools.map((tool) => [tool.name, tool] as const))("the tool %s", (_name, tool) => {
  it("is 403 for a key without the permission and 401 without a key", async () => {
    const lacking = lackedBy(tool);
    const key = await service.keyFor("default", { permissions: lacking });
    expect((await callTool(tool, argsFor(tool, own), key)).status).toBe(403);
    for (const none of [null, "garbled", `${mine}x`])
      expect((await callTool(tool, argsFor(tool, own), none)).status).toBe(401);
  });

  it("keeps a key limited to an account from every other", async () => {
    const second = await makeThings("default");
    const key = await service.keyFor("default", { accountIds: [own.account] });
    const answer = await callTool(tool, argsFor(tool, second), key);
    if (pointersOf(tool).some((name) => name === "accountId" || name === "id")) {
      expect(answer.status).toBe(404);
    } else {
      expect(answer.text).not.toContain(second.post);
      expect(answer.text).not.toContain(second.file);
      if (!tool.name.startsWith("connect_")) expect(answer.text).not.toContain(second.account);
    }
  });
});

function targetOf(route: ResourceRoute, things: Things): string {
  const id = things[KINDS.find((kind) => route.path.startsWith(`/${kind}s`)) ?? "post"];
  return `${route.method.toUpperCase()} /api/v1${route.path.replace("{id}", id).replace("{accountId}", things.account)}`;
}
