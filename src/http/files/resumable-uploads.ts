import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { ReadableStream } from "node:stream/web";
import type { FileStore } from "@tus/file-store";
import type { Server, Upload } from "@tus/server";
import type { Request, RequestHandler, Response } from "express";
import { AppError, INTERNAL_ERROR_SENTENCE } from "../../domain/errors.ts";
import { agentsWordsFor } from "../../toolkit/words.ts";
import type { File } from "../../domain/files/file.ts";
import { newId } from "../../domain/ids.ts";
import type { Caller } from "../../domain/permissions.ts";
import { DAY, HOUR } from "../../domain/time.ts";
import { requireWholeTexts } from "../../domain/whole-text.ts";
import { assertFreeSpace } from "../../ports/disk-space.ts";
import { plainCall, type AppContext } from "../../context.ts";
import { MAX_FILE_BYTES, storeUpload } from "../../files/file-uploads.ts";
import { getFile } from "../../files/files.ts";
import { callerOf } from "../access/auth.ts";
import { sendError, statusOf } from "../errors.ts";
import { bytesOf } from "./send-bytes.ts";
import { createUploadLocks, type TakeLock, type UploadLocks } from "./upload-locks.ts";

const ABANDONED_MS = DAY;
const SWEEP_EVERY_MS = HOUR;
/** Uploads that one owner may have begun and not finished. */
const MAX_UNFINISHED = 64;

/** Where resumable uploads grow: on this machine, whose processes lock them against each other. */
export interface UploadPlace {
  readonly folder: string;
  readonly takeLock: TakeLock;
}

/** And below which path they are reached. */
interface UploadEndpoint extends UploadPlace {
  readonly base: string;
}

/**
 * Resumable uploads by tus 1.0 (https://tus.io/protocols/resumable-upload). The last bytes' answer names the
 * file that the upload became in `Content-Location`. A HEAD after it does so too, for those to whom that
 * answer was lost. An upload's id begins with marks of owner and API key: to others it does not exist.
 */
export function createResumableUploads(
  ctx: AppContext,
  place: UploadEndpoint,
): RequestHandler<{ upload?: string }> {
  let running: Promise<Tus> | null = null;
  let sweptAt = -Infinity;
  return async (request, response) => {
    const caller = callerOf(response);
    const id = request.params.upload;
    if (id !== undefined && !(UPLOAD_ID.test(id) && id.startsWith(`${markOf(caller)}-`)))
      throw uploadNotFound(place.base);
    running ??= startTus(ctx, place).catch((error: unknown) => {
      running = null;
      throw error;
    });
    const tus = await running;
    if (ctx.clock.now() - sweptAt >= SWEEP_EVERY_MS) {
      sweptAt = ctx.clock.now();
      await clearExpired(tus).catch((error: unknown) => {
        ctx.log.warn({ err: error }, "An abandoned upload could not be cleared away");
      });
    }
    const method = methodOf(request);
    if (method === "HEAD" && id !== undefined) {
      const finished = await findFinished(tus, caller, id);
      if (finished !== null) {
        response.set({ ...finishedHeaders(finished, place.base), "Tus-Resumable": "1.0.0" });
        return void response.end();
      }
    }
    // Before the bytes come: a sender who is refused in the midst of them may not see the answer.
    if (method === "POST" || method === "PATCH")
      await assertFreeSpace(place.folder, Number(request.headers["content-length"] ?? 0));
    const web = asWebRequest(request);
    tus.callers.set(web, caller);
    await sendAnswer(response, await tus.server.handleWeb(web), place.base);
  };
}

interface Tus {
  readonly ctx: AppContext;
  readonly server: Server;
  readonly datastore: FileStore;
  readonly locker: UploadLocks;
  readonly callers: WeakMap<globalThis.Request, Caller>;
  /** Uploads whose bytes are being stored. */
  readonly storing: Map<string, Promise<File>>;
}

