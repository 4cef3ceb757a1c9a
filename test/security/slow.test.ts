import { createReadStream } from "node:fs";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { storeUpload } from "../../src/files/file-uploads.ts";
import { callOf } from "../support/context.ts";
import { startService, type Service } from "../support/service.ts";

const PHOTO = new URL("../fixtures/photo.png", import.meta.url);

let service: Service;
let key: string;
const sockets: Socket[] = [];

beforeEach(async () => {
  service = await startService();
  key = await service.keyFor("default");
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await service[Symbol.asyncDispose]();
});

interface Slow {
  readonly socket: Socket;
  readonly ended: Promise<void>;
  text(): string;
}

/** A request that says it has more bytes than it sends. */
function begin(target: string, headers: readonly string[] = []): Slow {
  const socket = connect(service.port, "127.0.0.1");
  sockets.push(socket);
  let text = "";
  socket.setEncoding("utf8").on("data", (part: string) => (text += part));
  socket.on("error", () => {});
  const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.write(
    [`${target} HTTP/1.1`, "Host: localhost", "Content-Length: 1000", ...headers, "", "{"].join("\r\n"),
  );
  return { socket, ended, text: () => text };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function connectPath(): Promise<string> {
  const { url } = await service.call("connect_channel", { provider: "webhook" });
  return new URL(url).pathname;
}

const FORM = "Content-Type: application/x-www-form-urlencoded";

describe("whoever sends a body drop by drop", () => {
  it.each([
    "POST /nowhere",
    "POST /healthz",
    "POST /api/v1/posts",
    "GET /api/v1/tools",
    "POST /mcp",
    "PUT /feed/x",
    "GET /metrics",
  ])("gets the answer of %s and is left soon after", async (target) => {
    const slow = begin(target);
    await until(() => slow.text().includes("\r\n\r\n"));
    expect(slow.text()).toMatch(/^HTTP\/1.1 [1-5]\d\d /);
    await until(() => service.clock.sleepers > 0);
    slow.socket.write("{");
    await service.clock.advance(30_000);
    await slow.ended;
  });

  it("does not hold the form of a connection open", async () => {
    const slow = begin(`POST ${await connectPath()}`, [FORM]);
    await until(() => service.clock.sleepers > 0);
    await service.clock.advance(30_000);
    await slow.ended;
    expect(slow.text()).toMatch(/^HTTP\/1.1 408 /);
    expect(slow.text()).toContain("The form did not arrive");
  });

  it.each(["POST /api/v1/posts", "POST /api/v1/tools/list_posts", "POST /api/v1/webhooks"])(
    "with a key does not hold %s open either",
    async (target) => {
      const slow = begin(target, [`Authorization: Bearer ${key}`, "Content-Type: application/json"]);
      await until(() => service.clock.sleepers > 0);
      await service.clock.advance(30_000);
      await slow.ended;
      expect(slow.text()).toMatch(/^HTTP\/1.1 408 /);
    },
  );
});

describe("whoever asks in time", () => {
  it("keeps no clock running after the answer", async () => {
    await service.ask("POST /api/v1/posts", { json: { accountId: "acc_missing" } });
    await service.ask("POST /nowhere", { json: {} });
    await until(() => service.clock.sleepers === 0);
  });

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
