import { buffer } from "node:stream/consumers";
import { ALL_FORMATS, CustomSource, Input } from "mediabunny";
import { AppError } from "../../domain/errors.ts";
import { MINUTE } from "../../domain/time.ts";
import { MediaUnavailable } from "../../ports/media.ts";
import type { ByteSource, MediaFormat, ProbedMedia } from "../../ports/media-probe.ts";
import { announcedEnd } from "./container-end.ts";

/** What reading a container may cost: the index of a video of ten hours has about 30 MB. */
const MAX_READ_BYTES = 256 * 1024 * 1024;
const MAX_PROBE_MS = MINUTE;

const MS_PER_SECOND = 1_000;

/** Reads a container's tracks. Throws `invalid` for one that is damaged or cut off. */
export async function probeTracks(source: ByteSource, format: MediaFormat): Promise<ProbedMedia> {
  const end = await announcedEnd(source, format.mimeType);
  if (end !== null && end > source.sizeBytes)
    throw damaged(format, new Error(`It ends at ${source.sizeBytes} and says ${end}.`));
  const budget = createBudget(source);
  const input = new Input({ formats: ALL_FORMATS, source: budget.source });
  const timer = setTimeout(() => input.dispose(), MAX_PROBE_MS).unref();
  try {
    return await readTracks(input, format);
  } catch (cause) {
    if (budget.storeError !== null) throw budget.storeError;
    if (cause instanceof AppError) throw cause;
    throw damaged(format, cause);
  } finally {
    clearTimeout(timer);
    input.dispose();
  }
}

async function readTracks(input: Input, format: MediaFormat): Promise<ProbedMedia> {
  const audio = await input.getPrimaryAudioTrack();
  // A sound file's cover picture is not a video.
  const video = format.type === "audio" ? null : await input.getPrimaryVideoTrack();
  if (video === null && audio === null) throw damaged(format, new Error("no tracks"));
  return {
    ...(video === null ? asAudio(format) : { mimeType: format.mimeType, type: "video" }),
    width: video === null ? null : await video.getDisplayWidth(),
    height: video === null ? null : await video.getDisplayHeight(),
    durationSeconds: await readDuration(input),
    videoCodec: video === null ? null : await video.getCodec(),
    audioCodec: audio === null ? null : await audio.getCodec(),
    isAnimated: false,
  };
}

function asAudio(format: MediaFormat): Pick<ProbedMedia, "mimeType" | "type"> {
  return { mimeType: format.mimeType.replace(/^video\/(mp4|webm|x-matroska)$/, "audio/$1"), type: "audio" };
}

/** From the container's own figures, else by walking it; null where that would cost too much. */
async function readDuration(input: Input): Promise<number | null> {
  const seconds =
    (await input.getDurationFromMetadata()) ?? (await input.computeDuration().catch(() => null));
  if (seconds === null || !Number.isFinite(seconds) || seconds < 0) return null;
  return Math.round(seconds * MS_PER_SECOND) / MS_PER_SECOND;
}

/** The source for mediabunny, which ends when a hostile file makes it read too much. */
function createBudget(source: ByteSource): { source: CustomSource; readonly storeError: Error | null } {
  let bytesLeft = MAX_READ_BYTES;
  let storeError: Error | null = null;
  const custom = new CustomSource({
    getSize: () => source.sizeBytes,
    prefetchProfile: source.isRemote === true ? "network" : "fileSystem",
    // Errors that nobody waits for are those of reads ahead.
    handleUnhandledError: () => {},
    async read(start, end) {
      bytesLeft -= end - start;
      if (bytesLeft < 0) throw new Error(`Reading it took more than ${MAX_READ_BYTES} bytes.`);
      return readRange(source, start, end).catch((error: unknown) => {
        if (isOfSource(error)) storeError = error;
        throw error;
      });
    },
  });
  return {
    source: custom,
    get storeError() {
      return storeError;
    },
  };
}

/** Not the file's fault: the store lost it, or its source does not answer. */
function isOfSource(error: unknown): error is Error {
  return error instanceof AppError || error instanceof MediaUnavailable;
}

/** `end` is not included. */
async function readRange(source: ByteSource, start: number, end: number): Promise<Buffer> {
  return buffer(source.read({ start, end: end - 1 }));
}

function damaged(format: MediaFormat, cause: unknown): AppError {
  return new AppError(
    "invalid",
    `The ${format.type} (${format.mimeType}) is damaged or cut off and cannot be read. Export it anew.`,
    {
      cause,
    },
  );
}
