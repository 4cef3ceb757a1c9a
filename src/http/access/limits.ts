import { rateLimit, type Options } from "express-rate-limit";
import type { RequestHandler } from "express";
import { MINUTE } from "../../domain/time.ts";
import type { AppContext } from "../../services/context.ts";
import { networkOf } from "./network-of.ts";

/** Limits requests a minute, by their network unless told otherwise. Each process counts for itself. */
export function limitRequests(ctx: AppContext, options: Partial<Options>): RequestHandler {
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
    ...options,
  });
}
