import { type Request, type RequestHandler, Router } from "express";
import { AppError } from "../../domain/errors.ts";
import type { AppContext } from "../../context.ts";
import { isDatabaseReady } from "../../reporting/health/status.ts";
import { methodNotAllowed } from "../errors.ts";
import { createHash, timingSafeEqual } from "node:crypto";
import { createMeasurements } from "../../reporting/health/metrics.ts";
import { bearerOf, limitFailures } from "../access/auth.ts";
import type { About, Meters } from "./metrics-text.ts";

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

/** `GET /metrics` for Prometheus, with a token: numbers only, no owner, account, address or text. */
export function createMetrics(
  ctx: AppContext,
  { token, ...about }: { token: string } & About,
): [RequestHandler, Router] {
  const measure = createMeasurements(ctx);
  // Few instances are scraped; the others do not load the library.
  const meters = import("./metrics-text.ts").then(({ createMeters }) => createMeters(about));
  const router = Router({ caseSensitive: true });
  router
    .route("/metrics")
    .get(requireToken(token, limitFailures(ctx, "metrics token")), async (_request, response) => {
      const { contentType, text } = await (await meters).render(await measure());
      response.set({ "Content-Type": contentType, "Cache-Control": "no-store" }).send(text);
    })
    .all(methodNotAllowed(["get"]));
  return [watch(ctx, meters), router];
}

function requireToken(token: string, limitFailed: RequestHandler): RequestHandler {
  const wanted = sha256(token);
  const refusal =
    'The metrics token is missing or wrong. Send "Authorization: Bearer <POSTHORN_METRICS_TOKEN>".';
  return (request, response, next) => {
    const given = bearerOf(request) ?? "";
    if (timingSafeEqual(sha256(given), wanted)) return next();
    return limitFailed(request, response, (error?: unknown) =>
      next(error ?? new AppError("unauthenticated", refusal)),
    );
  };
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function watch({ clock, log }: AppContext, meters: Promise<Meters>): RequestHandler {
  return (request, response, next) => {
    const startedAt = clock.monotonic();
    response.once("close", () => {
      const seconds = (clock.monotonic() - startedAt) / 1_000;
      const labels = { method: request.method, route: routeOf(request), status: String(response.statusCode) };
      meters.then(
        (ready) => ready.observe(labels, seconds),
        (error: unknown) => log.error({ err: error }, "a request could not be measured"),
      );
    });
    next();
  };
}

/** The pattern, never the path itself: ids and tokens stand there. */
function routeOf(request: Request): string {
  const route: { path?: unknown } | undefined = request.route;
  const pattern = route?.path;
  if (typeof pattern !== "string") return "other";
  if (/[*{]/.test(pattern)) return pattern;
  // Where the router is mounted; `request.baseUrl` does not tell any more once an error has left the router.
  const path = request.originalUrl.replace(/\/?([?#].*)?$/s, "").split("/");
  return path.slice(0, path.length - pattern.split("/").length + 1).join("/") + pattern;
}
