import type { ServerContext } from "@modelcontextprotocol/server";
import type { AppContext, CallContext } from "../services/context.ts";

/** A client draws nothing faster, and each notification costs a frame. */
const MIN_INTERVAL_MS = 100;

export interface ProgressReport {
  readonly tell: CallContext["progress"];
  /** Resolves when everything told so far has been handed to the transport: progress comes before the result. */
  sent(): Promise<void>;
}

/** Passes a call's progress on to a client that asked for it, always rising and not too often. */
export function createProgress({ mcpReq }: ServerContext, clock: AppContext["clock"]): ProgressReport {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { tell: () => {}, sent: async () => {} };
  let last = -1;
  let toldAt = Number.NEGATIVE_INFINITY;
  let sending = Promise.resolve();
  const tell: CallContext["progress"] = (done, total, message) => {
    const now = clock.monotonic();
    if (done <= last || (done !== total && now - toldAt < MIN_INTERVAL_MS)) return;
    last = done;
    toldAt = now;
    const params = { progressToken, progress: done, ...(total === null ? {} : { total }), message };
    sending = sending
      .then(() => mcpReq.notify({ method: "notifications/progress", params }))
      .catch(() => {
        // The client has gone; the call's own answer finds out.
      });
  };
  return { tell, sent: () => sending };
}
