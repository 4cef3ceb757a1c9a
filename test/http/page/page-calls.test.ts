import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { verifyBackup } from "../../../src/store/backup/backup-archive.ts";
import { ROLES } from "../../../src/domain/permissions.ts";
import { isOnPostgres } from "../../support/context.ts";
import { send } from "../../support/http.ts";
import { signIn, type Visitor } from "../../support/page.ts";
import { startService, type Service } from "../../support/service.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const PHOTO = readFileSync(new URL("../../fixtures/photo.png", import.meta.url));
const TUS = { "Tus-Resumable": "1.0.0" };

let service: Service;
let admin: Visitor;
let viewer: Visitor;
let writer: Visitor;
let feed: string;

beforeAll(async () => {
  service = await startService();
  feed = await service.addFeed();
  admin = await signIn(service);
  viewer = await signIn(service, await service.keyFor("default", { permissions: ROLES.viewer }));
  writer = await signIn(service, await service.keyFor("default", { permissions: ROLES.writer }));
});

afterAll(() => service[Symbol.asyncDispose]());

describe("the page's calls", () => {
  it("want a session, each of them", async () => {
    for (const target of [
      "GET /app/api/session",
      "GET /app/api/sessions",
      "GET /app/api/tools",
      "GET /app/api/keys",
      "GET /app/api/backup",
      "GET /app/api/files/file_x",
      "HEAD /app/api/files/uploads/x",
      "GET /app/api/nothing",
    ])
      expect((await send(service.port, target)).status, target).toBe(401);
  });

  it("are never kept by a browser", async () => {
    for (const target of ["GET /app/api/session", "GET /app/api/keys", "GET /app/api/nothing"])
      expect((await admin.ask(target)).headers["cache-control"], target).toBe("no-store");
  });

  it("take tools, and ask no person again", async () => {
    await using asking = await startService();
    Object.assign(asking.ctx.settings, { confirm: "always" });
    const visitor = await signIn(asking);
    const account = await asking.addFeed();
    const scheduledAt = "2026-12-24T18:00:00Z";
    const { post } = await asking.call("schedule_post", { accountId: account, caption: "x", scheduledAt });
    const json = { id: post.id };
    expect((await asking.ask("POST /api/v1/tools/cancel_post", { json })).status).toBe(409);
    const done = await visitor.ask("POST /app/api/tools/cancel_post", { json });
    expect([done.status, done.json.result.post.status]).toEqual([200, "cancelled"]);
  });

  it("refuse what the session's key may not do", async () => {
    const post = { json: { accountId: feed, caption: "x" } };
    expect((await viewer.ask("POST /app/api/tools/list_posts", { json: {} })).status).toBe(200);
    const draft = { json: { caption: "x", targets: [{ accountId: feed }] } };
    expect((await viewer.ask("POST /app/api/tools/save_draft", draft)).status).toBe(403);
    expect((await writer.ask("POST /app/api/tools/save_draft", draft)).status).toBe(200);
    for (const { ask } of [viewer, writer]) {
      for (const [target, more] of [
        ["POST /app/api/tools/schedule_post", post],
        ["POST /app/api/tools/connect_channel", { json: { provider: "feed" } }],
        ["GET /app/api/keys", {}],
        ["POST /app/api/keys", { json: { name: "x" } }],
        ["DELETE /app/api/keys/key_x", {}],
        ["GET /app/api/backup", {}],
      ] as const)
        expect((await ask(target, more)).status, target).toBe(403);
    }
    expect((await viewer.ask("POST /app/api/files", { body: PHOTO })).status).toBe(403);
  });

  it("take the idempotency key of a call", async () => {
    const call = () =>
      admin.ask("POST /app/api/tools/save_draft", {
        json: { caption: "once", targets: [{ accountId: feed }] },
        headers: { "Idempotency-Key": "page-1" },
      });
    const [first, again] = [await call(), await call()];
    expect(again.json).toEqual(first.json);
    expect(again.headers["idempotent-replayed"]).toBe("true");
  });
});

