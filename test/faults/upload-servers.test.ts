import { createHash } from "node:crypto";
import { request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { videoOf } from "../support/ranged-source.ts";
import { startRealServer, type RealServer } from "../support/real-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const TUS = { "Tus-Resumable": "1.0.0" };
const CHUNK = { ...TUS, "Content-Type": "application/offset+octet-stream" };
const SIZE = 1_000_000;
const PIECES = 5;

const ONE = videoOf(SIZE);
const OTHER = Buffer.from(ONE.map((byte, at) => (at < SIZE / 10 ? byte : byte ^ 0xff)));
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

const folder = temporaryFolder();
let servers: readonly [RealServer, RealServer];
beforeAll(async () => {
  // One after the other: the first makes the folder.
  const first = await startRealServer(folder.env);
  servers = [first, await startRealServer(folder.env)];
});
afterAll(async () => {
  for (const server of servers) await server.kill();
  folder[Symbol.dispose]();
});

async function begin(name: string): Promise<string> {
  const metadata = `filename ${Buffer.from(name).toString("base64")}`;
  const headers = { ...TUS, "Upload-Length": String(SIZE), "Upload-Metadata": metadata };
  const begun = await servers[0].ask("POST /api/v1/files/uploads", { headers });
  return begun.headers["location"] ?? "";
}

/** Sends all of it from the beginning on, a piece at a time, and answers with the status. */
async function patch({ port, key }: RealServer, path: string, bytes: Buffer): Promise<number> {
  const outgoing = request({
    host: "127.0.0.1",
    port,
    method: "PATCH",
    path,
    agent: false,
    headers: {
      ...CHUNK,
      Authorization: `Bearer ${key}`,
      "Upload-Offset": "0",
      "Content-Length": bytes.length,
    },
  });
  const answered = new Promise<number>((resolve, reject) => {
    outgoing.once("response", (incoming) => {
      incoming.resume();
      resolve(incoming.statusCode ?? 0);
    });
    outgoing.once("error", reject);
  });
  const step = bytes.length / PIECES;
  for (let at = 0; at < bytes.length; at += step) {
    outgoing.write(bytes.subarray(at, at + step));
    await delay(5);
  }
  outgoing.end();
  return answered;
}

async function filesNamed(name: string): Promise<{ id: string; sha256: string; status: string }[]> {
  const { files } = (await servers[0].ask("GET /api/v1/files?limit=100")).json;
  return files.filter((file: { name: string }) => file.name === name);
}

describe("two servers on one folder", { timeout: 120_000 }, () => {
  it("never write into one upload at once", async () => {
    for (let n = 0; n < 15; n += 1) {
      const name = `both-${n}.mp4`;
      const path = await begin(name);
      const statuses = await Promise.all([patch(servers[0], path, ONE), patch(servers[1], path, OTHER)]);
      expect(statuses.filter((status) => status === 204)).toHaveLength(1);
      // Locked, or, where the other was through, not how far the upload is, or not there any more.
      expect([404, 409, 423]).toContain(statuses.find((status) => status !== 204));
      const files = await filesNamed(name);
      expect(files).toHaveLength(1);
      expect(files[0]?.sha256).toBe(sha256(statuses[0] === 204 ? ONE : OTHER));
    }
  });

  it("make one file of an upload, however it is asked about while it is being stored", async () => {
    for (let n = 0; n < 10; n += 1) {
      const name = `asked-${n}.mp4`;
      const path = await begin(name);
      const last = { isOver: false };
      const sent = patch(servers[0], path, ONE).finally(() => (last.isOver = true));
      const heads: number[] = [];
      while (!last.isOver) {
        const asked = [0, 1, 1].map(async (at) => {
          const head = await servers[at === 0 ? 0 : 1].ask(`HEAD ${path}`, { headers: TUS });
          heads.push(head.status);
        });
        await Promise.all(asked);
      }
      expect([204, 409, 423]).toContain(await sent);
      expect(heads.filter((status) => status !== 200 && status !== 423)).toEqual([]);
      // As a client does that was told to wait.
      for (let tries = 0; tries < 20 && (await filesNamed(name)).length === 0; tries += 1) {
        const { headers } = await servers[1].ask(`HEAD ${path}`, { headers: TUS });
        const offset = Number(headers["upload-offset"] ?? 0);
        await servers[1].ask(`PATCH ${path}`, {
          headers: { ...CHUNK, "Upload-Offset": String(offset) },
          body: ONE.subarray(offset),
        });
      }
      const files = await filesNamed(name);
      expect(files.map(({ status }) => status)).toEqual(["ready"]);
      expect(files[0]?.sha256).toBe(sha256(ONE));
      for (const server of servers) {
        const head = await server.ask(`HEAD ${path}`, { headers: TUS });
        expect(head.headers["content-location"]).toBe(`/api/v1/files/${files[0]?.id}`);
      }
    }
  });
});
