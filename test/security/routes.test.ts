import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RESOURCE_ROUTES } from "../../src/http/api/resource-routes.ts";
import { openCalendarLink, revokeCalendarLink } from "../../src/reporting/feeds/calendar-link.ts";
import { createUploadUrl, createDownloadUrl } from "../../src/files/files.ts";
import { makeSignIn } from "../../src/access/page-sessions.ts";
import { pageHeaders, signIn } from "../support/page.ts";
import { startService, type Service } from "../support/service.ts";
import { callOf, callerOf } from "../support/context.ts";

const TUS = { "Tus-Resumable": "1.0.0" };

let service: Service;
let mine: string;
let theirs: string;

beforeAll(async () => {
  service = await startService();
  [mine, theirs] = [await service.keyFor("default"), await service.keyFor("other")];
});

afterAll(() => service[Symbol.asyncDispose]());

/**
 * Routes that are no tool in another form; the others are in the table that the tenancy test is made from.
 */
const OTHERS: readonly string[] = [
  "GET /tools",
  "POST /files",
  "GET /files/{id}",
  "PUT /platforms/{provider}/app",
  "DELETE /platforms/{provider}/app",
  "POST /files/uploads",
  "HEAD /files/uploads/{upload}",
  "PATCH /files/uploads/{upload}",
  "DELETE /files/uploads/{upload}",
  "GET /openapi.json",
  "GET /docs",
];

const METHODS = ["get", "head", "post", "put", "patch", "delete"];

it("every route is in a table from which tenancy is tested", async () => {
  const { json } = await service.ask("GET /api/v1/openapi.json", { key: null });
  const described = Object.entries<object>(json.paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((method) => METHODS.includes(method))
      .map((method) => `${method.toUpperCase()} ${path.replace("/api/v1", "")}`),
  );
  const known = [...RESOURCE_ROUTES.map(({ method, path }) => `${method.toUpperCase()} ${path}`), ...OTHERS];
  const isTool = (route: string): boolean =>
    /^POST \/tools\/\w+$/.test(route) || /^GET \/(?:healthz|readyz)$/.test(route);
  const unknown = described.filter(
    (route) =>
      !known.includes(
        route.replace(/\{\w*\}/, (name) => (route.includes("/uploads/") ? "{upload}" : name)),
      ) && !isTool(route),
  );
  expect(unknown).toEqual([]);
  expect(described.length).toBeGreaterThan(40);
});

describe("a resumable upload of another owner", () => {
  it("is as one that does not exist, to everything that can be asked", async () => {
    const begun = await service.ask("POST /api/v1/files/uploads", {
      key: theirs,
      headers: { ...TUS, "Upload-Length": "10" },
    });
    expect(begun.status).toBe(201);
    const path = begun.headers["location"] ?? "";
    const missing = path.replace(/[0-9a-f]{32}$/, "0".repeat(32));
    for (const [method, headers] of [
      ["HEAD", {}],
      ["DELETE", {}],
      ["PATCH", { "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream" }],
    ] as const) {
      const answers = [];
      for (const target of [path, missing])
        answers.push(
          await service.ask(`${method} ${target}`, { key: mine, headers: { ...TUS, ...headers } }),
        );
      expect(answers.map(({ status }) => status)).toEqual([404, 404]);
      expect(answers[0]?.text).toBe(answers[1]?.text);
    }
    expect((await service.ask(`HEAD ${path}`, { key: theirs, headers: TUS })).status).toBe(200);
  });

  it("needs a key, and one that may upload", async () => {
    const reader = await service.keyFor("default", { permissions: ["read", "publish", "accounts"] });
    for (const target of [
      "POST /api/v1/files/uploads",
      "HEAD /api/v1/files/uploads/x",
      "PATCH /api/v1/files/uploads/x",
      "POST /api/v1/files",
    ]) {
      expect((await service.ask(target, { key: reader, headers: TUS })).status).toBe(403);
      for (const none of [null, "garbled"])
        expect((await service.ask(target, { key: none, headers: TUS })).status).toBe(401);
    }
  });
});