/** Loaded with the first upload: most processes never have one. */
async function startTus(ctx: AppContext, { folder, base, takeLock }: UploadEndpoint): Promise<Tus> {
  const [{ Server, MemoryLocker, EVENTS }, { FileStore }] = await Promise.all([
    import("@tus/server"),
    import("@tus/file-store"),
  ]);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const datastore = new FileStore({ directory: folder, expirationPeriodInMilliseconds: ABANDONED_MS });
  const locker = createUploadLocks(folder, { memory: MemoryLocker, take: takeLock });
  const server = new Server({
    path: `${base}/uploads`,
    datastore,
    locker,
    maxSize: MAX_FILE_BYTES,
    relativeLocation: true,
    // No other origin's pages may use the API.
    allowedOrigins: () => false,
    namingFunction: (request) =>
      `${markOf(callerIn(tus, request))}-${newId("file").slice(FILE_PREFIX.length)}`,
    onUploadCreate: (_request, upload) => checkNew(datastore, folder, upload),
    onUploadFinish: async (request, { id }) => ({
      headers: finishedHeaders(await storeOnce(tus, callerIn(tus, request), id), base),
    }),
    onResponseError: (_request, error) => asRefusal(ctx, folder, error),
  });
  const tus: Tus = { ctx, server, datastore, locker, callers: new WeakMap(), storing: new Map() };
  // Only now: until its answer is made, tus still asks for the upload.
  server.on(EVENTS.POST_FINISH, (_request, _response, { id }) => void forget(tus, id));
  return tus;
}

function callerIn({ callers }: Tus, request: globalThis.Request): Caller {
  const caller = callers.get(request);
  if (caller === undefined) throw new Error("An upload was reached without its caller.");
  return caller;
}

async function checkNew(datastore: FileStore, folder: string, upload: Upload): Promise<object> {
  requireWholeTexts(upload.metadata, ["Upload-Metadata"]);
  const [owner = ""] = upload.id.split("-");
  const begun = (await datastore.configstore.list?.()) ?? [];
  if (begun.filter((id) => id.startsWith(`${owner}-`)).length >= MAX_UNFINISHED) {
    throw new AppError(
      "conflict",
      `There may be ${MAX_UNFINISHED} unfinished uploads at most. Finish some, or end them with DELETE at their addresses, then begin this one.`,
    );
  }
  await assertFreeSpace(folder, upload.size ?? 0);
  return {};
}

async function clearExpired({ server, locker, datastore }: Tus): Promise<void> {
  await server.cleanUpExpiredUploads();
  await locker.forgetBut((await datastore.configstore.list?.()) ?? []);
}

async function forget({ ctx, datastore, locker }: Tus, id: string): Promise<void> {
  try {
    await datastore.remove(id);
    await locker.forget(id);
  } catch (error) {
    ctx.log.warn({ err: error }, "An upload could not be cleared away");
  }
}

/** What an upload became whose bytes are all there. One that a killed process did not store is stored now. */
async function findFinished(tus: Tus, caller: Caller, id: string): Promise<File | null> {
  const upload = await tus.datastore.getUpload(id).catch(() => null);
  if (upload === null) return findStored(tus.ctx, caller, id);
  if (upload.offset !== upload.size) return null;
  const finished = await storeOnce(tus, caller, id);
  await forget(tus, id);
  return finished;
}

/** A request that asks while the bytes are being stored waits for the same file. */
function storeOnce(tus: Tus, caller: Caller, id: string): Promise<File> {
  const { storing } = tus;
  const made = storing.get(id) ?? store(tus, caller, id).finally(() => storing.delete(id));
  storing.set(id, made);
  return made;
}

async function store(tus: Tus, caller: Caller, id: string): Promise<File> {
  const { ctx, datastore } = tus;
  const stored = await findStored(ctx, caller, id);
  if (stored !== null) return stored;
  try {
    const { size, metadata, storage } = await datastore.getUpload(id);
    if (storage === undefined) throw new Error("The upload has no place.");
    const { file } = await storeUpload(plainCall(ctx, caller), {
      name: metadata?.["filename"] ?? null,
      altText: metadata?.["altText"] ?? null,
      body: createReadStream(storage.path),
      sizeBytes: size ?? null,
      fileId: fileIdOf(id),
    });
    return file;
  } catch (error) {
    // What can never be stored is forgotten.
    if (error instanceof AppError && error.kind !== "unavailable") await forget(tus, id);
    throw error;
  }
}

