import type { Worker } from "node:worker_threads";
import type { MediaProbe } from "../../ports/media-probe.ts";
import { createThreadedTracks } from "./threaded-tracks.ts";

/** The beginning that `formats.ts` wants; said here because nothing is loaded yet. */
const HEAD_BYTES = 64 * 1024;

/**
 * The probe, whose libraries (sharp, mediabunny) are loaded when the first file is looked at: a start must
 * not wait for them. With `startTracks`, which starts a thread that runs `runTracksThread`, containers are
 * read there; without, in this thread.
 */
export function createMediaProbe(startTracks?: () => Worker): MediaProbe & AsyncDisposable {
  const tracks = startTracks === undefined ? null : createThreadedTracks({ start: startTracks });
  return {
    headBytes: HEAD_BYTES,
    identify: async (head) => (await import("./formats.ts")).identify(head),
    async inspect(source) {
      const { probe } = await import("./probe.ts");
      return tracks === null
        ? probe(source)
        : probe(source, (container, format) => tracks.probe(container, format));
    },
    async [Symbol.asyncDispose]() {
      await tracks?.close();
    },
  };
}
