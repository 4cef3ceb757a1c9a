import type { RequestHandler } from "express";
import type { HttpDeps } from "../../src/http/app.ts";
import { createMcpEndpoints, type McpEndpoints } from "../../src/mcp/transports/endpoints.ts";
import { isKeyActive } from "../../src/access/api-keys.ts";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import { startService, type Service } from "../support/service.ts";

/** The whole HTTP face as `serve` has it. */
export async function startServiceWithMcp(
  options: Partial<Omit<HttpDeps, "ctx" | "toolbox" | "mcp">> = {},
): Promise<Service> {
  let endpoints: McpEndpoints | null = null;
  const later =
    (name: "streamable" | "sse" | "messages"): RequestHandler =>
    (request, response, next) =>
      endpoints?.[name](request, response, next);
  const mcp = { streamable: later("streamable"), sse: later("sse"), messages: later("messages") };
  const service = await startService({ ...options, mcp });
  const { ctx } = service;
  const toolbox = createToolbox(ctx, service.tools);
  const made = createMcpEndpoints({
    ctx,
    toolbox,
    version: "0.0.0-test",
    isKeyActive: (caller) => isKeyActive(ctx, caller),
  });
  endpoints = made;
  return {
    ...service,
    [Symbol.asyncDispose]: async () => {
      await made.close();
      await service[Symbol.asyncDispose]();
    },
  };
}
