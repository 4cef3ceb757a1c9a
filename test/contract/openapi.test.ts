import { readFile } from "node:fs/promises";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EVENT_KINDS } from "../../src/domain/webhooks/webhook.ts";
import { RESOURCE_ROUTES } from "../../src/http/api/resource-routes.ts";
import { send, type Answer } from "../support/http.ts";
import { startService, type Service } from "../support/service.ts";

const PHOTO = new URL("../fixtures/photo.png", import.meta.url);

let service: Service;
let document: any;
let account: string;
const ajv = new Ajv2020({ strict: false, allErrors: true });

beforeAll(async () => {
  service = await startService();
  document = (await service.ask("GET /api/v1/openapi.json", { key: null })).json;
  addFormats.default(ajv);
  ajv.addSchema(document, "api");
  account = await service.addFeed();
});

afterAll(() => service[Symbol.asyncDispose]());

describe("openapi.json", () => {
  it("is valid OpenAPI 3.1", async () => {
    const result = await new Validator().validate(structuredClone(document));
    expect(result.errors ?? []).toEqual([]);
    expect([result.valid, document.openapi]).toEqual([true, "3.1.0"]);
  });

  it("has every route, every tool and nothing twice", () => {
    for (const route of RESOURCE_ROUTES)
      expect(document.paths[`/api/v1${route.path}`]).toHaveProperty(route.method);
    for (const tool of service.tools)
      expect(document.paths[`/api/v1/tools/${tool.name}`]).toHaveProperty("post");
    const names = Object.values(document.paths).flatMap((item: any) =>
      Object.values(item).map((operation: any) => operation.operationId),
    );
    expect(new Set(names).size).toBe(names.length);
  });

  it("describes every event as it is sent", () => {
    expect(Object.keys(document.webhooks)).toEqual([...EVENT_KINDS, "webhook.test"]);
    const data = (kind: string) =>
      document.webhooks[kind].post.requestBody.content["application/json"].schema.properties.data.$ref;
    expect([data("post.failed"), data("account.reconnect_required")]).toEqual([
      expect.stringMatching(/^#\/components\/schemas\/Post/),
      expect.stringMatching(/^#\/components\/schemas\/Account/),
    ]);
  });

  it("refers to nothing that is not there and leaves no schema unnamed", () => {
    const text = JSON.stringify(document);
    for (const [, ref] of text.matchAll(/"\$ref":"#([^"]+)"/g)) {
      const target = ref!
        .split("/")
        .slice(1)
        .reduce((at: any, part) => at?.[part.replaceAll("~1", "/").replaceAll("~0", "~")], document);
      expect([ref, target]).not.toEqual([ref, undefined]);
    }
    expect(text).not.toContain("__schema");
  });

  it("has no schema that refers to itself, which generators of types do not get over", () => {
    const refersTo = (name: string): readonly string[] =>
      [...JSON.stringify(document.components.schemas[name]).matchAll(/#\/components\/schemas\/(\w+)/g)].map(
        ([, other = ""]) => other,
      );
    const reach = (name: string, seen = new Set<string>()): ReadonlySet<string> => {
      for (const other of refersTo(name)) if (!seen.has(other)) reach(other, seen.add(other));
      return seen;
    };
    const names = Object.keys(document.components.schemas);
    expect(names).toContain("JsonValue");
    expect(names.filter((name) => reach(name).has(name))).toEqual([]);
  });

  it("gives examples that its own schemas take", () => {
    for (const [path, item] of Object.entries<any>(document.paths)) {
      for (const [method, operation] of Object.entries<any>(item)) {
        const content = operation.requestBody?.content?.["application/json"];
        if (content?.example === undefined) continue;
        const pointer = `paths/${escape(path)}/${method}/requestBody/content/application~1json/schema`;
        expect([path, check(pointer, content.example)]).toEqual([path, null]);
      }
    }
  });

  it("gives an example for every tool that takes arguments", () => {
    for (const tool of service.tools) {
      const content =
        document.paths[`/api/v1/tools/${tool.name}`].post.requestBody.content["application/json"];
      expect([tool.name, content.example !== undefined]).toEqual([tool.name, true]);
    }
  });

  it("needs no key, and names where it is served", async () => {
    expect(document.servers).toEqual([{ url: await service.ctx.publicUrl() }]);
    expect(document.security).toEqual([{ apiKey: [] }]);
  });
});

describe("live answers", () => {
  it("are what the description says, failures too", async () => {
    const made = await see(
      "POST",
      "/api/v1/posts",
      { json: { accountId: account, caption: "x", metadata: { title: "T" } } },
      201,
    );
    const id: string = made.post.id;
    await see("POST", "/api/v1/posts", { json: { accountId: account, caption: "x", dryRun: true } }, 200);
    await see("GET", "/api/v1/posts", {}, 200);
    await see("GET", "/api/v1/posts/{id}", { id, query: "?insights=1&history=1" }, 200);
    await see("PATCH", "/api/v1/posts/{id}", { id, json: { caption: "y" } }, 200);
    await see("POST", "/api/v1/posts/{id}", { id }, 409);
    await see("DELETE", "/api/v1/posts/{id}", { id }, 200);
    await see("DELETE", "/api/v1/posts/{id}", { id: "post_nothing" }, 404);
    await see("POST", "/api/v1/posts", { json: { nothing: 1 } }, 400);
    await see("POST", "/api/v1/posts", { json: {}, key: null }, 401);
    await see(
      "POST",
      "/api/v1/posts",
      { json: {}, key: await service.keyFor("default", { permissions: ["read"] }) },
      403,
    );
    await see("POST", "/api/v1/posts", { body: "x".repeat(2 ** 20 + 1) }, 413);
    const key = await service.keyFor("default");
    const upload = await send(service.port, "POST /api/v1/files?name=a.png", {
      key,
      headers: { "Content-Type": "image/png" },
      body: await readFile(PHOTO),
    });
    expectDescribed("POST", "/api/v1/files", upload, 201);
    await see("GET", "/api/v1/files/{id}", { id: upload.json.file.id }, 200);
    await see("DELETE", "/api/v1/files/{id}", { id: upload.json.file.id }, 200);
    await see("GET", "/api/v1/files/{id}", { id: upload.json.file.id }, 404);
    await see("POST", "/api/v1/files", { json: { url: "https://example.com/a.jpg", colour: "red" } }, 400);
    await see("POST", "/api/v1/files", { body: "x", key: null }, 401);
    for (const path of ["accounts", "files", "platforms", "status", "tools"])
      await see("GET", `/api/v1/${path}`, {}, 200);
    await see("GET", "/api/v1/platforms", { query: "?provider=feed,bluesky" }, 200);
    for (const path of ["/healthz", "/readyz", "/api/v1/openapi.json"])
      await see("GET", path, { key: null }, 200);
  });

  it("of tools too", async () => {
    const answers = {
      list_posts: {},
      list_accounts: {},
      list_platforms: {},
      get_status: {},
      show_calendar: {},
      list_files: {},
      get_account_analytics: { accountId: account, from: "2026-11-01" },
      schedule_post: { accountId: account, caption: "x" },
      schedule_posts: { posts: [{ accountId: account, caption: "x" }, { accountId: "acc_nothing" }] },
      connect_channel: { provider: "feed" },
    };
    for (const [name, json] of Object.entries(answers))
      await see("POST", `/api/v1/tools/${name}`, { json }, 200);
  });
});

interface See {
  readonly id?: string;
  readonly query?: string;
  readonly json?: object;
  readonly body?: string;
  readonly key?: string | null;
}

async function see(method: string, path: string, ask: See, status: number): Promise<any> {
  const { id, query, ...rest } = ask;
  const key = rest.key === undefined ? await service.keyFor("default") : rest.key;
  const answer = await send(service.port, `${method} ${path.replace("{id}", id ?? "")}${query ?? ""}`, {
    ...rest,
    key,
  });
  return expectDescribed(method, path, answer, status);
}

function expectDescribed(method: string, path: string, answer: Answer, status: number): unknown {
  expect([method, path, answer.status]).toEqual([method, path, status]);
  const described = document.paths[path][method.toLowerCase()].responses[status];
  const pointer =
    described.$ref?.slice(2) ?? `paths/${escape(path)}/${method.toLowerCase()}/responses/${status}`;
  expect([path, check(`${pointer}/content/application~1json/schema`, answer.json)]).toEqual([path, null]);
  return answer.json;
}

function check(pointer: string, value: unknown): unknown {
  const validate = ajv.compile({ $ref: `api#/${encodeURI(pointer)}` });
  return validate(value) ? null : validate.errors;
}

function escape(path: string): string {
  return path.replaceAll("/", "~1");
}
