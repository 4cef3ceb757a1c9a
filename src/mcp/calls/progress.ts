import type { ServerContext } from "@modelcontextprotocol/server";
import type { AppContext, CallContext } from "../../context.ts";

/** A client draws nothing faster, and each notification costs a frame. */
const MIN_INTERVAL_MS = 100;

interface ProgressReport {
  readonly tell: CallContext["progress"];
  /**
   * Resolves when everything told so far has been handed to the transport: progress comes before the result.
   */
  sent(): Promise<void>;
}

interface ProgressDeps {
  readonly clock: AppContext["clock"];
  /** Tells a client that asked for a log instead. */
  readonly log: (text: string) => Promise<void>;
}

/**
 * Passes a call's progress on, always rising and not too often: as progress to a client that asked for it,
 * and into its log.
 */
export function createProgress({ mcpReq }: ServerContext, { clock, log }: ProgressDeps): ProgressReport {
  const progressToken = mcpReq._meta?.progressToken;
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
      .then(() =>
        progressToken === undefined ? undefined : mcpReq.notify({ method: "notifications/progress", params }),
      )
      .then(() => log(message))
      .catch(() => {
        // The client has gone; the call's own answer finds out.
      });
  };
  return { tell, sent: () => sending };
}
