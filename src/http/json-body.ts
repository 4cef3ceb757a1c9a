import express, { type ErrorRequestHandler, type Request, type RequestHandler } from "express";
import { AppError } from "../domain/errors.ts";

/** Of inflated bytes. */
const MAX_BODY_BYTES = 1024 * 1024;
const TOO_LARGE_SENTENCE =
  "The body is larger than 1 MiB. Send less at once. Files go to POST /api/v1/files.";

/** `required`: a JSON object with its content type. `optional`: no body is `{}`. `none`: no fields. */
export type BodyRule = "required" | "optional" | "none";

export type JsonObject = Record<string, unknown>;

/** What was read, as an object. Throws `invalid`. */
export function parseBody(request: Request, rule: BodyRule): JsonObject {
  const body: unknown = request.body;
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
  if (rule !== "required" && bytes.length === 0) return {};
  requireJsonType(request.headers["content-type"]);
  if (bytes.length === 0)
    throw new AppError(
      "invalid",
      "The body is missing. Send the arguments as a JSON object, or {} where there are none.",
    );
  const value = parseJson(bytes);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new AppError("invalid", 'The body must be a JSON object, for example {"limit": 10}.');
  }
  const fields = { ...value };
  if (rule === "none" && Object.keys(fields).length > 0) {
    throw new AppError(
      "invalid",
      "This address takes no fields in a body. Put them into the address, as /api/v1/docs shows.",
    );
  }
  return fields;
}

function requireJsonType(header: string | undefined): void {
  const [type, ...parameters] = (header ?? "").toLowerCase().split(";");
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([^"\s]+)"?\s*$/.exec(parameter)?.[1])
    .find((found) => found !== undefined);
  if (
    type?.trim() === "application/json" &&
    (charset === undefined || charset === "utf-8" || charset === "utf8")
  )
    return;
  throw new AppError(
    "invalid",
    "Content-Type: must be application/json (in UTF-8). Send the arguments as a JSON object with that header.",
  );
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    // The parser's own words quote the body, and differ between versions of Node.
    throw new AppError("invalid", "The body is not valid JSON in UTF-8. Check quotes, commas and braces.");
  }
}

/** A body that is no JSON object but one argument of it, such as a table. */
export interface RawBody {
  readonly type: string;
  readonly argument: string;
  readonly maxBytes: number;
  /** Throws `invalid`. */
  readonly read: (bytes: Buffer) => string;
}

/** Whether the request brings such a body. */
export function isRaw(request: Request, raw: RawBody | undefined): raw is RawBody {
  const [type = ""] = (request.headers["content-type"] ?? "").split(";");
  return raw !== undefined && type.trim().toLowerCase() === raw.type;
}

/** The argument that the body is, beside those of the address. */
export function readRawBody(request: Request, { argument, read }: RawBody): JsonObject {
  const body: unknown = request.body;
  return { [argument]: read(Buffer.isBuffer(body) ? body : Buffer.alloc(0)) };
}

const MIB = 1024 * 1024;

function tooLarge(maxBytes: number): AppError {
  if (maxBytes === MAX_BODY_BYTES) return new AppError("too_large", TOO_LARGE_SENTENCE);
  return new AppError("too_large", `The body is larger than ${maxBytes / MIB} MiB. Divide it.`);
}

/** A body whose length says too much is not read. Node throws away what still comes. */
const refuseLarge =
  (maxBytes: number): RequestHandler =>
  (request, _response, next) => {
    if (Number(request.headers["content-length"] ?? 0) > maxBytes) throw tooLarge(maxBytes);
    next();
  };

const explainUnread =
  (maxBytes: number): ErrorRequestHandler =>
  (error: unknown, _request, _response, next) => {
    const type = typeOf(error);
    if (type === "request.aborted") return;
    if (type === null) return next(error);
    const sentence =
      "The body could not be read. Send JSON in UTF-8, plain or compressed with gzip, deflate or br.";
    next(
      type === "entity.too.large" ? tooLarge(maxBytes) : new AppError("invalid", sentence, { cause: error }),
    );
  };

/** The reader's name for what went wrong; null for an error that is not the reader's. */
function typeOf(error: unknown): string | null {
  if (!(error instanceof Error) || error instanceof AppError || !("status" in error)) return null;
  return "type" in error && typeof error.type === "string" ? error.type : "unreadable";
}

type Reader = readonly (RequestHandler | ErrorRequestHandler)[];

/** Reads a body whole, so that 413 comes before what is wrong with its content. */
const readUpTo = (maxBytes: number, type: (request: Request) => boolean): Reader => {
  const limit = refuseLarge(maxBytes);
  const refuse: RequestHandler = (request, response, next) =>
    type(request) ? limit(request, response, next) : next();
  return [
    refuse,
    express.raw({ type: (request) => type(request as Request), limit: maxBytes }),
    explainUnread(maxBytes),
  ];
};

export const readBody: Reader = readUpTo(MAX_BODY_BYTES, () => true);

/** The same where a body may be something else, and larger. */
export function readBodyOr(raw: RawBody | undefined): Reader {
  if (raw === undefined) return readBody;
  return [
    ...readUpTo(MAX_BODY_BYTES, (request) => !isRaw(request, raw)),
    ...readUpTo(raw.maxBytes, (request) => isRaw(request, raw)),
  ];
}
