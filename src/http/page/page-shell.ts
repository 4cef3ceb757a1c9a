import { extname } from "node:path/posix";
import { gzipSync } from "node:zlib";
import type { Request, RequestHandler, Response } from "express";
import { UNKNOWN_PATH_SENTENCE } from "../errors.ts";
import { AppError } from "../../domain/errors.ts";
import type { PageFile } from "./page-files.ts";

/** Everything comes from this server, and nothing runs that it did not send as a file. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

export type ReadPageFiles = () => Promise<ReadonlyMap<string, PageFile>>;

interface PackedPageFile extends PageFile {
  /** Null where that makes it no smaller. */
  readonly zipped: Buffer | null;
}

const SHELL = "index.html";

export const setPolicy: RequestHandler = (_request, response, next) => {
  response.set({
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Resource-Policy": "same-origin",
    // Without a referrer, forms and some requests of the page would come from the origin "null".
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "X-Robots-Tag": "noindex, nofollow",
  });
  next();
};

/** The page's files. Where none has that name, the page itself, which knows its own addresses. */
export function createShell(read: ReadPageFiles): RequestHandler<{ rest?: string[] }> {
  let packed: Promise<ReadonlyMap<string, PackedPageFile>> | null = null;
  return async (request, response) => {
    packed ??= pack(read).catch((error: unknown) => {
      packed = null;
      throw error;
    });
    const files = await packed;
    const name = request.params.rest?.join("/") ?? "";
    const file = name === SHELL ? undefined : files.get(name);
    if (file !== undefined) return sendFile(request, response, name, file);
    const shell = files.get(SHELL);
    // A script that is not there any more is no page. Other dots are a person's slip, and the page says so.
    const isFile = name !== SHELL && [...files.keys()].some((one) => extname(one) === extname(name));
    if (shell === undefined || isFile || request.accepts("html") === false)
      throw new AppError("not_found", UNKNOWN_PATH_SENTENCE);
    sendFile(request, response, SHELL, shell);
  };
}

/** Compressed once. What is compressed already does not become smaller. */
async function pack(read: ReadPageFiles): Promise<ReadonlyMap<string, PackedPageFile>> {
  const files = [...(await read())].map(([name, file]): [string, PackedPageFile] => {
    const zipped = gzipSync(file.bytes, { level: 9 });
    return [name, { ...file, zipped: zipped.length < file.bytes.length ? zipped : null }];
  });
  return new Map(files);
}

function sendFile(
  request: Request<{ rest?: string[] }>,
  response: Response,
  name: string,
  { bytes, zipped, isImmutable }: PackedPageFile,
): void {
  const kept = isImmutable ? "public, max-age=31536000, immutable" : "no-cache";
  response.set("Cache-Control", name === SHELL ? "no-store" : kept);
  response.type(name.slice(name.lastIndexOf(".") + 1)).vary("Accept-Encoding");
  const isZipped = zipped !== null && request.acceptsEncodings("gzip") === "gzip";
  if (isZipped) response.set("Content-Encoding", "gzip");
  response.send(isZipped ? zipped : bytes);
}
