import express from "express";
import { expect, it } from "vitest";
import { sendJson } from "../../src/http/send-json.ts";
import { startHttpServer } from "../../src/http/server.ts";
import { send } from "../support/http.ts";

it("is what JSON.stringify says, counted in bytes and without an ETag", async () => {
  const value = { text: 'é漢🎉\ud800\u2028"\\', missing: undefined, list: [undefined, 1], at: new Date(0) };
  const app = express().use((_request, response) => sendJson(response.status(201), value));
  await using server = await startServer(app);
  const { status, headers, text } = await send(server.port, "GET /");
  expect({ status, text }).toEqual({ status: 201, text: JSON.stringify(value) });
  expect(headers).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(text)),
  });
  expect(headers).not.toHaveProperty("etag");
});

async function startServer(app: express.Express): Promise<AsyncDisposable & { readonly port: number }> {
  const { port, close } = await startHttpServer(app, { host: "127.0.0.1", port: 0 });
  return { port, [Symbol.asyncDispose]: () => close() };
}
