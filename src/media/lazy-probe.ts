import type { MediaProbe } from "../ports/media-probe.ts";

/** The beginning that `formats.ts` wants; said here because nothing is loaded yet. */
const HEAD_BYTES = 64 * 1024;

/** The probe, whose libraries (sharp, mediabunny) are loaded when the first file is looked at: a start must not wait for them. */
export function createMediaProbe(): MediaProbe {
  return {
    headBytes: HEAD_BYTES,
    identify: async (head) => (await import("./formats.ts")).identify(head),
    inspect: async (source) => (await import("./probe.ts")).probe(source),
  };
}