/** Names files, so nothing else may stand in it. */
const UPLOAD_ID = /^[0-9a-f]{16}-[0-9a-f]{8}-[0-9a-z]{26}$/;

const FILE_PREFIX = "file_";

/** An upload is named after the file that it is to become, so that it becomes one, however often that is tried. */
function fileIdOf(uploadId: string): string {
  return FILE_PREFIX + (uploadId.split("-").at(-1) ?? "");
}

/** What the ids of the caller's uploads begin with: 16 digits for the owner, 8 for the API key. */
function markOf({ ownerId, keyId }: Caller): string {
  const digits = (text: string): string => createHash("sha256").update(text).digest("hex");
  return `${digits(ownerId).slice(0, 16)}-${digits(keyId).slice(0, 8)}`;
}

/** Null where an upload has not become a file yet, or that was deleted. */
async function findStored(ctx: AppContext, caller: Caller, uploadId: string): Promise<File | null> {
  try {
    const { file } = await getFile(plainCall(ctx, caller), { id: fileIdOf(uploadId) });
    return file.status === "ready" ? file : null;
  } catch (error) {
    if (error instanceof AppError && error.kind === "not_found") return null;
    throw error;
  }
}

function finishedHeaders({ id, sizeBytes }: File, base: string): Record<string, string> {
  const size = String(sizeBytes);
  return { "Content-Location": `${base}/${id}`, "Upload-Offset": size, "Upload-Length": size };
}

/** tus 1.0: what clients say behind proxies that let only GET and POST through. */
function methodOf(request: Request<object>): string {
  const meant = request.method === "POST" ? request.get("X-HTTP-Method-Override") : undefined;
  return meant?.toUpperCase() ?? request.method;
}

function asWebRequest(request: Request<object>): globalThis.Request {
  const method = methodOf(request);
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
  const hasBody = method !== "GET" && method !== "HEAD";
  const content = hasBody ? { body: ReadableStream.from(bytesOf(request)), duplex: "half" as const } : {};
  return new Request(`http://localhost${request.originalUrl}`, { method, headers, ...content });
}

/** tus refuses with a plain text; our refusals are JSON with a sentence. */
async function sendAnswer(response: Response, answer: globalThis.Response, base: string): Promise<void> {
  const { status } = answer;
  answer.headers.forEach((value, name) => {
    if (status < 400 || !name.startsWith("content-")) response.set(name, value);
  });
  if (status >= 400) return sendError(response, status, sentenceFor(status, await answer.text(), base));
  response.status(status).end(Buffer.from(await answer.arrayBuffer()));
}

/** The store of parts does not say why it could not write: a full disk is told from other failures here. */
async function asRefusal(
  ctx: AppContext,
  folder: string,
  error: unknown,
): Promise<{ status_code: number; body: string } | undefined> {
  if (error instanceof AppError) return { status_code: statusOf(error), body: agentsWordsFor(error) };
  const isOfTus = typeof error === "object" && error !== null && "status_code" in error;
  if (isOfTus && error.status_code !== 500) return undefined;
  const full: unknown = await assertFreeSpace(folder, 0).catch((reason: unknown) => reason);
  if (full instanceof AppError) return asRefusal(ctx, folder, full);
  ctx.log.error({ err: error }, "An upload could not be stored");
  return { status_code: 500, body: INTERNAL_ERROR_SENTENCE };
}

function uploadNotFound(base: string): AppError {
  return new AppError(
    "not_found",
    `There is no such upload, or it has expired. Begin a new one with POST ${base}/uploads.`,
  );
}

/** Sentences of ours (they end with a full stop) go through; a refusal of tus is named as it stands. */
function sentenceFor(status: number, body: string, base: string): string {
  const text = body.trim();
  if (text.endsWith(".") && /^[A-Z]/.test(text)) return text;
  if (status === 404 || status === 410) return agentsWordsFor(uploadNotFound(base));
  // People pick files, too.
  if (status === 413)
    return `Upload-Length: the file is larger than ${MAX_FILE_BYTES} bytes, or larger than was said. Give a smaller one.`;
  return `The upload cannot go on (${text}). See the tus 1.0 protocol.`;
}
