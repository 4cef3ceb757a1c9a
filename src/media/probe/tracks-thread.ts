import { Readable } from "node:stream";
import type { MessagePort } from "node:worker_threads";
import { AppError, type ErrorKind } from "../../domain/errors.ts";
import type { ByteSource, MediaFormat, ProbedMedia } from "../../ports/media-probe.ts";
import { probeTracks } from "./tracks.ts";

interface Range {
  readonly start: number;
  readonly end: number;
}

export type MessageToTracks =
  | {
      readonly type: "probe";
      readonly sizeBytes: number;
      readonly isRemote: boolean;
      readonly format: MediaFormat;
    }
  /** What was read. Where it could not be, the thread is ended. */
  | { readonly type: "bytes"; readonly id: number; readonly bytes: Uint8Array };

export type MessageFromTracks =
  | { readonly type: "read"; readonly id: number; readonly range: Range }
  | { readonly type: "done"; readonly probed: ProbedMedia }
  | { readonly type: "refused"; readonly kind: ErrorKind; readonly message: string };

/** Reads containers that are told to it, one after the other; their bytes it asks for. */
export function runTracksThread(port: MessagePort): void {
  const waiting = new Map<number, (bytes: Uint8Array) => void>();
  let reads = 0;
  const tell = (message: MessageFromTracks): void => port.postMessage(message);
  const read = (range: Range): Readable => {
    const id = (reads += 1);
    const bytes = new Promise<Uint8Array>((resolve) => waiting.set(id, resolve));
    tell({ type: "read", id, range });
    return Readable.from(once(bytes), { objectMode: false });
  };
  port.on("message", (message: MessageToTracks) => {
    if (message.type === "probe") return void probeOne({ ...message, read }, message.format).then(tell);
    waiting.get(message.id)?.(message.bytes);
    waiting.delete(message.id);
  });
}

async function* once(bytes: Promise<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield await bytes;
}

async function probeOne(source: ByteSource, format: MediaFormat): Promise<MessageFromTracks> {
  try {
    return { type: "done", probed: await probeTracks(source, format) };
  } catch (error) {
    // An error loses its kind on the way between threads.
    if (error instanceof AppError) return { type: "refused", kind: error.kind, message: error.message };
    throw error;
  }
}