describe("files", () => {
  it("are uploaded whole", async () => {
    const answer = await writer.ask("POST /app/api/files?name=photo.png", {
      body: PHOTO,
      headers: { "Content-Type": "image/png" },
    });
    const { file } = answer.json;
    expect([answer.status, answer.headers["location"]]).toEqual([201, `/app/api/files/${file.id}`]);
    expect((await viewer.ask(`GET /app/api/files/${file.id}`)).json.file.name).toBe("photo.png");
  });

  it("are uploaded in parts, at the page's own address", async () => {
    const headers = { ...TUS, "Upload-Length": String(PHOTO.length) };
    const begun = await admin.ask("POST /app/api/files/uploads", { headers });
    const path = begun.headers["location"] ?? "";
    expect([begun.status, path]).toEqual([201, expect.stringMatching(/^\/app\/api\/files\/uploads\//)]);
    expect((await writer.ask(`HEAD ${path}`, { headers: TUS })).status).toBe(404);
    const sent = await admin.ask(`PATCH ${path}`, {
      body: PHOTO,
      headers: { ...TUS, "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream" },
    });
    expect([sent.status, sent.headers["content-location"]]).toEqual([
      204,
      expect.stringMatching(/^\/app\/api\/files\/file_/),
    ]);
    expect((await admin.ask(`GET ${sent.headers["content-location"]}`)).status).toBe(200);
  });
});

describe("keys", () => {
  it("are made, listed and revoked", async () => {
    const made = await admin.ask("POST /app/api/keys", {
      json: { name: "Phone", role: "writer", expires: "90d" },
    });
    expect(made.status).toBe(201);
    expect(made.json.apiKey).toMatchObject({ name: "Phone", role: "writer", status: "active" });
    expect((await service.ask("GET /api/v1/accounts", { key: made.json.key })).status).toBe(200);
    const { keys } = (await admin.ask("GET /app/api/keys")).json;
    expect(keys).toContainEqual(expect.objectContaining({ id: made.json.apiKey.id }));
    expect(JSON.stringify(keys)).not.toContain(made.json.key);
    const gone = await admin.ask(`DELETE /app/api/keys/${made.json.apiKey.id}`);
    expect([gone.status, gone.json.apiKey.status]).toEqual([200, "revoked"]);
    expect((await service.ask("GET /api/v1/accounts", { key: made.json.key })).status).toBe(401);
  });

  it.each([
    [{ role: "boss" }, /^role: /],
    [{ role: "viewer", permissions: ["read"] }, /^role: /],
    [{ permissions: ["fly"] }, /^permissions: /],
    [{ accountIds: ["acc_missing"] }, /^accounts: /],
    [{ expires: "soon" }, /^expires: /],
    [{ nane: "x" }, /nane/],
  ])("refuse %j", async (json, sentence) => {
    const answer = await admin.ask("POST /app/api/keys", { json });
    expect([answer.status, answer.json.error]).toEqual([400, expect.stringMatching(sentence)]);
  });

  it("are out of reach of a key that is limited to some channels: another could reach further", async () => {
    const limited = await signIn(service, await service.keyFor("default", { accountIds: [feed] }));
    for (const [target, more] of [
      ["GET /app/api/keys", {}],
      ["POST /app/api/keys", { json: {} }],
      ["DELETE /app/api/keys/key_x", {}],
    ] as const)
      expect((await limited.ask(target, more)).status, target).toBe(403);
  });

  it("of another owner do not exist", async () => {
    const other = await signIn(service, await service.keyFor("other"));
    const { apiKey } = (await admin.ask("POST /app/api/keys", { json: {} })).json;
    expect((await other.ask(`DELETE /app/api/keys/${apiKey.id}`)).status).toBe(404);
    expect((await other.ask("GET /app/api/keys")).text).not.toContain(apiKey.id);
  });
});

describe("the backup", () => {
  it.skipIf(isOnPostgres)("is one that can be restored, and leaves no file behind", async () => {
    const answer = await fetch(`http://127.0.0.1:${service.port}/app/api/backup`, {
      headers: { Cookie: admin.cookie },
    });
    expect([answer.status, answer.headers.get("content-disposition")]).toEqual([
      200,
      "attachment; filename=posthorn-2026-11-21.tar",
    ]);
    using folder = temporaryFolder();
    const file = join(folder.path, "backup.tar");
    writeFileSync(file, Buffer.from(await answer.arrayBuffer()));
    const staged = { stagedDatabase: join(folder.path, "posthorn.db"), assertKey: () => {} };
    expect((await verifyBackup(file, staged)).manifest.program).toBe("posthorn");
    const left = (): string[] => readdirSync(service.folder).filter((name) => name.startsWith(".backup-"));
    await vi.waitFor(() => expect(left()).toEqual([]));
  });

  it("is for the owner of this installation alone: it holds what all owners have", async () => {
    const others = [await service.keyFor("other"), await service.keyFor("default", { accountIds: [feed] })];
    for (const key of others) {
      const visitor = await signIn(service, key);
      expect(visitor.answer.json.session.hasBackup).toBe(false);
      expect((await visitor.ask("GET /app/api/backup")).status).toBe(403);
    }
    expect(admin.answer.json.session.hasBackup).toBe(true);
  });
});
