import type { RequestHandler, Router } from "express";
import type { Toolbox } from "../../toolkit/toolbox.ts";
import { callerOf, type Guard } from "../access/auth.ts";
import { callTool } from "./call-tool.ts";
import { methodNotAllowed } from "../errors.ts";
import { parseBody, readBody } from "../json-body.ts";
import { readQuery } from "../query.ts";
import type { RouteDeps } from "./resource-router.ts";

/** `GET /tools` lists what the key may call, `POST /tools/<name>` calls it. */
export function addToolRoutes(router: Router, { toolbox, clock, guard }: RouteDeps): void {
  router
    .route("/tools")
    .get(guard.limit, ...readBody(clock), listTools(toolbox))
    .all(guard.limit, methodNotAllowed(["get"]));
  router
    .route("/tools/:name")
    .post(permitTool(toolbox, guard), guard.limit, ...readBody(clock), answerTool(toolbox))
    .all(guard.limit, methodNotAllowed(["post"]));
}

function listTools(toolbox: Toolbox): RequestHandler {
  return (request, response) => {
    parseBody(request, "none");
    readQuery(request, {});
    response.json({ tools: toolbox.list(callerOf(response)) });
  };
}

type NamedTool = RequestHandler<{ name: string }>;

/** Before the body is read; a tool that does not exist is told after it, as 404. */
function permitTool(toolbox: Toolbox, guard: Guard): NamedTool {
  return (request, response, next) => {
    const tool = toolbox.tools.find(({ name }) => name === request.params.name);
    if (tool === undefined) return next();
    return guard.permit(tool.permission, `call ${tool.name}`)(request, response, next);
  };
}

function answerTool(toolbox: Toolbox): NamedTool {
  return async (request, response) => {
    const args = parseBody(request, "required");
    readQuery(request, {});
    const tool = request.params.name;
    const { result } = await callTool(toolbox, { request, response }, { tool, args });
    response.json({ result });
  };
}
