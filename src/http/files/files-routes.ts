import { untilGone } from "../api/routers.ts";
import { Readable } from "node:stream";
import { Router, type Request, type RequestHandler, type Response } from "express";
import { AppError } from "../../domain/errors.ts";
import { readArguments } from "../../domain/arguments/coerce.ts";
import { UploadFileArgs, type File } from "../../domain/files/file.ts";
import { guestCall, plainCall, type AppContext } from "../../context.ts";
import { type SignedParts, getFile, openCopy, openDownload } from "../../files/files.ts";
import {
  importFile,
  fileTooLarge,
  MAX_FILE_BYTES,
  receiveLinkedUpload,
  storeUpload,
  type Upload,
} from "../../files/file-uploads.ts";
import { callerOf, type Guard } from "../access/auth.ts";
import { methodNotAllowed } from "../errors.ts";
import { parseBody, readBody } from "../json-body.ts";
import { readQuery } from "../query.ts";
import { createResumableUploads, type UploadPlace } from "./resumable-uploads.ts";
import { bytesOf, sendBytes } from "./send-bytes.ts";

export const FILES_PATH = "/api/v1/files";

interface FilesDeps {
  readonly ctx: AppContext;
  readonly uploads: UploadPlace;
}

/** The routes of files that carry bytes: uploads (plain, resumable, by signed address) and downloads. */
export function createFilesRouter({ ctx, uploads }: FilesDeps): (guard: Guard) => Router {
  return (guard) => {
    const router = Router({ caseSensitive: true });
    addFileRoutes(router, { ctx, uploads, guard, base: FILES_PATH });
    router
      .route("/files/:id/download")
      .get(download(ctx, openDownload))
      .all(methodNotAllowed(["GET"]));
    router
      .route("/files/:id/copy")
      .get(download(ctx, openCopy))
      .all(methodNotAllowed(["GET"]));
    router
      .route("/files/:id/upload")
      .put(receiveSigned(ctx))
      .all(methodNotAllowed(["PUT"]));
    return router;
  };
}

/** Those for callers who are known, below a path. */
export function addFileRoutes(
  router: Router,
  { ctx, uploads, guard, base }: FilesDeps & { readonly guard: Guard; readonly base: string },
): void {
  const upload = [noStore, ...guard.identify, guard.permit("files", "upload files"), guard.limit];
  const read = [noStore, ...guard.identify, guard.permit("read", "read files"), guard.limit];
  const others = [noStore, ...guard.identify, guard.limit];
  const resumable = createResumableUploads(ctx, { ...uploads, base });
  router.all(`${base}/uploads`, upload, resumable);
  router.all(`${base}/uploads/:upload`, upload, resumable);
  // JSON goes on to the second route of the same path.
  router.post(base, upload, skipForJson, receiveBytes(ctx, base));
  router.post(base, ...readBody, importByAddress(ctx, base));
  router.all(base, unless(["GET", "HEAD"]), others, methodNotAllowed(["GET", "POST"]));
  router.get(`${base}/:id`, read, showOne(ctx));
  router.all(`${base}/:id`, unless(["DELETE"]), others, methodNotAllowed(["GET", "DELETE"]));
}

const noStore: RequestHandler = (_request, response, next) => {
  response.set("Cache-Control", "no-store");
  next();
};

/** These methods are answered by the routes that are tools. */
function unless(methods: readonly string[]): RequestHandler {
  return (request, _response, next) => (methods.includes(request.method) ? next("route") : next());
}

const skipForJson: RequestHandler = (request, _response, next) =>
  next(mediaType(request) === "application/json" ? "route" : undefined);

function showOne(ctx: AppContext): RequestHandler<{ id: string }> {
  return async (request, response) => {
    readQuery(request, {});
    response.json(await getFile(plainCall(ctx, callerOf(response)), { id: request.params.id }));
  };
}

