import { mkdir, open, readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/app/system-clock.ts";
import { sealSecrets } from "../../src/channels/platform-io/secrets.ts";
import { createCipher } from "../../src/store/engine/cipher.ts";
import { createFakeTikTok } from "../platforms/tiktok/fake.ts";
import { queryOf } from "../support/handles.ts";
import { addPost } from "../support/publishing.ts";
import { buildWorker, makeDataFolder, openFolder, readOutcome, runWorker } from "./fault-runner.ts";

const MiB = 1024 * 1024;
const FILM = "film.mp4";
const FILM_BYTES = 600_000_123;
const CHUNK_BYTES = 10_000_000;
const MOST_MEMORY = 250 * MiB;

/** Headers and the like of all requests of one run. */
const OVERHEAD_BYTES = 200_000;

/** TikTok over HTTP; the addresses that it gives lead here. */
async function startTikTok() {
  const fake = createFakeTikTok(systemClock);
  Object.assign(fake, { keepsBytes: false, processingMs: 300, moderationMs: 0 });
  const sockets = new Set<Socket>();
  const self = {
    fake,
    url: "",
    chunks: 0,
    /** Every chunk begins with where it is in the film. */
    marks: [] as string[],
    bytesIn: () => [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0),
    onChunk: async (_chunk: number): Promise<void> => {},
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "";
    const isChunk = request.method === "PUT";
    if (isChunk) await self.onChunk((self.chunks += 1));
    const bytes = await buffer(request);
    if (isChunk) self.marks.push(bytes.subarray(0, 12).toString("latin1"));
    const url = isChunk ? `https://open-upload.tiktokapis.com${path}` : `https://open.tiktokapis.com${path}`;
    const headers = request.headers as Record<string, string>;
    const method = request.method as "POST";
    const answer = await fake.door.request({ method, url, headers, body: bytes });
    const text = (await buffer(answer.body)).toString("utf8");
    response.writeHead(answer.status, { "content-type": "application/json" });
    response.end(text.replace("https://open-upload.tiktokapis.com", self.url));
  }
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  self.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return self;
}

/** A data folder with the film in it, and a post of it that is due. */
async function makeFolder(token: string) {
  const folder = await makeDataFolder("tiktok", { count: 0, accounts: 1 });
  await mkdir(join(folder.path, "files"));
  const file = await open(join(folder.path, "files", FILM), "w");
  await file.truncate(FILM_BYTES);
  for (let at = 0; at < FILM_BYTES - 12; at += CHUNK_BYTES) await file.write(markOf(at), at);
  await file.close();
  const cipher = createCipher(await readFile(join(folder.path, "key")));
  await using ctx = await openFolder(folder.path);
  const account = await queryOf(ctx.store).selectFrom("accounts").selectAll().executeTakeFirstOrThrow();
  const secrets_enc = sealSecrets({ ...ctx, cipher }, account, { accessToken: token });
  await queryOf(ctx.store).updateTable("accounts").set({ secrets_enc, handle: "horn" }).execute();
  const due = Date.now() - 50;
  const times = { scheduled_at: due, due_at: due, next_at: due };
  const metadata = '{"privacyLevel":"PUBLIC_TO_EVERYONE"}';
  await addPost(ctx, account, { media_url: `r2://${FILM}`, metadata, ...times });
  return folder;
}

const markOf = (at: number): string => String(at).padStart(12, "0");

/** The most memory that the process ever had, as the kernel counts it. */
async function peakOf(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}

let worker: string;
beforeAll(async () => {
  worker = await buildWorker("tiktok-worker");
});

describe("a film of 600 MB on its way to TikTok", { timeout: 180_000 }, () => {
  it("takes little memory, and goes on with at most one chunk sent again when its process is killed", async () => {
    await using tiktok = await startTikTok();
    await using folder = await makeFolder(tiktok.fake.tokens.grant(["video.publish"]));
    const args = [folder.path, tiktok.url, FILM];
    let peak = 0;

    const first = runWorker(worker, args);
    tiktok.onChunk = async (chunk) => {
      peak = Math.max(peak, await peakOf(first.child.pid));
      if (chunk === 30) setTimeout(() => first.child.kill("SIGKILL"), 5);
    };
    expect(await first.exit).toMatchObject({ signal: "SIGKILL" });

    const second = runWorker(worker, args);
    tiktok.onChunk = async () => {
      peak = Math.max(peak, await peakOf(second.child.pid));
    };
    const { code, stderr } = await second.exit;
    expect(stderr).not.toContain('"level":"error"');
    expect([code, await readOutcome(folder.path)]).toMatchObject([0, [{ status: "published", error: null }]]);
    expect(tiktok.fake.wrong).toEqual([]);
    expect(tiktok.fake.shares).toHaveLength(1);
    expect(tiktok.fake.visible()).toHaveLength(1);
    const wanted = Array.from({ length: Math.floor(FILM_BYTES / CHUNK_BYTES) }, (_, n) =>
      markOf(n * CHUNK_BYTES),
    );
    expect([...new Set(tiktok.marks)]).toEqual(wanted);
    expect(tiktok.bytesIn() - FILM_BYTES).toBeLessThanOrEqual(CHUNK_BYTES + OVERHEAD_BYTES);
    expect(peak).toBeGreaterThan(20 * MiB);
    expect(peak).toBeLessThanOrEqual(MOST_MEMORY);
  });
});
