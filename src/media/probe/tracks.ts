import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import {
  ADTS,
  CustomSource,
  FLAC,
  Input,
  type InputVideoTrack,
  MATROSKA,
  MP3,
  MP4,
  MPEG_TS,
  OGG,
  QTFF,
  UnsupportedInputFormatError,
  WAVE,
  WEBM,
} from "mediabunny";
import { AppError } from "../../domain/errors.ts";
import { MINUTE } from "../../domain/time.ts";
import { MediaUnavailable } from "../../ports/media.ts";
import type { ByteSource, MediaFormat, ProbedMedia } from "../../ports/media-probe.ts";
import { announcedEnd, movieDuration } from "./container.ts";
import { damagedMedia, unreadable } from "./other-kinds.ts";

const MiB = 1024 * 1024;

/** What is parsed at once: an index, cues, tags. That of a video of ten hours has 20 to 30 MB. */
const MAX_INDEX_BYTES = 32 * MiB;

/** What mediabunny asks for beyond what it wants. */
const AHEAD_BYTES = MiB;

/** What reading a container may cost. Streams without an index are walked that far, for their length. */
const MAX_READ_BYTES = 96 * MiB;
const MAX_PROBE_MS = MINUTE;

const MS_PER_SECOND = 1_000;

/** All but playlists, which are no files and name others to be fetched. */
const FORMATS = [MP4, QTFF, MATROSKA, WEBM, WAVE, OGG, FLAC, MP3, ADTS, MPEG_TS];

/** Reads a container's tracks. Throws `invalid` for one that is damaged or cut off. */
export async function probeTracks(source: ByteSource, format: MediaFormat): Promise<ProbedMedia> {
  const end = await announcedEnd(source, format.mimeType);
  if (end !== null && end > source.sizeBytes)
    throw damagedMedia(format, new Error(`It ends at ${source.sizeBytes} and says ${end}.`));
  const budget = createBudget(source, format);
  const input = new Input({ formats: FORMATS, source: budget.source });
  const timer = setTimeout(() => input.dispose(), MAX_PROBE_MS).unref();
  try {
    return await readTracks(input, { source, format });
  } catch (cause) {
    if (budget.storeError !== null) throw budget.storeError;
    if (cause instanceof AppError) throw cause;
    const isUnread = cause instanceof UnsupportedInputFormatError || cause === NO_TRACKS;
    throw isUnread ? unreadable(format, await readHead(source), cause) : damagedMedia(format, cause);
  } finally {
    clearTimeout(timer);
    input.dispose();
  }
}

const NO_TRACKS = new Error("It has no tracks that are known.");

const READ_BYTES = 512;

function readHead(source: ByteSource): Promise<Buffer> {
  return buffer(source.read({ start: 0, end: Math.min(READ_BYTES, source.sizeBytes) - 1 }));
}

interface File {
  readonly source: ByteSource;
  readonly format: MediaFormat;
}

async function readTracks(input: Input, { source, format }: File): Promise<ProbedMedia> {
  const audio = await input.getPrimaryAudioTrack();
  // A sound file's cover picture is not a video.
  const video = format.type === "audio" ? null : await input.getPrimaryVideoTrack();
  if (video === null && audio === null) throw NO_TRACKS;
  const durationSeconds = rounded(
    (await movieDuration(source, format.mimeType)) ?? (await readDuration(input)),
  );
  return {
    ...(video === null ? asAudio(format) : { mimeType: format.mimeType, type: "video" }),
    width: video === null ? null : await video.getDisplayWidth(),
    height: video === null ? null : await video.getDisplayHeight(),
    durationSeconds,
    pages: null,
    videoCodec: video === null ? null : await readVideoCodec(video),
    audioCodec: audio === null ? null : await audio.getCodec(),
    framesPerSecond: video === null ? null : await readFrameRate(video, durationSeconds),
    isAnimated: false,
  };
}

/** ITU-T H.264, A.2: what screens and platforms do not show although it is H.264, as cameras record it. */
const RARE_AVC: Readonly<Record<string, string>> = {
  "6e": "avc-high10",
  "7a": "avc-high422",
  f4: "avc-high444",
};

async function readVideoCodec(video: InputVideoTrack): Promise<string | null> {
  const codec = await video.getCodec();
  if (codec !== "avc") return codec;
  const profile = (await video.getCodecParameterString())?.slice("avc1.".length, "avc1.".length + 2);
  return RARE_AVC[profile?.toLowerCase() ?? ""] ?? codec;
}

/** Every platform that has limits of frames takes shorter films; the tables of a longer one are not read. */
const MAX_COUNTED_SECONDS = 60 * 60;
const COUNTED_FRAMES = 240;
const RATE_DIGITS = 1_000;

/** Null where it cannot be told. */
async function readFrameRate(video: InputVideoTrack, durationSeconds: number | null): Promise<number | null> {
  if (durationSeconds === null || durationSeconds > MAX_COUNTED_SECONDS) return null;
  const { averagePacketRate: rate } = await video.computePacketStats(COUNTED_FRAMES);
  return Number.isFinite(rate) && rate > 0 ? Math.round(rate * RATE_DIGITS) / RATE_DIGITS : null;
}

function asAudio(format: MediaFormat): Pick<ProbedMedia, "mimeType" | "type"> {
  return { mimeType: format.mimeType.replace(/^video\/(mp4|webm|x-matroska)$/, "audio/$1"), type: "audio" };
}

/** From the container's own figures, else by walking it; null where that would cost too much. */
async function readDuration(input: Input): Promise<number | null> {
  return (await input.getDurationFromMetadata()) ?? (await input.computeDuration().catch(() => null));
}

function rounded(seconds: number | null): number | null {
  if (seconds === null || !Number.isFinite(seconds) || seconds < 0) return null;
  return Math.round(seconds * MS_PER_SECOND) / MS_PER_SECOND;
}

/** The source for mediabunny, which ends when a hostile file makes it read too much, before it parses it. */
function createBudget(
  source: ByteSource,
  format: MediaFormat,
): { source: CustomSource; readonly storeError: Error | null } {
  let bytesLeft = MAX_READ_BYTES;
  let storeError: Error | null = null;
  const custom = new CustomSource({
    getSize: () => source.sizeBytes,
    prefetchProfile: "fileSystem",
    // Unhandled errors are those of reads ahead.
    handleUnhandledError: () => {},
    read(start, end) {
      if (end - start > MAX_INDEX_BYTES + AHEAD_BYTES) throw tooLargeIndex(format);
      bytesLeft -= end - start;
      if (bytesLeft < 0) throw new Error(`Reading it took more than ${MAX_READ_BYTES} bytes.`);
      const bytes = source.read({ start, end: end - 1 });
      bytes.on("error", (error) => {
        if (isOfSource(error)) storeError = error;
      });
      return Readable.toWeb(bytes);
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

function tooLargeIndex(format: MediaFormat): AppError {
  const what = `The index of the ${format.type} (its tables, cues, tags or attachments)`;
  return new AppError(
    "invalid",
    `${what} has more than ${MAX_INDEX_BYTES / MiB} MiB, more than ten hours need. Export it again, or in parts.`,
  );
}
