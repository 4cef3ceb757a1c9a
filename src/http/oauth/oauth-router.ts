import { type ErrorRequestHandler, type RequestHandler, Router } from "express";
import { HOUR } from "../../domain/time.ts";
import { AUTH_METHODS, proveClient, registerClient } from "../../access/oauth/clients.ts";
import { OAuthFault } from "../../access/oauth/oauth-fault.ts";
import { type OAuthServer, SCOPE } from "../../access/oauth/oauth-server.ts";
import { beginRequest, requireOnce } from "../../access/oauth/requests.ts";
import { findTokenCaller, issueTokens, revokeToken } from "../../access/oauth/tokens.ts";
import { AppError } from "../../domain/errors.ts";
import { admitTokens, type AuthOptions, type Guard, limitRequests, limitVisitors } from "../access/auth.ts";
import { methodNotAllowed, UNKNOWN_PATH_SENTENCE } from "../errors.ts";
import { readBody } from "../json-body.ts";
import { messageView, sendPage } from "../pages/layout.ts";
import { oauthErrors, parametersOf, readForm, readJson, readProof } from "./oauth-body.ts";

const MAX_REGISTRATIONS_AN_HOUR = 20;
/** Pages that ask the person, a minute and address. A program's document may be read for each. */
const MAX_REQUESTS = 60;

/** The page's room that asks the person. */
const CONSENT_PATH = "/app/consent";

const RESOURCE_PATHS = [
  "/.well-known/oauth-protected-resource/mcp",
  "/.well-known/oauth-protected-resource",
] as const;

/** The first is RFC 8414's. Some programs put the words behind the issuer, or forget its path, or add that of `/mcp`. */
const SERVER_PATHS = [
  "/.well-known/oauth-authorization-server/oauth",
  "/oauth/.well-known/oauth-authorization-server",
  "/.well-known/oauth-authorization-server",
  "/.well-known/oauth-authorization-server/mcp",
];

/** The guard of `/mcp`: those with a token come in, and those without are told where they get one. */
export function admitAgents(options: AuthOptions, guard: Guard, server: OAuthServer): Guard {
  const metadata = new URL(RESOURCE_PATHS[0], server.resource).href;
  return admitTokens(guard, options, {
    find: (token) => findTokenCaller(server, token),
    challenge: (path) =>
      `Bearer resource_metadata="${metadata}${path.endsWith("/") ? "/" : ""}", scope="${SCOPE}"`,
  });
}

/** Where programs find and ask the authorization server. */
export function createOAuthRouter(server: OAuthServer): Router {
  const { ctx } = server;
  const consentUrl = new URL(CONSENT_PATH, server.resource).href;
  const router = Router({ caseSensitive: true });
  const visitors = limitVisitors(ctx);
  addMetadata(router, visitors, server);
  router
    .route("/oauth/authorize")
    .get(limitVisitors(ctx, MAX_REQUESTS), authorize(server, consentUrl), showRefusal)
    .all(methodNotAllowed(["get"]));
  const registrations = limitRequests(ctx, {
    windowMs: HOUR,
    limit: MAX_REGISTRATIONS_AN_HOUR,
    handler: () => {
      throw new AppError(
        "rate_limited",
        `This address tried to register programs ${MAX_REGISTRATIONS_AN_HOUR} times within an hour. Wait as long as Retry-After says.`,
      );
    },
  });
  addPost(router, "/oauth/register", { ctx, limit: registrations, answer: register(server) });
  addPost(router, "/oauth/token", { ctx, limit: visitors, answer: token(server) });
  addPost(router, "/oauth/revoke", { ctx, limit: visitors, answer: revoke(server) });
  // Others that programs try here are not there: OpenID among them.
  router.all(["/oauth{/*rest}", "/.well-known/{*rest}"], () => {
    throw new AppError("not_found", UNKNOWN_PATH_SENTENCE);
  });
  return router;
}

