import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { FileStore } from "@tus/file-store";
import type { Server, Upload } from "@tus/server";
import type { RequestHandler } from "express";
import { AppError } from "../../domain/errors.ts";
import type { Caller } from "../../domain/permissions.ts";
import { HOUR } from "../../domain/time.ts";
import { requireWholeTexts } from "../../domain/whole-text.ts";
import { plainCall, type AppContext } from "../../services/context.ts";
import { storeUpload } from "../../services/files/file-uploads.ts";
import {
  fileIdOf,
  findStored,
  isUploadName,
  newUploadName,
  removePart,
} from "../../services/files/unfinished-uploads.ts";
import { MAX_FILE_BYTES } from "../../services/files/upload-body.ts";
import { callerOf } from "../access/auth.ts";
import { limitSilence } from "../access/slow-senders.ts";
import {
  asRefusal,
  isRefusal,
  LOCKED,
  sentenceFor,
  uploadNotFound,
  UPLOADS_PATH,
  type Refusal,
} from "./upload-answers.ts";
import { createUploadLocks, type UploadLocks } from "./upload-locks.ts";
import { openUploadStore, type UploadPlace } from "./upload-store.ts";

const SWEEP_EVERY_MS = HOUR;
/** Methods whose requests carry bytes. */
const SENDING: readonly string[] = ["POST", "PATCH"];

/**
 * Resumable uploads by tus 1.0 (https://tus.io/protocols/resumable-upload). The last bytes' answer names the
 * file that the upload became in `Content-Location`, and so does a HEAD after it, for those to whom that
 * answer was lost. An upload's id begins with marks of owner and API key: to others it does not exist.
 */
export function createResumableUploads(
  ctx: AppContext,
  place: UploadPlace,
): RequestHandler<{ upload?: string }> {
  const callers = new AsyncLocalStorage<Caller>();
  const parts: TusParts = { ctx, place, callers, locks: createUploadLocks(place), storing: new Map() };
  let running: Promise<Tus> | null = null;
  let sweptAt = -Infinity;
  const start = (): Promise<Tus> => {
    running ??= startTus(parts).catch((error: unknown) => {
      running = null;
      throw error;
    });
    return running;
  };
  return async (request, response) => {
    const caller = callerOf(response);
    const id = request.params.upload;
    if (id !== undefined && !isOwn(caller, id)) throw uploadNotFound();
    const { server, datastore } = await start();
    if (ctx.clock.now() - sweptAt >= SWEEP_EVERY_MS) {
      sweptAt = ctx.clock.now();
      await server.cleanUpExpiredUploads();
    }
    limitSilence(ctx.clock, request);
    await callers.run(caller, async () => {
      if (SENDING.includes(request.method)) {
        // Before the bytes come: who is refused in the midst of them may not see the answer.
        await place.room.expect(Number(request.headers["content-length"] ?? 0));
        return server.handle(request, response);
      }
      if (request.method !== "HEAD" || id === undefined) return server.handle(request, response);
      const finished = await findFinished(parts, datastore, id).catch((error: unknown) =>
        asRefusal(ctx, error),
      );
      if (finished === null) return server.handle(request, response);
      response
        .status(isRefusal(finished) ? finished.status_code : 200)
        .set({
          ...(isRefusal(finished) ? {} : finishedHeaders(finished)),
          "Tus-Resumable": "1.0.0",
          "Cache-Control": "no-store",
        })
        .end();
    });
  };
}

interface TusParts {
  readonly ctx: AppContext;
  readonly place: UploadPlace;
  readonly callers: AsyncLocalStorage<Caller>;
  readonly locks: UploadLocks;
  /** What uploads are becoming, by their ids. */
  readonly storing: Map<string, Promise<Finished>>;
}

interface Finished {
  readonly fileId: string;
  readonly sizeBytes: number;
}

type Tus = Awaited<ReturnType<typeof startTus>>;

/** Loaded with the first upload: most processes never have one. */
async function startTus(parts: TusParts): Promise<{ server: Server; datastore: FileStore }> {
  const [{ Server: TusServer }, datastore] = await Promise.all([
    import("@tus/server"),
    openUploadStore(parts.ctx, parts.place),
  ]);

  /** Its refusals are texts; ours are JSON with one sentence. */
  class Posthorn extends TusServer {
    override write(
      ...[context, headers, status, body = ""]: Parameters<Server["write"]>
    ): ReturnType<Server["write"]> {
      if (status < 400) return super.write(context, headers, status, body);
      headers.set("Content-Type", "application/json; charset=utf-8");
      return super.write(context, headers, status, JSON.stringify({ error: sentenceFor(status, body) }));
    }
  }
  const server = new Posthorn({
    path: UPLOADS_PATH,
    datastore,
    locker: parts.locks,
    maxSize: MAX_FILE_BYTES,
    relativeLocation: true,
    // No other origin's pages may use the API.
    allowedOrigins: () => false,
    namingFunction: () => newUploadName(markOf(callerIn(parts))),
    onResponseError: (request, error) => explainGone(parts, request, error),
    onUploadCreate: async (_request, upload) => checkMetadata(parts.ctx, upload),
    onUploadFinish: (_request, upload) => finish(parts, datastore, upload),
  });
  // Only now: until its answer is made, tus still asks for the upload.
  server.on("POST_FINISH", (_request, _response, upload) => void forget(parts, upload));
  return { server, datastore };
}

