import { MOST_VIDEO_BITS_PER_SECOND, SOUND_BITS_PER_SECOND } from "../../domain/files/film-form.ts";
import { assertFreeSpace } from "../../ports/disk-space.ts";
import type { FilmConverter, FilmJob } from "../../ports/film-converter.ts";

/*
 * What a film may take of the disk. It is known beforehand, so that the database, which is on the same disk, keeps
 * what it needs.
 */

/** Tables of the container, and films of a moment. */
const BASE_BYTES = 64 * 1024 ** 2;

/** Modern codecs need a third of what H.264 does. */
const TIMES_ITS_SOURCE = 4;

/** What becomes of it has no more bytes than this. */
export function mostBytes({ form, sizeBytes, durationSeconds }: Parameters<FilmConverter["assertRoom"]>[0]) {
  const bytesPerSecond = (MOST_VIDEO_BITS_PER_SECOND + SOUND_BITS_PER_SECOND) / 8;
  return Math.ceil(
    Math.min(
      form.maxBytes ?? Infinity,
      BASE_BYTES + sizeBytes * TIMES_ITS_SOURCE,
      BASE_BYTES + (durationSeconds ?? Infinity) * bytesPerSecond,
    ),
  );
}

/** Where ffmpeg stops writing: past it, so that a film that was cut off there is told from one that fits. */
export function stopsAtBytes(job: FilmJob): number {
  return Math.ceil(mostBytes(job) * 1.1);
}

/** Throws `DiskFull`. The film is there twice while the store takes it, and a copy of its source beside it. */
export async function assertRoom(
  folder: string,
  job: Parameters<FilmConverter["assertRoom"]>[0],
): Promise<void> {
  await assertFreeSpace(folder, (job.path === null ? job.sizeBytes : 0) + 2 * mostBytes(job));
}
