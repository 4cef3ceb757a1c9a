import type { Request, RequestHandler, Response } from "express";
import { SECOND } from "../../domain/time.ts";
import type { Clock } from "../../ports/clock.ts";

/** How long a body may take that is no upload, and what is still sent after an answer. */
export const MAX_BODY_MS = 30 * SECOND;

/** Ends a request whose body has not come in time; `refuse` answers it. */
export function limitBodyTime(clock: Clock, refuse: (response: Response) => void): RequestHandler {
  return (request, response, next) => {
    endLater(clock, request, () => {
      if (response.headersSent) return void request.destroy();
      response.set("Connection", "close").once("finish", () => request.destroy());
      refuse(response);
    });
    next();
  };
}

/** Ends a request that still sends half a minute after its answer. Until then its sender can read the answer. */
export function limitRest(clock: Clock): RequestHandler {
  return (request, response, next) => {
    response.once("finish", () => endLater(clock, request, () => request.destroy()));
    next();
  };
}

function endLater(clock: Clock, request: Request, end: () => void): void {
  if (request.complete || request.destroyed) return;
  const cancel = clock.after(MAX_BODY_MS, () => {
    if (!request.complete) end();
  });
  request.once("end", cancel).once("close", cancel);
}
