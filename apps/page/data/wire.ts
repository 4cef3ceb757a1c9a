import type { Sentence } from "../../../src/domain/sentences.ts";
import { type Json, jsonOf, textOf } from "../../shared/json.ts";
import { DEVICE_OFFLINE, SERVER_SILENT } from "../../shared/reach.ts";
import { sentenceOf } from "../../shared/texts.ts";
import { readSentences, sentencesOf, wordAnswer } from "../../shared/sentences.ts";
import { inWords, PAGE_WORDS } from "../../words.ts";

/** Of all calls of the page, below the server's own address. */
const BASE = "/app/api";

/** A refusal, or a server that is out of reach (`status` 0). `message` is for people. */
export class CallError extends Error {
  readonly status: number;
  /** What the message says, by the fields that it is about. */
  readonly sentences: readonly Sentence[];

  constructor(status: number, said: string | readonly Sentence[]) {
    const sentences = typeof said === "string" ? sentencesOf(said) : said;
    super(inWords(sentences, PAGE_WORDS));
    this.name = "CallError";
    this.status = status;
    this.sentences = sentences;
  }
}

export interface CallOptions {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  readonly body?: Json;
  readonly signal?: AbortSignal;
  /** The same key: done once, however often it is sent. */
  readonly idempotencyKey?: string;
  /** Goes on when the window is closed. Browsers take 64 KiB of it. */
  readonly keepalive?: boolean;
}

/** Told when the server says that the session is over. */
let signedOutListener: () => void = () => {};

export function onSignedOut(listener: () => void): void {
  signedOutListener = listener;
}

/** Whether this device has a network, as its browser says. */
let isOnline = (): boolean => true;

export function onlineBy(ask: () => boolean): void {
  isOnline = ask;
}

/** Told when a call gets no answer. */
let unreachedListener: () => void = () => {};

export function onUnreached(listener: () => void): void {
  unreachedListener = listener;
}

/** Headers that every write of the page carries. No other page can send them. */
export const PAGE_HEADERS = { "X-Posthorn-Page": "1" } as const;

/** Calls the server. Rejects with `CallError`; an aborted call rejects as `fetch` does. */
export async function send<Answer extends Json = Json>(
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const { method = "GET", body, signal, idempotencyKey, keepalive = false } = options;
  const headers = {
    ...PAGE_HEADERS,
    ...(body !== undefined && { "Content-Type": "application/json" }),
    ...(idempotencyKey !== undefined && { "Idempotency-Key": idempotencyKey }),
  };
  const answer = await fetch(`${BASE}${path}`, {
    method,
    headers,
    keepalive,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    unreachedListener();
    throw new CallError(0, isOnline() ? SERVER_SILENT : DEVICE_OFFLINE);
  });
  // Not checked: server and page are of one version, and the server holds its answers to its schemas.
  const value = await answer
    .text()
    .then(JSON.parse)
    .catch(() => ({}));
  if (answer.ok) return value;
  if (answer.status === 401) signedOutListener();
  const { error, sentences } = jsonOf(value);
  const told = readSentences(sentences);
  const text = textOf(error) || `The server answered with status ${answer.status}.`;
  throw new CallError(answer.status, told.length > 0 ? told : text);
}

/** Calls a tool, as every other client does, and answers its result with its sentences in words for people. */
export async function callTool<Result extends Json = Json>(
  name: string,
  args: Json = {},
  options: CallOptions = {},
): Promise<Result> {
  const body = { ...options, method: "POST", body: args } as const;
  const { result, sentences } = await send<{ result: Result; sentences?: unknown }>(`/tools/${name}`, body);
  wordAnswer(result, sentences, PAGE_WORDS);
  return result;
}

/** The address of a small picture of a medium, at most `size` pixels wide and high. */
export function pictureUrl(mediaUrl: string, size: 96 | 240 | 480 | 960): string {
  return `${BASE}/pictures?${new URLSearchParams({ url: mediaUrl, size: String(size) }).toString()}`;
}

/** The address of a file's own bytes. */
export function contentUrl(fileId: string): string {
  return `${BASE}/files/${encodeURIComponent(fileId)}/content`;
}

const FINAL: readonly number[] = [400, 403, 404];

/** Whether the same call would be refused again: it asks for what is not there, or is not allowed. */
export function isFinal(error: unknown): boolean {
  return error instanceof CallError && FINAL.includes(error.status);
}

/** What went wrong, by the fields that it is about. */
export function said(error: unknown): readonly Sentence[] {
  return error instanceof CallError ? error.sentences : sentencesOf(sentenceOf(error));
}
