import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, inject, it, vi } from "vitest";
import { AppError } from "../../../src/domain/errors.ts";
import {
  createMediaProbe,
  type MediaReaderOptions,
  MediaReaders,
} from "../../../src/media/probe/media-reader.ts";
import { MediaUnavailable } from "../../../src/ports/media.ts";
import type { ByteSource } from "../../../src/ports/media-probe.ts";
import { fixture, sourceOf } from "../../support/media.ts";
import { NEVER, startReader, startScript } from "../../support/media-reader.ts";

const CLIP = fixture("clip.mp4");
const PROGRAM = inject("program");
const task = { type: "inspect" } as const;

const opened: MediaReaders[] = [];
afterAll(() => {
  for (const one of opened) one.close();
});

function pool(options: Partial<MediaReaderOptions> & { script?: string } = {}) {
  const started: ChildProcess[] = [];
  const { script, ...rest } = options;
  const readers = new MediaReaders({
    start() {
      const child =
        script === undefined ? startReader(PROGRAM) : startScript(script, ["--max-old-space-size=32"]);
      started.push(child);
      return child;
    },
    ...rest,
  });
  opened.push(readers);
  const inspect = (source: ByteSource, signal = NEVER) => readers.run({ source, task, signal });
  return { readers, inspect, started };
}

const clip = { type: "inspected", media: { width: 320, durationSeconds: 2 } };

/** The clip, each of whose reads waits first. */
function waiting(wait: () => Promise<unknown>): ByteSource {
  async function* later({ start, end }: { start: number; end: number }): AsyncGenerator<Buffer> {
    await wait();
    yield CLIP.subarray(start, end + 1);
  }
  return { sizeBytes: CLIP.length, read: (range) => Readable.from(later(range)) };
}

describe("reading media in a process of its own", () => {
  it("finds what is found without one, and keeps the process for the next", async () => {
    const { inspect, started } = pool();
    for (const name of ["clip.mp4", "photo.png", "photo.jpg", "phone.heic"]) {
      const media = await createMediaProbe().inspect(sourceOf(fixture(name)), NEVER);
      expect(await inspect(sourceOf(fixture(name)))).toEqual({ type: "inspected", media });
    }
    expect(started).toHaveLength(1);
  });

  it("refuses what is damaged or cut off, in the same words", async () => {
    const { inspect, started } = pool();
    const scrambled = Buffer.from(CLIP).fill(0xff, 32, 3_000);
    for (const bytes of [scrambled, CLIP.subarray(0, -10), fixture("photo.jpg").subarray(0, 1_500)]) {
      const error = await createMediaProbe()
        .inspect(sourceOf(bytes), NEVER)
        .catch((thrown: unknown) => thrown);
      const { message } = error as AppError;
      expect(await inspect(sourceOf(bytes))).toEqual({ type: "refused", kind: "invalid", message });
    }
    expect(started).toHaveLength(1);
  });

  it("makes small pictures, and none of a film or of what is damaged", async () => {
    await using probe = createMediaProbe(() => startReader(PROGRAM));
    const small = await probe.shrinkImage(sourceOf(fixture("photo.jpg")), 96, NEVER);
    expect(await createMediaProbe().inspect(sourceOf(small ?? Buffer.alloc(0)), NEVER)).toMatchObject({
      mimeType: "image/webp",
      isAnimated: false,
    });
    await expect(probe.shrinkImage(sourceOf(CLIP), 96, NEVER)).rejects.toMatchObject({ kind: "unsupported" });
    const cut = fixture("photo.jpg").subarray(0, 1_500);
    await expect(probe.shrinkImage(sourceOf(cut), 96, NEVER)).rejects.toMatchObject({ kind: "invalid" });
  });

  it("says what it can make of pictures", async () => {
    await using probe = createMediaProbe(() => startReader(PROGRAM));
    expect(await probe.skills()).toEqual({ pictures: true, heic: true });
  });

  it("fits pictures", async () => {
    await using probe = createMediaProbe(() => startReader(PROGRAM));
    const photo = fixture("photo.png");
    const limits = { maxBytes: 1_000_000, mimeTypes: ["image/png"] };
    const fit = (maxWidth?: number) =>
      probe.fitImage(
        sourceOf(photo),
        { mimeType: "image/png", limits: { ...limits, ...(maxWidth === undefined ? {} : { maxWidth }) } },
        NEVER,
      );
    expect(await fit()).toMatchObject({ isChanged: false, width: 200, bytes: photo });
    const small = await fit(50);
    expect(small).toMatchObject({ isChanged: true, width: 50 });
    expect(Buffer.isBuffer(small.bytes)).toBe(true);
    expect(await createMediaProbe().inspect(sourceOf(small.bytes), NEVER)).toMatchObject({
      width: 50,
    });
  });

  it.each([
    new AppError("not_found", "The file is gone."),
    new MediaUnavailable("The source does not answer."),
  ])("hands on why bytes could not be read: %s", async (reason) => {
    const { inspect } = pool();
    const read = (): Readable =>
      new Readable({
        read() {
          this.destroy(reason);
        },
      });
    await expect(inspect({ sizeBytes: 10_000, read })).rejects.toBe(reason);
    expect(await inspect(sourceOf(CLIP))).toMatchObject(clip);
  });

  it.concurrent.each([
    ["that keeps the process busy for ever", "for (;;);"],
    ["that fills the memory", "const held = []; for (;;) held.push(new Array(100_000).fill({}));"],
    ["that grows one array without end", "const held = []; for (;;) held.push(1);"],
    ["that aborts it", "process.abort();"],
    ["that breaks it", 'throw new Error("broken");'],
    ["that ends it", "process.exit(0);"],
    ["on which it stays silent", ""],
    [
      "that makes it ask for more than there is",
      'process.send({ type: "read", id: 1, range: { start: 0, end: 1e9 } });',
    ],
  ])("refuses a file %s, and goes on", async (_what, work) => {
    const { inspect, started } = pool({ script: work, limitMs: 1_500 });
    for (let time = 1; time <= 2; time += 1) {
      await expect(inspect(sourceOf(CLIP))).rejects.toMatchObject({
        kind: "invalid",
        message: expect.stringContaining("reasonable effort"),
      });
      expect(started).toHaveLength(time);
    }
    await vi.waitFor(() =>
      expect(started.every((child) => child.exitCode !== null || child.signalCode !== null)).toBe(true),
    );
  });

  it("does not blame the file where the process was ended from outside, or could not start", async () => {
    const { inspect, started } = pool({ script: 'process.kill(process.pid, "SIGKILL");' });
    await expect(inspect(sourceOf(CLIP))).rejects.toMatchObject({ kind: "unavailable" });
    expect(started).toHaveLength(1);
    const nowhere = pool({
      start: () => spawn("/nowhere/node", [], { stdio: ["ignore", "ignore", "ignore", "ipc"] }),
    });
    await expect(nowhere.inspect(sourceOf(CLIP))).rejects.toMatchObject({ kind: "unavailable" });
  });

  it("does not blame the file where its bytes do not come", async () => {
    const { inspect } = pool({ limitMs: 8_000 });
    expect(await inspect(sourceOf(CLIP))).toMatchObject(clip);
    const silent = waiting(() => delay(60_000, null, { ref: false }));
    await expect(inspect(silent)).rejects.toMatchObject({ kind: "unavailable" });
  });

  it("lets a process go that has nothing to do", async () => {
    const { inspect, started } = pool({ keepMs: 10 });
    await inspect(sourceOf(CLIP));
    await vi.waitFor(() => expect(started[0]?.signalCode).toBe("SIGKILL"));
    expect(await inspect(sourceOf(CLIP))).toMatchObject(clip);
    expect(started).toHaveLength(2);
  });
});

