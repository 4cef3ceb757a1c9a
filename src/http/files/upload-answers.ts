import { AppError, INTERNAL_ERROR_SENTENCE } from "../../domain/errors.ts";
import type { AppContext } from "../../services/context.ts";
import { MAX_FILE_BYTES } from "../../services/files/upload-body.ts";
import { statusOf } from "../errors.ts";

export const UPLOADS_PATH = "/api/v1/files/uploads";

/** In tus's own form: what it throws on is answered with this status and body. */
export interface Refusal {
  readonly status_code: number;
  readonly body: string;
}

export function asRefusal(ctx: AppContext, error: unknown): Refusal {
  if (isRefusal(error)) return error;
  if (error instanceof AppError) return { status_code: statusOf(error), body: error.message };
  ctx.log.error({ err: error }, "An upload could not be stored");
  return { status_code: 500, body: INTERNAL_ERROR_SENTENCE };
}

export function isRefusal(error: unknown): error is Refusal {
  return typeof error === "object" && error !== null && "status_code" in error && "body" in error;
}

/** Another request is at the upload; clients of tus ask again by themselves. */
export const LOCKED: Refusal = {
  status_code: 423,
  body: "Another request is sending to this upload, or it is just being stored. Wait a moment, then try again.",
};

export function uploadNotFound(): AppError {
  return new AppError(
    "not_found",
    `There is no such upload, or it has expired. Begin a new one with POST ${UPLOADS_PATH}.`,
  );
}

/** tus's refusals in our words; sentences of ours (they end with a full stop) go through. */
export function sentenceFor(status: number, body: string): string {
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
