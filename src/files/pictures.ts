import { Readable } from "node:stream";
import pLimit, { type LimitFunction } from "p-limit";
import type { Target } from "../domain/drafts/draft.ts";
import { AppError } from "../domain/errors.ts";
import { problemOfAnswer, tooLarge } from "../domain/files/media-limits.ts";
import { type Caller, canReachAccount } from "../domain/permissions.ts";
import { MINUTE, SECOND } from "../domain/time.ts";
import { toBuffer } from "../domain/to-buffer.ts";
import type { ByteSource } from "../ports/media-probe.ts";
import { type Outbound, OutboundFailure } from "../ports/outbound.ts";
import { type DraftRow, listDraftsNaming } from "../store/queries/drafts.ts";
import { allFilesOf, type FileRow, findFileByKey, findFileRow } from "../store/queries/files.ts";
import type { CallContext } from "../context.ts";
import { fileNotFound, OWN_SCHEME } from "./files.ts";
import { SilentHosts } from "./silent-hosts.ts";

/*
 * Small pictures for people who look at a plan. They are made anew each time: browsers keep them for a day.
 */

/** Longest sides, in pixels. Few, so that a browser finds what it has. */
const SIZES: readonly number[] = [96, 240, 480, 960];
const LARGEST = 960;
const USUAL = 240;

const MiB = 1024 * 1024;

const MAX_REMOTE_BYTES = 20 * MiB;
const REMOTE_TIMEOUT_MS = 10 * SECOND;
const MAX_REDIRECTS = 3;

/** Where pictures cannot be changed, this is small enough as it is. */
const MAX_WHOLE_BYTES = MiB;

/** The tiles of a month come all at once, and what people do meanwhile must not wait for them. */
const AT_ONCE = 4;
/** Of all owners, and around nothing that waits for others. */
const turn = pLimit(AT_ONCE);

/** Of each owner: a server that does not answer holds up no one else. */
const FETCHES_AT_ONCE = 4;
const SILENT_FOR_MS = MINUTE;

interface Fetches {
  readonly turn: LimitFunction;
  readonly hosts: SilentHosts;
}

const fetchesOf = new WeakMap<Outbound, Map<string, Fetches>>();

function fetchesFor({ ctx, caller: { ownerId } }: CallContext): Fetches {
  const owners = fetchesOf.get(ctx.outbound) ?? new Map<string, Fetches>();
  fetchesOf.set(ctx.outbound, owners);
  const hosts = new SilentHosts(() => ctx.clock.monotonic(), SILENT_FOR_MS);
  const own = owners.get(ownerId) ?? { turn: pLimit(FETCHES_AT_ONCE), hosts };
  owners.set(ownerId, own);
  return own;
}

interface SmallPicture {
  /** The same only for the same picture in the same size. Null where it is not known before it is read. */
  readonly etag: string | null;
  make(): Promise<{ readonly mimeType: string; readonly bytes: Buffer }>;
}

/**
 * A small picture of what an address of a post or a file leads to. Throws `not_found` for a file that the caller does
 * not reach, `unsupported` for what has no small picture.
 */
export async function findPicture(
  call: CallContext,
  { url, size = USUAL }: { readonly url: string; readonly size?: number },
): Promise<SmallPicture> {
  const side = SIZES.find((one) => one >= size) ?? LARGEST;
  const isOwn = url.startsWith(OWN_SCHEME) || url.startsWith("file_");
  return isOwn ? findOwn(call, { url, side }) : findRemote(call, { url, side });
}

interface PictureRequest {
  readonly url: string;
  readonly side: number;
}

async function findOwn(call: CallContext, { url, side }: PictureRequest): Promise<SmallPicture> {
  const { ctx } = call;
  const row = await findOwnRow(call, url);
  if (row === null || row.status !== "ready" || row.sha256 === null) throw fileNotFound("url", url);
  if (row.type !== "image") throw noPicture(NO_PICTURE);
  const key = row.storage_key;
  const source = { sizeBytes: row.size_bytes, read: (range: Range) => ctx.files.read(key, range) };
  return {
    etag: `"${row.sha256}-${side}"`,
    async make() {
      const small = await shrink(call, source, side);
      if (small !== null) return small;
      if (row.size_bytes > MAX_WHOLE_BYTES) throw cannotShrink();
      return { mimeType: row.mime_type, bytes: await readAll(ctx.files.read(key), MAX_WHOLE_BYTES) };
    },
  };
}

