import { type RequestHandler, Router } from "express";
import type { OAuthServer } from "../../access/oauth/oauth-server.ts";
import type { Toolbox } from "../../toolkit/toolbox.ts";
import { addPlatformAppRoutes } from "../api/platform-app-routes.ts";
import { addToolRoutes } from "../api/routers.ts";
import { type AuthOptions, checkHost, type Guard, limitVisitors } from "../access/auth.ts";
import { methodNotAllowed, notFound, describeAsData } from "../errors.ts";
import { addFileRoutes } from "../files/files-routes.ts";
import type { UploadPlace } from "../files/resumable-uploads.ts";
import { addAdminRoutes, type Backups } from "./page-admin.ts";
import { addConsentRoutes } from "./consents.ts";
import { addOwnLinkRoutes } from "./own-links.ts";
import { createPageGuard } from "./page-guard.ts";
import { createPicturesRouter } from "./pictures.ts";
import { createPushRouter } from "./push.ts";
import { createShell, type ReadPageFiles, setPolicy } from "./page-shell.ts";
import { addSessionRoutes, addSignIn } from "./page-sign-in.ts";

/** What the page needs beside what the API has. */
export interface PageParts {
  readonly uploads: UploadPlace;
  readonly backups: Backups;
  /** Default: what is built from `apps/page`. */
  readonly readFiles?: ReadPageFiles;
}

interface PageDeps extends AuthOptions {
  readonly toolbox: Toolbox;
  readonly version: string;
  readonly page: PageParts;
  /** Programs ask for access here. Null: they do not. */
  readonly oauth: OAuthServer | null;
}

const API = "/app/api";
export const PAGE_FILES_PATH = `${API}/files`;

/** A visit asks for some forty files, and all people of an office come from one address. */
const MAX_PAGE_REQUESTS = 6_000;

/**
 * The page at `/app`. Its files are for everyone. Its own calls, below `/app/api`, take the cookie of a session, which
 * opens nothing else of this server.
 */
export function createPageRouter(deps: PageDeps): Router {
  const { ctx, page } = deps;
  const router = Router({ caseSensitive: true });
  router.use("/app", setPolicy, checkHost(deps.publicUrl));
  const guard = createPageGuard(deps);
  addFileRoutes(router, { ctx, uploads: page.uploads, guard, base: PAGE_FILES_PATH });
  router.use(API, createPageApi(deps, guard));
  const shell = createShell(page.readFiles ?? readBuilt);
  router
    .route("/app{/*rest}")
    .get(limitVisitors(ctx, MAX_PAGE_REQUESTS), shell)
    .all(methodNotAllowed(["get"]));
  return router;
}

function createPageApi(deps: PageDeps, guard: Guard): Router {
  const { ctx, toolbox, page } = deps;
  const api = Router({ caseSensitive: true });
  const sessions = { ...deps, hasBackup: page.backups.isPossible, hasOAuth: deps.oauth !== null };
  api.use(noStore, describeAsData);
  addSignIn(api, sessions);
  api.use(...guard.identify);
  addSessionRoutes(api, guard, sessions);
  // The person is there: what a tool would ask them, the page has asked.
  addToolRoutes(api, toolbox, { guard, isConfirmed: true, tellsSentences: true });
  addPlatformAppRoutes(api, ctx, guard);
  addOwnLinkRoutes(api, ctx, guard);
  addAdminRoutes(api, guard, { ctx, backups: page.backups });
  if (deps.oauth !== null) addConsentRoutes(api, guard, deps.oauth);
  api.use(createPicturesRouter(ctx, guard), createPushRouter(ctx, guard));
  api.use(guard.limit, notFound);
  return api;
}

const noStore: RequestHandler = (_request, response, next) => {
  response.set("Cache-Control", "no-store");
  next();
};

/** Loaded with the first visit: most processes show no page. */
const readBuilt: ReadPageFiles = async () => (await import("./page-files.ts")).readPageFiles();
