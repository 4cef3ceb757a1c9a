import { Router } from "express";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createPushRouter } from "../../../src/http/page/push.ts";
import { createFileContext, type FileContext } from "../../support/file-context.ts";
import { startTestServer, type TestServer } from "../../support/http.ts";
import { startPushService } from "../../support/push-service.ts";
import { testWebhook } from "../../../src/reporting/webhooks/webhooks.ts";
import { callOf } from "../../support/context.ts";

let ctx: FileContext;
let server: TestServer;
let service: Awaited<ReturnType<typeof startPushService>>;

beforeEach(async () => {
  ctx = await createFileContext();
  service = await startPushService();
  const routers = [
    (guard: Parameters<typeof createPushRouter>[1]) => Router().use("/app/api", createPushRouter(ctx, guard)),
  ];
  server = await startTestServer(ctx, [], { routers, routes: [] });
});
afterEach(async () => {
  for (const closer of [server, service, ctx]) await closer[Symbol.asyncDispose]();
});

it("subscribes a browser of whoever may read, and ends that", async () => {
  const key = await server.keyFor("default", { permissions: ["read"] });
  const shown = await server.ask("GET /app/api/push", { key });
  expect(shown).toMatchObject({ status: 200, json: { publicKey: expect.stringMatching(/^[\w-]{87}$/) } });
  const browser = service.subscribe(shown.json.publicKey);
  // As `PushSubscription.toJSON()` gives it.
  const json = { ...browser.subscription, expirationTime: null, name: "Firefox" };
  const made = await server.ask("POST /app/api/push", { key, json });
  expect(made).toMatchObject({ status: 201, json: { webhook: { format: "push", status: "active" } } });
  expect(made.text).not.toContain(browser.subscription.keys.auth);
  await testWebhook(callOf(ctx), { id: made.json.webhook.id });
  expect(browser.seen).toMatchObject([{ title: "Posthorn: a test" }]);
  expect(service.refused).toEqual([]);
  const gone = { key, json: { endpoint: browser.subscription.endpoint } };
  expect(await server.ask("DELETE /app/api/push", gone)).toMatchObject({ status: 204, text: "" });
  expect(await server.ask("DELETE /app/api/push", gone)).toMatchObject({ status: 204 });
});

it("refuses who may not read, and what is no subscription", async () => {
  const writer = await server.keyFor("default", { permissions: ["files"] });
  expect((await server.ask("GET /app/api/push", { key: null })).status).toBe(401);
  expect((await server.ask("GET /app/api/push", { key: writer })).status).toBe(403);
  expect((await server.ask("PUT /app/api/push")).status).toBe(405);
  const { endpoint, keys } = service.subscribe("").subscription;
  for (const [json, reason] of [
    [{ keys }, /^endpoint: is required/],
    [{ endpoint, keys: { ...keys, auth: "x" } }, /^endpoint, keys: this is no subscription/],
    [{ endpoint: "https://192.168.1.1/", keys }, /^url: The address leads to a private/],
  ] as const) {
    const answer = await server.ask("POST /app/api/push", { json });
    expect(answer.status).toBe(400);
    expect(answer.json.error).toMatch(reason);
  }
});
