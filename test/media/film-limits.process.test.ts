import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { formOfFilm } from "../../src/domain/files/film-form.ts";
import { memoryLimit, runProgram } from "../../src/media/film/programs.ts";
import { mostBytes } from "../../src/media/film/room.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const GiB = 1024 ** 3;
const never = new AbortController().signal;
const limits = { timeoutMs: 60_000, signal: never, isIdle: false };
const MP4 = { kind: "video", mimeTypes: ["video/mp4"], maxItems: 1 } as const;
const FORM = { width: 2, height: 2, frameWidth: 2, frameHeight: 2, framesPerSecond: null, maxBytes: null };

function isAlive(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(process.platform === "win32")("a program that reads what strangers made", () => {
  it("tells how it ended, and has nothing to read, no secret and little memory", async () => {
    const lines: string[] = [];
    const script = "read -r line; echo read=$line; env; ulimit -v; exit 3";
    const ended = await runProgram(["/bin/sh", "-c", script], limits, (line) => lines.push(line));
    expect(ended.code).toBe(3);
    expect(lines).toContain("read=");
    expect(lines.filter((line) => /^(PATH=\/root|HOME|POSTHORN)/.test(line))).toEqual([]);
    if (process.platform === "linux") expect(lines).toContain(String(Math.floor(memoryLimit() / 1024)));
  });

  it("ends with the process that started it, even where that is killed", { timeout: 60_000 }, async () => {
    using folder = temporaryFolder();
    const programs = pathToFileURL(join(import.meta.dirname, "../../src/media/film/programs.ts")).href;
    const file = join(folder.path, "parent.mjs");
    writeFileSync(
      file,
      `import { runProgram } from ${JSON.stringify(programs)};
      const limits = { timeoutMs: 600000, signal: new AbortController().signal, isIdle: true };
      await runProgram(["/bin/sh", "-c", "echo $$; exec sleep 600"], limits, (line) => console.log(line));`,
    );
    const parent = spawn(process.execPath, ["--import", import.meta.resolve("tsx"), file]);
    const [line] = await once(parent.stdout, "data");
    const child = Number(String(line));
    expect(isAlive(child)).toBe(true);
    parent.kill("SIGKILL");
    await expect.poll(() => isAlive(child), { timeout: 30_000 }).toBe(false);
  });
});

describe("what a film may take", () => {
  it("is half of the memory of the machine or the container, from 1 to 4 GiB", () => {
    expect([memoryLimit(64 * GiB, 0), memoryLimit(4 * GiB, 0), memoryLimit(GiB, 0)]).toEqual(
      [4, 2, 1].map((one) => one * GiB),
    );
    expect(memoryLimit(64 * GiB, 6 * GiB)).toBe(3 * GiB);
    expect(memoryLimit(8 * GiB, 2 ** 63)).toBe(4 * GiB);
  });

  it("is no frame with a side of more than 4,096 pixels", () => {
    const film = { width: 4_096, height: 4_096, durationSeconds: 3 };
    expect(formOfFilm(film, MP4)).toMatchObject({ width: 1_920 });
    expect(formOfFilm({ ...film, width: 4_098 }, MP4)).toBeNull();
  });

  it("is known before it begins: the platform's limit, its length, or its source", () => {
    const film = { sizeBytes: 1e12, path: null, durationSeconds: 3_600, form: FORM };
    expect(mostBytes({ ...film, form: { ...FORM, maxBytes: 99_000_000 } })).toBe(99_000_000);
    expect(mostBytes(film)).toBeLessThan(9.2e9);
    expect(mostBytes({ ...film, sizeBytes: 1_000_000 })).toBe(64 * 1024 ** 2 + 4_000_000);
  });
});
