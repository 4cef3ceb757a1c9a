import { plural } from "../../domain/text/plain-text.ts";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { availableParallelism, platform } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import {
  LONGEST_SOURCE_SIDE,
  MOST_VIDEO_BITS_PER_SECOND,
  SOUND_BITS_PER_SECOND,
  videoBitsPerSecond,
} from "../../domain/files/film-form.ts";
import { MINUTE, SECOND } from "../../domain/time.ts";
import { DiskFull, explainFullDisk } from "../../ports/disk-space.ts";
import type { ConvertedFilm, FilmConverter, FilmJob } from "../../ports/film-converter.ts";
import { type ProgramExit, type FilmPrograms, findPrograms, runProgram } from "./programs.ts";
import { assertRoom, mostBytes, stopsAtBytes } from "./room.ts";
import { FilmTurns } from "./turns.ts";

/** Converts films with ffmpeg (https://ffmpeg.org/ffmpeg.html), version 4.3 or newer. */

interface FfmpegOptions {
  /** Where the program may be. */
  readonly places: readonly string[];
  /** Where films are worked on. */
  readonly folder: string;
}

/** One command; ffprobe comes with it everywhere. */
const INSTALL: Readonly<Record<string, string>> = {
  darwin: "brew install ffmpeg",
  linux: "sudo apt install ffmpeg",
  win32: "winget install ffmpeg",
};

/** Folders of films in work begin with it. */
const WORK = "film_";

export function createFfmpeg({ places, folder }: FfmpegOptions): FilmConverter {
  const turns = new FilmTurns();
  const find = (): Promise<FilmPrograms | null> => findPrograms(places);
  return {
    // Looked for each time: it works as soon as it is installed.
    isThere: async () => (await find()) !== null,
    howToInstall: `With ffmpeg Posthorn makes it fit: ${INSTALL[platform()] ?? "install ffmpeg"}, then try again.`,
    async assertRoom(job) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await assertRoom(folder, job);
    },
    async removeLeftOvers(isOver) {
      for (const name of await readdir(folder).catch(() => []))
        if (name.startsWith(WORK) && (await isOver(name.slice(WORK.length))))
          await rm(join(folder, name), { recursive: true, force: true });
    },
    convert: (job, outer) =>
      turns.run(job, outer, async (signal) => {
        const programs = await find();
        if (programs === null) throw new AppError("unavailable", "ffmpeg is not on this machine any more.");
        return convertIn(join(folder, `${WORK}${job.id}`), { programs, job, signal });
      }),
  };
}

interface Work {
  readonly programs: FilmPrograms;
  readonly job: FilmJob;
  readonly signal: AbortSignal;
}

