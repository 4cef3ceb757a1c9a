import { MINUTE, SECOND } from "../domain/time.ts";
import type { AppContext } from "../context.ts";

const EVERY_MS = MINUTE;
const TIMEOUT_MS = 15 * SECOND;

/**
 * Calls the address of the settings each minute while publishing works, so that a service that watches it notices
 * when it does not. A call that fails is logged, and does no harm. Answers how to end it.
 */
export function startHeartbeat(ctx: AppContext, isHealthy: () => boolean): { close(): void } {
  const { heartbeatUrl: url = null } = ctx.settings;
  const stop = new AbortController();
  const keep = async (address: string): Promise<void> => {
    for (;;) {
      await ctx.clock.sleep(EVERY_MS, stop.signal);
      if (isHealthy()) await call(ctx, address, stop.signal);
    }
  };
  if (url !== null) keep(url).catch(() => {});
  return { close: () => stop.abort(new Error("The process is stopping.")) };
}

/** Its path may be a secret and is not logged. */
async function call(ctx: AppContext, url: string, signal: AbortSignal): Promise<void> {
  try {
    // The operator names it, as the addresses of platforms: it may be in this network.
    const request = { method: "GET", url, timeoutMs: TIMEOUT_MS, mayBePrivate: true, signal } as const;
    const { status, body } = await ctx.outbound.request(request);
    body.destroy();
    if (status >= 400) ctx.log.warn({ status }, "the address of POSTHORN_HEARTBEAT_URL refused the call");
  } catch (err) {
    if (!signal.aborted) ctx.log.warn({ err }, "the address of POSTHORN_HEARTBEAT_URL could not be called");
  }
}
