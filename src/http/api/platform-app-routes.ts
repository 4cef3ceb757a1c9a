import type { RequestHandler, Router } from "express";
import { type CallContext, plainCall, type AppContext } from "../../context.ts";
import { PlatformAppArgs } from "../../domain/accounts/platform-app.ts";
import { readArguments } from "../../domain/arguments/coerce.ts";
import { enterPlatformApp } from "../../channels/connecting/try-app.ts";
import { forgetPlatformApp, requireInstallation } from "../../channels/platform-io/platform-apps.ts";
import { callerOf, type Guard } from "../access/auth.ts";
import { methodNotAllowed } from "../errors.ts";
import { parseBody, readBody } from "../json-body.ts";
import { readQuery } from "../query.ts";

/** `PUT` and `DELETE /platforms/{provider}/app`, for a router that has identified its callers. */
export function addPlatformAppRoutes(
  router: Router,
  ctx: AppContext,
  guard: Pick<Guard, "permit" | "limit">,
): void {
  const permit = [guard.permit("admin", "change apps of platforms"), permitInstallation, guard.limit];
  router
    .route("/platforms/:provider/app")
    .put(...permit, ...readBody, answerPut(ctx))
    .delete(...permit, ...readBody, answerDelete(ctx))
    .all(guard.limit, methodNotAllowed(["put", "delete"]));
}

const permitInstallation: RequestHandler = (_request, response, next) => {
  requireInstallation(callerOf(response));
  next();
};

function answerPut(ctx: AppContext): RequestHandler<{ provider: string }> {
  return async (request, response) => {
    const body = parseBody(request, "required");
    readQuery(request, {});
    const app = readArguments(PlatformAppArgs, body);
    const { provider } = request.params;
    response.json(await enterPlatformApp(callOf(ctx, response), { ...app, provider }));
  };
}

function answerDelete(ctx: AppContext): RequestHandler<{ provider: string }> {
  return async (request, response) => {
    parseBody(request, "none");
    readQuery(request, {});
    response.json(await forgetPlatformApp(callOf(ctx, response), { provider: request.params.provider }));
  };
}

function callOf(ctx: AppContext, response: Parameters<typeof callerOf>[0]): CallContext {
  return plainCall(ctx, callerOf(response));
}
