import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import * as z from "zod";
import { MediaFigures, declaredBytes, problemOfAnswer } from "../../domain/files/media-limits.ts";
import type { FileStore } from "../../ports/file-store.ts";
import { type MediaFacts, type MediaItem, type MediaOwner, MediaUnavailable } from "../../ports/media.ts";
import type { MediaProbe } from "../../ports/media-probe.ts";
import { createFolderStore } from "../stores/folder-store.ts";
import {
  asError,
  explainRemote,
  readRemote,
  type RemoteOptions,
  requestRemote,
} from "../outbound/remote-request.ts";

interface SpoolOptions extends RemoteOptions {
  readonly probe: MediaProbe;
  readonly folder: string;
}

type SpooledMedia = Pick<MediaItem, "facts" | "open">;

/** Remote media by post, one folder each: what one try fetched, the next one finds. */
export interface Spool {
  fetch(url: string, owner: MediaOwner, signal: AbortSignal): Promise<SpooledMedia>;
  release(postId: string): Promise<void>;
}

/** Stands beside the bytes, which are whole and checked then. */
const Facts = MediaFigures.extend({ sha256: z.string() });

interface SpoolRequest {
  readonly options: SpoolOptions;
  readonly store: FileStore;
  readonly key: string;
  readonly url: string;
  readonly signal: AbortSignal;
}

export function createSpool(options: SpoolOptions): Spool {
  const store = createFolderStore(options.folder);
  return {
    async fetch(url, { postId }, signal) {
      const key = `${folderOf(postId)}/${createHash("sha256").update(url).digest("hex").slice(0, 32)}`;
      const wanted = { options, store, key, url, signal };
      const facts = (await findFetched(wanted)) ?? (await fetchNew(wanted));
      return { facts, open: (range = {}) => store.read(key, range) };
    },
    async release(postId) {
      await rm(join(options.folder, folderOf(postId)), { recursive: true, force: true });
    },
  };
}

export function folderOf(postId: string): string {
  if (/^[a-z0-9][a-z0-9_]{0,63}$/.test(postId)) return postId;
  throw new Error("The spool was asked for something that is no post.");
}

async function findFetched({ store, key }: SpoolRequest): Promise<MediaFacts | null> {
  if ((await store.size(noteKey(key))) === null) return null;
  const facts = Facts.safeParse(JSON.parse(await text(store.read(noteKey(key))))).data;
  return facts !== undefined && (await store.size(key)) === facts.sizeBytes ? facts : null;
}

function noteKey(key: string): string {
  return `${key}.json`;
}

async function fetchNew(wanted: SpoolRequest): Promise<MediaFacts> {
  const { store, key, signal } = wanted;
  try {
    return await fetchWhole(wanted);
  } catch (error) {
    await store.remove(key);
    throw explainRemote(error, signal);
  }
}

async function fetchWhole({ options, store, key, url, signal }: SpoolRequest): Promise<MediaFacts> {
  const answer = await requestRemote(options, { url, signal });
  const problem = problemOfAnswer(answer, options.maxBytes);
  if (problem !== null) {
    answer.body.destroy();
    throw asError(problem);
  }
  const declared = declaredBytes(answer.headers);
  const body = Readable.from(readRemote(options, answer), { objectMode: false });
  body.once("close", () => answer.body.destroy());
  const written = await store.write(key, body, { sizeBytes: declared, signal });
  if (declared !== null && written.sizeBytes !== declared) {
    throw new MediaUnavailable(
      `The source of the media sent ${written.sizeBytes} bytes where it announced ${declared}.`,
    );
  }
  const inspected = await options.probe.inspect(
    { sizeBytes: written.sizeBytes, read: (range) => store.read(key, range) },
    signal,
  );
  const facts = { ...inspected, ...written };
  await store.write(noteKey(key), Readable.from([JSON.stringify(facts)]));
  return facts;
}
