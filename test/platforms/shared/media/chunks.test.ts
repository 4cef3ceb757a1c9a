import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MediaFacts } from "../../../../src/ports/media.ts";
import type { PlatformIo, PlatformResponse } from "../../../../src/ports/platform-io.ts";
import { chunkAt, committedBytes, sendInChunks } from "../../../../src/platforms/shared/uploads.ts";

/** All of them in order. */
function chunksOf(cut: Parameters<typeof chunkAt>[0]): NonNullable<ReturnType<typeof chunkAt>>[] {
  const first = chunkAt(cut);
  return first === null ? [] : [first, ...chunksOf({ ...cut, from: first.end + 1 })];
}

describe("chunks", () => {
  it("covers every byte from the offset on, once and in order", () => {
    const cuts = fc.record({
      totalBytes: fc.integer({ min: 1, max: 2_000 }),
      chunkBytes: fc.integer({ min: 1, max: 300 }),
      from: fc.integer({ min: 0, max: 2_000 }),
      lastTakesRest: fc.boolean(),
    });
    fc.assert(
      fc.property(cuts, (cut) => {
        let next = cut.from;
        const chunks = chunksOf(cut);
        for (const { start, end, sizeBytes, isLast } of chunks) {
          expect(start).toBe(next);
          expect(sizeBytes).toBe(end - start + 1);
          expect(sizeBytes).toBeLessThan(
            cut.lastTakesRest && isLast ? 2 * cut.chunkBytes : cut.chunkBytes + 1,
          );
          next = end + 1;
        }
        expect(next).toBe(Math.max(cut.totalBytes, cut.from));
        expect(chunks.map(({ isLast }) => isLast).indexOf(true)).toBe(chunks.length - 1);
      }),
    );
  });

  it("makes as many as TikTok wants: the size divided by the chunk, rounded down", () => {
    const count = (totalBytes: number): number =>
      chunksOf({ totalBytes, chunkBytes: 10, lastTakesRest: true }).length;
    expect([9, 10, 19, 20, 29, 50].map(count)).toEqual([1, 1, 1, 2, 2, 5]);
  });
});

describe("sendInChunks", () => {
  const FILE = Buffer.from("0123456789abcdefghijklmno");

  /** A session that stores what it gets, `keeps` bytes of a chunk at most. */
  function session(options: { keeps?: number; speaks308?: boolean; has?: number } = {}) {
    let stored = FILE.subarray(0, options.has ?? 0);
    const ranges: string[] = [];
    const io: Pick<PlatformIo, "request"> = {
      async request(request) {
        const range = request.headers?.["content-range"] ?? "";
        ranges.push(range);
        const start = Number(/^bytes (\d+)-/.exec(range)?.[1]);
        expect(start).toBe(stored.length);
        const parts: Buffer[] = [];
        if (typeof request.body !== "function") throw new Error("A chunk is a stream.");
        for await (const part of request.body()) parts.push(Buffer.from(part));
        const bytes = Buffer.concat(parts);
        expect(request.headers?.["content-length"]).toBe(String(bytes.length));
        stored = Buffer.concat([stored, bytes.subarray(0, options.keeps ?? bytes.length)]);
        const isWhole = stored.length === FILE.length;
        const status = isWhole ? 201 : (options.speaks308 ?? true) ? 308 : 206;
        const headers = stored.length === 0 ? {} : { range: `bytes=0-${stored.length - 1}` };
        const response: PlatformResponse = { status, headers: isWhole ? {} : headers, text: "", json: null };
        expect(request.classify?.(response)).toBe(status === 308 ? "ok" : null);
        return response;
      },
    };
    return { io, ranges, stored: () => stored.toString() };
  }

  const item = {
    facts: { sizeBytes: FILE.length, mimeType: "video/mp4" } as MediaFacts,
    open: ({ start = 0, end = FILE.length - 1 } = {}) => Readable.from([FILE.subarray(start, end + 1)]),
  };
  const request = { url: "https://upload.example/session" };

  it.each([true, false])("sends all of it and gives the last answer (308: %s)", async (speaks308) => {
    const to = session({ speaks308 });
    expect(await sendInChunks(to.io, { item, request, chunkBytes: 10 })).toMatchObject({ status: 201 });
    expect(to.ranges).toEqual(["bytes 0-9/25", "bytes 10-19/25", "bytes 20-24/25"]);
    expect(to.stored()).toBe(FILE.toString());
  });

  it("goes on where the platform has come to", async () => {
    const to = session({ has: 7, keeps: 4 });
    await sendInChunks(to.io, { item, request, chunkBytes: 10, from: 7 });
    expect(to.ranges.slice(0, 2)).toEqual(["bytes 7-16/25", "bytes 11-20/25"]);
    expect(to.stored()).toBe(FILE.toString());
  });

  it("tells of each chunk before it leaves", async () => {
    const to = session();
    const told: unknown[] = [];
    const before = async ({ end, isLast }: { end: number; isLast: boolean }) => {
      told.push([end, isLast, to.ranges.length]);
    };
    await sendInChunks(to.io, { item, request, chunkBytes: 10, before });
    expect(told).toEqual([
      [9, false, 0],
      [19, false, 1],
      [24, true, 2],
    ]);
  });

  it("gives up on a platform that stores nothing", async () => {
    const to = session({ keeps: 0 });
    await expect(sendInChunks(to.io, { item, request, chunkBytes: 10 })).rejects.toMatchObject({
      kind: "transient",
    });
    expect(to.ranges).toHaveLength(1);
  });

  it("reads how much a session has", () => {
    const at = (range?: string): number =>
      committedBytes({ status: 308, headers: range === undefined ? {} : { range }, text: "", json: null });
    expect([at(), at("bytes=0-0"), at("bytes=0-262143"), at("bytes=5-9")]).toEqual([0, 1, 262_144, 0]);
  });
});
