import { isIP } from "node:net";
import type { LookupAddress } from "node:dns";
import { lookup as systemLookup } from "node:dns/promises";
import { Gate } from "../../domain/gate.ts";
import { SECOND } from "../../domain/time.ts";
import type { Clock } from "../../ports/clock.ts";

/** Every address of a name. */
export type Lookup = (hostname: string) => Promise<readonly LookupAddress[]>;

export const resolveBySystem: Lookup = (hostname) => systemLookup(hostname, { all: true });

const REMEMBERED_MS = 30 * SECOND;
/** A resolver that was not there may be back soon. */
const FAILURE_REMEMBERED_MS = 10 * SECOND;
const MAX_NAMES = 1_000;

export interface Names {
  /**
   * Finds the addresses of a host, so that `lookup` has them. Throws what the resolver says, or the reason of
   * `signal`.
   */
  find(hostname: string, whose: { readonly ownerId?: string; readonly signal: AbortSignal }): Promise<void>;
  /** For connections: what was found. */
  readonly lookup: Lookup;
}

interface Known {
  readonly addresses: ReturnType<Lookup>;
  /** Infinity while it is being looked up. */
  until: number;
}

/**
 * Node has but two threads in which the system's resolver may wait for an answer. A name server that never
 * answers holds one up for some ten seconds. So each owner has one look-up at a time, and each name is looked
 * up once and remembered for a moment.
 */
export function createNames(resolve: Lookup, clock: Pick<Clock, "monotonic">): Names {
  const known = new Map<string, Known>();
  const gate = new Gate(Infinity, { maxPerOwner: 1 });
  const recall = (hostname: string): ReturnType<Lookup> | null => {
    const found = known.get(hostname);
    return found !== undefined && clock.monotonic() < found.until ? found.addresses : null;
  };
  const ask = (hostname: string): ReturnType<Lookup> => {
    const found: Known = { addresses: resolve(hostname), until: Infinity };
    found.addresses.then(
      () => (found.until = clock.monotonic() + REMEMBERED_MS),
      () => (found.until = clock.monotonic() + FAILURE_REMEMBERED_MS),
    );
    known.delete(hostname);
    known.set(hostname, found);
    for (const oldest of [...known.keys()].slice(0, -MAX_NAMES)) known.delete(oldest);
    return found.addresses;
  };
  return {
    async find(hostname, { ownerId, signal }) {
      if (isIP(hostname.replace(/^\[|\]$/g, "")) !== 0) return;
      // Another owner's look-up of the same name waits no longer than one's own would.
      const found =
        recall(hostname) ??
        gate.pass(async () => {
          signal.throwIfAborted();
          return recall(hostname) ?? ask(hostname);
        }, ownerId);
      await unlessAborted(found, signal);
    },
    // Asked right after `find`, whose answer may have become too old in this moment.
    lookup: (hostname) => known.get(hostname)?.addresses ?? ask(hostname),
  };
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
    if (signal.aborted) leave();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}
