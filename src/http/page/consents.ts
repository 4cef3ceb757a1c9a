import type { Request, Response, Router } from "express";
import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { explainInvalid } from "../../domain/explain-invalid.ts";
import { ROLE_NAMES } from "../../domain/permissions.ts";
import { requireWholeTexts } from "../../domain/whole-text.ts";
import { type Decision, decideConsent, showConsent } from "../../access/oauth/consents.ts";
import { listGrants, revokeGrant } from "../../access/oauth/grants.ts";
import type { OAuthServer } from "../../access/oauth/oauth-server.ts";
import { plainCall } from "../../context.ts";
import { callerOf, type Guard } from "../access/auth.ts";
import { methodNotAllowed } from "../errors.ts";
import { parseBody, readBody } from "../json-body.ts";
import { readQuery } from "../query.ts";

/**
 * Programs that ask the person for access, and those that have it. Everyone who is signed in may answer a question whose
 * address they have: what it gives is theirs, and goes to the program's registered address alone.
 */
export function addConsentRoutes(router: Router, guard: Guard, oauth: OAuthServer): void {
  const { ctx } = oauth;
  router
    .route("/consents/:id")
    .get(guard.limit, async (request, response) => {
      readQuery(request, {});
      response.json(await showConsent(plainCall(ctx, callerOf(response)), request.params.id));
    })
    .post(guard.limit, ...readBody, async (request: Request, response: Response) => {
      const asked = { id: String(request.params["id"]), decision: readDecision(request) };
      response.json(await decideConsent(oauth, plainCall(ctx, callerOf(response)), asked));
    })
    .all(guard.limit, methodNotAllowed(["get", "post"]));
  router
    .route("/grants")
    .get(guard.limit, async (request, response) => {
      readQuery(request, {});
      response.json(await listGrants(plainCall(ctx, callerOf(response))));
    })
    .all(guard.limit, methodNotAllowed(["get"]));
  router
    .route("/grants/:id")
    .delete(guard.limit, async (request, response) => {
      await revokeGrant(plainCall(ctx, callerOf(response)), request.params.id);
      response.status(204).end();
    })
    .all(guard.limit, methodNotAllowed(["delete"]));
}

const Answer = z.strictObject({
  decision: z.enum(["allow", "deny"]),
  role: z.enum(ROLE_NAMES).optional(),
  accountIds: z.array(z.string()).max(1_000).optional(),
});

function readDecision(request: Request): Decision {
  readQuery(request, {});
  const body = parseBody(request, "required");
  requireWholeTexts(body);
  const parsed = Answer.safeParse(body, { reportInput: true });
  if (!parsed.success) throw explainInvalid(parsed.error, Answer);
  const { decision, role, accountIds } = parsed.data;
  if (decision === "deny") return { decision };
  if (role !== undefined) return { decision, role, accountIds };
  throw new AppError("invalid", `role: is required to allow. Give one of ${ROLE_NAMES.join(", ")}.`);
}