function receiveBytes(ctx: AppContext, base: string): RequestHandler {
  return async (request, response) => {
    const query = readQuery(request, { name: "text", altText: "text" });
    const upload = { name: textOf(query["name"]), altText: textOf(query["altText"]) };
    await receive({ request, response, base }, (content) =>
      storeUpload(plainCall(ctx, callerOf(response)), { ...upload, ...content }),
    );
  };
}

function receiveSigned(ctx: AppContext): RequestHandler<{ id: string }> {
  return async (request, response) => {
    const parts = readSigned(request);
    await receive({ request, response, base: FILES_PATH }, (content) =>
      receiveLinkedUpload(guestCall(ctx), { ...parts, ...content }),
    );
  };
}

/** Streams the request's body into `store`. A client that left is not answered. */
async function receive(
  { request, response, base }: { request: Request<{ id?: string }>; response: Response; base: string },
  store: (content: Pick<Upload, "body" | "sizeBytes">) => Promise<{ file: File }>,
): Promise<void> {
  try {
    const sizeBytes = Number(request.headers["content-length"] ?? 0);
    if (sizeBytes > MAX_FILE_BYTES) throw fileTooLarge();
    requireFileType(request);
    const body = Readable.from(bytesOf(request), { objectMode: false });
    sendCreated(response, base, (await store({ body, sizeBytes })).file);
  } catch (error) {
    if (request.destroyed && !request.complete) return;
    throw error;
  }
}

function sendCreated(response: Response, base: string, file: File): void {
  response.status(201).location(`${base}/${file.id}`).json({ file });
}

function mediaType(request: Request<{ id?: string }>): string {
  return (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

/** Of all that the store takes: beside media, documents, tables and subtitles. */
const FILE_TYPE =
  /^(?:(?:image|video|audio)\/[\w.+-]+|application\/(?:octet-stream|pdf|csv|x-subrip|vnd\.ms-excel)|text\/(?:csv|comma-separated-values|tab-separated-values|vtt|srt|x-subrip))$/;

/** A form or a plain text is no file: its sender meant something else. */
function requireFileType(request: Request<{ id?: string }>): void {
  const type = mediaType(request);
  if (FILE_TYPE.test(type)) return;
  throw new AppError(
    "invalid",
    "Content-Type: must be the file's (for example video/mp4) or application/octet-stream, and the body its bytes, not a form. " +
      "To import from an address send application/json.",
  );
}

const Import = UploadFileArgs.omit({ path: true }).extend({ url: UploadFileArgs.shape.url.unwrap() });

function importByAddress(ctx: AppContext, base: string): RequestHandler {
  return async (request, response) => {
    readQuery(request, {});
    const input = readArguments(Import, parseBody(request, "required"));
    const call = plainCall(ctx, callerOf(response), untilGone(response));
    sendCreated(response, base, (await importFile(call, input)).file);
  };
}

function readSigned(request: Request<{ id: string }>): SignedParts {
  const query = readQuery(request, { expires: "text", signature: "text" });
  const [expires, signature] = [textOf(query["expires"]) ?? "", textOf(query["signature"]) ?? ""];
  return { id: request.params.id, expires, signature };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function download(ctx: AppContext, open: typeof openDownload): RequestHandler<{ id: string }> {
  return async (request, response) => {
    const file = await open(guestCall(ctx), readSigned(request));
    // Never shown by a browser as a page of ours, whatever it holds.
    response.attachment(file.name).set({
      "Content-Type": file.mimeType,
      "Content-Security-Policy": "sandbox; default-src 'none'",
      "Cross-Origin-Resource-Policy": "cross-origin",
      "Cache-Control": "private, max-age=300",
      "Last-Modified": new Date(file.updatedAt).toUTCString(),
    });
    const etag = file.sha256 === null ? null : `"${file.sha256}"`;
    sendBytes({ request, response, log: ctx.log }, { sizeBytes: file.sizeBytes, etag, open: file.read });
  };
}
