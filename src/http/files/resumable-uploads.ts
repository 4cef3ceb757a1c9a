import { AsyncLocalStorage } from "node:async_hooks";
import { createHash, randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import type { FileStore } from "@tus/file-store";
import type { Server, Upload } from "@tus/server";
import type { RequestHandler } from "express";
import { AppError, INTERNAL_ERROR_SENTENCE } from "../../domain/errors.ts";
import type { Caller } from "../../domain/permissions.ts";
import { DAY, HOUR } from "../../domain/time.ts";
import { requireWholeTexts } from "../../domain/whole-text.ts";
import { plainCall, type AppContext } from "../../services/context.ts";
import { storeUpload } from "../../services/files/file-uploads.ts";
import { MAX_FILE_BYTES } from "../../services/files/upload-body.ts";
import { callerOf } from "../access/auth.ts";
import { STATUS } from "../errors.ts";
import { limitSilence } from "../access/slow-senders.ts";

const PATH = "/api/v1/files/uploads";

/** An upload that is not finished by then is forgotten. */
const ABANDONED_MS = DAY;
const SWEEP_EVERY_MS = HOUR;

/** Of so many finished uploads it is remembered which file each became. */
const MAX_REMEMBERED = 1_000;

/**
 * Resumable uploads by tus 1.0 (https://tus.io/protocols/resumable-upload). The last bytes' answer names the
 * file that the upload became in `Content-Location`, and so does a HEAD after it, for those to whom that
 * answer was lost. An upload's id begins with its owner's mark: to others it does not exist.
 */
export function createResumableUploads(ctx: AppContext, folder: string): RequestHandler<{ upload?: string }> {
  const callers = new AsyncLocalStorage<Caller>();
  const parts: TusParts = { ctx, folder, callers, finished: new Map() };
  let running: Promise<Tus> | null = null;
  let sweptAt = -Infinity;
  return async (request, response) => {
    const caller = callerOf(response);
    const id = request.params.upload;
    if (id !== undefined && !isOwn(caller, id)) throw uploadNotFound();
    const { server, datastore } = await (running ??= startTus(parts));
    if (ctx.clock.now() - sweptAt >= SWEEP_EVERY_MS) {
      sweptAt = ctx.clock.now();
      await server.cleanUpExpiredUploads();
    }
    limitSilence(ctx.clock, request);
    await callers.run(caller, async () => {
      const finished =
        request.method === "HEAD" && id !== undefined ? await findFinished(parts, datastore, id) : null;
      if (finished === null) return server.handle(request, response);
      response
        .set({ ...finishedHeaders(finished), "Tus-Resumable": "1.0.0", "Cache-Control": "no-store" })
        .end();
    });
  };
}

function uploadNotFound(): AppError {
  return new AppError(
    "not_found",
    `There is no such upload, or its time is over. Begin a new one with POST ${PATH}.`,
  );
}

interface TusParts {
  readonly ctx: AppContext;
  readonly folder: string;
  readonly callers: AsyncLocalStorage<Caller>;
  /** What uploads became, or are becoming, by their ids. */
  readonly finished: Map<string, Promise<Finished>>;
}

interface Finished {
  readonly fileId: string;
  readonly sizeBytes: number;
}

interface Tus {
  readonly server: Server;
  readonly datastore: FileStore;
}

/** Loaded with the first upload: most processes never have one. */
async function startTus(parts: TusParts): Promise<Tus> {
  const [{ Server: TusServer }, { FileStore: Store }] = await Promise.all([
    import("@tus/server"),
    import("@tus/file-store"),
  ]);
  await mkdir(parts.folder, { recursive: true, mode: 0o700 });
  const datastore = new Store({ directory: parts.folder, expirationPeriodInMilliseconds: ABANDONED_MS });

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
    path: PATH,
    datastore,
    maxSize: MAX_FILE_BYTES,
    relativeLocation: true,
    // No other origin's pages may use the API.
    allowedOrigins: () => false,
    namingFunction: () => `${markOf(callerIn(parts))}-${randomBytes(16).toString("hex")}`,
    onUploadCreate: async (_request, upload) => checkMetadata(parts.ctx, upload),
    onUploadFinish: (_request, upload) => finish(parts, datastore, upload),
  });
  // Only now: until its answer is made, tus still asks for the upload.
  server.on("POST_FINISH", (_request, _response, upload) => void forget(parts.ctx, datastore, upload));
  return { server, datastore };
}