/** An upload whose bytes are all there; one that no process got to store is stored now. */
async function findFinished(parts: TusParts, datastore: FileStore, id: string): Promise<Finished | null> {
  const storing = parts.storing.get(id);
  if (storing !== undefined) return storing;
  const upload = await datastore.getUpload(id).catch(() => null);
  // Only now: what was stored until then is found, whatever was cleared away meanwhile.
  const stored = await findStored(parts.ctx, callerIn(parts).ownerId, id);
  if (upload === null || (stored === null && upload.offset !== upload.size)) return stored;
  const finished = stored ?? (await storeOnce(parts, datastore, upload));
  await forget(parts, upload);
  return finished;
}

/** An upload that is stored while it is asked about is gone for a moment before it is known as a file. */
async function explainGone(
  parts: TusParts,
  { method, url }: { readonly method: string; readonly url: string },
  error: unknown,
): Promise<Refusal | undefined> {
  if (method !== "HEAD" || !isRefusal(error) || ![404, 410].includes(error.status_code)) return undefined;
  const name = new URL(url).pathname.split("/").at(-1) ?? "";
  const isStored = (await findStored(parts.ctx, callerIn(parts).ownerId, name)) !== null;
  return isStored ? LOCKED : undefined;
}

function checkMetadata(ctx: AppContext, upload: Upload): object {
  try {
    requireWholeTexts(upload.metadata, ["Upload-Metadata"]);
    return {};
  } catch (error) {
    throw asRefusal(ctx, error);
  }
}

async function finish(
  parts: TusParts,
  datastore: FileStore,
  upload: Upload,
): Promise<{ headers: Record<string, string> }> {
  try {
    return { headers: finishedHeaders(await storeOnce(parts, datastore, upload)) };
  } catch (error) {
    throw asRefusal(parts.ctx, error);
  }
}

function finishedHeaders({ fileId, sizeBytes }: Finished): Record<string, string> {
  const size = String(sizeBytes);
  return { "Content-Location": `/api/v1/files/${fileId}`, "Upload-Offset": size, "Upload-Length": size };
}

/** Whoever asks here while the bytes are being stored waits for the same file. */
function storeOnce(parts: TusParts, datastore: FileStore, upload: Upload): Promise<Finished> {
  const known = parts.storing.get(upload.id);
  if (known !== undefined) return known;
  const storing = store(parts, datastore, upload).finally(() => parts.storing.delete(upload.id));
  parts.storing.set(upload.id, storing);
  return storing;
}

/** Under the lock: another process may just have done it. What can never be stored is forgotten. */
async function store(parts: TusParts, datastore: FileStore, { id }: Upload): Promise<Finished> {
  const { ctx, locks } = parts;
  const caller = callerIn(parts);
  const release = await locks.take(id, new AbortController().signal);
  try {
    const stored = await findStored(ctx, caller.ownerId, id);
    if (stored !== null) return stored;
    const { size, metadata, storage } = await datastore.getUpload(id);
    if (storage === undefined) throw new Error("The upload has no place.");
    const { file } = await storeUpload(plainCall(ctx, caller), {
      name: metadata?.["filename"] ?? null,
      altText: metadata?.["altText"] ?? null,
      body: createReadStream(storage.path),
      sizeBytes: size ?? null,
      fileId: fileIdOf(id),
    });
    return { fileId: file.id, sizeBytes: file.sizeBytes };
  } catch (error) {
    if (error instanceof AppError && error.kind !== "unavailable") await datastore.remove(id);
    throw error;
  } finally {
    release();
  }
}

/** What cannot be removed now is removed as abandoned later. */
async function forget({ ctx, place }: TusParts, upload: Upload): Promise<void> {
  await removePart(place, upload.id).catch((error: unknown) => {
    ctx.log.warn({ err: error }, "A finished upload could not be cleared away");
  });
}

function callerIn({ callers }: TusParts): Caller {
  const caller = callers.getStore();
  if (caller === undefined) throw new Error("An upload was reached without its caller.");
  return caller;
}

/** What the ids of the caller's uploads begin with: 16 digits for the owner, 8 for the API key. */
function markOf({ ownerId, keyId }: Caller): string {
  const digits = (text: string): string => createHash("sha256").update(text).digest("hex");
  return `${digits(ownerId).slice(0, 16)}-${digits(keyId).slice(0, 8)}`;
}

function isOwn(caller: Caller, id: string): boolean {
  return isUploadName(id) && id.startsWith(`${markOf(caller)}-`);
}
