import { setMaxListeners } from "node:events";

/**
 * Aborts with a `TimeoutError` after so many milliseconds, or with one of the others. `AbortSignal.timeout` within
 * `AbortSignal.any` does not do: when memory is collected, Node may let go of a source, and the abort never comes
 * (https://github.com/nodejs/node/issues/57736, https://github.com/nodejs/node/issues/65995). The timer holds this
 * one until its time.
 */
export function deadline(ms: number, ...others: readonly AbortSignal[]): AbortSignal {
  const over = new AbortController();
  const end = (): void => over.abort(new DOMException("The time for it was over.", "TimeoutError"));
  setTimeout(end, ms).unref();
  for (const other of others) {
    const follow = (): void => over.abort(other.reason);
    // One signal may end many calls at a time. Node takes more than ten of them for a leak.
    setMaxListeners(0, other);
    if (other.aborted) follow();
    else other.addEventListener("abort", follow, { once: true, signal: over.signal });
  }
  return over.signal;
}
