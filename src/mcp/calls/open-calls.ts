import type { AppContext, CallContext } from "../../context.ts";
import type { LoggingLevel, Server, ServerContext } from "@modelcontextprotocol/server";

/** The tool calls under way, so that an ending server can wait for their answers. */
export class OpenCalls {
  readonly #open = new Set<Promise<unknown>>();

  track<T>(call: Promise<T>): Promise<T> {
    this.#open.add(call);
    const forget = (): void => void this.#open.delete(call);
    call.then(forget, forget);
    return call;
  }

  async settled(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled(this.#open);
  }
}

/** Waits for the work, but no longer than `ms`. */
export async function within(clock: AppContext["clock"], ms: number, work: Promise<void>): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const cancel = clock.after(ms, resolve);
    void work.then(resolve, reject).finally(cancel);
  });
}

/** A client draws nothing faster, and each notification costs a frame. */
const MIN_INTERVAL_MS = 100;

interface ProgressReport {
  readonly tell: CallContext["progress"];
  /** Resolves when the transport has all that was told: progress comes before the result. */
  sent(): Promise<void>;
}

interface ProgressDeps {
  readonly clock: AppContext["clock"];
  /** Tells a client that asked for a log instead. */
  readonly log: (text: string) => Promise<void>;
}

/** Passes progress on, rising and not too often: to clients that asked for it, and into their log. */
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

const LEVEL = "info";

/** From here on a client wants less than that. */
const HIGHER: readonly LoggingLevel[] = ["notice", "warning", "error", "critical", "alert", "emergency"];

/** What a client of an older revision is told beside answers, if it named a level. */
export class ClientLog {
  #level: LoggingLevel | null = null;

  constructor(server: Server) {
    server.setRequestHandler("logging/setLevel", ({ params }) => {
      this.#level = params.level;
      return {};
    });
  }

  async write({ mcpReq }: ServerContext, text: string, logger: string): Promise<void> {
    if (this.#level === null || HIGHER.includes(this.#level)) return;
    await mcpReq.notify({ method: "notifications/message", params: { level: LEVEL, logger, data: text } });
  }
}
