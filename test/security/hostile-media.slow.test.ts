import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { serveFiles, startBuiltServer, type BuiltServer, type Told } from "../support/built-server.ts";
import { filmOf, interlacedPng, longFilm, type MadeFile } from "../support/hostile-media.ts";
import { fixture } from "../support/media.ts";

const MiB = 1024 * 1024;
const CLIP = fixture("clip.mp4");
const JSON_TYPE = { "Content-Type": "application/json" };

let server: BuiltServer;
beforeAll(async () => {
  server = await startBuiltServer(inject("program"));
}, 120_000);
afterAll(() => server[Symbol.asyncDispose]());

const upload = (body: MadeFile | Buffer, type = "video/mp4"): Promise<Told> =>
  server.ask("POST /api/v1/files?name=x", { headers: { "Content-Type": type }, body });

async function uploadByTus(body: MadeFile): Promise<Told> {
  const tus = { "Tus-Resumable": "1.0.0" };
  const begun = await server.ask("POST /api/v1/files/uploads", {
    headers: { ...tus, "Upload-Length": String(body.sizeBytes), "Content-Length": "0" },
  });
  const headers = { ...tus, "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream" };
  return server.ask(`PATCH ${String(begun.headers["location"])}`, { headers, body });
}

const sendJson = (target: string, value: object): Promise<Told> =>
  server.ask(target, { headers: JSON_TYPE, body: Buffer.from(JSON.stringify(value)) });

const importFrom = (url: string): Promise<Told> => sendJson("POST /api/v1/tools/upload_file", { url });

async function addFeed(): Promise<string> {
  const args = { provider: "feed", name: "Feed" };
  return (await sendJson("POST /api/v1/tools/connect_channel", args)).body.result.account.id;
}

async function untilDone(id: string): Promise<any> {
  for (;;) {
    const { post } = (await server.ask(`GET /api/v1/posts/${id}`)).body;
    if (["failed", "published"].includes(post.status)) return post;
    await delay(100);
  }
}

/** An answer of this status with a sentence, and a server that goes on. */
function expectRefusal(told: Told, words: RegExp): void {
  expect([told.status, told.body]).toEqual([400, { error: expect.stringMatching(words) }]);
  expect(server.isAlive()).toBe(true);
}

/** What the server itself took, at most, during the work. */
async function mostMemory(work: Promise<unknown>): Promise<{ server: number; all: number }> {
  const most = { server: 0, all: 0 };
  const timer = setInterval(() => {
    const now = server.memoryMiB();
    most.server = Math.max(most.server, now.server);
    most.all = Math.max(most.all, now.all);
  }, 50);
  await work.finally(() => clearInterval(timer));
  return most;
}

const INDEX = /^The index of the video .* Export it again, or in parts\.$/;
const bomb = filmOf({ sizes: 34_000_000 });

describe("a film with an index of 130 MB", () => {
  it("is refused as an upload", async () => expectRefusal(await upload(bomb), INDEX));

  it("is refused as a resumable upload", async () => expectRefusal(await uploadByTus(bomb), INDEX));

  it("is refused as an import", async () => {
    await using files = await serveFiles([bomb]);
    expectRefusal(await importFrom(files.url(0)), /index of the video/);
  });

  it("fails its post, and no other", async () => {
    await using files = await serveFiles([bomb]);
    const accountId = await addFeed();
    const posts = [{ mediaUrl: files.url(0) }, {}].map(async (media) =>
      sendJson("POST /api/v1/posts", { accountId, caption: "a film", ...media }),
    );
    const [hostile, honest] = await Promise.all(
      posts.map(async (made) => untilDone((await made).body.post.id)),
    );
    expect([hostile.status, hostile.error]).toEqual(["failed", expect.stringMatching(INDEX)]);
    expect(honest.status).toBe("published");
    expect(server.isAlive()).toBe(true);
  }, 60_000);
});

describe("a film that costs more than it seems", () => {
  it.each([
    ["four billion samples in 600 bytes", filmOf({ samples: 0xffff_fff0, hasOffsets: true, durationMs: 0 })],
    ["the largest index that is read", filmOf({ sizes: 8_300_000, durationMs: 0 })],
  ])("ends as an answer: %s", { timeout: 90_000 }, async (_what, film) => {
    const told = await upload(film);
    expect([201, 400]).toContain(told.status);
    if (told.status === 400) expect(told.body.error).toMatch(/\w+\.$/);
    expect(server.isAlive()).toBe(true);
    expect(server.memoryMiB().server).toBeLessThan(320);
  });

  it("does not hold up an honest one", async () => {
    await upload(CLIP);
    const hostile = Array.from({ length: 12 }, () => upload(filmOf({ sizes: 15 * MiB })));
    await delay(200);
    const honest = await upload(CLIP.subarray());
    expect(honest.status).toBe(201);
    // Some tenths of a second, on two cores that take in 720 MB besides.
    expect(honest.ms).toBeLessThan(10_000);
    for (const one of await Promise.all(hostile)) expectRefusal(one, INDEX);
    process.stdout.write(`Beside 12 hostile films, an honest one took ${honest.ms} ms.\n`);
  });
});

describe("a picture that is larger than it seems", () => {
  it.each([8, 16] as const)("is refused, interlaced, with %i bits", async (depth) => {
    const picture = await interlacedPng(16_383, 16_383, depth);
    const most = await mostMemory(
      Promise.all([1, 2, 3, 4].map(() => upload(picture, "image/png"))).then((told) => {
        for (const one of told) expectRefusal(one, /an interlaced PNG of 16383 × 16383, which takes \d+ MiB/);
      }),
    );
    expect(most.server).toBeLessThan(400);
  });

  it("does not make posts late", async () => {
    const accountId = await addFeed();
    const mediaUrl = (await upload(fixture("photo.png"), "image/png")).body.file.url;
    const large = await interlacedPng(9_400, 9_400, 8);
    const uploads = Array.from({ length: 8 }, () => upload(large, "image/png"));
    const scheduledAt = new Date(Date.now() + 1_500).toISOString();
    const posts = [{ mediaUrl }, {}].map(async (media) => {
      const made = await sendJson("POST /api/v1/posts", {
        accountId,
        caption: "on time",
        scheduledAt,
        ...media,
      });
      return untilDone(made.body.post.id);
    });
    for (const post of await Promise.all(posts)) {
      const lateMs = Date.parse(post.publishedAt) - Date.parse(scheduledAt);
      process.stdout.write(`While 8 pictures were looked at, a post was ${lateMs} ms late.\n`);
      // They wait for a free processor, and not for the pictures, which take their time.
      expect(lateMs).toBeLessThan(20_000);
    }
    for (const one of await Promise.all(uploads)) expect(one.status).toBe(201);
  }, 60_000);
});

describe("the memory of the server", () => {
  it("does not grow with a film that passes through it", async () => {
    const most = await mostMemory(upload(longFilm(300 * MiB)).then(({ status }) => expect(status).toBe(201)));
    process.stdout.write(
      `300 MiB took ${Math.round(most.server)} MiB, with all processes ${Math.round(most.all)}.\n`,
    );
    expect(most.server).toBeLessThan(400);
  });
});
