import { Router } from "express";
import type { AppContext } from "../../services/context.ts";
import { limitVisitors } from "../access/auth.ts";
import { methodNotAllowed } from "../errors.ts";
import { createOpenApi, type OpenApiSource } from "./openapi.ts";
import { DOCS_SCRIPT, DOCS_SCRIPT_SOURCE, DOCS_STYLES } from "./docs-assets.ts";
import { docsView } from "./docs-view.ts";
import { html } from "../pages/html.ts";
import { KeptPages, type MadePage } from "../pages/kept-pages.ts";
import { makePage } from "../pages/layout.ts";

/** `openapi.json` and the page that shows it, both without a key. */
export function createDescriptionRouter(ctx: AppContext, source: OpenApiSource): Router {
  const router = Router({ caseSensitive: true });
  // Made when first asked for: stdio and the command line never need it.
  let made: ReturnType<typeof createOpenApi> | null = null;
  const description = (): ReturnType<typeof createOpenApi> => (made ??= createOpenApi(source));
  const pages = new KeptPages();
  const limit = limitVisitors(ctx);
  router
    .route("/openapi.json")
    .get(limit, async (request, response) => {
      const url = await ctx.publicUrl();
      const make = (): MadePage => ({
        headers: { "Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-cache" },
        body: JSON.stringify({ ...description(), servers: [{ url }] }),
      });
      pages.send({ request, response }, { content: ["openapi", url], make });
    })
    .all(methodNotAllowed(["get"]));
  router
    .route("/docs")
    .get(limit, async (request, response) => {
      const url = await ctx.publicUrl();
      const make = (): MadePage =>
        makePage({
          title: "Posthorn API",
          body: html`${docsView(description(), url)}${DOCS_SCRIPT}`,
          styles: DOCS_STYLES,
          allow: { "script-src": [DOCS_SCRIPT_SOURCE] },
          cacheControl: "no-cache",
        });
      pages.send({ request, response }, { content: ["docs", url], make });
    })
    .all(methodNotAllowed(["get"]));
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
