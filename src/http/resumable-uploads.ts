import { AsyncLocalStorage } from "node:async_hooks";
import { createHash, randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import type { FileStore } from "@tus/file-store";
import type { Server, Upload } from "@tus/server";
import type { RequestHandler } from "express";
import { AppError, INTERNAL_ERROR_SENTENCE } from "../domain/errors.ts";
import type { Caller } from "../domain/permissions.ts";
import { DAY, HOUR } from "../domain/time.ts";
import type { AppContext } from "../services/context.ts";
import { MAX_FILE_BYTES, storeUpload } from "../services/file-uploads.ts";
import { callerOf } from "./auth.ts";
import { STATUS } from "./errors.ts";

const PATH = "/api/v1/files/uploads";

/** An upload that is not finished by then is forgotten. */
const ABANDONED_MS = DAY;
const SWEEP_EVERY_MS = HOUR;

/**
 * Resumable uploads by tus 1.0 (https://tus.io/protocols/resumable-upload). The last bytes' answer names the file that the
 * upload became in `Content-Location`. An upload's id begins with its owner's mark: to others it does not exist.
 */
export function createResumableUploads(ctx: AppContext, folder: string): RequestHandler<{ upload?: string }> {
  const callers = new AsyncLocalStorage<Caller>();
  let server: Promise<Server> | null = null;
  let sweptAt = -Infinity;
  return async (request, response) => {
    const caller = callerOf(response);
    const id = request.params.upload;
    if (id !== undefined && !isOwn(caller, id)) throw uploadNotFound();
    const tus = await (server ??= startTus({ ctx, folder, callers }));
    if (ctx.clock.now() - sweptAt >= SWEEP_EVERY_MS) {
      sweptAt = ctx.clock.now();
      await tus.cleanUpExpiredUploads();
    }
    await callers.run(caller, () => tus.handle(request, response));
  };
}

function uploadNotFound(): AppError {
  return new AppError("not_found", `There is no such upload, or its time is over. Begin a new one with POST ${PATH}.`);
}

interface TusParts {
  readonly ctx: AppContext;
  readonly folder: string;
  readonly callers: AsyncLocalStorage<Caller>;
}

/** Loaded with the first upload: most processes never have one. */
async function startTus(parts: TusParts): Promise<Server> {
  const [{ Server: TusServer }, { FileStore: Store }] = await Promise.all([import("@tus/server"), import("@tus/file-store")]);
  await mkdir(parts.folder, { recursive: true, mode: 0o700 });
  const datastore = new Store({ directory: parts.folder, expirationPeriodInMilliseconds: ABANDONED_MS });

  /** Its refusals are texts; ours are JSON with one sentence. */
  class Posthorn extends TusServer {
    override write(...[context, headers, status, body = ""]: Parameters<Server["write"]>): ReturnType<Server["write"]> {
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
    onUploadFinish: (_request, upload) => finish(parts, datastore, upload),
  });
  // Only now: until its answer is made, tus still asks for the upload.
  server.on("POST_FINISH", (_request, _response, upload) => void forget(parts.ctx, datastore, upload));
  return server;
}

async function finish(parts: TusParts, datastore: FileStore, upload: Upload): Promise<{ headers: Record<string, string> }> {
  const { filename, altText } = upload.metadata ?? {};
  const path = upload.storage?.path;
  if (path === undefined) throw new Error("The upload has no place.");
  try {
    const body = createReadStream(path);
    const { file } = await storeUpload(parts.ctx, callerIn(parts), { name: filename ?? null, altText: altText ?? null, body });
    return { headers: { "Content-Location": `/api/v1/files/${file.id}` } };
  } catch (error) {
    await forget(parts.ctx, datastore, upload);
    throw asRefusal(parts.ctx, error);
  }
}

/** What cannot be removed now is removed as abandoned later. */
async function forget(ctx: AppContext, datastore: FileStore, upload: Upload): Promise<void> {
  await datastore.remove(upload.id).catch((error: unknown) => {
    ctx.log.warn({ error: String(error) }, "A finished upload could not be cleared away");
  });
}

/** In tus's own form: what it throws on is answered with this status and body. */
function asRefusal(ctx: AppContext, error: unknown): { status_code: number; body: string } {
  if (error instanceof AppError) return { status_code: STATUS[error.kind], body: error.message };
  ctx.log.error({ error: error instanceof Error ? error.stack : String(error) }, "An upload could not be stored");
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
