import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { revokeKey } from "../../../src/access/api-keys.ts";
import { callOf } from "../../support/context.ts";
import { fixture } from "../../support/media.ts";
import { signIn, type Visitor } from "../../support/page.ts";
import { startService, type Service } from "../../support/service.ts";

/* What a session reaches is what its key reaches, by each call of the page. */

const PHOTO = fixture("photo.png");
const TUS = { "Tus-Resumable": "1.0.0" };

let service: Service;
let admin: Visitor;
let mine: string;
let theirs: string;
let limited: Visitor;
let other: Visitor;
/** Files of the account that the limited key does not reach, and of the other owner. */
let hidden: string;
let foreign: string;

beforeAll(async () => {
  service = await startService();
  [mine, theirs] = [await service.addFeed(), await service.addFeed()];
  admin = await signIn(service, await service.keyFor("default", { name: "Everything" }));
  limited = await signIn(service, await service.keyFor("default", { name: "Some", accountIds: [mine] }));
  other = await signIn(service, await service.keyFor("other", { name: "Other owner" }));
  [hidden, foreign] = [await upload(admin), await upload(other)];
  const scheduledAt = "2030-01-01T09:00:00Z";
  await service.call("schedule_post", {
    accountId: theirs,
    caption: "Hidden",
    mediaUrl: hidden,
    scheduledAt,
  });
  await service.call("schedule_post", { accountId: mine, caption: "Shown", scheduledAt });
});
afterAll(() => service[Symbol.asyncDispose]());

async function upload({ ask }: Visitor): Promise<string> {
  const answer = await ask("POST /app/api/files?name=sea.png", {
    body: PHOTO,
    headers: { "Content-Type": "image/png" },
  });
  return answer.json.file.id;
}

/** Whatever names a file. */
const waysTo = (id: string): readonly string[] => [
  `GET /app/api/files/${id}`,
  `GET /app/api/files/${id}/content`,
  `GET /app/api/pictures?url=${id}&size=96`,
  `GET /app/api/pictures?url=${encodeURIComponent(`posthorn://files/${id}`)}`,
  `GET /app/api/pictures?url=${encodeURIComponent(`http://127.0.0.1:${service.port}/files/${id}/download`)}`,
];

const readers = (): readonly string[] =>
  service.tools.filter(({ hints }) => hints.readOnly).map(({ name }) => `POST /app/api/tools/${name}`);

describe("a key of some channels", () => {
  it("sees no file of others, whatever names it, and the same of one that is not there", async () => {
    expect((await admin.ask(`GET /app/api/files/${hidden}/content`)).status).toBe(200);
    expect((await admin.ask(`GET /app/api/pictures?url=${hidden}&size=96`)).status).toBe(200);
    for (const id of [hidden, foreign]) {
      const missing = "file_01m8amcwfg5vwj0nj55w4r62vg";
      for (const [at, target] of waysTo(id).entries()) {
        const [answer, none] = [await limited.ask(target), await limited.ask(waysTo(missing)[at] ?? "")];
        expect([target, answer.status, answer.text]).toEqual([
          target,
          none.status,
          none.text.replaceAll(missing, id),
        ]);
        expect(answer.status, target).toBeGreaterThanOrEqual(400);
      }
    }
  });

  it("sees no other channel, post, key, session or backup, by any reading call", async () => {
    for (const target of readers()) {
      const { text } = await limited.ask(target, { json: {} });
      for (const secret of [theirs, hidden, foreign, "Hidden", "Everything", "Other owner"])
        expect([target, secret, text.includes(secret)]).toEqual([target, secret, false]);
    }
    const { sessions } = (await limited.ask("GET /app/api/sessions")).json;
    expect(sessions.map(({ name, isCurrent }: any) => [name, isCurrent])).toEqual([["Some", true]]);
    for (const target of [
      "GET /app/api/keys",
      "POST /app/api/keys",
      "DELETE /app/api/keys/key_x",
      "GET /app/api/backup",
    ])
      expect((await limited.ask(target, target.startsWith("POST") ? { json: {} } : {})).status, target).toBe(
        403,
      );
  });

  it("ends no session but those of its own", async () => {
    for (const { answer } of [admin, other]) {
      const gone = await limited.ask(`DELETE /app/api/sessions/${answer.json.session.id}`);
      expect(gone.status).toBe(404);
    }
    expect((await admin.ask("GET /app/api/session")).status).toBe(200);
  });

  it("changes no app of a platform", async () => {
    const json = { clientId: "x", clientSecret: "y" };
    for (const visitor of [limited, other])
      for (const method of ["PUT", "DELETE"]) {
        const body = method === "PUT" ? { json } : {};
        expect((await visitor.ask(`${method} /app/api/platforms/mastodon/app`, body)).status).toBe(403);
      }
  });
});

describe("another owner", () => {
  it("sees, names and ends nothing of this one", async () => {
    for (const target of [...waysTo(hidden), `DELETE /app/api/sessions/${admin.answer.json.session.id}`])
      expect((await other.ask(target)).status, target).toBeGreaterThanOrEqual(400);
    for (const target of [...readers(), "GET /app/api/sessions", "GET /app/api/keys"]) {
      const { text } = await other.ask(target, target.startsWith("POST") ? { json: {} } : {});
      for (const secret of [mine, theirs, hidden, "Hidden", "Shown", "Everything"])
        expect([target, secret, text.includes(secret)]).toEqual([target, secret, false]);
    }
    expect((await other.ask("GET /app/api/backup")).status).toBe(403);
    expect((await admin.ask("GET /app/api/session")).status).toBe(200);
  });
});

it("the session of a revoked key does nothing more, also where something had begun", async () => {
  const key = await service.keyFor("default", { name: "Short-lived" });
  const visitor = await signIn(service, key);
  const file = await upload(visitor);
  const picture = `GET /app/api/pictures?url=${file}&size=96`;
  const { etag = "" } = (await visitor.ask(picture)).headers;
  const headers = { ...TUS, "Upload-Length": String(PHOTO.length) };
  const { location: part = "" } = (await visitor.ask("POST /app/api/files/uploads", { headers })).headers;
  expect([etag, part]).toEqual([expect.stringMatching(/-/), expect.stringMatching(/uploads/)]);
  await revokeKey(callOf(service.ctx), { key });
  for (const [target, ask] of [
    [picture, { headers: { "If-None-Match": etag } }],
    [`GET /app/api/files/${file}/content`, { headers: { Range: "bytes=0-10" } }],
    [`HEAD ${part}`, { headers: TUS }],
    [
      `PATCH ${part}`,
      {
        body: PHOTO,
        headers: { ...TUS, "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream" },
      },
    ],
    ["POST /app/api/tools/list_posts", { json: {} }],
    ["DELETE /app/api/session", {}],
    ["POST /app/api/welcome", {}],
    ["POST /app/api/keys", { json: {} }],
    ["GET /app/api/backup", {}],
  ] as const)
    expect((await visitor.ask(target, ask)).status, target).toBe(401);
  const { sessions } = (await admin.ask("GET /app/api/sessions")).json;
  expect(sessions.map(({ name }: { name: string }) => name)).not.toContain("Short-lived");
});
