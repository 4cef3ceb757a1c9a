import express from "express";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { KeptPages } from "../../../src/http/pages/kept-pages.ts";
import { startHttpServer, type HttpServer } from "../../../src/http/server.ts";
import { send } from "../../support/http.ts";

let server: HttpServer;
let made: string[];

beforeEach(async () => {
  made = [];
  const pages = new KeptPages(1_000);
  const app = express();
  app.get("/:text", (request, response) => {
    const { text } = request.params;
    const make = () => {
      made.push(text);
      return { headers: { "Content-Type": "text/plain" }, body: text.repeat(400) };
    };
    pages.send({ request, response }, { content: [text], make });
  });
  server = await startHttpServer(app, { host: "127.0.0.1", port: 0 });
});

afterEach(() => server.close());

const get = (path: string, headers: Record<string, string> = {}) =>
  send(server.port, `GET ${path}`, { headers });

describe("a kept page", () => {
  it("is made once", async () => {
    for (let count = 0; count < 3; count++) expect((await get("/a")).text).toBe("a".repeat(400));
    expect(made).toEqual(["a"]);
  });

  it("is not sent again to whoever has it", async () => {
    const { etag = "" } = (await get("/a")).headers;
    expect(await get("/a", { "If-None-Match": etag })).toMatchObject({ status: 304, text: "" });
    expect(await get("/b", { "If-None-Match": etag })).toMatchObject({ status: 200 });
  });

  it("goes when others are asked for and the room is used up", async () => {
    for (const path of ["/a", "/b", "/a", "/c", "/a", "/b"]) await get(path);
    expect(made).toEqual(["a", "b", "c", "b"]);
  });
});