function isAlive(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch {
    return false;
  }
}

describe("the process that reads media", () => {
  it.each([
    ["without work", 'child.on("message", () => console.log(child.pid))'],
    // A second of work begins when all is read, in which it hears of nothing.
    [
      "with a hard file",
      `let quiet;
      child.on("message", ({ type }) => {
        if (type !== "read") return;
        clearTimeout(quiet);
        quiet = setTimeout(() => console.log(child.pid), 100);
      });
      probe.inspect(film, NEVER).catch(() => {})`,
    ],
  ])("ends with the process that started it, and takes no signals but from it: %s", async (_what, work) => {
    const script = `
      const { filmOf } = await import("./test/support/hostile-media.ts");
      const { NEVER, startReader } = await import("./test/support/media-reader.ts");
      const { createMediaProbe } = await import("./src/media/probe/media-reader.ts");
      const { sourceOf } = await import("./test/support/media.ts");
      const film = sourceOf(Buffer.concat([...filmOf({ samples: 0xffff_fff0, hasOffsets: true, durationMs: 0 }).chunks()]));
      const child = startReader(${JSON.stringify(PROGRAM)});
      const probe = createMediaProbe(() => child);
      ${work};`;
    const options = ["--import", "tsx", "--input-type=module", "-e", script];
    const parent = spawn(process.execPath, options, { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(parent.stdout, "data")) as [Buffer];
    const reader = Number(line.toString());
    expect(() => process.kill(reader, 0)).not.toThrow();
    process.kill(reader, "SIGTERM");
    await delay(200);
    expect(() => process.kill(reader, 0)).not.toThrow();
    parent.kill("SIGKILL");
    await vi.waitFor(() => expect(isAlive(reader)).toBe(false), { timeout: 5_000 });
  });
});

describe("waiting for the process that reads media", () => {
  it("reads two files at once, so that one that is hard does not hold up the others", async () => {
    const { inspect, started } = pool();
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const slow = inspect(waiting(() => held));
    for (let at = 0; at < 3; at += 1) expect(await inspect(sourceOf(CLIP))).toMatchObject(clip);
    expect(started).toHaveLength(2);
    release();
    expect(await slow).toMatchObject(clip);
  });

  it("refuses what still waits when it is closed", async () => {
    const { inspect, readers, started } = pool({ script: "" });
    const waitingFor = [1, 2, 3].map(() => inspect(sourceOf(CLIP)));
    await expect.poll(() => started.length).toBe(2);
    readers.close();
    for (const one of waitingFor) await expect(one).rejects.toMatchObject({ kind: "unavailable" });
    expect(started).toHaveLength(2);
  });

  it("stops what is called off", async () => {
    const { inspect, started } = pool({ script: "for (;;);" });
    const gone = new AbortController();
    const left = inspect(sourceOf(CLIP), gone.signal);
    await expect.poll(() => started.length).toBe(1);
    await once(started[0] as ChildProcess, "message");
    gone.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    await expect.poll(() => started[0]?.signalCode).toBe("SIGKILL");
    await expect(inspect(sourceOf(CLIP), gone.signal)).rejects.toThrow("gone");
  });
});
