import { connect, type Socket } from "node:net";
import express from "express";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startHttpServer, type HttpServer } from "../../../src/http/server.ts";

const sockets: Socket[] = [];
let server: HttpServer;
let answer: (() => void)[];

beforeEach(async () => {
  answer = [];
  const app = express();
  app.get("/now", (_request, response) => void response.send("now"));
  app.get("/later", (_request, response) => void answer.push(() => response.send("later")));
  server = await startHttpServer(app, { host: "127.0.0.1", port: 0 }, { maxConnections: 8 });
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close(0);
});

interface Client {
  readonly socket: Socket;
  isClosed: boolean;
  text: string;
}

async function open(localAddress = "127.0.0.1"): Promise<Client> {
  const socket = connect({ port: server.port, host: "127.0.0.1", localAddress }).setEncoding("utf8");
  sockets.push(socket);
  const client: Client = { socket, isClosed: false, text: "" };
  socket.on("error", () => {}).on("data", (part: string) => (client.text += part));
  socket.once("close", () => (client.isClosed = true));
  await new Promise((resolve) => socket.once("connect", resolve));
  return client;
}

async function ask(client: Client, path: string): Promise<void> {
  const before = answer.length;
  client.socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await until(() => client.isClosed || answer.length > before || client.text.endsWith("now"));
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("a server whose connections are used up", () => {
  it("gives a new one the place of the oldest that asked nothing", async () => {
    const [first, second] = [await open(), await open()];
    await ask(first, "/now");
    for (let count = 0; count < 5; count++) await open();
    await until(() => second.isClosed);
    expect(first.isClosed).toBe(false);
    const last = await open();
    await ask(last, "/now");
    expect(last.text).toContain("200 OK");
  });

  it("ends no answer under way for it, and refuses the new one instead", async () => {
    const busy: Client[] = [];
    for (let count = 0; count < 6; count++) {
      const client = await open();
      await ask(client, "/later");
      busy.push(client);
    }
    const late = await open();
    await until(() => late.isClosed);
    for (const done of answer) done();
    await until(() => busy.every(({ text }) => text.endsWith("later")));
  });

  // Other systems have one loopback address.
  it.runIf(process.platform === "linux")("keeps a quarter for other addresses", async () => {
    for (let count = 0; count < 6; count++) await ask(await open(), "/later");
    await until(() => answer.length === 6);
    for (let count = 0; count < 3; count++) {
      const other = await open("127.0.0.2");
      await ask(other, "/now");
      expect(other.text).toContain("200 OK");
    }
  });

  it("has room again when they have gone", async () => {
    for (let round = 0; round < 3; round++) {
      const clients: Client[] = [];
      for (let count = 0; count < 6; count++) {
        const client = await open();
        await ask(client, "/now");
        clients.push(client);
      }
      for (const { socket } of clients) socket.destroy();
      await until(() => clients.every(({ isClosed }) => isClosed));
    }
  });
});
