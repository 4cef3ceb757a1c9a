import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeSignIn } from "../../../src/access/page-sessions.ts";
import { send } from "../../support/http.ts";
import { pageHeaders, signIn, type Visitor } from "../../support/page.ts";
import { startService, type Service } from "../../support/service.ts";

/** Each call of the page, with what it takes where that matters. */
const CALLS: readonly { readonly target: string; readonly json?: object }[] = [
  { target: "GET /app/api/session" },
  { target: "DELETE /app/api/session" },
  { target: "GET /app/api/sessions" },
  { target: "DELETE /app/api/sessions/ses_x" },
  { target: "POST /app/api/welcome", json: {} },
  { target: "GET /app/api/tools" },
  { target: "POST /app/api/tools/list_posts", json: {} },
  { target: "GET /app/api/keys" },
  { target: "POST /app/api/keys", json: {} },
  { target: "DELETE /app/api/keys/key_x" },
  { target: "PUT /app/api/platforms/mastodon/app", json: {} },
  { target: "DELETE /app/api/platforms/mastodon/app" },
  { target: "GET /app/api/backup" },
  { target: "GET /app/api/pictures?url=file_x&size=96" },
  { target: "POST /app/api/files", json: {} },
  { target: "POST /app/api/files/uploads" },
  { target: "GET /app/api/files/file_x" },
  { target: "GET /app/api/files/file_x/content" },
  { target: "GET /app/api/push" },
  { target: "POST /app/api/push", json: {} },
  { target: "DELETE /app/api/push", json: {} },
];

let service: Service;
let admin: Visitor;

beforeAll(async () => {
  service = await startService();
  admin = await signIn(service);
});
afterAll(() => service[Symbol.asyncDispose]());

const own = (): Record<string, string> => ({ ...pageHeaders(service.port), Cookie: admin.cookie });

/** As it stands, because clients mend what is sent. */
async function raw(lines: readonly string[]): Promise<string> {
  const socket = connect(service.port, "127.0.0.1");
  let text = "";
  socket.setEncoding("utf8").on("data", (part: string) => (text += part));
  socket.write(`${[...lines, "Connection: close"].join("\r\n")}\r\n\r\n`);
  await new Promise((resolve) => socket.once("close", resolve));
  return text;
}

describe("every call of the page", () => {
  it.each(CALLS)(
    "$target is refused to who has no session, and to foreign hosts and pages",
    async ({ target, json }) => {
      const body = json === undefined ? {} : { json };
      const ask = (headers: Record<string, string>) => send(service.port, target, { ...body, headers });
      const strange: readonly (readonly [number, Record<string, string>])[] = [
        [401, pageHeaders(service.port)],
        [401, { ...own(), Cookie: "posthorn_page=; posthorn_page" }],
        [401, { ...own(), Cookie: `posthorn_page=${"a".repeat(43)}` }],
        [401, { ...own(), Cookie: admin.cookie.replace("posthorn_page", "POSTHORN_PAGE") }],
        [401, { ...own(), Cookie: admin.cookie.replace("posthorn_page", "posthorn") }],
        ...[
          "evil.example",
          "localhost.",
          "a.localhost",
          "127.0.0.1.evil.example",
          "0.0.0.0",
          "[::ffff:127.0.0.1]",
        ].map((Host) => [403, { ...own(), Host }] as const),
        ...[
          "null",
          "",
          "https://evil.example",
          "http://localhost.",
          "file://",
          "http://127.0.0.1.evil.example",
        ].map((Origin) => [403, { ...own(), Origin }] as const),
        ...["cross-site", "same-site"].map((site) => [403, { ...own(), "Sec-Fetch-Site": site }] as const),
      ];
      for (const [status, headers] of strange) {
        const answer = await ask(headers);
        expect([JSON.stringify(headers), answer.status]).toEqual([JSON.stringify(headers), status]);
        expect(answer.headers).toMatchObject({
          "content-security-policy": expect.stringContaining("frame-ancestors 'none'"),
        });
        expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
        expect(answer.headers["set-cookie"]).toBeUndefined();
      }
      expect((await signIn(service, "wrong")).answer.status).toBe(401);
      expect((await admin.ask("GET /app/api/session")).status).toBe(200);
    },
  );

  it("is kept by no cache", async () => {
    for (const { target } of CALLS.filter(
      ({ target: one }) => one.startsWith("GET") && !one.includes("backup"),
    ))
      expect((await admin.ask(target)).headers["cache-control"], target).toBe("no-store");
  });

  it("is the same by its one address alone, and does what its one method says", async () => {
    for (const path of [
      "/app/API/keys",
      "/APP/api/keys",
      "/app/api//keys",
      "//app/api/keys",
      "/app//api/keys",
      "/app/api/..;/api/keys",
      "/app/api%2fkeys",
      "/app%2fapi/keys",
      "/app/./api/keys",
      "/app/x/../api/keys",
      "/app/api/keys;a=b",
      "/app/api/keys%00",
      "/app/api/keys%0d%0aX-Injected:%201",
      "/app\\api\\keys",
    ]) {
      const text = await raw([
        `GET ${path} HTTP/1.1`,
        `Host: 127.0.0.1:${service.port}`,
        `Cookie: ${admin.cookie}`,
      ]);
      expect([path, text.includes('"keys"'), /^x-injected/im.test(text)]).toEqual([path, false, false]);
      const unknown = await raw([`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${service.port}`]);
      expect([path, unknown.includes("apiKey"), unknown.includes("HTTP/1.1 500")]).toEqual([
        path,
        false,
        false,
      ]);
    }
    const override = {
      "X-HTTP-Method-Override": "DELETE",
      "X-Method-Override": "DELETE",
      "X-HTTP-Method": "DELETE",
    };
    expect((await admin.ask("GET /app/api/session", { headers: override })).status).toBe(200);
    expect((await admin.ask("POST /app/api/session?_method=DELETE", { headers: override })).status).toBe(400);
    expect((await admin.ask("GET /app/api/session")).status).toBe(200);
    for (const method of ["OPTIONS", "TRACE", "PROPFIND", "PATCH", "PUT"]) {
      const answer = await admin.ask(`${method} /app/api/keys`);
      expect([method, answer.status, answer.headers["access-control-allow-origin"]]).toEqual([
        method,
        405,
        undefined,
      ]);
      const foreign = await send(service.port, `${method} /app/api/keys`, {
        headers: { Origin: "https://evil.example" },
      });
      expect([method, foreign.status]).toEqual([method, 403]);
    }
    expect((await send(service.port, "HEAD /app/api/session")).status).toBe(401);
  });
});

