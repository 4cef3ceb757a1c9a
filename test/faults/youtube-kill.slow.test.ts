import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { beforeAll, expect, it } from "vitest";
import youtube from "../../src/platforms/youtube/index.ts";
import { createCipher } from "../../src/store/engine/cipher.ts";
import { openStore } from "../../src/store/open-store.ts";
import { createFakeYoutube, toWire } from "../platforms/youtube/fake.ts";
import { addChannel } from "../platforms/youtube/world.ts";
import { createTestContext } from "../support/context.ts";
import { longFilm } from "../support/hostile-media.ts";
import { addPost } from "../support/publishing.ts";
import { startCanary } from "../support/canary.ts";
import { buildWorker, makeDataFolder, readOutcome, runWorker, type RunningWorker } from "./fault-runner.ts";

const MiB = 1024 * 1024;
const SIZE = 600 * MiB;
const CHUNK_BYTES = 8 * MiB;
const MAX_MEMORY_MIB = 250;

/** The film, with ranges and a strong tag, made while it is sent. */
async function startFilm() {
  const { chunks } = longFilm(SIZE);
  const server = await startCanary((request, response) => {
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "");
    const start = Number(range?.[1] ?? 0);
    const end = range?.[2] ? Math.min(Number(range[2]), SIZE - 1) : SIZE - 1;
    response.writeHead(range === null ? 200 : 206, {
      "content-type": "video/mp4",
      "accept-ranges": "bytes",
      "content-length": end + 1 - start,
      etag: '"v1"',
      ...(range === null ? {} : { "content-range": `bytes ${start}-${end}/${SIZE}` }),
    });
    if (request.method === "HEAD") return void response.end();
    const body = Readable.from(cut(chunks(), start, end), { objectMode: false });
    void pipeline(body, response).catch(() => {});
  });
  return server;
}

function* cut(chunks: Iterable<Buffer>, start: number, end: number): Generator<Buffer> {
  let at = 0;
  for (const chunk of chunks) {
    const [from, to] = [Math.max(start - at, 0), Math.min(end + 1 - at, chunk.length)];
    if (from < to) yield chunk.subarray(from, to);
    at += chunk.length;
    if (at > end) return;
  }
}

/** The fake behind real HTTP. */
async function startYoutube() {
  const server = createServer((request, response) => {
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
    const incoming = {
      method: request.method ?? "",
      url: new URL(request.url ?? "/", origin),
      headers: Object.fromEntries(headers),
      body: request,
    };
    fake.answerTo(incoming).then(
      (answer) => {
        const { status, headers: told, body } = toWire(answer);
        response.writeHead(status, told);
        void pipeline(body, response).catch(() => {});
      },
      () => response.destroy(),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fake = createFakeYoutube({ now: () => Date.now(), origin });
  return {
    fake,
    origin,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The most that the process had in memory until it ended. */
function weigh({ child }: RunningWorker): { mostMiB(): number } {
  let most = 0;
  const timer = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      most = Math.max(most, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
    } catch {
      // It has ended.
    }
  }, 50);
  child.once("close", () => clearInterval(timer));
  return { mostMiB: () => most };
}

let worker: string;
beforeAll(async () => {
  worker = await buildWorker("youtube-worker");
});

it(
  "uploads 600 MB in little memory, and after a kill sends at most one chunk again",
  { timeout: 240_000 },
  async () => {
    await using source = await startFilm();
    await using platform = await startYoutube();
    await using folder = await makeDataFolder("youtube", { count: 0, accounts: 0 });
    const { fake } = platform;
    fake.videos.processingMs = 0;
    {
      await using ctx = await createTestContext({
        store: await openStore({ file: join(folder.path, "posthorn.db") }),
        cipher: createCipher(readFileSync(join(folder.path, "key"))),
        platformList: [youtube],
      });
      const account = await addChannel(ctx, youtube, fake.tokens.grant());
      const due = Date.now() - 50;
      const times = { scheduled_at: due, due_at: due, next_at: due };
      const metadata = JSON.stringify({ title: "A long horn", madeForKids: false });
      await addPost(ctx, account, {
        caption: "Long",
        media_url: `${source.origin}/film.mp4`,
        metadata,
        ...times,
      });
    }

    const first = runWorker(worker, [folder.path, platform.origin]);
    const before = weigh(first);
    const middle = SIZE / 2;
    fake.uploads.onChunk = async (_chunk, when) => {
      if (when !== "begun" || fake.uploads.bytesIn < middle) return;
      fake.uploads.onChunk = async () => {};
      const enough = fake.uploads.bytesIn + MiB;
      const timer = setInterval(() => {
        if (fake.uploads.bytesIn < enough) return;
        clearInterval(timer);
        first.child.kill("SIGKILL");
      }, 1);
    };
    expect(await first.exit).toMatchObject({ signal: "SIGKILL" });
    expect(fake.videos.all.size).toBe(0);

    const second = runWorker(worker, [folder.path, platform.origin]);
    const after = weigh(second);
    const { code, stderr } = await second.exit;
    expect([code, await readOutcome(folder.path)]).toMatchObject([
      0,
      [{ status: "published", inDoubt: false, error: null }],
    ]);
    expect(stderr).not.toContain('"level":"error"');
    expect(fake.wrong).toEqual([]);
    expect([...fake.videos.all.values()].map(({ sizeBytes }) => sizeBytes)).toEqual([SIZE]);
    expect(fake.uploads.sessions.size).toBe(1);
    expect(fake.uploads.bytesIn - SIZE).toBeLessThanOrEqual(CHUNK_BYTES);
    expect(before.mostMiB()).toBeLessThanOrEqual(MAX_MEMORY_MIB);
    expect(after.mostMiB()).toBeLessThanOrEqual(MAX_MEMORY_MIB);
  },
);
