import { cp, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BLOCK_BYTES } from "../../../src/media/source/block-sums.ts";
import { MediaUnavailable } from "../../../src/ports/media.ts";
import { createFileContext, type FileContext } from "../../support/file-context.ts";
import { startRangedSource, videoOf, type RangedSource } from "../../support/ranged-source.ts";

const SIZE = 5 * BLOCK_BYTES + 12_345;
const VIDEO = videoOf(SIZE);
const post = { ownerId: "default", postId: "post_1" };

let ctx: FileContext;
let source: RangedSource;
beforeEach(async () => {
  ctx = await createFileContext({ passFromBytes: 4 * BLOCK_BYTES });
  source = await startRangedSource(Buffer.from(VIDEO));
});
afterEach(async () => {
  await source[Symbol.asyncDispose]();
  await ctx[Symbol.asyncDispose]();
});

const open = (signal = new AbortController().signal) =>
  ctx.media.forPost(post, signal).item(`${source.origin}/clip.mp4`);

async function spooledBytes(): Promise<number> {
  const folder = join(ctx.folder, "spool", "post_1");
  const names = await readdir(folder).catch(() => []);
  const sizes = await Promise.all(names.map(async (name) => (await readFile(join(folder, name))).length));
  return sizes.reduce((sum, size) => sum + size, 0);
}

