import { createReadStream } from "node:fs";
import { connect, type Socket } from "node:net";
import express from "express";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { storeUpload } from "../../src/files/file-uploads.ts";
import { startHttpServer } from "../../src/http/server.ts";
import { callOf } from "../support/context.ts";
import { startService, type Service } from "../support/service.ts";

const PHOTO = new URL("../fixtures/photo.png", import.meta.url);

let service: Service;
const sockets: Socket[] = [];

beforeEach(async () => {
  service = await startService();
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await service[Symbol.asyncDispose]();
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("a sender of drops", () => {
  it("is closed by Node's time limit for requests", async () => {
    const app = express().use((request) => void request.resume());
    const server = await startHttpServer(app, { host: "127.0.0.1", port: 0 }, { requestTimeoutMs: 300 });
    const socket = connect(server.port, "127.0.0.1");
    sockets.push(socket);
    let text = "";
    socket.setEncoding("utf8").on("data", (part: string) => (text += part));
    socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n");
    const drops = setInterval(() => socket.write("{"), 50);
    await new Promise((resolve) => socket.once("close", resolve));
    clearInterval(drops);
    expect(text).toMatch(/^HTTP\/1.1 408 /);
    await server.close();
  });
});

describe("a caller that asks in time", () => {
  it("gets the second answer over the same connection", async () => {
    const body = createReadStream(PHOTO);
    const { file } = await storeUpload(callOf(service.ctx), {
      name: "photo.png",
      altText: null,
      body,
    });
    const { pathname, search } = new URL(file.downloadUrl ?? "");
    const socket = connect(service.port, "127.0.0.1");
    sockets.push(socket);
    let text = "";
    socket.setEncoding("latin1").on("data", (part: string) => (text += part));
    for (const count of [1, 2]) {
      socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      await until(() => text.split("IEND").length > count);
    }
    expect(text.match(/HTTP\/1.1 200 /g)).toHaveLength(2);
  });
});
