import type { ChildProcess } from "node:child_process";
import { buffer } from "node:stream/consumers";
import { AppError } from "../../domain/errors.ts";
import type { ByteSource, MediaProbe } from "../../ports/media-probe.ts";
import { notRead, tooHard } from "./media-reader.ts";
import { ReaderPool } from "./reader-pool.ts";
import type { ReaderAnswer } from "./run-media-reader.ts";

/** The beginning that `formats.ts` wants; said here because nothing is loaded yet. */
const HEAD_BYTES = 64 * 1024;

/**
 * The probe, whose libraries (sharp, mediabunny) are loaded when the first file is looked at: a start must
 * not wait for them. With `startReader`, which starts a process that runs `runMediaReader`, files are looked
 * at there; without, in this process.
 */
export function createMediaProbe(startReader?: () => ChildProcess): MediaProbe & AsyncDisposable {
  const pool = startReader === undefined ? null : new ReaderPool({ start: startReader });
  return {
    headBytes: HEAD_BYTES,
    identify: async (head) => (await import("./formats.ts")).identify(head),
    async inspect(source, call) {
      if (pool === null) return (await import("./probe.ts")).probe(source);
      const answer = await pool.run({ source, task: { type: "inspect" } }, call);
      return answer.type === "inspected" ? answer.media : fail(answer);
    },
    async fitImage(source, wanted, call) {
      if (pool === null) {
        const { fitImage } = await import("./image.ts");
        return fitImage(await readWhole(source), wanted.mimeType, wanted.limits);
      }
      const answer = await pool.run({ source, task: { type: "fit", ...wanted } }, call);
      if (answer.type !== "fitted") return fail(answer);
      const { image, width, height } = answer;
      if (image !== null) return { ...image, bytes: Buffer.from(image.bytes) };
      return { bytes: await readWhole(source), mimeType: wanted.mimeType, width, height, isChanged: false };
    },
    async [Symbol.asyncDispose]() {
      pool?.close();
    },
  };
}

function readWhole(source: ByteSource): Promise<Buffer> {
  return buffer(source.read({ start: 0, end: source.sizeBytes - 1 }));
}

function fail(answer: ReaderAnswer): never {
  if (answer.type === "refused") throw new AppError(answer.kind, answer.message);
  if (answer.type === "broken") throw tooHard(new Error(answer.stack));
  throw notRead("The answer was for another task.");
}