async function convertIn(folder: string, work: Work): Promise<ConvertedFilm> {
  const { job, signal } = work;
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await remove();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await assertRoom(folder, job);
    const [copy, target] = [join(folder, "source"), join(folder, "film.mp4")];
    if (job.path === null) await pipeline(job.open(), createWriteStream(copy), { signal });
    await encodeWithin(work, job.path ?? copy, target);
    await rm(copy, { force: true });
    const { size: sizeBytes } = await stat(target);
    return { sizeBytes, read: (range) => createReadStream(target, range), [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw explainFullDisk(error);
  }
}

/** How much of what its limit allows the film is given: an encoder keeps to it roughly. */
const SHARES = [1, 0.8, 0.55];

/** The whole of them has one limit of time, which is its post's. */
async function encodeWithin(work: Work, source: string, target: string): Promise<void> {
  const { programs, job, signal } = work;
  const { isHdr } = await look(programs, { source, job, signal });
  const pace = new Pace(job);
  let told = -1;
  const onProgress = (percent: number): void => {
    if (percent > told) job.onProgress((told = percent));
    pace.note(percent);
  };
  for (const share of SHARES) {
    pace.begin();
    const args = argumentsFor(job, { source, target, isHdr, share });
    await encode(work, args, { pace, onProgress });
    if ((await stat(target)).size <= mostBytes(job)) return;
  }
  throw new AppError(
    "invalid",
    `The video cannot be brought to ${mostBytes(job)} bytes. Give a shorter one.`,
  );
}

async function encode(
  { programs, job, signal }: Work,
  args: readonly string[],
  { pace, onProgress }: { readonly pace: Pace; readonly onProgress: (percent: number) => void },
): Promise<void> {
  const limits = {
    timeoutMs: pace.msLeft(),
    signal: AbortSignal.any([signal, pace.tooSlow]),
    isIdle: job.isAhead(),
  };
  const ended = await runProgram([programs.ffmpeg, ...args], limits, (line) => {
    const at = /^out_time_us=(\d{1,15})$/.exec(line)?.[1];
    const seconds = Number(at ?? 0) / 1e6;
    onProgress(Math.min(99, Math.floor((100 * seconds) / (job.durationSeconds ?? Infinity))));
  });
  if (ended.code !== 0) throw whyNot(ended);
}

const MIN_TIME_MS = 10 * MINUTE;
/** An old machine takes some seconds for each second of a film in 4K. */
const TIMES_ITS_LENGTH = 30;
/** After so much of the film its pace tells how long all of it takes. */
const TELLING_PERCENT = 10;

/** How long the encodings may take: no longer than their post can wait, and than a sound film takes anywhere. */
class Pace {
  readonly #job: FilmJob;
  /** What its post has left when the time of the encodings is over. */
  readonly #end: number;
  readonly #stop = new AbortController();
  #begun = 0;

  constructor(job: FilmJob) {
    this.#job = job;
    const longest = MIN_TIME_MS + (job.durationSeconds ?? 0) * TIMES_ITS_LENGTH * SECOND;
    // A post that is sent again after its time gets a little.
    this.#end = job.msLeft() - Math.max(MINUTE, Math.min(longest, job.msLeft()));
  }

  /** Aborted with the reason once it is clear that the time does not suffice. */
  get tooSlow(): AbortSignal {
    return this.#stop.signal;
  }

  msLeft(): number {
    return Math.max(1, this.#job.msLeft() - this.#end);
  }

  begin(): void {
    this.#begun = this.#job.msLeft();
  }

  note(percent: number): void {
    const neededMs = (this.#begun - this.#job.msLeft()) * (100 / percent);
    if (percent < TELLING_PERCENT || neededMs <= this.#begun - this.#end) return;
    const minutes = Math.ceil(neededMs / MINUTE);
    this.#stop.abort(
      new AppError(
        "invalid",
        `The video does not fit as it is, and converting it takes this machine about ${plural(minutes, "minute")}, longer than the post can wait. Export it as MP4 with H.264 and AAC, or schedule the post for later.`,
      ),
    );
  }
}

function whyNot({ code, errors }: ProgramExit): AppError {
  const cause = new Error(`ffmpeg ended with ${code}: ${errors}`);
  if (/No space left on device/.test(errors)) return new DiskFull(cause);
  const why = code === null ? "took too long" : "did not work";
  return new AppError(
    "invalid",
    `The video does not fit as it is, and converting it ${why}. Export it again as MP4 with H.264 and AAC.`,
    { cause },
  );
}

/** By the types that are taken. A fixed reader, so that no content is taken for a playlist of other files. */
const READERS: Readonly<Record<string, string>> = {
  "image/gif": "gif",
  "video/webm": "matroska",
  "video/x-matroska": "matroska",
  "video/mp2t": "mpegts",
};

/** Of this file and nothing it names: no network, no other file. */
function reading(source: string, mimeType: string): string[] {
  return ["-protocol_whitelist", "file", "-f", READERS[mimeType] ?? "mov", "-i", source];
}

/** ITU-T H.273: PQ and HLG, the curves of films with a high dynamic range. */
const HDR_CURVES: readonly unknown[] = ["smpte2084", "arib-std-b67"];

const Streams = z.object({ streams: z.array(z.object({ color_transfer: z.string().optional() })) });

async function look(
  { ffprobe }: FilmPrograms,
  { source, job, signal }: { source: string; job: FilmJob; signal: AbortSignal },
): Promise<{ isHdr: boolean }> {
  const lines: string[] = [];
  const wanted = ["-show_entries", "stream=color_transfer", "-select_streams", "V:0", "-of", "json"];
  const args = ["-v", "error", ...wanted, ...reading(source, job.mimeType)];
  const ended = await runProgram(
    [ffprobe, ...args],
    { timeoutMs: MINUTE, signal, isIdle: job.isAhead() },
    (line) => lines.push(line),
  );
  if (ended.code !== 0) throw whyNot(ended);
  const { streams } = Streams.parse(JSON.parse(lines.join("\n")));
  return { isHdr: streams.some((one) => HDR_CURVES.includes(one.color_transfer)) };
}

/** To what any screen shows, in light and colours (https://ffmpeg.org/ffmpeg-filters.html#tonemap-1). */
const TO_SDR =
  "zscale=t=linear:npl=100,format=gbrpf32le,zscale=p=bt709,tonemap=hable:desat=0,zscale=t=bt709:m=bt709:r=tv";

/** A core is left for publishing. */
const THREADS = Math.max(1, Math.min(8, availableParallelism() - 1));

interface Encoding {
  readonly source: string;
  readonly target: string;
  readonly isHdr: boolean;
  readonly share: number;
}

function argumentsFor(job: FilmJob, { source, target, isHdr, share }: Encoding): string[] {
  const { width, height, frameWidth, frameHeight, framesPerSecond, maxBytes } = job.form;
  const bits = videoBitsPerSecond(maxBytes, job.durationSeconds) ?? Infinity;
  const most = Math.max(1_000, Math.floor(Math.min(bits, MOST_VIDEO_BITS_PER_SECOND) * share));
  const filters = [
    ...(framesPerSecond === null ? [] : [`fps=${framesPerSecond}`]),
    // Smaller first: light and colours are slow work.
    `scale=${width}:${height}`,
    ...(isHdr ? [TO_SDR] : []),
    "format=yuv420p",
    ...(frameWidth === width && frameHeight === height
      ? []
      : [`pad=${frameWidth}:${frameHeight}:(ow-iw)/2:(oh-ih)/2`]),
    "setsar=1",
  ];
  return [
    ...words("-nostdin -hide_banner -loglevel error -progress pipe:1 -y"),
    "-threads",
    String(THREADS),
    // By the frames themselves: what the container says of them may be something else.
    ...words(`-max_pixels ${LONGEST_SOURCE_SIDE ** 2}`),
    ...reading(source, job.mimeType),
    // Of a phone's film also the place where it was taken is left out.
    ...words("-map 0:V:0 -map 0:a:0? -sn -dn -map_metadata -1 -map_chapters -1 -filter_threads 1"),
    "-vf",
    filters.join(","),
    ...words(`-c:v libx264 -profile:v high -preset fast -crf 21 -threads ${THREADS}`),
    ...words(`-maxrate ${most} -bufsize ${most} -fs ${stopsAtBytes(job)}`),
    ...(isHdr ? words("-color_primaries bt709 -color_trc bt709 -colorspace bt709") : []),
    ...words(`-c:a aac -b:a ${SOUND_BITS_PER_SECOND} -ac 2 -ar 48000`),
    // The sound's last frame is filled up, which makes it longer than a film of exactly what may be.
    ...(job.durationSeconds === null ? [] : words(`-t ${job.durationSeconds}`)),
    ...words("-max_muxing_queue_size 4096 -movflags +faststart -f mp4"),
    target,
  ];
}

/** Arguments without spaces in them. */
function words(text: string): string[] {
  return text.split(" ");
}
