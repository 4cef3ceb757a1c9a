import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { ReadableStream } from "node:stream/web";
import type { Upload } from "@tus/server";
import type { Request, RequestHandler, Response } from "express";
import { AppError, INTERNAL_ERROR_SENTENCE } from "../../domain/errors.ts";
import { agentsWordsFor } from "../../toolkit/words.ts";
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
import { createUploadLocks, type TakeLock } from "./upload-locks.ts";

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
interface UploadDoor extends UploadPlace {
  readonly base: string;
}

interface Refusal {
  readonly status_code: number;
  readonly body: string;
}

interface Finished {
  readonly fileId: string;
  readonly sizeBytes: number;
}

/**
 * Resumable uploads by tus 1.0 (https://tus.io/protocols/resumable-upload). The last bytes' answer names the
 * file that the upload became in `Content-Location`. A HEAD after it does so too, for those to whom that
 * answer was lost. An upload's id begins with marks of owner and API key: to others it does not exist.
 */
export function createResumableUploads(
  ctx: AppContext,
  place: UploadDoor,
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
      await tus.clearExpired().catch((error: unknown) => {
        ctx.log.warn({ err: error }, "An abandoned upload could not be cleared away");
      });
    }
    const method = methodOf(request);
    if (method === "HEAD" && id !== undefined) {
      const finished = await tus.findFinished(caller, id);
      if (finished !== null) {
        response.set({ ...finishedHeaders(finished, place.base), "Tus-Resumable": "1.0.0" });
        return void response.end();
      }
    }
    // Before the bytes come: a sender who is refused in the midst of them may not see the answer.
    if (method === "POST" || method === "PATCH")
      await assertFreeSpace(place.folder, Number(request.headers["content-length"] ?? 0));
    await sendAnswer(response, await tus.handle(caller, request), place.base);
  };
}

interface Tus {
  clearExpired(): Promise<void>;
  handle(caller: Caller, request: Request<object>): Promise<globalThis.Response>;
  /** What an upload became whose bytes are all there. One that a killed process did not store is stored now. */
  findFinished(caller: Caller, id: string): Promise<Finished | null>;
}