describe("a large file of a source that gives parts of one version", () => {
  it("is known without being fetched, and read from there, whole or in part", async () => {
    const item = await open();
    expect(item.facts).toMatchObject({
      mimeType: "video/mp4",
      sizeBytes: SIZE,
      durationSeconds: 2,
      videoCodec: "avc",
      sha256: null,
    });
    expect(source.requests.length).toBeLessThan(6);
    expect(await spooledBytes()).toBeLessThan(10_000);
    for (let time = 0; time < 2; time += 1) expect((await buffer(item.open())).equals(VIDEO)).toBe(true);
    for (const [start, end] of [
      [0, 0],
      [BLOCK_BYTES - 1, BLOCK_BYTES],
      [BLOCK_BYTES + 7, 3 * BLOCK_BYTES + 9],
      [SIZE - 1, SIZE - 1],
      [SIZE - 10, SIZE + 10],
    ] as const) {
      expect((await buffer(item.open({ start, end }))).equals(VIDEO.subarray(start, end + 1))).toBe(true);
    }
  });

  it("is not asked about again by the next try", async () => {
    const first = await open();
    const asked = source.requests.length;
    const again = await open();
    expect(again.facts).toEqual(first.facts);
    expect(source.requests).toHaveLength(asked);
    await ctx.media.release("post_1");
    await open();
    expect(source.requests.length).toBeGreaterThan(asked);
  });

  it.each([
    ["no tag", () => (source.etag = null)],
    ["a weak tag", () => (source.etag = 'W/"v1"')],
    [
      "no ranges",
      () =>
        (source.intercept = (_request, response) => (
          response.writeHead(200, { etag: '"v1"' }).end(VIDEO),
          true
        )),
    ],
  ])("is kept here where the source has %s", async (_what, change) => {
    change();
    const item = await open();
    expect(item.facts.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(await spooledBytes()).toBeGreaterThan(SIZE);
    expect((await buffer(item.open())).equals(VIDEO)).toBe(true);
    expect(source.requests).toHaveLength(1);
  });

  it("is asked for whole where parts come otherwise than asked", async () => {
    source.intercept = (_request, response, { isRange }) => {
      if (isRange)
        response
          .writeHead(206, { "content-range": `bytes 0-9/${SIZE}`, etag: '"v1"' })
          .end(VIDEO.subarray(0, 10));
      return isRange;
    };
    expect((await buffer((await open()).open())).equals(VIDEO)).toBe(true);
    expect(source.requests).toHaveLength(2);
  });

  it("goes on where the source breaks off", async () => {
    const item = await open();
    let isBroken = true;
    source.intercept = (_request, response, { start, end }) => {
      const stop = Math.min(start + BLOCK_BYTES + 5_000, end + 1);
      isBroken = stop <= end;
      response.writeHead(206, {
        etag: '"v1"',
        "content-range": `bytes ${start}-${end}/${SIZE}`,
        "content-length": end + 1 - start,
      });
      response.write(VIDEO.subarray(start, stop), () => (isBroken ? response.destroy() : response.end()));
      return true;
    };
    expect((await buffer(item.open())).equals(VIDEO)).toBe(true);
    expect(isBroken).toBe(false);
  });

  it("takes less than it asked for, and asks for the rest", async () => {
    const item = await open();
    source.intercept = (_request, response, { start, end }) => {
      const stop = Math.min(start + 2 * BLOCK_BYTES - 100, end);
      const range = `bytes ${start}-${stop}/${SIZE}`;
      response.writeHead(206, { etag: '"v1"', "content-range": range }).end(VIDEO.subarray(start, stop + 1));
      return true;
    };
    expect((await buffer(item.open())).equals(VIDEO)).toBe(true);
  });

  it("is called off with its post", async () => {
    const publishing = new AbortController();
    const item = await open(publishing.signal);
    source.intercept = (_request, response, { start, end }) => {
      response.writeHead(206, { etag: '"v1"', "content-range": `bytes ${start}-${end}/${SIZE}` });
      response.write(VIDEO.subarray(0, 100), () => publishing.abort(new Error("called off")));
      return true;
    };
    await expect(buffer(item.open())).rejects.toThrow("called off");
  });
});

describe("a large file that is sent in chunks", () => {
  type Item = Awaited<ReturnType<typeof open>>;
  const chunk = (item: Item, at: number, bytes: number): Promise<Buffer> =>
    buffer(item.open({ start: at, end: at + bytes - 1 }));

  /**
   * Answers with the first block of what is asked for, and nothing after it; resolves when that answer is
   * given up.
   */
  function stall(): Promise<void> {
    return new Promise((resolve) => {
      source.intercept = (_request, response, { start, end }) => {
        response.writeHead(206, {
          etag: '"v1"',
          "content-range": `bytes ${start}-${end}/${SIZE}`,
          "content-length": end + 1 - start,
        });
        response.write(VIDEO.subarray(start, start + BLOCK_BYTES));
        response.once("close", () => resolve());
        return true;
      };
    });
  }

  it.each([BLOCK_BYTES, 2 * BLOCK_BYTES, BLOCK_BYTES - 1, 100_003])(
    "of %i bytes is asked for twice at the most",
    async (bytes) => {
      const item = await open();
      const asked = source.requests.length;
      const chunks: Buffer[] = [];
      for (let at = 0; at < SIZE; at += bytes) chunks.push(await chunk(item, at, bytes));
      expect(Buffer.concat(chunks).equals(VIDEO)).toBe(true);
      expect(source.requests.length - asked).toBe(2);
    },
  );

  it("goes on from any place, also from one that was sent before", async () => {
    const item = await open();
    const places = [
      0,
      BLOCK_BYTES,
      2 * BLOCK_BYTES,
      BLOCK_BYTES,
      2 * BLOCK_BYTES,
      4 * BLOCK_BYTES,
      0,
      BLOCK_BYTES,
    ];
    for (const at of places)
      expect((await chunk(item, at, BLOCK_BYTES)).equals(VIDEO.subarray(at, at + BLOCK_BYTES))).toBe(true);
  });

  it("goes on where the source breaks off between two chunks", async () => {
    const item = await open();
    await chunk(item, 0, BLOCK_BYTES);
    const answers: { destroy(): void }[] = [];
    source.intercept = (_request, response, { start, end }) => {
      if (answers.push(response) > 1) return false;
      response.writeHead(206, {
        etag: '"v1"',
        "content-range": `bytes ${start}-${end}/${SIZE}`,
        "content-length": end + 1 - start,
      });
      response.write(VIDEO.subarray(start, start + BLOCK_BYTES + 5_000));
      return true;
    };
    await chunk(item, BLOCK_BYTES, BLOCK_BYTES);
    answers[0]?.destroy();
    const rest = await chunk(item, 2 * BLOCK_BYTES, SIZE);
    expect(rest.equals(VIDEO.subarray(2 * BLOCK_BYTES))).toBe(true);
    expect(answers).toHaveLength(2);
  });

  it("is refused at a block that changed since", async () => {
    const item = await open();
    await buffer(item.open());
    await chunk(item, 0, BLOCK_BYTES);
    source.bytes[3 * BLOCK_BYTES] = 1 + (source.bytes[3 * BLOCK_BYTES] ?? 0);
    for (const at of [BLOCK_BYTES, 2 * BLOCK_BYTES]) await chunk(item, at, BLOCK_BYTES);
    await expect(chunk(item, 3 * BLOCK_BYTES, BLOCK_BYTES)).rejects.toMatchObject({ kind: "invalid" });
  });

  it("keeps one answer for all who read it at a time", async () => {
    const item = await open();
    await chunk(item, 0, BLOCK_BYTES);
    const parts = [1, 1, 1, 2].map((block) => chunk(item, block * BLOCK_BYTES, BLOCK_BYTES));
    for (const part of await Promise.all(parts)) expect(part).toHaveLength(BLOCK_BYTES);
    expect(ctx.clock.sleepers).toBeLessThanOrEqual(1);
    await ctx.media.release("post_1");
    expect(ctx.clock.sleepers).toBe(0);
  });

  it.each<[string, (publishing: AbortController, item: Item) => Promise<unknown>]>([
    ["when nobody asks for the next one", () => ctx.clock.advance(30_000)],
    ["with its post", () => ctx.media.release("post_1")],
    ["when publishing stops", async (publishing) => publishing.abort(new Error("stopped"))],
    ["for a chunk from elsewhere", (_publishing, item) => ((source.intercept = null), chunk(item, 0, 10))],
  ])("gives the source up %s", async (_when, end) => {
    const publishing = new AbortController();
    const item = await open(publishing.signal);
    await chunk(item, 0, BLOCK_BYTES);
    const givenUp = stall();
    await chunk(item, BLOCK_BYTES, BLOCK_BYTES);
    await end(publishing, item);
    await givenUp;
    expect(ctx.clock.sleepers).toBe(0);
  });
});

describe("a source that is not what it was", () => {
  const refusal = { kind: "invalid", message: expect.stringContaining("changed at its source") };

  it.each([
    ["gives another tag", () => (source.etag = '"v2"')],
    ["is shorter", () => (source.bytes = source.bytes.subarray(0, SIZE - 1))],
    [
      "gives no ranges any more",
      () => (source.intercept = (_request, response) => (response.end(VIDEO), true)),
    ],
    [
      "says that it changed",
      () => (source.intercept = (_request, response) => (response.writeHead(412).end(), true)),
    ],
  ])("and %s is refused", async (_what, change) => {
    const item = await open();
    change();
    await expect(buffer(item.open())).rejects.toMatchObject(refusal);
  });

  it("in what was checked, under the tag it had, is refused before anything is handed out", async () => {
    const item = await open();
    source.bytes[100] = 1 + (source.bytes[100] ?? 0);
    const received: Buffer[] = [];
    const read = async (): Promise<void> => {
      for await (const piece of item.open()) received.push(piece);
    };
    await expect(read()).rejects.toMatchObject(refusal);
    expect(Buffer.concat(received)).toHaveLength(0);
  });

  it("in what was sent before is refused at the changed block, by this process and the next", async () => {
    const item = await open();
    for await (const _piece of item.open()) await ctx.clock.advance(2_000);
    const at = 3 * BLOCK_BYTES + 17;
    source.bytes[at] = 1 + (source.bytes[at] ?? 0);
    await using next = await createFileContext({ passFromBytes: 4 * BLOCK_BYTES });
    await cp(join(ctx.folder, "spool"), join(next.folder, "spool"), { recursive: true });
    const itsItem = await next.media.forPost(post, new AbortController().signal).item(item.url);
    for (const one of [item, await open(), itsItem]) {
      const received: Buffer[] = [];
      const read = async (): Promise<void> => {
        for await (const piece of one.open()) received.push(piece);
      };
      await expect(read()).rejects.toMatchObject(refusal);
      expect(Buffer.concat(received).equals(VIDEO.subarray(0, 3 * BLOCK_BYTES))).toBe(true);
    }
  });

  it.each([
    [404, { kind: "invalid", message: expect.stringContaining("HTTP 404") }],
    [403, { kind: "invalid" }],
    [503, { name: "MediaUnavailable" }],
    [429, { name: "MediaUnavailable" }],
  ])("but answers %i says so", async (status, error) => {
    const item = await open();
    source.intercept = (_request, response) => (response.writeHead(status).end(), true);
    await expect(buffer(item.open())).rejects.toMatchObject(error);
  });

  it("but leads inside is not followed", async () => {
    const item = await open();
    source.intercept = (_request, response) => (
      response.writeHead(302, { location: "http://127.0.0.2/" }).end(),
      true
    );
    await expect(buffer(item.open())).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringContaining("private"),
    });
  });

  it("but is gone may come back", async () => {
    const item = await open();
    await source[Symbol.asyncDispose]();
    await expect(buffer(item.open())).rejects.toBeInstanceOf(MediaUnavailable);
  });

  it("but sends nothing any more is left after a few answers", async () => {
    const item = await open();
    const asked = source.requests.length;
    source.intercept = (_request, response, { start, end }) => {
      response.writeHead(206, {
        etag: '"v1"',
        "content-range": `bytes ${start}-${end}/${SIZE}`,
        "content-length": end + 1 - start,
      });
      response.write("x", () => response.destroy());
      return true;
    };
    await expect(buffer(item.open())).rejects.toBeInstanceOf(MediaUnavailable);
    expect(source.requests.length - asked).toBe(3);
  });

  it("but trickles is left; a reader that is slow is not blamed on it", async () => {
    const item = await open();
    for await (const _piece of item.open()) await ctx.clock.advance(120_000);
    source.intercept = (_request, response, { start, end }) => {
      response.writeHead(206, { etag: '"v1"', "content-range": `bytes ${start}-${end}/${SIZE}` });
      const timer = setInterval(() => {
        response.write("x");
        void ctx.clock.advance(20_000);
      }, 10);
      response.on("close", () => clearInterval(timer));
      return true;
    };
    await expect(buffer(item.open())).rejects.toThrow(/too slowly/);
  });
});
