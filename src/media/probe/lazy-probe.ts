import type { ChildProcess } from "node:child_process";
import { buffer } from "node:stream/consumers";
import { AppError } from "../../domain/errors.ts";
import type { ByteSource, MediaProbe } from "../../ports/media-probe.ts";
import { MediaReaders, notRead, tooHard } from "./media-reader.ts";
import type { ReaderAnswer } from "./run-media-reader.ts";

/** The beginning that `formats.ts` wants; said here because nothing is loaded yet. */
const HEAD_BYTES = 64 * 1024;

/**
 * The probe. Its libraries (sharp, mediabunny) are loaded with the first file, because a start must not wait
 * for them. With `start`, which starts a process that runs `runMediaReader`, files are looked at there;
 * without, in this process.
 */
export function createMediaProbe(start?: () => ChildProcess): MediaProbe & AsyncDisposable {
  const readers = start === undefined ? null : new MediaReaders({ start });
  return {
    headBytes: HEAD_BYTES,
    identify: async (head) => (await import("./formats.ts")).identify(head),
    async inspect(source, signal) {
      if (readers === null) return (await import("./probe.ts")).probe(source);
      const answer = await readers.run({ source, task: { type: "inspect" }, signal });
      return answer.type === "inspected" ? answer.media : fail(answer);
    },
    async fitImage(source, wanted, signal) {
      if (readers === null) {
        const { fitImage } = await import("./image.ts");
        return fitImage(await readWhole(source), wanted.mimeType, wanted.limits);
      }
      const answer = await readers.run({ source, task: { type: "fit", ...wanted }, signal });
      if (answer.type !== "fitted") return fail(answer);
      const { image, width, height } = answer;
      if (image !== null) return { ...image, bytes: Buffer.from(image.bytes) };
      return { bytes: await readWhole(source), mimeType: wanted.mimeType, width, height, isChanged: false };
    },
    async [Symbol.asyncDispose]() {
      readers?.close();
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
