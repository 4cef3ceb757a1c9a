import { randomUUID } from "node:crypto";
import express, { type Express, type RequestHandler, Router } from "express";
import helmet from "helmet";
import type { TrustProxy } from "../domain/settings/http-address.ts";
import type { AppContext } from "../context.ts";
import type { Toolbox } from "../toolkit/toolbox.ts";
import { createGuard, type Guard, refuseTwoHosts } from "./access/auth.ts";
import { createDescriptionRouter, createFrontDoor } from "./openapi/description-router.ts";
import { errorHandler, notFound } from "./errors.ts";
import { createOAuthServer, type OAuthServer } from "../access/oauth/oauth-server.ts";
import { admitAgents, createOAuthRouter } from "./oauth/oauth-router.ts";
import { createHealthRouter, createMetrics } from "./health/health.ts";
import { createPageRouter, type PageParts } from "./page/page-router.ts";
import { addPlatformAppRoutes } from "./api/platform-app-routes.ts";
import { RESOURCE_ROUTES, type ResourceRoute } from "./api/resource-routes.ts";
import { addResourceRoutes, addToolRoutes } from "./api/routers.ts";

interface McpHandlers {
  readonly streamable: RequestHandler;
  readonly sse: RequestHandler;
  readonly messages: RequestHandler;
}

interface HealthDeps {
  readonly ctx: AppContext;
  readonly version: string;
  /** The address at which others reach this server. Null: only loopback. */
  readonly publicUrl: string | null;
  /** The proxies that are believed about the address of a request. Default: none. */
  readonly trustProxy?: TrustProxy;
  /** Opens `/metrics`; default: there is no such page. */
  readonly metricsToken?: string | null;
  readonly half?: "api" | "publisher" | null;
  /** Whether the publisher of this process works; true where it has none. */
  readonly isReady: () => boolean;
}

export interface HttpDeps extends HealthDeps {
  readonly toolbox: Toolbox;
  /** Requests a minute and key. */
  readonly rateLimit: number;
  readonly fixedApiKey: string | null;
  readonly mcp?: McpHandlers;
  /** Routers with whole paths of their own, pages and files. */
  readonly routers?: readonly ((guard: Guard) => Router)[];
  readonly routes?: readonly ResourceRoute[];
  /** The page at `/app`. Null: none. */
  readonly page?: PageParts | null;
  /** Programs get access to `/mcp` by OAuth, for which a person says yes on the page. Default: false. */
  readonly hasOAuth?: boolean;
}

/** The whole HTTP face: API, tools, MCP over HTTP, pages and health. */
export function createHttpApp(deps: HttpDeps): Express {
  const app = createBareApp(deps);
  const guard = createGuard(deps);
  for (const createRouter of deps.routers ?? []) app.use(createRouter(guard));
  const routes = deps.routes ?? RESOURCE_ROUTES;
  const source = { toolbox: deps.toolbox, routes, version: deps.version };
  app.use("/api/v1", createDescriptionRouter(deps.ctx, source), createApi(deps, routes, guard));
  const { page = null } = deps;
  const oauth = page === null ? null : createOAuth(deps);
  if (deps.mcp !== undefined)
    addMcpRoutes(app, deps.mcp, { guard, agents: oauth === null ? guard : admitAgents(deps, guard, oauth) });
  if (oauth !== null) app.use(createOAuthRouter(oauth));
  if (page !== null) app.use(createPageRouter({ ...deps, page, oauth }));
  app.use(createFrontDoor({ hasPage: page !== null }), notFound);
  app.use(errorHandler(deps.ctx.log));
  return app;
}

/** Only health and metrics, for a process whose work is elsewhere. */
export function createHealthApp(deps: HealthDeps): Express {
  const app = createBareApp(deps);
  app.use(notFound, errorHandler(deps.ctx.log));
  return app;
}

function createBareApp(deps: HealthDeps): Express {
  const app = express();
  app.disable("x-powered-by");
  // Addresses that a client writes into a header of its own are not believed.
  const { trustProxy = false } = deps;
  app.set("trust proxy", typeof trustProxy === "object" ? trustProxy.join() : trustProxy);
  app.set("query parser", false);
  app.set("case sensitive routing", true);
  app.use(nameRequest, logRequest(deps.ctx), secureHeaders(deps.publicUrl));
  app.use(refuseTwoHosts);
  app.use(createHealthRouter(deps.ctx, deps.isReady));
  const { ctx, metricsToken: token, version, isReady, half } = deps;
  if (typeof token === "string")
    app.use(...createMetrics(ctx, { token, version, process: { half: half ?? "all", isReady } }));
  return app;
}

/** A router, not an app of its own: that would give request and response other prototypes, which is slow. */
function createApi(deps: HttpDeps, routes: readonly ResourceRoute[], guard: Guard): Router {
  const api = Router({ caseSensitive: true });
  api.use((_request, response, next) => {
    response.set("Cache-Control", "no-store");
    next();
  });
  api.use(...guard.identify);
  addToolRoutes(api, deps.toolbox, { guard });
  addPlatformAppRoutes(api, deps.ctx, guard);
  addResourceRoutes(api, routes, { toolbox: deps.toolbox, guard });
  api.use(guard.limit, notFound);
  return api;
}

function createOAuth({ ctx, hasOAuth, publicUrl, fixedApiKey }: HttpDeps): OAuthServer | null {
  return hasOAuth !== true || publicUrl === null
    ? null
    : createOAuthServer(ctx, { publicUrl, fixedKey: fixedApiKey });
}

/** `agents`: the guard of `/mcp`, which alone tokens open. */
function addMcpRoutes(
  app: Express,
  mcp: McpHandlers,
  { guard, agents }: Readonly<Record<"guard" | "agents", Guard>>,
): void {
  app.all("/mcp", ...agents.identify, agents.limit, mcp.streamable);
  app.all("/sse", ...guard.identify, guard.limit, mcp.sse);
  app.all("/messages", ...guard.identify, guard.limit, mcp.messages);
}

const OUTSIDE_ID = /^[\w.-]{1,128}$/;

/** Takes over the id that a proxy in front gave, so that one request has one name in every log. */
const nameRequest: RequestHandler = (request, response, next) => {
  const given = request.get("X-Request-Id") ?? "";
  const id = OUTSIDE_ID.test(given) ? given : randomUUID();
  response.locals["requestId"] = id;
  response.set("X-Request-Id", id);
  next();
};

/** Of the address only the path of the API is logged: elsewhere it can hold tokens and signatures. */
function logRequest({ log, clock }: AppContext): RequestHandler {
  return (request, response, next) => {
    const startedAt = clock.monotonic();
    const path = request.path.startsWith("/api/") ? request.path : `/${request.path.split("/")[1] ?? ""}`;
    response.once("close", () => {
      const caller: { keyId: string } | null | undefined = response.locals["caller"];
      const ms = Math.round(clock.monotonic() - startedAt);
      const requestId: unknown = response.locals["requestId"];
      const { method } = request;
      log.debug(
        { requestId, method, path, status: response.statusCode, ms, keyId: caller?.keyId },
        "Request",
      );
    });
    next();
  };
}

function secureHeaders(publicUrl: string | null): RequestHandler {
  const directives = { defaultSrc: ["'none'"], frameAncestors: ["'none'"] };
  return helmet({
    contentSecurityPolicy: { useDefaults: false, directives },
    strictTransportSecurity: publicUrl?.startsWith("https:") === true ? { includeSubDomains: false } : false,
    xFrameOptions: { action: "deny" },
  });
}
