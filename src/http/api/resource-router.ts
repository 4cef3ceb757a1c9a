import type { RequestHandler, Router } from "express";
import type { Permission } from "../../domain/permissions.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Toolbox } from "../../toolkit/toolbox.ts";
import type { Guard } from "../access/auth.ts";
import { callTool } from "./call-tool.ts";
import { methodNotAllowed } from "../errors.ts";
import { parseBody, readBody, type JsonObject } from "../json-body.ts";
import { readQuery } from "../query.ts";
import { toCall, toolOf, type ResourceRoute } from "./resource-routes.ts";

export interface RouteDeps {
  readonly toolbox: Toolbox;
  readonly clock: Clock;
  readonly guard: Guard;
}

/** Adds the table's routes, each with its checks in order: 403, 429, 413, 400, then the tool's own. */
export function addResourceRoutes(router: Router, routes: readonly ResourceRoute[], deps: RouteDeps): void {
  for (const path of new Set(routes.map((route) => route.path))) {
    const here = routes.filter((route) => route.path === path);
    const at = router.route(toExpressPath(path));
    for (const route of here) {
      const [tool] = route.tools;
      const permit = deps.guard.permit(permissionOf(deps.toolbox, route), `call ${tool}`);
      at[route.method](permit, deps.guard.limit, ...readBody(deps.clock), answer(route, deps));
    }
    at.all(deps.guard.limit, methodNotAllowed(here.map((route) => route.method)));
  }
}

/** A route over tools of several permissions is a bug of ours and ends the start. */
function permissionOf(toolbox: Toolbox, route: ResourceRoute): Permission {
  const [first, ...others] = route.tools.map((name) => toolOf(route, toolbox, name).permission);
  if (first === undefined || others.some((other) => other !== first))
    throw new Error(`The tools of ${route.method} ${route.path} need one permission.`);
  return first;
}

function answer(route: ResourceRoute, { toolbox }: RouteDeps): RequestHandler<Record<string, string>> {
  return async (request, response) => {
    const body = parseBody(request, route.body ?? "none");
    const call = toCall(route, {
      params: request.params,
      query: readQuery(request, route.query ?? {}),
      body,
    });
    // These endpoints are for programs; whom POSTHORN_CONFIRM is about calls tools.
    const { result } = await callTool(toolbox, { request, response }, { ...call, isConfirmed: true });
    if (route.success !== undefined && route.success.isMade?.(call.args) !== false)
      response.status(route.success.status).set("Location", route.success.location(result));
    response.json(route.only === undefined ? result : onlyOne(result, route.only));
  };
}

function onlyOne(result: JsonObject, { list, name }: NonNullable<ResourceRoute["only"]>): JsonObject {
  const things = result[list];
  if (!Array.isArray(things) || things.length !== 1) throw new Error(`There is not one of ${list}.`);
  return { [name]: things[0] as unknown };
}

function toExpressPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}
