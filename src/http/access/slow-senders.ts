import type { Request, RequestHandler, Response } from "express";
import { SECOND } from "../../domain/time.ts";
import type { Clock } from "../../ports/clock.ts";

/** How long a body may take: uploads have none of this, so the server itself sets no limit. */
export const MAX_BODY_MS = 30 * SECOND;

/**
 * Whoever is still sending when the answer is out gets this long to see it: nobody reads what still comes.
 */
const MAX_REST_MS = 30 * SECOND;

/** Ends a request whose body has not come in time; `refuse` answers it. */
export function limitBodyTime(clock: Clock, refuse: (response: Response) => void): RequestHandler {
  return (request, response, next) => {
    endLater(clock, request, MAX_BODY_MS, () => {
      if (response.headersSent) return void request.destroy();
      response.set("Connection", "close").once("finish", () => request.destroy());
      refuse(response);
    });
    next();
  };
}

/** Nobody holds a connection for ever by sending on, drop by drop, after the answer. */
export function limitRest(clock: Clock): RequestHandler {
  return (request, response, next) => {
    response.once("finish", () => endLater(clock, request, MAX_REST_MS, () => request.destroy()));
    next();
  };
}

function endLater(clock: Clock, request: Request, ms: number, end: () => void): void {
  if (request.complete || request.destroyed) return;
  const cancel = clock.after(ms, () => {
    if (!request.complete) end();
  });
  request.once("end", cancel).once("close", cancel);
}

/** Longest silence of somebody who sends a file, or takes one: until then it stays open. */
const MAX_SILENCE_MS = 60 * SECOND;

/** Ends an upload of which nothing has come for a while. */
export function limitSilence(clock: Clock, request: Request): void {
  const done = new AbortController();
  request.once("end", () => done.abort());
  request.once("close", () => done.abort());
  onStandstill(clock, () => request.socket.bytesRead, done.signal).then(
    () => request.destroy(),
    () => {
      // It came whole, or its sender has gone.
    },
  );
}

/** Ends an answer of which nothing has been taken for a while. */
export function limitStall(clock: Clock, response: Response): void {
  const done = new AbortController();
  response.once("close", () => done.abort());
  onStandstill(clock, () => response.socket?.bytesWritten ?? 0, done.signal).then(
    () => response.destroy(),
    () => {
      // It was taken whole, or its receiver has gone.
    },
  );
}

/** Resolves when a count has stood still; rejects when `signal` is aborted before. */
async function onStandstill(clock: Clock, count: () => number, signal: AbortSignal): Promise<void> {
  for (let last = -1; last !== count();) {
    last = count();
    await clock.sleep(MAX_SILENCE_MS, signal);
  }
}
