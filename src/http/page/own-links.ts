import type { RequestHandler, Router } from "express";
import * as z from "zod";
import { hashToken } from "../../channels/connecting/connect-link.ts";
import { leadOn } from "../../channels/connecting/consent.ts";
import { type AppContext, guestCall } from "../../context.ts";
import { explainInvalid } from "../../domain/explain-invalid.ts";
import type { Guard } from "../access/auth.ts";
import { markBrowser } from "../accounts/connect-forms.ts";
import { methodNotAllowed } from "../errors.ts";
import { parseBody, readBody } from "../json-body.ts";
import { readQuery } from "../query.ts";

const LinkArgs = z.strictObject({ token: z.string().min(1).max(200) });

/** Who makes a link on the page goes straight to the platform: the page that says whose link it is is for others. */
export function addOwnLinkRoutes(router: Router, ctx: AppContext, guard: Guard): void {
  const connect = [guard.permit("accounts", "connect channels"), guard.limit];
  router
    .route("/links/lead")
    .post(connect, ...readBody, lead(ctx))
    .all(connect, methodNotAllowed(["POST"]));
}

/** Answers where the platform asks the person; null: our own page asks them. */
function lead(ctx: AppContext): RequestHandler {
  return async (request, response) => {
    readQuery(request, {});
    const parsed = LinkArgs.safeParse(parseBody(request, "required"), { reportInput: true });
    if (!parsed.success) throw explainInvalid(parsed.error, LinkArgs);
    const { token } = parsed.data;
    await markBrowser(ctx, { request, response, stateHash: hashToken(token), isOwn: true });
    const done = await leadOn(guestCall(ctx), { token, way: undefined });
    if (done.state === "lead")
      await markBrowser(ctx, { request, response, stateHash: done.stateHash, isOwn: true });
    response.json({ url: done.state === "lead" ? done.url : null });
  };
}
