import { Router, type RequestHandler } from "express";
import type { AppContext } from "../../services/context.ts";
import { limitVisitors } from "../access/auth.ts";
import { methodNotAllowed } from "../errors.ts";
import { html } from "../pages/html.ts";
import { ICON } from "../pages/layout.ts";
import { createOpenApi, type OpenApiSource } from "./openapi.ts";
import type { SwaggerUi } from "./swagger-ui.ts";

/** Swagger UI styles its elements one by one. It loads nothing from elsewhere and calls only this server. */
const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const DOCS_PAGE = html`<!doctype html>
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>Posthorn API</title>
      <link rel="icon" href="${ICON}" />
      <link rel="stylesheet" href="docs/swagger-ui.css" />
    </head>
    <body>
      <div id="docs"></div>
      <noscript
        >This page needs a script. The description for programs is
        <a href="openapi.json">openapi.json</a>.</noscript
      >
      <script src="docs/swagger-ui.js"></script>
    </body>
  </html> `.text;

/** `openapi.json` and the page that shows it, both without a key. */
export function createDescriptionRouter(ctx: AppContext, source: OpenApiSource): Router {
  const router = Router({ caseSensitive: true, strict: true });
  // Made when first asked for: stdio and the command line never need it.
  let description: ReturnType<typeof createOpenApi> | null = null;
  let viewer: Promise<SwaggerUi> | null = null;
  const readViewer = (): Promise<SwaggerUi> =>
    (viewer ??= import("./swagger-ui.ts").then(({ readSwaggerUi }) => readSwaggerUi()));
  const limit = limitVisitors(ctx);
  const answer = (path: string, handler: RequestHandler): void => {
    router
      .route(path)
      .get(limit, (_request, response, next) => next(void response.set("Cache-Control", "no-cache")), handler)
      .all(methodNotAllowed(["get"]));
  };
  answer("/openapi.json", async (_request, response) => {
    description ??= createOpenApi(source);
    response.json({ ...description, servers: [{ url: await ctx.publicUrl() }] });
  });
  answer("/docs", (_request, response) => {
    response.set("Content-Security-Policy", DOCS_POLICY).type("html").send(DOCS_PAGE);
  });
  answer("/docs/swagger-ui.js", async (_request, response) => {
    response.type("js").send((await readViewer()).script);
  });
  answer("/docs/swagger-ui.css", async (_request, response) => {
    response.type("css").send((await readViewer()).style);
  });
  return router;
}

/**
 * Takes a person who only knows where the server is to the page that explains it; programs are told that
 * nothing is there.
 */
export function createFrontDoor(): Router {
  const router = Router({ caseSensitive: true });
  router.get(["/", "/docs"], (request, response, next) => {
    if (request.accepts(["json", "html"]) === "html")
      response.set("Cache-Control", "no-cache").redirect("/api/v1/docs");
    else next();
  });
  return router;
}
