import type { ChildProcess } from "node:child_process";
import { buffer } from "node:stream/consumers";
import { AppError } from "../../domain/errors.ts";
import type { ByteSource, MediaProbe } from "../../ports/media-probe.ts";
import { MediaReaders, notRead, tooHard } from "./media-reader.ts";
import type { ReaderAnswer, ReaderTask } from "./run-media-reader.ts";

/** The beginning that `formats.ts` wants; said here because nothing is loaded yet. */
const HEAD_BYTES = 64 * 1024;

/**
 * The probe. Its libraries (sharp, mediabunny) are loaded with the first file, because a start must not wait
 * for them. With `start`, which starts a process that runs `runMediaReader`, files are looked at there;
 * without, in this process.
 */
export function createMediaProbe(start?: () => ChildProcess): MediaProbe & AsyncDisposable {
  const readers = start === undefined ? null : new MediaReaders({ start });
  const run = async (source: ByteSource, task: ReaderTask, signal: AbortSignal): Promise<ReaderAnswer> =>
    readers?.run({ source, task, signal }) ?? (await import("./run-media-reader.ts")).work(source, task);
  return {
    headBytes: HEAD_BYTES,
    identify: async (head) => (await import("./formats.ts")).identify(head),
    async inspect(source, signal) {
      const answer = await run(source, { type: "inspect" }, signal);
      return answer.type === "inspected" ? answer.media : fail(answer);
    },
    async fitImage(source, wanted, signal) {
      const answer = await run(source, { type: "fit", ...wanted }, signal);
      if (answer.type !== "fitted") return fail(answer);
      const { image, width, height } = answer;
      if (image !== null) return { ...image, bytes: Buffer.from(image.bytes) };
      const bytes = await buffer(source.read({ start: 0, end: source.sizeBytes - 1 }));
      return { bytes, mimeType: wanted.mimeType, width, height, isChanged: false };
    },
    async [Symbol.asyncDispose]() {
      readers?.close();
    },
  };
}

function fail(answer: ReaderAnswer): never {
  if (answer.type === "refused") throw new AppError(answer.kind, answer.message);
  if (answer.type === "broken") throw tooHard(new Error(answer.stack));
  throw notRead("The answer was for another task.");
}
