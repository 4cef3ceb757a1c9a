import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import * as z from "zod";
import { FILE_TYPES } from "../../domain/files/file.ts";
import { SECOND } from "../../domain/time.ts";
import {
  declaredBytes,
  problemOfAnswer,
  readContentRange,
  tooLarge,
} from "../../domain/files/media-answer.ts";
import type { DiskRoom } from "../../ports/disk-room.ts";
import type { FileStore } from "../../ports/file-store.ts";
import { MediaUnavailable, type MediaFacts, type MediaItem, type MediaOwner } from "../../ports/media.ts";
import type { ByteSource, MediaProbe } from "../../ports/media-probe.ts";
import type { OutboundResponse } from "../../ports/outbound.ts";
import { BlockSums } from "./block-sums.ts";
import { createFolderStore } from "../stores/folder-store.ts";
import { Onward } from "./onward.ts";
import { openPassage, type Passage } from "./pass-through.ts";
import { rememberBlocks } from "./remember-blocks.ts";
import {
  asError,
  explainRemote,
  readRemote,
  requestRemote,
  type RemoteOptions,
} from "../outbound/remote-request.ts";

interface SpoolOptions extends RemoteOptions {
  readonly probe: MediaProbe;
  readonly folder: string;
  readonly room?: DiskRoom;
  /** Files from this size on are passed through where their source can give parts of one certain version. */
  readonly passFromBytes: number;
}

/** How much of what was sent a killed process forgets. */
const SAVE_EVERY_MS = SECOND;

type Fetched = Pick<MediaItem, "facts" | "open">;

/** Remote media by post: what one try fetched or learned of a source, the next one finds. */
export interface Spool {
  fetch(url: string, owner: MediaOwner, signal: AbortSignal): Promise<Fetched>;
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
  isAnimated: z.boolean(),
  sha256: z.string().nullable(),
});

/** Stands beside the bytes, whole and checked, or instead of them. */
const Note = z.strictObject({
  facts: Facts,
  passed: z.strictObject({ etag: z.string(), sums: z.string() }).nullable(),
});
type Note = z.infer<typeof Note>;

/** A file that is passed through, as this process knows it. */
interface Passed extends Pick<Passage, "etag" | "sums"> {
  readonly onward: Onward;
  readonly facts: MediaFacts;
  savedAt: number;
}

interface Wanted {
  readonly passed: Map<string, Passed>;
  readonly options: SpoolOptions;
  readonly store: FileStore;
  readonly key: string;
  readonly url: string;
  readonly ownerId: string;
  readonly signal: AbortSignal;
}

/** One folder a post. */
export function createSpool(options: SpoolOptions): Spool {
  const store = createFolderStore(options.folder, options.room);
  const passed = new Map<string, Passed>();
  return {
    async fetch(url, { postId, ownerId }, signal) {
      const key = `${folderOf(postId)}/${createHash("sha256").update(url).digest("hex").slice(0, 32)}`;
      const wanted = { passed, options, store, key, url, ownerId, signal };
      return (await openKnown(wanted)) ?? (await fetchNew(wanted));
    },
    async release(postId) {
      const folder = folderOf(postId);
      for (const [key, { onward }] of passed) {
        if (!key.startsWith(`${folder}/`)) continue;
        passed.delete(key);
        await onward.close();
      }
      await rm(join(options.folder, folder), { recursive: true, force: true });
    },
  };
}

export function folderOf(postId: string): string {
  if (/^[a-z0-9][a-z0-9_]{0,63}$/.test(postId)) return postId;
  throw new Error("The spool was asked for something that is no post.");
}

async function openKnown(wanted: Wanted): Promise<Fetched | null> {
  const known = wanted.passed.get(wanted.key);
  if (known !== undefined) return openPassed(wanted, known);
  const note = await readNote(wanted);
  if (note === null) return null;
  const { facts, passed } = note;
  if (passed === null)
    return (await wanted.store.size(wanted.key)) === facts.sizeBytes ? openSpooled(wanted, facts) : null;
  const sums = BlockSums.parse(passed.sums, facts.sizeBytes);
  return sums === null ? null : openPassed(wanted, newPassed(wanted, { facts, etag: passed.etag, sums }));
}

function newPassed({ passed, key, options }: Wanted, file: Omit<Passed, "savedAt" | "onward">): Passed {
  const known = { ...file, onward: new Onward(options.clock), savedAt: options.clock.monotonic() };
  passed.set(key, known);
  return known;
}

async function readNote({ store, key }: Wanted): Promise<Note | null> {
  if ((await store.size(noteKey(key))) === null) return null;
  return Note.safeParse(JSON.parse(await text(store.read(noteKey(key))))).data ?? null;
}

async function writeNote({ store, key }: Wanted, note: Note): Promise<void> {
  await store.write(noteKey(key), Readable.from([JSON.stringify(note)]));
}

function noteKey(key: string): string {
  return `${key}.json`;
}