/** Programs in browsers ask from pages of their own. No cookie or key of the person goes along. */
const fromEverywhere: RequestHandler = (_request, response, next) => {
  response.set({
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Access-Control-Expose-Headers": "WWW-Authenticate, Retry-After",
  });
  next();
};

const allowPreflight =
  (method: string): RequestHandler =>
  (_request, response) => {
    response.set({
      "Access-Control-Allow-Methods": method,
      "Access-Control-Allow-Headers": "Authorization, Content-Type, MCP-Protocol-Version",
      "Access-Control-Max-Age": "86400",
    });
    response.status(204).end();
  };

function addMetadata(router: Router, visitors: RequestHandler, { issuer, resource }: OAuthServer): void {
  const ofResource = {
    resource,
    authorization_servers: [issuer],
    bearer_methods_supported: ["header"],
    scopes_supported: [SCOPE],
    resource_name: "Posthorn",
  };
  const ofServer = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    revocation_endpoint: `${issuer}/revoke`,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: AUTH_METHODS,
    revocation_endpoint_auth_methods_supported: AUTH_METHODS,
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
    scopes_supported: [SCOPE],
  };
  // A program that was given the address with a slash compares it letter by letter (RFC 9728, section 3.3).
  const show =
    (document: object): RequestHandler =>
    ({ path }, response) => {
      const asked = path === `${RESOURCE_PATHS[0]}/` ? { ...document, resource: `${resource}/` } : document;
      response.set("Cache-Control", "public, max-age=300").json(asked);
    };
  for (const [paths, document] of [
    [RESOURCE_PATHS, ofResource],
    [SERVER_PATHS, ofServer],
  ] as const)
    for (const path of paths)
      router
        .route(path)
        .all(fromEverywhere)
        .get(visitors, show(document))
        .options(allowPreflight("GET"))
        .all(methodNotAllowed(["get"]));
}

/** For programs, which read JSON whatever came of it. */
function addPost(
  router: Router,
  path: string,
  {
    ctx,
    limit,
    answer,
  }: { readonly ctx: OAuthServer["ctx"]; readonly limit: RequestHandler; readonly answer: RequestHandler },
): void {
  router
    .route(path)
    .all(fromEverywhere)
    .post(noStore, limit, ...readBody, answer, oauthErrors(ctx.log))
    .options(allowPreflight("POST"))
    .all(methodNotAllowed(["post"]));
}

const noStore: RequestHandler = (_request, response, next) => {
  response.set({ "Cache-Control": "no-store", Pragma: "no-cache" });
  next();
};

function authorize(server: OAuthServer, consentUrl: string): RequestHandler {
  return async (request, response) => {
    const query = /\?(.*)$/s.exec(request.originalUrl)?.[1] ?? "";
    const goOn = await beginRequest(server, parametersOf(query), consentUrl);
    // Not by `redirect`, which writes the address anew: programs compare theirs letter by letter.
    response.set({ Location: goOn, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" });
    response.status(302).end();
  };
}

/** For the person who looks at it: it is not certain whom they could be sent back to. */
const showRefusal: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (!(error instanceof OAuthFault)) return next(error);
  sendPage(response, messageView("This program cannot be connected", error.message), { status: 400 });
};

function register(server: OAuthServer): RequestHandler {
  return async (request, response) => {
    response.status(201).json(await registerClient(server, readJson(request)));
  };
}

function token(server: OAuthServer): RequestHandler {
  return async (request, response) => {
    const form = readForm(request);
    const clientId = await proveClient(server, readProof(request, form));
    requireOnce(form, "grant_type");
    response.json(await issueTokens(server, form, clientId));
  };
}

function revoke(server: OAuthServer): RequestHandler {
  return async (request, response) => {
    const form = readForm(request);
    const clientId = await proveClient(server, readProof(request, form));
    await revokeToken(server, form, clientId);
    response.status(200).end();
  };
}
