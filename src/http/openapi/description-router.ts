import { Router } from "express";
import type { AppContext } from "../../services/context.ts";
import { methodNotAllowed } from "../errors.ts";
import { createOpenApi, type OpenApiSource } from "./openapi.ts";
import { DOCS_SCRIPT, DOCS_SCRIPT_SOURCE, DOCS_STYLES } from "./docs-assets.ts";
import { docsView } from "./docs-view.ts";
import { html } from "../pages/html.ts";
import { sendPage } from "../pages/layout.ts";

/** `openapi.json` and the page that shows it, both without a key. */
export function createDescriptionRouter(ctx: AppContext, source: OpenApiSource): Router {
  const router = Router({ caseSensitive: true });
  // Made when first asked for: stdio and the command line never need it.
  let made: ReturnType<typeof createOpenApi> | null = null;
  const description = (): ReturnType<typeof createOpenApi> => (made ??= createOpenApi(source));
  router
    .route("/openapi.json")
    .get(async (_request, response) => {
      response
        .set("Cache-Control", "no-cache")
        .json({ ...description(), servers: [{ url: await ctx.publicUrl() }] });
    })
    .all(methodNotAllowed(["get"]));
  router
    .route("/docs")
    .get(async (_request, response) => {
      const view = docsView(description(), await ctx.publicUrl());
      sendPage(response, {
        title: "Posthorn API",
        body: html`${view}${DOCS_SCRIPT}`,
        styles: DOCS_STYLES,
        allow: { "script-src": [DOCS_SCRIPT_SOURCE] },
        cacheControl: "no-cache",
      });
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