/**
 * An upload whose bytes are all there; one that this process, or its predecessor, did not get to store is
 * stored now.
 */
async function findFinished(parts: TusParts, datastore: FileStore, id: string): Promise<Finished | null> {
  const known = parts.finished.get(id);
  if (known !== undefined) return known;
  const upload = await datastore.getUpload(id).catch(() => null);
  if (upload === null || upload.offset !== upload.size) return null;
  const finished = await storeOnce(parts, datastore, upload);
  await forget(parts.ctx, datastore, upload);
  return finished;
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

/** Whoever asks while the bytes are being stored waits for the same file. */
function storeOnce(parts: TusParts, datastore: FileStore, upload: Upload): Promise<Finished> {
  const { finished } = parts;
  const known = finished.get(upload.id);
  if (known !== undefined) return known;
  const storing = store(parts, upload);
  finished.set(upload.id, storing);
  const [oldest] = finished.keys();
  if (finished.size > MAX_REMEMBERED && oldest !== undefined) finished.delete(oldest);
  return storing.catch(async (error: unknown) => {
    finished.delete(upload.id);
    await forget(parts.ctx, datastore, upload);
    throw error;
  });
}

async function store(parts: TusParts, upload: Upload): Promise<Finished> {
  const { filename, altText } = upload.metadata ?? {};
  const path = upload.storage?.path;
  if (path === undefined) throw new Error("The upload has no place.");
  const body = createReadStream(path);
  const { file } = await storeUpload(plainCall(parts.ctx, callerIn(parts)), {
    name: filename ?? null,
    altText: altText ?? null,
    body,
  });
  return { fileId: file.id, sizeBytes: file.sizeBytes };
}

/** What cannot be removed now is removed as abandoned later. */
async function forget(ctx: AppContext, datastore: FileStore, upload: Upload): Promise<void> {
  await datastore.remove(upload.id).catch((error: unknown) => {
    ctx.log.warn({ err: error }, "A finished upload could not be cleared away");
  });
}

/** In tus's own form: what it throws on is answered with this status and body. */
function asRefusal(ctx: AppContext, error: unknown): { status_code: number; body: string } {
  if (error instanceof AppError) return { status_code: STATUS[error.kind], body: error.message };
  ctx.log.error({ err: error }, "An upload could not be stored");
  return { status_code: 500, body: INTERNAL_ERROR_SENTENCE };
}

function callerIn({ callers }: TusParts): Caller {
  const caller = callers.getStore();
  if (caller === undefined) throw new Error("An upload was reached without its caller.");
  return caller;
}

function markOf(caller: Caller): string {
  return createHash("sha256").update(caller.ownerId).digest("hex").slice(0, 16);
}

function isOwn(caller: Caller, id: string): boolean {
  return /^[0-9a-f]{16}-[0-9a-f]{32}$/.test(id) && id.startsWith(`${markOf(caller)}-`);
}

/** tus's refusals in our words; sentences of ours (they end with a full stop) go through. */
function sentenceFor(status: number, body: string): string {
  const text = body.trim();
  if (text.endsWith(".") && /^[A-Z]/.test(text)) return text;
  return SENTENCES[status] ?? `The upload cannot go on (${text}). See the tus 1.0 protocol.`;
}

const SENTENCES: Readonly<Record<number, string>> = {
  404: uploadNotFound().message,
  409: "Upload-Offset: is not how far the upload is. Ask for the offset with HEAD and go on from there.",
  410: uploadNotFound().message,
  412: "Tus-Resumable: is required and must be 1.0.0. Use a tus client.",
  413: `Upload-Length: the file is larger than ${MAX_FILE_BYTES} bytes, or larger than was said. Give a smaller one.`,
  500: INTERNAL_ERROR_SENTENCE,
};
