import { createReadStream, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { storeUpload } from "../../src/files/file-uploads.ts";
import { callOf } from "../support/context.ts";
import type { Answer } from "../support/http.ts";
import { startService, type Service } from "../support/service.ts";
import { decoded, TRAVERSALS } from "./encodings.ts";

const PHOTO = new URL("../fixtures/photo.png", import.meta.url);

let service: Service;
let feed: string;
let query: string;
let secretKey: string;
let before: readonly string[];

beforeAll(async () => {
  service = await startService();
  feed = await service.addFeed();
  const { file } = await storeUpload(callOf(service.ctx), {
    name: "a.png",
    altText: null,
    body: createReadStream(PHOTO),
  });
  query = new URL(file.downloadUrl ?? "").search;
  secretKey = readFileSync(join(service.folder, "secret.key"), "utf8").trim();
  await service.ask("GET /api/v1/files/uploads/none");
  before = outside();
});

afterAll(() => service[Symbol.asyncDispose]());

/** Everything beside the stored files and what the database itself writes. */
function outside(): string[] {
  const names = readdirSync(service.folder, { recursive: true, encoding: "utf8" });
  return names.filter((name) => !name.startsWith("files/") && !name.startsWith("posthorn.db")).sort();
}

function expectHarmless(answer: Answer): void {
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.status).toBeLessThan(500);
  expect(answer.headers).not.toHaveProperty("x-injected");
  expect(answer.text).not.toContain(secretKey);
  expect(answer.text).not.toMatch(/root:|\/tmp\/|node_modules|Error:/);
}

/** Every address with a name, key or token in its path. */
const PATHS: Readonly<Record<string, (name: string) => string>> = {
  "a download": (name) => `GET /files/${name}/download`,
  "a download with somebody's signature": (name) => `GET /files/${name}/download${query}`,
  "an upload by a signed address": (name) => `PUT /files/${name}/upload${query}`,
  "a file": (name) => `GET /api/v1/files/${name}`,
  "a file to delete": (name) => `DELETE /api/v1/files/${name}`,
  "a resumable upload": (name) => `HEAD /api/v1/files/uploads/${name}`,
  "a resumable upload to go on with": (name) => `PATCH /api/v1/files/uploads/${name}`,
  "a post": (name) => `GET /api/v1/posts/${name}`,
  "a webhook": (name) => `GET /api/v1/webhooks/${name}`,
  "a tool": (name) => `POST /api/v1/tools/${name}`,
  "a feed": (name) => `GET /feed/${name}`,
  "a feed's page": (name) => `GET /feed/${name}.html`,
  "an entry": (name) => `GET /feed/FEED/${name}.html`,
  "an entry's media": (name) => `GET /feed/FEED/media/${name}/0`,
  "a place among an entry's media": (name) => `GET /feed/FEED/media/post_1/${name}`,
  "a connection": (name) => `GET /connect/${name}`,
  "a calendar": (name) => `GET /calendar/${name}.ics`,
};

describe("a path that leads elsewhere", () => {
  it.each(Object.entries(PATHS))("finds nothing as %s", async (_name, toTarget) => {
    for (const traversal of TRAVERSALS) {
      const target = toTarget(traversal).replace("FEED", feed);
      const isTus = target.includes("/uploads/");
      const answer = await service.ask(target, {
        headers: {
          ...(isTus ? { "Tus-Resumable": "1.0.0", "Upload-Offset": "0" } : {}),
          "Content-Type": "application/octet-stream",
        },
      });
      expectHarmless(answer);
    }
  });
});

/** Every argument that names something stored. */
const ARGUMENTS: Readonly<Record<string, (name: string) => { tool: string; args: object }>> = {
  mediaUrl: (name) => ({ tool: "schedule_post", args: { accountId: feed, mediaUrl: `r2://${name}` } }),
  "mediaUrl as an id": (name) => ({
    tool: "schedule_post",
    args: { accountId: feed, mediaUrl: `file_${name}` },
  }),
  thumbnailUrl: (name) => ({
    tool: "schedule_post",
    args: { accountId: feed, caption: "x", thumbnailUrl: `r2://${name}` },
  }),
  moreMedia: (name) => ({
    tool: "schedule_post",
    args: { accountId: feed, caption: "x", metadata: { moreMedia: [{ url: `r2://${name}` }] } },
  }),
  "the account of another": (name) => ({ tool: "schedule_post", args: { accountId: name, caption: "x" } }),
  "a file's id": (name) => ({ tool: "delete_file", args: { id: name } }),
  "a post's id": (name) => ({ tool: "get_post", args: { id: name } }),
  "a connection's id": (name) => ({ tool: "check_connection", args: { connectId: name } }),
  "a path of this machine": (name) => ({ tool: "upload_file", args: { path: `/${name}` } }),
  "a relative path": (name) => ({ tool: "upload_file", args: { path: name } }),
  "an address to import": (name) => ({ tool: "upload_file", args: { url: `r2://${name}` } }),
  "a provider": (name) => ({ tool: "connect_channel", args: { provider: name } }),
};

describe("an argument that leads elsewhere", () => {
  it.each(Object.entries(ARGUMENTS))("finds nothing as %s", async (_name, toCall) => {
    for (const traversal of TRAVERSALS) {
      for (const name of new Set([traversal, decoded(traversal)])) {
        const { tool, args } = toCall(name);
        expectHarmless(await service.ask(`POST /api/v1/tools/${tool}`, { json: args }));
      }
    }
  });
});

describe("a file's name", () => {
  it("is for people alone: whatever it is, the bytes lie where we put them", async () => {
    const photo = readFileSync(PHOTO);
    for (const traversal of TRAVERSALS) {
      const name = decoded(traversal);
      const { file } = await storeUpload(callOf(service.ctx), {
        name,
        altText: null,
        body: Readable.from([photo]),
      });
      expect(file.name).toMatch(/^[^/\\\p{Cc}\p{Cf}]{1,255}\.png$/u);
      expect(file.name).not.toMatch(/^\.|\.\.\//);
      expect(file.url).toMatch(/^r2:\/\/[a-z0-9/_.-]+$/);
      const { pathname, search } = new URL(file.downloadUrl ?? "");
      const answer = await service.ask(`GET ${pathname}${search}`, { key: null });
      expect(answer.headers["content-disposition"]).toMatch(/^attachment; filename=("?)[^"/\\]+\1(;|$)/);
      expect(answer.headers).not.toHaveProperty("x-injected");
    }
  });
});

it("nothing of it has touched a file outside", () => {
  expect(outside()).toEqual(before);
  expect(readFileSync(join(service.folder, "secret.key"), "utf8").trim()).toBe(secretKey);
});
