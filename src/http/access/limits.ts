import { rateLimit, type ClientRateLimitInfo, type Options, type Store } from "express-rate-limit";
import type { RequestHandler } from "express";
import { MINUTE } from "../../domain/time.ts";
import type { AppContext } from "../../services/context.ts";
import { networkOf } from "./network-of.ts";

interface Limit extends Partial<Options> {
  /** Tells what it counts from what others do; each limit has a name of its own. */
  readonly name: string;
}

/** Limits requests a minute, by their network unless told otherwise; on several machines, over all of them. */
export function limitRequests(ctx: AppContext, { name, ...options }: Limit): RequestHandler {
  const shared = sharedStore(ctx, name);
  return rateLimit({
    windowMs: MINUTE,
    keyGenerator: ({ ip }) => networkOf(ip),
    standardHeaders: "draft-8",
    legacyHeaders: false,
    // Behind a reverse proxy these headers are usual; they are not trusted, so there is nothing to warn of.
    // A batch is counted several times on purpose.
    validate: { xForwardedForHeader: false, forwardedHeader: false, singleCount: false },
    logger: {
      error: (error) => ctx.log.error({ err: error }, "The rate limit does not work"),
      warn: (error) => ctx.log.warn({ err: error }, "The rate limit warns"),
    },
    ...(shared === null ? {} : { store: shared }),
    ...options,
  });
}

/** Null where the memory of this process is all that there is to count in. */
function sharedStore({ store: { counts }, clock }: AppContext, name: string): Store | null {
  if (counts === null) return null;
  const count = (key: string, by: number): ClientRateLimitInfo => {
    const now = clock.now();
    const { total, endsAt } = counts.add(`${name} ${key}`, { windowMs: MINUTE, now, by });
    // Read by this machine's clock, which need not be the one that all of them go by.
    return { totalHits: total, resetTime: new Date(Date.now() + endsAt - now) };
  };
  return {
    localKeys: false,
    increment: (key) => count(key, 1),
    decrement: (key) => void count(key, -1),
    resetKey: (key) => void count(key, -count(key, 0).totalHits),
  };
}
