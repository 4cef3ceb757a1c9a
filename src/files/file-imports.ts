import { basename } from "node:path";
import { Readable } from "node:stream";
import { AppError } from "../domain/errors.ts";
import type { File, UploadFileArgs } from "../domain/files/file.ts";
import { declaredBytes, problemOfAnswer } from "../domain/files/media-limits.ts";
import { MINUTE, SECOND } from "../domain/time.ts";
import { DiskFull } from "../ports/disk-space.ts";
import { OutboundFailure, type OutboundResponse } from "../ports/outbound.ts";
import type { CallContext } from "../context.ts";
import { createUploadLink, MAX_FILE_BYTES, storeUpload } from "./file-uploads.ts";
import { openLocalFile, openOwnFile, withHome } from "./local-file.ts";

const IMPORT_TIMEOUT_MS = 30 * MINUTE;
const IMPORT_IDLE_MS = 30 * SECOND;
const HEADERS_MS = 30 * SECOND;
const MAX_REDIRECTS = 3;

/** A client that asked for progress hears of it after so many bytes, or more of a large file. */
const PROGRESS_BYTES = 256 * 1024;
const PROGRESS_SHARE = 0.01;

type UploadLink = Awaited<ReturnType<typeof createUploadLink>>;

/** Imports an address, reads a file of this machine, or gives an address to upload to. */
export async function uploadFile(
  call: CallContext,
  args: UploadFileArgs,
): Promise<{ file: File } | UploadLink> {
  if (args.url !== undefined && args.path !== undefined)
    throw new AppError("invalid", "path: cannot be given together with url. Give one.");
  if (args.url !== undefined) return importFile(call, { ...args, url: args.url });
  if (args.path !== undefined) return readLocalFile(call, { ...args, path: args.path });
  return createUploadLink(call, { name: args.name ?? null, altText: args.altText ?? null });
}

type ImportArgs = UploadFileArgs & { readonly url: string };

/** Fetches a file through the outbound door into the store. */
export async function importFile(call: CallContext, args: ImportArgs): Promise<{ file: File }> {
  const url = call.ctx.outbound.assertAllowed("url", args.url);
  const answer = await fetchFile(call, url.href);
  const problem = problemOfAnswer(answer, MAX_FILE_BYTES);
  if (problem !== null) {
    answer.body.destroy();
    throw new AppError(problem.isLasting ? "invalid" : "unavailable", `url: ${problem.reason}.`);
  }
  const name = args.name ?? nameOf(answer.url);
  const upload = {
    name,
    altText: args.altText ?? null,
    body: Readable.from(fetched(call, answer), { objectMode: false }),
    sizeBytes: declaredBytes(answer.headers),
  };
  return storeUpload(call, upload).catch((error: unknown) => {
    throw explain(error);
  });
}

async function fetchFile({ ctx, signal }: CallContext, url: string): Promise<OutboundResponse> {
  const limits = { timeoutMs: IMPORT_TIMEOUT_MS, headersMs: HEADERS_MS, idleMs: IMPORT_IDLE_MS };
  const request = { method: "GET", url, ...limits, maxRedirects: MAX_REDIRECTS } as const;
  return ctx.outbound.request({ ...request, signal }).catch((error: unknown) => {
    throw explain(error);
  });
}

async function* fetched(call: CallContext, { headers, body }: OutboundResponse): AsyncGenerator<Buffer> {
  try {
    yield* withProgress(call, body, { total: declaredBytes(headers), message: "Fetching the file" });
  } catch (cause) {
    throw new OutboundFailure("The body broke off.", true, { cause });
  }
}

async function* withProgress(
  call: CallContext,
  body: Readable,
  { total, message }: { readonly total: number | null; readonly message: string },
): AsyncGenerator<Buffer> {
  const step = Math.max(PROGRESS_BYTES, (total ?? 0) * PROGRESS_SHARE);
  let done = 0;
  let told = 0;
  for await (const chunk of body) {
    const bytes = Buffer.from(chunk);
    done += bytes.length;
    if (done === total || done - told >= step) {
      told = done;
      call.progress(done, total, message);
    }
    yield bytes;
  }
}

function explain(error: unknown): unknown {
  if (error instanceof DiskFull) return error;
  if (error instanceof AppError) return new AppError(error.kind, `url: ${error.message}`, { cause: error });
  if (!(error instanceof OutboundFailure)) return error;
  return new AppError(
    "unavailable",
    "url: the address did not answer, or broke off before the file was whole. Try again.",
    {
      cause: error,
    },
  );
}

function nameOf(url: string): string | null {
  const last = new URL(url).pathname.split("/").at(-1) ?? "";
  try {
    return last === "" ? null : decodeURIComponent(last);
  } catch {
    return last;
  }
}

/** A file of this machine that may be read, see `openLocalFile`. */
async function readLocalFile(
  call: CallContext,
  args: UploadFileArgs & { readonly path: string },
): Promise<{ file: File }> {
  const path = await withHome(args.path, call.ctx.settings.homeFolder);
  await using handle = await (call.caller.isAtShell === true ? openOwnFile(path) : openLocalFile(call, path));
  const file = await handle.stat();
  const stream = handle.createReadStream({ autoClose: false });
  const body = Readable.from(withProgress(call, stream, { total: file.size, message: "Reading the file" }), {
    objectMode: false,
  });
  const name = args.name ?? basename(args.path);
  return await storeUpload(call, { name, altText: args.altText ?? null, body, sizeBytes: file.size });
}
