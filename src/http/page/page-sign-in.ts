import type { Request, RequestHandler, Response, Router } from "express";
import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { explainInvalid } from "../../domain/explain-invalid.ts";
import { parseUrl } from "../../domain/parse-url.ts";
import { roleOf } from "../../domain/permissions.ts";
import { requireWholeTexts } from "../../domain/whole-text.ts";
import { namesOfKeys } from "../../access/api-keys.ts";
import {
  endPageSession,
  isWelcome,
  listPageSessions,
  putAwayWelcome,
  signInByKey,
  signInByToken,
  signOut,
} from "../../access/page-sessions.ts";
import { readPublicPushKey } from "../../reporting/webhooks/push.ts";
import { plainCall } from "../../context.ts";
import { type AuthOptions, callerOf, type Guard, limitFailures } from "../access/auth.ts";
import { methodNotAllowed } from "../errors.ts";
import { parseBody, readBody } from "../json-body.ts";
import { readQuery } from "../query.ts";
import { canBackUp } from "./page-admin.ts";
import {
  clearSessionCookie,
  readSessionCookie,
  renewSessionCookie,
  setSessionCookie,
} from "./page-cookie.ts";
import { requireOwnPage, sessionOf } from "./page-guard.ts";

interface SessionDeps extends AuthOptions {
  readonly version: string;
  /** A backup can be made here. */
  readonly hasBackup: boolean;
  /** Programs may ask for access by OAuth. */
  readonly hasOAuth: boolean;
}

/** What the page asks first: who is signed in, and what it shows them. */
async function describeSession(deps: SessionDeps, response: Response) {
  const { ctx, version, hasBackup, hasOAuth } = deps;
  const caller = callerOf(response);
  const { permissions, accountIds, keyId, ownerId } = caller;
  return {
    id: sessionOf(response),
    keyId,
    name: (await namesOfKeys(ctx.store, ownerId))(keyId),
    permissions,
    role: roleOf(permissions),
    accountIds,
    timezone: ctx.settings.timezone,
    version,
    publicUrl: await ctx.publicUrl(),
    isWelcome: await isWelcome(plainCall(ctx, caller)),
    hasBackup: hasBackup && canBackUp(caller),
    hasOAuth,
    push: { publicKey: await readPublicPushKey(ctx) },
  };
}

const SignIn = z.strictObject({
  token: z.string().min(1).max(200).optional(),
  key: z.string().min(1).optional(),
});

const USED_UP =
  "This address does not sign in any more: it was used, or its 10 minutes are over. Run `posthorn open` for another one.";
const WRONG_KEY =
  "The API key is not valid: unknown, expired or revoked. `posthorn keys create` makes one, and `posthorn open` signs in without.";

/** Before anyone is known. */
export function addSignIn(router: Router, deps: SessionDeps): void {
  router.post("/session", requireOwnPage(deps), ...readBody, signIn(deps));
}

function signIn(deps: SessionDeps): RequestHandler {
  const { ctx, publicUrl, fixedApiKey: fixedKey } = deps;
  const limitFailed = limitFailures(ctx, "sign-in");
  return async (request, response, next) => {
    const { token, key } = readSignIn(request);
    const former = readSessionCookie(request, publicUrl);
    const from = { fixedKey, former, userAgent: request.get("User-Agent") ?? "" };
    const done =
      key === undefined ? await signInByToken(ctx, token ?? "", from) : await signInByKey(ctx, key, from);
    if (done === null) {
      const refusal = new AppError("unauthenticated", key === undefined ? USED_UP : WRONG_KEY);
      return limitFailed(request, response, (error?: unknown) => next(error ?? refusal));
    }
    const { sessionId, caller } = done;
    ctx.log.info(
      { sessionId, keyId: caller.keyId, ownerId: caller.ownerId },
      "Someone signed in to the page",
    );
    response.locals["caller"] = caller;
    response.locals["sessionId"] = sessionId;
    const isSecure = parseUrl(request.get("Origin") ?? "")?.protocol === "https:";
    setSessionCookie(response, done.token, isSecure);
    response.status(201).json({ session: await describeSession(deps, response) });
  };
}

function readSignIn(request: Request): z.infer<typeof SignIn> {
  readQuery(request, {});
  const body = parseBody(request, "required");
  requireWholeTexts(body);
  const parsed = SignIn.safeParse(body, { reportInput: true });
  if (!parsed.success) throw explainInvalid(parsed.error, SignIn);
  if ((parsed.data.token === undefined) !== (parsed.data.key === undefined)) return parsed.data;
  throw new AppError(
    "invalid",
    "token: give the one of a sign-in address, or give a key in its place, and not both.",
  );
}

/** The caller's session, and those beside it. */
export function addSessionRoutes(router: Router, guard: Guard, deps: SessionDeps): void {
  const { ctx, publicUrl } = deps;
  router
    .route("/session")
    .get(guard.limit, async (request, response) => {
      readQuery(request, {});
      renewSessionCookie(request, response, readSessionCookie(request, publicUrl) ?? "");
      response.json({ session: await describeSession(deps, response) });
    })
    .delete(guard.limit, async (request, response) => {
      await signOut(ctx, readSessionCookie(request, publicUrl) ?? "");
      clearSessionCookie(response);
      response.status(204).end();
    })
    .all(guard.limit, methodNotAllowed(["get", "post", "delete"]));
  router
    .route("/sessions")
    .get(guard.limit, async (request, response) => {
      readQuery(request, {});
      response.json(await listPageSessions(plainCall(ctx, callerOf(response)), sessionOf(response)));
    })
    .all(guard.limit, methodNotAllowed(["get"]));
  router
    .route("/sessions/:id")
    .delete(guard.limit, async (request, response) => {
      await endPageSession(plainCall(ctx, callerOf(response)), request.params.id);
      if (request.params.id === sessionOf(response)) clearSessionCookie(response);
      response.status(204).end();
    })
    .all(guard.limit, methodNotAllowed(["delete"]));
  router
    .route("/welcome")
    .post(guard.limit, async (_request, response) => {
      await putAwayWelcome(plainCall(ctx, callerOf(response)));
      response.status(204).end();
    })
    .all(guard.limit, methodNotAllowed(["post"]));
}
