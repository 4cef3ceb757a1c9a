import type { Request, Response } from "express";
import { isJsonContentType, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { isDeeper } from "../../domain/whole-text.ts";
import type { Caller } from "../../domain/permissions.ts";
import type { OpenCalls } from "../calls/open-calls.ts";
import { MAX_MESSAGE_BYTES, MAX_MESSAGE_LEVELS } from "../limits.ts";
import type { KeyWatch } from "./key-watch.ts";

/** The range that JSON-RPC leaves to servers; the HTTP status says more. */
export const REFUSED = -32_000;
export const SESSION_NOT_FOUND = -32_001;

/** Answers what never became a JSON-RPC call. */
export function answerError(response: Response, status: number, code: number, message: string): void {
  response.status(status).json({ jsonrpc: "2.0", error: { code, message }, id: null });
}

export function answerMethodNotAllowed(response: Response, allow: string): void {
  response.set("Allow", allow);
  answerError(response, 405, REFUSED, `This address takes ${allow}.`);
}

/** Counts each message of a batch against the key's limit. Throws `rate_limited`. */
export async function countBatch(response: Response, message: unknown): Promise<void> {
  const countCalls: ((count: number) => Promise<void>) | undefined = response.locals["countCalls"];
  if (Array.isArray(message)) await countCalls?.(message.length - 1);
}

/** Reads a body as JSON; null when it could not be, and the reason has been answered. */
export async function readMessage(request: Request, response: Response): Promise<{ value: unknown } | null> {
  if (!isJsonContentType(request.headers["content-type"] ?? null)) {
    answerError(response, 415, REFUSED, "Content-Type: must be application/json.");
    return null;
  }
  const bytes = await readBytes(request, response);
  if (bytes === null) return null;
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    answerError(response, 400, ProtocolErrorCode.ParseError, "The body is not valid JSON in UTF-8.");
    return null;
  }
  if (!isDeeper(value, MAX_MESSAGE_LEVELS)) return { value };
  // Whatever walks it would run out of stack.
  const reason = `The message is nested deeper than ${MAX_MESSAGE_LEVELS} levels. Flatten it.`;
  answerError(response, 400, ProtocolErrorCode.InvalidRequest, reason);
  return null;
}

async function readBytes(request: Request, response: Response): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    // The socket stays, for the answer; Node throws away what still comes.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= MAX_MESSAGE_BYTES) continue;
      const reason = `The message is longer than ${MAX_MESSAGE_BYTES / 1024 / 1024} MiB. Send less at once.`;
      answerError(response, 413, REFUSED, reason);
      return null;
    }
    return Buffer.concat(chunks);
  } catch {
    // The client went away in the middle.
    return null;
  }
}

/** What the transports over HTTP have in common. */
export interface TransportState {
  readonly openCalls: OpenCalls;
  readonly keys: KeyWatch;
}

export function callerOf(response: Response): Caller {
  const caller: Caller | undefined = response.locals["caller"];
  if (caller === undefined) throw new Error("An MCP handler was reached without the key check.");
  return caller;
}

/** A session belongs to the key that opened it. */
export function isSameKey(one: Caller, other: Caller): boolean {
  return one.ownerId === other.ownerId && one.keyId === other.keyId;
}

/** Nor to one that reaches less far by now: what the session does, it does as it was opened. */
export function isSameReach(one: Caller, other: Caller): boolean {
  const reachOf = ({ permissions, accountIds }: Caller): string => JSON.stringify([permissions, accountIds]);
  return isSameKey(one, other) && reachOf(one) === reachOf(other);
}