async function findOwnRow({ ctx, caller }: CallContext, url: string): Promise<FileRow | null> {
  if (!url.startsWith(OWN_SCHEME)) return findFileRow(ctx.store, caller, url);
  const key = url.slice(OWN_SCHEME.length);
  const row = await findFileByKey(ctx.store, caller, key);
  if (row !== null || caller.accountIds === null) return row;
  // Who decides about a draft sees what is in it, with any key's files.
  const drafts = await listDraftsNaming(ctx.store, caller.ownerId, {
    key,
    states: ["open", "waiting", "repeating"],
  });
  return drafts.some((draft) => isForChannelsOf(caller, draft))
    ? findFileByKey(ctx.store, allFilesOf(caller.ownerId), key)
    : null;
}

function isForChannelsOf(caller: Caller, { targets }: DraftRow): boolean {
  const ids = (JSON.parse(targets) as Target[]).map(({ accountId }) => accountId);
  return ids.length > 0 && ids.every((id) => canReachAccount(caller, id));
}

/**
 * Any address is read that a post could name, as publishing would read it: those who may read posts name it, so what
 * protects here is the outbound client, which leads into no private network. What comes back is a picture or nothing.
 */
function findRemote(call: CallContext, { url, side }: PictureRequest): SmallPicture {
  const { href } = call.ctx.outbound.assertAllowed("url", url);
  return {
    etag: null,
    async make() {
      const bytes = await fetchWhole(call, href);
      const source = {
        sizeBytes: bytes.length,
        read: ({ start, end }: Range) => Readable.from([bytes.subarray(start, end + 1)]),
      };
      const small = await shrink(call, source, side);
      if (small === null) throw cannotShrink();
      return small;
    },
  };
}

interface Range {
  readonly start: number;
  readonly end: number;
}

async function shrink(
  { ctx, signal }: CallContext,
  source: ByteSource,
  side: number,
): Promise<Awaited<ReturnType<SmallPicture["make"]>> | null> {
  try {
    const bytes = await turn(() => {
      signal.throwIfAborted();
      return ctx.probe.shrinkImage(source, side, signal);
    });
    return bytes === null ? null : { mimeType: "image/webp", bytes };
  } catch (error) {
    // What is damaged, or no media at all, is no fault of the request.
    const isOfContent = error instanceof AppError && ["invalid", "unsupported"].includes(error.kind);
    throw isOfContent ? noPicture(error.message, error) : error;
  }
}

async function fetchWhole(call: CallContext, url: string): Promise<Buffer> {
  const { signal } = call;
  const { turn: fetchTurn, hosts } = fetchesFor(call);
  try {
    return await fetchTurn(() => {
      signal.throwIfAborted();
      return hosts.ask(url, () => fetchNow(call, url));
    });
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof AppError) throw error.about("url");
    if (!(error instanceof OutboundFailure)) throw error;
    const sentence = "url: the address did not answer, or broke off. Try again later.";
    throw new AppError("unavailable", sentence, { cause: error });
  }
}

async function fetchNow({ ctx, signal }: CallContext, url: string): Promise<Buffer> {
  const limits = { timeoutMs: REMOTE_TIMEOUT_MS, idleMs: REMOTE_TIMEOUT_MS, maxRedirects: MAX_REDIRECTS };
  try {
    const answer = await ctx.outbound.request({ method: "GET", url, ...limits, signal });
    const problem = problemOfAnswer(answer, MAX_REMOTE_BYTES);
    if (problem === null) return await readAll(answer.body, MAX_REMOTE_BYTES);
    answer.body.destroy();
    const kind = answer.status !== 200 ? "not_found" : "unsupported";
    throw new AppError(problem.isLasting ? kind : "unavailable", `${problem.reason}.`);
  } catch (error) {
    // A person who went on to another page says nothing of the host.
    signal.throwIfAborted();
    throw error;
  }
}

async function readAll(body: Readable, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let sizeBytes = 0;
  // Leaving the loop destroys the stream and its connection.
  for await (const chunk of body) {
    const part = toBuffer(chunk);
    sizeBytes += part.length;
    if (sizeBytes > maxBytes) throw new AppError("unsupported", `${tooLarge(maxBytes).reason}.`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** As the reader of media says it. */
const NO_PICTURE = "This is no picture, so there is no small one.";

function cannotShrink(): AppError {
  return noPicture(
    "This Posthorn cannot make small pictures: sharp is not installed. Install Posthorn with its optional packages.",
  );
}

function noPicture(sentence: string, cause?: unknown): AppError {
  return new AppError("unsupported", `url: ${sentence}`, { cause });
}