function openSpooled({ store, key }: Wanted, facts: MediaFacts): Fetched {
  return { facts, open: (range = {}) => store.read(key, range) };
}

function openPassed(wanted: Wanted, known: Passed): Fetched {
  const { options, url, ownerId, signal } = wanted;
  const { facts, etag, sums, onward } = known;
  const save = async (): Promise<void> => {
    const now = options.clock.monotonic();
    if (now - known.savedAt < SAVE_EVERY_MS) return;
    known.savedAt = now;
    // Where it cannot be noted, the tag alone tells the next process of a change.
    await writePassed(wanted, known).catch(() => {});
  };
  const passage = { url, ownerId, signal, etag, sums, onward, save, sizeBytes: facts.sizeBytes };
  return { facts, open: (range = {}) => openPassage(options, passage, range) };
}

function writePassed(wanted: Wanted, { facts, etag, sums }: Passed): Promise<void> {
  return writeNote(wanted, { facts, passed: { etag, sums: sums.toText() } });
}

async function fetchNew(wanted: Wanted): Promise<Fetched> {
  const { options, store, key, signal } = wanted;
  try {
    const answer = await ask(wanted);
    const etag = passableEtag(options, answer);
    if (etag === null) return openSpooled(wanted, await spoolWhole(wanted, answer));
    answer.body.destroy();
    return await passThrough(wanted, etag, declaredWhole(answer) ?? 0);
  } catch (error) {
    await store.remove(key);
    throw explainRemote(error, signal);
  }
}

/** All of it, asked so that a source tells whether parts can be had. */
async function ask(wanted: Wanted): Promise<OutboundResponse> {
  const { options, url, ownerId, signal } = wanted;
  const ranged = await requestRemote(options, { url, ownerId, signal, headers: { range: "bytes=0-" } });
  if (ranged.status === 206 && declaredWhole(ranged) !== null) return withinSize(ranged, options);
  const isRangesFault = ranged.status === 206 || ranged.status === 416;
  if (isRangesFault) ranged.body.destroy();
  const answer = isRangesFault ? await requestRemote(options, { url, ownerId, signal }) : ranged;
  return withinSize(answer, options);
}

/** The size of a file that is answered whole; null where it does not say, or is a part. */
function declaredWhole({ status, headers }: OutboundResponse): number | null {
  if (status === 200) return declaredBytes(headers);
  const place = readContentRange(headers["content-range"]);
  return place !== null && place.start === 0 && place.end === place.sizeBytes - 1 ? place.sizeBytes : null;
}

function withinSize(answer: OutboundResponse, { maxBytes }: SpoolOptions): OutboundResponse {
  const sizeBytes = declaredWhole(answer);
  const isWhole = answer.status === 206 && sizeBytes !== null;
  const plain = isWhole ? { ...answer, status: 200 } : answer;
  const problem =
    problemOfAnswer(plain, maxBytes) ??
    (sizeBytes !== null && sizeBytes > maxBytes ? tooLarge(maxBytes) : null);
  if (problem === null) return answer;
  answer.body.destroy();
  throw asError(problem);
}

/** Two reads with one strong tag give the same file; a weak one, or none, promises nothing. */
function passableEtag({ passFromBytes }: SpoolOptions, answer: OutboundResponse): string | null {
  const etag = answer.headers["etag"] ?? "";
  const isLarge = (declaredWhole(answer) ?? 0) >= passFromBytes;
  return answer.status === 206 && isLarge && /^"[^"]+"$/.test(etag) ? etag : null;
}

async function passThrough(wanted: Wanted, etag: string, sizeBytes: number): Promise<Fetched> {
  const { options, url, ownerId, signal } = wanted;
  const sums = BlockSums.empty(sizeBytes);
  const passage = { url, ownerId, sizeBytes, etag, sums, onward: null, signal, save: async () => {} };
  const read: ByteSource["read"] = (range) => openPassage(options, passage, range);
  const inspected = await options.probe.inspect(rememberBlocks({ sizeBytes, read, isRemote: true }), wanted);
  const facts = { ...inspected, sizeBytes, sha256: null };
  const known = newPassed(wanted, { facts, etag, sums });
  await writePassed(wanted, known);
  return openPassed(wanted, known);
}

async function spoolWhole(wanted: Wanted, answer: OutboundResponse): Promise<MediaFacts> {
  const { options, store, key } = wanted;
  const declared = declaredWhole(answer);
  const body = Readable.from(readRemote(options, answer), { objectMode: false });
  body.once("close", () => answer.body.destroy());
  const written = await store.write(key, body, { sizeBytes: declared });
  if (declared !== null && written.sizeBytes !== declared) {
    throw new MediaUnavailable(
      `The source of the media sent ${written.sizeBytes} bytes where it announced ${declared}.`,
    );
  }
  const inspected = await options.probe.inspect(
    { sizeBytes: written.sizeBytes, read: (range) => store.read(key, range) },
    wanted,
  );
  const facts = { ...inspected, ...written };
  await writeNote(wanted, { facts, passed: null });
  return facts;
}
