import { Router, type RequestHandler } from "express";
import { AppError } from "../../domain/errors.ts";
import type { AppContext } from "../../context.ts";
import { isDatabaseReady } from "../../health/status.ts";
import { methodNotAllowed } from "../errors.ts";

/** For supervisors and load balancers, without a key and under any name of the machine. */
export function createHealthRouter(ctx: AppContext, isPublisherReady: () => boolean): Router {
  const router = Router();
  add(router, "/healthz", (_request, response) => void response.json({ status: "ok" }));
  add(router, "/readyz", async (_request, response) => {
    if (!ctx.store.isPresent()) throw ctx.store.lost.reason;
    if (!(await isDatabaseReady(ctx)))
      throw new AppError("unavailable", "The database does not answer. The server's log says why.");
    if (!isPublisherReady())
      throw new AppError(
        "unavailable",
        "The publisher does not run, or could not write just now. The server's log says why.",
      );
    response.json({ status: "ready" });
  });
  return router;
}

function add(router: Router, path: string, handler: RequestHandler): void {
  router
    .route(path)
    .get(handler)
    .all(methodNotAllowed(["get"]));
}