describe("the cookie", () => {
  it("that another page put in front is not passed over", async () => {
    const theirs = `posthorn_page=${"b".repeat(43)}`;
    const get = (Cookie: string) =>
      send(service.port, "GET /app/api/session", { headers: { ...own(), Cookie } });
    expect((await get(`${theirs}; ${admin.cookie}`)).status).toBe(401);
    expect((await get(`${admin.cookie}; ${theirs}`)).status).toBe(200);
    expect((await get(`a="; ${admin.cookie}`)).status).toBe(200);
    expect((await get(`a=${admin.cookie}`)).status).toBe(401);
    expect((await get(`__Host-posthorn=${"b".repeat(43)}; ${admin.cookie}`)).status).toBe(401);
  });

  it("that was there before signing in is not the one after it", async () => {
    const fixed = `posthorn_page=${"c".repeat(43)}`;
    for (const Cookie of [fixed, admin.cookie]) {
      const json = { key: await service.keyFor("default") };
      const headers = { ...pageHeaders(service.port), Cookie };
      const answer = await send(service.port, "POST /app/api/session", { headers, json });
      expect(answer.status).toBe(201);
      expect(answer.headers["set-cookie"]).not.toContain(Cookie);
      expect((await send(service.port, "GET /app/api/session", { headers })).status).toBe(401);
    }
    admin = await signIn(service);
  });

  it("of another server is none here, and stays one there", async () => {
    await using other = await startService();
    const theirs = await signIn(other);
    expect(
      (await send(service.port, "GET /app/api/session", { headers: { ...own(), Cookie: theirs.cookie } }))
        .status,
    ).toBe(401);
    expect((await theirs.ask("GET /app/api/session")).status).toBe(200);
  });

  it("and what signs in stand in no refusal", async () => {
    const headers = pageHeaders(service.port);
    const secret = "secret-that-someone-typed".repeat(20);
    for (const json of [
      { token: secret },
      { key: [secret] },
      { key: { a: secret } },
      { [secret]: 1 },
      { key: `\ud800${secret}` },
    ]) {
      const answer = await send(service.port, "POST /app/api/session", { headers, json });
      expect(answer.status).toBeGreaterThanOrEqual(400);
      if (!Object.hasOwn(json, secret)) expect(answer.text).not.toContain("secret-that");
    }
    expect(service.log.text()).not.toContain("secret-that");
  });
});

it("one-time tokens are not to be guessed: whoever tries is stopped", async () => {
  await using strict = await startService();
  await makeSignIn(strict.ctx);
  const headers = pageHeaders(strict.port);
  const statuses = new Set<number>();
  for (let tries = 0; tries < 301; tries++) {
    const json = { token: `${tries}`.padStart(43, "A") };
    statuses.add((await send(strict.port, "POST /app/api/session", { headers, json })).status);
  }
  expect([...statuses]).toEqual([401, 429]);
});