/** Loaded with the first upload: most processes never have one. */
async function startTus(ctx: AppContext, { folder, base, takeLock }: UploadDoor): Promise<Tus> {
  const [{ Server: TusServer, MemoryLocker, EVENTS }, { FileStore }] = await Promise.all([
    import("@tus/server"),
    import("@tus/file-store"),
  ]);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const datastore = new FileStore({ directory: folder, expirationPeriodInMilliseconds: ABANDONED_MS });
  const locker = createUploadLocks(folder, { memory: MemoryLocker, take: takeLock });
  const callers = new WeakMap<globalThis.Request, Caller>();
  const storing = new Map<string, Promise<Finished>>();

  const callerIn = (request: globalThis.Request): Caller => {
    const caller = callers.get(request);
    if (caller === undefined) throw new Error("An upload was reached without its caller.");
    return caller;
  };

  const checkNew = async (upload: Upload): Promise<object> => {
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
  };

  const forget = ({ id }: Upload): Promise<void> =>
    datastore
      .remove(id)
      .then(() => locker.forget(id))
      .catch((error: unknown) => {
        ctx.log.warn({ err: error }, "An upload could not be cleared away");
      });

  const store = async (caller: Caller, upload: Upload): Promise<Finished> => {
    const stored = await findStored(ctx, caller, upload.id);
    if (stored !== null) return stored;
    try {
      const { size, metadata, storage } = await datastore.getUpload(upload.id);
      if (storage === undefined) throw new Error("The upload has no place.");
      const { file } = await storeUpload(plainCall(ctx, caller), {
        name: metadata?.["filename"] ?? null,
        altText: metadata?.["altText"] ?? null,
        body: createReadStream(storage.path),
        sizeBytes: size ?? null,
        fileId: fileIdOf(upload.id),
      });
      return { fileId: file.id, sizeBytes: file.sizeBytes };
    } catch (error) {
      // What can never be stored is forgotten.
      if (error instanceof AppError && error.kind !== "unavailable") await forget(upload);
      throw error;
    }
  };

  /** A request that asks while the bytes are being stored waits for the same file. */
  const storeOnce = (caller: Caller, upload: Upload): Promise<Finished> => {
    const known = storing.get(upload.id);
    if (known !== undefined) return known;
    const made = store(caller, upload).finally(() => storing.delete(upload.id));
    storing.set(upload.id, made);
    return made;
  };

  const server = new TusServer({
    path: `${base}/uploads`,
    datastore,
    locker,
    maxSize: MAX_FILE_BYTES,
    relativeLocation: true,
    // No other origin's pages may use the API.
    allowedOrigins: () => false,
    namingFunction: (request) => `${markOf(callerIn(request))}-${newId("file").slice(FILE_PREFIX.length)}`,
    onUploadCreate: (_request, upload) => checkNew(upload),
    onUploadFinish: async (request, upload) => ({
      headers: finishedHeaders(await storeOnce(callerIn(request), upload), base),
    }),
    onResponseError: (_request, error) => asRefusal(ctx, folder, error),
  });
  // Only now: until its answer is made, tus still asks for the upload.
  server.on(EVENTS.POST_FINISH, (_request, _response, upload) => void forget(upload));

  return {
    clearExpired: async () => {
      await server.cleanUpExpiredUploads();
      await locker.forgetBut((await datastore.configstore.list?.()) ?? []);
    },
    handle: (caller, request) => {
      const web = asWebRequest(request);
      callers.set(web, caller);
      return server.handleWeb(web);
    },
    findFinished: async (caller, id) => {
      const upload = await datastore.getUpload(id).catch(() => null);
      if (upload === null) return findStored(ctx, caller, id);
      if (upload.offset !== upload.size) return null;
      const finished = await storeOnce(caller, upload);
      await forget(upload);
      return finished;
    },
  };
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
async function findStored(ctx: AppContext, caller: Caller, uploadId: string): Promise<Finished | null> {
  try {
    const { file } = await getFile(plainCall(ctx, caller), { id: fileIdOf(uploadId) });
    return file.status === "ready" ? { fileId: file.id, sizeBytes: file.sizeBytes } : null;
  } catch (error) {
    if (error instanceof AppError && error.kind === "not_found") return null;
    throw error;
  }
}

function finishedHeaders({ fileId, sizeBytes }: Finished, base: string): Record<string, string> {
  const size = String(sizeBytes);
  return { "Content-Location": `${base}/${fileId}`, "Upload-Offset": size, "Upload-Length": size };
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
async function asRefusal(ctx: AppContext, folder: string, error: unknown): Promise<Refusal | undefined> {
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

/** tus's refusals in our words; sentences of ours (they end with a full stop) go through. */
function sentenceFor(status: number, body: string, base: string): string {
  const text = body.trim();
  if (text.endsWith(".") && /^[A-Z]/.test(text)) return text;
  if (status === 404 || status === 410) return agentsWordsFor(uploadNotFound(base));
  return SENTENCES[status] ?? `The upload cannot go on (${text}). See the tus 1.0 protocol.`;
}

const SENTENCES: Readonly<Record<number, string>> = {
  409: "Upload-Offset: is not how far the upload is. Ask for the offset with HEAD and go on from there.",
  412: "Tus-Resumable: is required and must be 1.0.0. Use a tus client.",
  413: `Upload-Length: the file is larger than ${MAX_FILE_BYTES} bytes, or larger than was said. Give a smaller one.`,
  423: "Another request is sending to this upload, or it is just being stored. Wait a moment, then try again.",
  500: INTERNAL_ERROR_SENTENCE,
};