describe("a call of the page", () => {
  it("needs its cookie: a key, a garbled one or a token that waits are none", async () => {
    const { cookie } = await signIn(service);
    const garbled = `${cookie.slice(0, -4)}AAAA`;
    const waiting = `posthorn_page=${await makeSignIn(service.ctx)}`;
    for (const target of [
      "GET /app/api/session",
      "DELETE /app/api/session",
      "GET /app/api/sessions",
      "DELETE /app/api/sessions/ses_x",
      "POST /app/api/welcome",
      "GET /app/api/tools",
      "POST /app/api/tools/list_posts",
      "GET /app/api/keys",
      "POST /app/api/keys",
      "DELETE /app/api/keys/key_x",
      "GET /app/api/backup",
      "POST /app/api/files",
      "GET /app/api/files/file_x",
      "POST /app/api/files/uploads",
      "PATCH /app/api/files/uploads/x",
      "GET /app/api/nowhere",
    ]) {
      for (const headers of [{}, { Cookie: garbled }, { Cookie: waiting }]) {
        const ask = { key: mine, headers: { ...pageHeaders(service.port), ...headers } };
        expect((await service.ask(target, ask)).status, target).toBe(401);
      }
    }
  });
});

describe("a signed address", () => {
  it("is good for its file, its purpose and its time alone", async () => {
    const [down, other] = [
      await createDownloadUrl(service.ctx, "file_a"),
      await createDownloadUrl(service.ctx, "file_b"),
    ];
    const up = (await createUploadUrl(service.ctx, "file_a")).url;
    const query = (url: string): string => new URL(url).search;
    const refusals = [
      `GET /files/file_a/download${query(other)}`,
      `GET /files/file_a/download${query(up)}`,
      `PUT /files/file_a/upload${query(down)}`,
      `GET /files/file_b/download${query(down)}`,
      `GET /files/file_a/download${query(down).replace(/expires=\d+/, "expires=99999999999")}`,
      `GET /files/file_a/download${query(down)}00`,
      "GET /files/file_a/download?expires=99999999999&signature=",
      "GET /files/file_a/download",
    ];
    const answers = [];
    for (const target of refusals) {
      answers.push(await service.ask(target, { key: null, headers: { "Content-Type": "image/png" } }));
    }
    expect(answers.map(({ status }) => status)).toEqual(refusals.map(() => 404));
    // One whose file is gone is refused like one that was never given out.
    expect((await service.ask(`GET /files/file_a/download${query(down)}`, { key: null })).status).toBe(404);
    await service.clock.advance(2 * 3_600_000);
    expect((await service.ask(`GET /files/file_a/download${query(down)}`, { key: null })).status).toBe(403);
  });

  it("given twice in one query is none", async () => {
    const { search } = new URL(await createDownloadUrl(service.ctx, "file_a"));
    expect(
      (await service.ask(`GET /files/file_a/download${search}&expires=99999999999`, { key: null })).status,
    ).toBe(400);
  });
});

describe("an owner's calendar", () => {
  it("shows nothing of another's, and nothing at all once it is revoked", async () => {
    const feed = await service.addFeed("other");
    await service.call(
      "schedule_post",
      { accountId: feed, caption: "plan of other", scheduledAt: "2026-12-24T18:00:00Z" },
      { ownerId: "other" },
    );
    const pathOf = async (ownerId: string): Promise<string> =>
      new URL((await openCalendarLink(callOf(service.ctx, callerOf({ ownerId })), { isNew: false })).url)
        .pathname;
    const [own, foreign] = [await pathOf("default"), await pathOf("other")];
    expect((await service.ask(`GET ${own}`, { key: null })).text).not.toContain("plan of other");
    expect((await service.ask(`GET ${foreign}`, { key: null })).text).toContain("plan of other");
    await revokeCalendarLink(callOf(service.ctx, callerOf({ ownerId: "other" })));
    const [gone, never] = [
      await service.ask(`GET ${foreign}`, { key: null }),
      await service.ask("GET /calendar/never.ics", { key: null }),
    ];
    expect([gone.status, gone.text]).toEqual([404, never.text]);
  });
});
