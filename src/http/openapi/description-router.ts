import { type RequestHandler, Router } from "express";
import type { AppContext } from "../../context.ts";
import { limitVisitors } from "../access/auth.ts";
import { methodNotAllowed } from "../errors.ts";
import { readQuery } from "../query.ts";
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
  const limit = limitVisitors(ctx);
  const keep = keepBytes();
  const answer = (path: string, type: string, find: () => Promise<Buffer>): void => {
    router
      .route(path)
      .get(limit, async (request, response) => {
        readQuery(request, {});
        const body = await find();
        response.set("Cache-Control", "no-cache").type(`${type}; charset=utf-8`).send(body);
      })
      .all(methodNotAllowed(["get"]));
  };
  answer("/openapi.json", "application/json", async () => {
    const url = await ctx.publicUrl();
    return keep(url, async () => JSON.stringify({ ...createOpenApi(source), servers: [{ url }] }));
  });
  router.use("/docs", (_request, response, next) => {
    response.set("Content-Security-Policy", DOCS_POLICY);
    next();
  });
  answer("/docs", "text/html", () => keep("docs", async () => DOCS_PAGE));
  answer("/docs/swagger-ui.js", "text/javascript", () =>
    keep("script", async () => (await readViewer()).script),
  );
  answer("/docs/swagger-ui.css", "text/css", () => keep("style", async () => (await readViewer()).style));
  return router;
}

async function readViewer(): Promise<SwaggerUi> {
  const { readSwaggerUi } = await import("./swagger-ui.ts");
  return readSwaggerUi();
}

/** Makes large texts when they are first asked for. Answers that wait to be read share their bytes. */
function keepBytes(): (name: string, make: () => Promise<string>) => Promise<Buffer> {
  const kept = new Map<string, Promise<Buffer>>();
  return (name, make) => {
    const bytes = kept.get(name) ?? make().then((text) => Buffer.from(text));
    kept.set(name, bytes);
    return bytes;
  };
}

/** Takes a person to a page, the one that explains the server by default. Programs are told that nothing is there. */
export function createFrontDoor({ hasPage }: { readonly hasPage: boolean }): Router {
  const router = Router({ caseSensitive: true });
  const lead =
    (path: string): RequestHandler =>
    (request, response, next) => {
      if (request.accepts(["json", "html"]) === "html")
        response.set("Cache-Control", "no-cache").redirect(path);
      else next();
    };
  router.get("/", lead(hasPage ? "/app" : "/api/v1/docs"));
  router.get("/docs", lead("/api/v1/docs"));
  return router;
}
