import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { z } from "zod";
import { AppError } from "../domain/errors.ts";
import { FILE_TYPES } from "../domain/file.ts";
import { problemOfAnswer, tooLarge, type MediaProblem } from "../domain/media-answer.ts";
import { HOUR, MINUTE, SECOND } from "../domain/time.ts";
import type { Clock } from "../ports/clock.ts";
import type { FileStore } from "../ports/file-store.ts";
import { MediaUnavailable, type MediaFacts, type MediaItem } from "../ports/media.ts";
import type { MediaProbe } from "../ports/media-probe.ts";
import { OutboundFailure, type Outbound, type OutboundResponse } from "../ports/outbound.ts";
import { createFolderStore } from "./folder-store.ts";

const FETCH_TIMEOUT_MS = 2 * HOUR;
const IDLE_MS = 30 * SECOND;
const MAX_REDIRECTS = 3;

/** A source that trickles is left: less than this in a minute is slower than 1 kB/s. */
const PACE = { windowMs: MINUTE, bytes: 60 * 1024 };

export interface SpoolOptions {
  readonly outbound: Outbound;
  readonly probe: MediaProbe;
  readonly clock: Clock;
  readonly folder: string;
  readonly maxBytes: number;
}

/** Remote media on this machine, by post: what one try fetched the next one finds. */
export interface Spool {
  fetch(url: string, postId: string, signal: AbortSignal): Promise<Pick<MediaItem, "facts" | "open">>;
  release(postId: string): Promise<void>;
}

const Facts = z.strictObject({
  mimeType: z.string(),
  type: z.enum(FILE_TYPES),
  sizeBytes: z.int(),
  width: z.number().nullable(),
  height: z.number().nullable(),
  durationSeconds: z.number().nullable(),
  videoCodec: z.string().nullable(),
  audioCodec: z.string().nullable(),
  sha256: z.string(),
});

/** One folder a post; beside each file its facts, whose presence says that the file is whole. */
export function createSpool(options: SpoolOptions): Spool {
  const store = createFolderStore(options.folder);
  return {
    async fetch(url, postId, signal) {
      const key = `${folderOf(postId)}/${createHash("sha256").update(url).digest("hex").slice(0, 32)}`;
      const facts = (await readFacts(store, key)) ?? (await fetchWhole(options, { store, key, url, signal }));
      return { facts, open: (range = {}) => store.read(key, range) };
    },
    release: (postId) => rm(join(options.folder, folderOf(postId)), { recursive: true, force: true }),
  };
}

function folderOf(postId: string): string {
  if (/^[a-z0-9][a-z0-9_]{0,63}$/.test(postId)) return postId;
  throw new Error("The spool was asked for something that is no post.");
}

async function readFacts(store: FileStore, key: string): Promise<MediaFacts | null> {
  if ((await store.size(factsKey(key))) === null) return null;
  const facts = Facts.safeParse(JSON.parse(await text(store.read(factsKey(key)))));
  return facts.success && facts.data.sizeBytes === (await store.size(key)) ? facts.data : null;
}

function factsKey(key: string): string {
  return `${key}.json`;
}

interface Wanted {
  readonly store: FileStore;
  readonly key: string;
  readonly url: string;
  readonly signal: AbortSignal;
}

async function fetchWhole(options: SpoolOptions, wanted: Wanted): Promise<MediaFacts> {
  const { store, key } = wanted;
  try {
    const answer = await request(options, wanted);
    const problem = problemOfAnswer(answer, options.maxBytes);
    if (problem !== null) {
      answer.body.destroy();
      throw asError(problem);
    }
    const written = await store.write(key, Readable.from(checked(options, answer), { objectMode: false }));
    const facts = {
      ...(await options.probe.inspect({ sizeBytes: written.sizeBytes, read: (range) => store.read(key, range) })),
      ...written,
    };
    await store.write(factsKey(key), Readable.from([JSON.stringify(facts)]));
    return facts;
  } catch (error) {
    await store.remove(key);
    throw explain(error, wanted.signal);
  }
}

function request(options: SpoolOptions, { url, signal }: Wanted): Promise<OutboundResponse> {
  const limits = { timeoutMs: FETCH_TIMEOUT_MS, idleMs: IDLE_MS, maxRedirects: MAX_REDIRECTS };
  return options.outbound.request({ method: "GET", url, ...limits, isUserGiven: true, signal });
}

/** The body, as long as it is neither too large nor too slow. */
async function* checked({ clock, maxBytes }: SpoolOptions, answer: OutboundResponse): AsyncGenerator<Buffer> {
  let sizeBytes = 0;
  let pace = { startedAt: clock.monotonic(), bytes: 0 };
  for await (const chunk of answer.body) {
    const bytes = Buffer.from(chunk);
    sizeBytes += bytes.length;
    if (sizeBytes > maxBytes) throw asError(tooLarge(maxBytes));
    pace.bytes += bytes.length;
    if (clock.monotonic() - pace.startedAt >= PACE.windowMs) {
      if (pace.bytes < PACE.bytes) throw new MediaUnavailable("The media comes too slowly (below 1 kB a second).");
      pace = { startedAt: clock.monotonic(), bytes: 0 };
    }
    yield bytes;
  }
}

function asError(problem: MediaProblem): Error {
  const sentence = `The media cannot be fetched: ${problem.reason}.`;
  return problem.isLasting ? new AppError("invalid", sentence) : new MediaUnavailable(sentence);
}

/** Whatever breaks while bytes are under way, the network or our disk, may work another time. */
function explain(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof AppError && error.kind === "unavailable") return new MediaUnavailable(error.message, { cause: error });
  if (error instanceof AppError || error instanceof MediaUnavailable) return error;
  const what = error instanceof OutboundFailure ? "did not answer" : "broke off before it was whole";
  return new MediaUnavailable(`The source of the media ${what}.`, { cause: error });
}
