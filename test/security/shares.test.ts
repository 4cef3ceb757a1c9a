import { createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { request as httpRequest } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createOutbound } from "../../src/media/outbound/outbound.ts";
import { fixture } from "../support/media.ts";
import { startService, type Service } from "../support/service.ts";
import { startReceiver } from "../support/webhook-receiver.ts";

/** Accepts every connection, and answers nothing on any. */
interface SilentServer extends AsyncDisposable {
  readonly origin: string;
  readonly sockets: Set<Socket>;
}

async function startSilentServer(): Promise<SilentServer> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.resume().once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", 4_096, resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** More than all places of the door together were. */
const MANY = 1_030;
const OTHER = { ownerId: "other" };

let outbound: ReturnType<typeof createOutbound>;
let service: Service;
beforeEach(async () => {
  outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
  service = await startService({}, { outbound });
});
afterEach(async () => {
  await service[Symbol.asyncDispose]();
  await outbound[Symbol.asyncDispose]();
});

async function settled<T>(calls: readonly Promise<T>[]): Promise<PromiseSettledResult<T>[]> {
  return Promise.allSettled(calls);
}

describe("whoever asks a server that never answers, a thousand times,", { timeout: 60_000 }, () => {
  it.each([
    ["importing files", (url: string) => service.call("upload_file", { url })],
    [
      "scheduling posts",
      async (mediaUrl: string) =>
        service.call("schedule_post", {
          accountId: (await service.call("list_accounts", {})).accounts[0].id,
          mediaUrl,
          scheduledAt: "2099-01-01T00:00:00Z",
        }),
    ],
    ["making webhooks", (url: string) => service.call("create_webhook", { url })],
    [
      "connecting channels",
      async (instanceUrl: string) => {
        const { url } = await service.call("connect_channel", { provider: "bluesky", instanceUrl });
        return service.ask(`POST ${new URL(url).pathname}`, {
          key: null,
          headers: { "Content-Type": "application/x-www-form-urlencoded" },
          body: "handle=alice.example&appPassword=aaaa-bbbb-cccc-dddd",
        });
      },
    ],
  ])("by %s, keeps nobody else from the network", async (_how, ask) => {
    await using silent = await startSilentServer();
    await using receiver = await startReceiver();
    await service.addFeed();
    const { webhook } = await service.call("create_webhook", { url: receiver.url }, OTHER);
    const asked = Array.from({ length: MANY }, () => ask(`${silent.origin}/`));
    const all = settled(asked);
    await expect.poll(() => silent.sockets.size, { timeout: 10_000 }).toBeGreaterThan(0);
    const test = await service.call("test_webhook", { id: webhook.id }, OTHER);
    expect(test.delivery).toMatchObject({ status: "delivered" });
    expect(silent.sockets.size).toBeGreaterThan(0);
    const imported = await service.call("upload_file", { url: receiver.url }, OTHER).catch(String);
    // It got there: what the receiver answers is no media.
    expect(imported).toMatch(/url: /);
    expect(receiver.looks.some(({ method }) => method === "GET")).toBe(true);
    await silent[Symbol.asyncDispose]();
    await all;
  });

  it("is told that too many imports wait, and when to come again", async () => {
    await using silent = await startSilentServer();
    const url = `${silent.origin}/a.png`;
    const waiting = settled(Array.from({ length: 64 }, () => service.call("upload_file", { url })));
    const refused = await service.ask("POST /api/v1/files", { json: { url } });
    expect(refused).toMatchObject({
      status: 429,
      json: { error: expect.stringMatching(/^url: too many files are being imported/) },
    });
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect(silent.sockets.size).toBeLessThanOrEqual(16);
    await outbound[Symbol.asyncDispose]();
    await waiting;
  });
});

describe("whoever begins many uploads at once", () => {
  it("is told so; others upload", { timeout: 60_000 }, async () => {
    const key = await service.keyFor("default");
    const photo = fixture("photo.png");
    const open = Array.from({ length: 32 }, () => {
      const outgoing = httpRequest({
        host: "127.0.0.1",
        port: service.port,
        method: "POST",
        path: "/api/v1/files",
        agent: false,
        headers: {
          Authorization: `Bearer ${key}`,
          "Content-Type": "image/png",
          "Content-Length": photo.length,
        },
      });
      outgoing.on("error", () => {}).write(photo.subarray(0, 100));
      return outgoing;
    });
    const upload = (as: string) =>
      service.ask("POST /api/v1/files", { key: as, body: photo, headers: { "Content-Type": "image/png" } });
    await expect.poll(async () => (await upload(key)).status, { timeout: 20_000 }).toBe(429);
    const refused = await upload(key);
    expect(refused.json.error).toMatch(/^Too many files are being uploaded at once/);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect((await upload(await service.keyFor("other"))).status).toBe(201);
    for (const outgoing of open) outgoing.destroy();
    await expect.poll(async () => (await upload(key)).status, { timeout: 20_000 }).toBe(201);
  });
});
