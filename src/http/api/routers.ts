import { SECOND } from "../../domain/time.ts";
import type { Request, RequestHandler, Response, Router } from "express";
import type { Permission } from "../../domain/permissions.ts";
import { leastPermission } from "../../toolkit/define-tool.ts";
import type { CallResult, Toolbox } from "../../toolkit/toolbox.ts";
import { callerOf, type Guard } from "../access/auth.ts";
import { methodNotAllowed } from "../errors.ts";
import { isRaw, parseBody, readBody, readBodyOr, readRawBody, type JsonObject } from "../json-body.ts";
import { readQuery } from "../query.ts";
import { fieldsOf, toCall, toolOf, type ResourceRoute } from "./resource-routes.ts";

/** Adds the table's routes, each with its checks in order: 403, 429, 413, 400, then the tool's own. */
export function addResourceRoutes(
  router: Router,
  routes: readonly ResourceRoute[],
  { toolbox, guard }: { readonly toolbox: Toolbox; readonly guard: Guard },
): void {
  for (const path of new Set(routes.map((route) => route.path))) {
    const here = routes.filter((route) => route.path === path);
    const at = router.route(path.replaceAll(/\{(\w+)\}/g, ":$1"));
    for (const route of here) {
      const permit = guard.permit(permissionOf(toolbox, route), `call ${route.tools[0]}`);
      at[route.method](permit, guard.limit, ...readBodyOr(route.raw), answerRoute(route, toolbox));
    }
    at.all(guard.limit, methodNotAllowed(here.map((route) => route.method)));
  }
}

/**
 * A route over tools of several permissions is a bug of ours and ends the start. What a lesser permission is enough
 * for is called as a tool: here a call without a body must be refused for its key first.
 */
function permissionOf(toolbox: Toolbox, route: ResourceRoute): Permission {
  const [first, ...others] = route.tools.map((name) => toolOf(route, toolbox, name).permission);
  if (first === undefined || others.some((other) => other !== first))
    throw new Error(`The tools of ${route.method} ${route.path} need one permission.`);
  return first;
}

function answerRoute(route: ResourceRoute, toolbox: Toolbox): RequestHandler<Record<string, string>> {
  return async (request, response) => {
    const { raw } = route;
    const body = isRaw(request, raw) ? readRawBody(request, raw) : parseBody(request, route.body ?? "none");
    const query = readQuery(request, route.query ?? {}, { hasBody: (route.body ?? "none") !== "none" });
    const call = toCall(route, { params: request.params, query, body });
    // These endpoints are for programs. POSTHORN_CONFIRM is about those who call tools.
    const named = { fields: fieldsOf(route, toolbox, call.tool), isConfirmed: true };
    const { result } = await callTool(toolbox, { request, response }, { ...call, ...named });
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

/**
 * `GET /tools` lists what the key may call, `POST /tools/<name>` calls it. `isConfirmed`: a person calls, who is
 * not asked again.
 */
export function addToolRoutes(
  router: Router,
  toolbox: Toolbox,
  { guard, isConfirmed = false }: { readonly guard: Guard; readonly isConfirmed?: boolean },
): void {
  const listTools: RequestHandler = (request, response) => {
    parseBody(request, "none");
    readQuery(request, {});
    response.json({ tools: toolbox.list(callerOf(response)) });
  };
  /** Before the body is read. A tool that does not exist is told after it, as 404. */
  const permitTool: RequestHandler<{ name: string }> = (request, response, next) => {
    const tool = toolbox.tools.find(({ name }) => name === request.params.name);
    if (tool === undefined) return next();
    return guard.permit(leastPermission(tool), `call ${tool.name}`)(request, response, next);
  };
  const answerTool: RequestHandler<{ name: string }> = async (request, response) => {
    const args = parseBody(request, "required");
    readQuery(request, {}, { hasBody: true });
    const call = { tool: request.params.name, args, isConfirmed };
    const { result } = await callTool(toolbox, { request, response }, call);
    response.json({ result });
  };
  const tools = router.route("/tools").get(guard.limit, ...readBody, listTools);
  tools.all(guard.limit, methodNotAllowed(["get"]));
  const tool = router.route("/tools/:name").post(permitTool, guard.limit, ...readBody, answerTool);
  tool.all(guard.limit, methodNotAllowed(["post"]));
}

/** Calls a tool with the request's `Idempotency-Key`. A header says when the answer is a repeated one. */
async function callTool(
  toolbox: Toolbox,
  { request, response }: { request: Request<Record<string, string>>; response: Response },
  { tool, args, ...asked }: { tool: string; args: JsonObject; isConfirmed?: boolean; fields?: string[] },
): Promise<CallResult> {
  const key = request.headers["idempotency-key"];
  const called = toolbox.tools.find(({ name }) => name === tool);
  const isReadOnly = called?.hints.readOnly === true;
  const waitSeconds = called?.untilOut === undefined ? null : readWait(request.headers["prefer"]);
  const done = await toolbox.call(tool, args, callerOf(response), {
    ...asked,
    tellsZone: true,
    ...(typeof key === "string" && { idempotencyKey: key }),
    // What changes something is finished when the client goes away: half of it would be worse.
    ...(isReadOnly && { signal: untilGone(response) }),
    ...(waitSeconds !== null && { waitMs: waitSeconds * SECOND, waitSignal: untilGone(response) }),
  });
  if (waitSeconds !== null) response.set("Preference-Applied", `wait=${waitSeconds}`);
  if (done.isReplay) response.set("Idempotent-Replayed", "true");
  return done;
}

const MAX_WAIT_SECONDS = 30;

/** For how many seconds the answer may wait: `Prefer: wait=N` (RFC 7240). Null: it was not asked for. */
function readWait(prefer: string | string[] | undefined): number | null {
  const seconds = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,9})"?\s*(?:$|[,;])/i.exec(String(prefer ?? ""))?.[1];
  return seconds === undefined ? null : Math.min(Number(seconds), MAX_WAIT_SECONDS);
}

export function untilGone(response: Response): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort(new Error("The client has gone."));
  });
  return gone.signal;
}
