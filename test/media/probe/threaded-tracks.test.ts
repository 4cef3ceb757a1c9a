import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { build } from "esbuild";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { AppError } from "../../../src/domain/errors.ts";
import { MediaUnavailable } from "../../../src/ports/media.ts";
import { createMediaProbe } from "../../../src/media/probe/lazy-probe.ts";
import {
  createThreadedTracks,
  type ThreadedTracks,
  type ThreadedTracksOptions,
} from "../../../src/media/probe/threaded-tracks.ts";
import { fixture, sourceOf } from "../../support/media.ts";

const FORMAT = { mimeType: "video/mp4", type: "video", extension: "mp4" } as const;
const CLIP = fixture("clip.mp4");

let entry: string;
beforeAll(async () => {
  const folder = join(import.meta.dirname, "..", "..", "node_modules", ".cache", "posthorn-test");
  await mkdir(folder, { recursive: true });
  entry = join(folder, `tracks-${process.pid}.mjs`);
  const source = join(import.meta.dirname, "tracks-entry.ts");
  await build({
    entryPoints: [source],
    outfile: entry,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
  });
});

const opened: ThreadedTracks[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

function threads(options: Partial<ThreadedTracksOptions> & { script?: string } = {}) {
  const started: Worker[] = [];
  const { script, ...rest } = options;
  const tracks = createThreadedTracks({
    start() {
      const worker =
        script === undefined
          ? new Worker(entry)
          : new Worker(script, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 16 } });
      started.push(worker);
      return worker;
    },
    ...rest,
  });
  opened.push(tracks);
  return { tracks, started };
}

const onMessage = (work: string): string =>
  `const { parentPort } = require("node:worker_threads"); parentPort.on("message", (message) => { ${work} });`;

describe("reading containers in a thread", () => {
  it("finds what is found without one, and keeps the thread for the next", async () => {
    const { tracks, started } = threads();
    const found = await tracks.probe(sourceOf(CLIP), FORMAT);
    expect(found).toEqual(await createMediaProbe().inspect(sourceOf(CLIP)));
    await tracks.probe(sourceOf(CLIP), FORMAT);
    expect(started).toHaveLength(1);
  });

  it("refuses what is damaged or cut off, in the same words", async () => {
    const { tracks, started } = threads();
    const scrambled = Buffer.from(CLIP).fill(0xff, 32, 3_000);
    for (const bytes of [scrambled, CLIP.subarray(0, -10)]) {
      const error = await createMediaProbe()
        .inspect(sourceOf(bytes))
        .catch((thrown: unknown) => thrown);
      await expect(tracks.probe(sourceOf(bytes), FORMAT)).rejects.toMatchObject({
        kind: "invalid",
        message: (error as AppError).message,
      });
    }
    expect(started).toHaveLength(1);
  });

  it.each([
    new AppError("not_found", "The file is gone."),
    new MediaUnavailable("The source does not answer."),
  ])("hands on why bytes could not be read: %s", async (reason) => {
    const { tracks } = threads();
    const read = (): Readable =>
      new Readable({
        read() {
          this.destroy(reason);
        },
      });
    await expect(tracks.probe({ sizeBytes: 10_000, read }, FORMAT)).rejects.toBe(reason);
    expect(await tracks.probe(sourceOf(CLIP), FORMAT)).toMatchObject({ width: 320 });
  });

  it("reads several at once, as one may wait for its bytes", async () => {
    const { tracks, started } = threads();
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const slow = {
      ...sourceOf(CLIP),
      read: (range: { start: number; end: number }) => Readable.from(later(range)),
    };
    async function* later({ start, end }: { start: number; end: number }): AsyncGenerator<Buffer> {
      await held;
      yield CLIP.subarray(start, end + 1);
    }
    const waiting = tracks.probe(slow, FORMAT);
    expect(await tracks.probe(sourceOf(CLIP), FORMAT)).toMatchObject({ width: 320 });
    release();
    expect(await waiting).toMatchObject({ width: 320 });
    expect(started).toHaveLength(2);
  });

  it.each([
    ["that keeps the thread busy for ever", "for (;;);"],
    ["that fills the memory", "const held = []; for (;;) held.push(new Array(100_000).fill({}));"],
    ["that breaks it", 'throw new Error("broken");'],
    ["that ends it", "process.exit(0);"],
    ["on which it stays silent", ""],
  ])("refuses a file %s, and goes on", async (_what, work) => {
    const { tracks, started } = threads({ script: onMessage(work), thinkMs: 300 });
    for (let time = 1; time <= 2; time += 1) {
      const probing = tracks.probe(sourceOf(CLIP), FORMAT);
      await expect(probing).rejects.toMatchObject({
        kind: "invalid",
        message: expect.stringContaining("reasonable effort"),
      });
      expect(started).toHaveLength(time);
    }
    await expect.poll(() => started.map(({ threadId }) => threadId)).toEqual([-1, -1]);
  });

  it("does not count the time in which bytes are read", async () => {
    const { tracks } = threads({ thinkMs: 2_000 });
    const read = (range: { start: number; end: number }): Readable => Readable.from(slowly(range));
    async function* slowly({ start, end }: { start: number; end: number }): AsyncGenerator<Buffer> {
      await delay(800);
      yield CLIP.subarray(start, end + 1);
    }
    expect(await tracks.probe({ sizeBytes: CLIP.length, read }, FORMAT)).toMatchObject({ width: 320 });
  });

  it("lets a thread go that has nothing to do", async () => {
    const { tracks, started } = threads({ keepMs: 10 });
    await tracks.probe(sourceOf(CLIP), FORMAT);
    await expect.poll(() => started[0]?.threadId).toBe(-1);
    expect(await tracks.probe(sourceOf(CLIP), FORMAT)).toMatchObject({ width: 320 });
    expect(started).toHaveLength(2);
  });

  it("is left to the probe for containers alone", async () => {
    let started = 0;
    await using probe = createMediaProbe(() => {
      started += 1;
      return new Worker(entry);
    });
    expect(await probe.inspect(sourceOf(fixture("photo.png")))).toMatchObject({ width: 200 });
    expect(started).toBe(0);
    expect(await probe.inspect(sourceOf(CLIP))).toMatchObject({ durationSeconds: 2 });
    expect(started).toBe(1);
  });
});
