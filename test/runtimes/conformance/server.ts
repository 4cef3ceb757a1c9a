import { createContext, createTools } from "../../../src/app/compose.ts";
import { createHttpApp } from "../../../src/http/app.ts";
import { startHttpServer } from "../../../src/http/server.ts";
import { createMcpEndpoints } from "../../../src/mcp/transports/endpoints.ts";
import { PROMPTS } from "../../../src/mcp/prompts/prompts.ts";
import { TOOL_VIEWS } from "../../../src/mcp/resources/app-pages.ts";
import { RESOURCES } from "../../../src/mcp/resources/resources.ts";
import { isKeyActive } from "../../../src/access/api-keys.ts";
import { readSetup } from "../../../src/app/setup.ts";
import { httpDeps } from "../../../src/app/start-server.ts";
import { VERSION } from "../../../src/domain/version.ts";
import { ASKING_TOOLS } from "./asking-tools.ts";
import { FIXED_PROMPTS, FIXED_RESOURCES } from "./resources.ts";
import { PLAIN_TOOLS, VIEWS } from "./tools.ts";

/** The product's own stack, with the suite's tools, resources and prompts beside those of the product. */
export async function startFixtureServer(
  env: Readonly<Record<string, string>>,
): Promise<{ port: number } & AsyncDisposable> {
  const read = await readSetup(env);
  const setup = {
    ...read,
    catalog: { ...read.catalog, tools: [...read.catalog.tools, ...PLAIN_TOOLS, ...ASKING_TOOLS] },
  };
  const ctx = await createContext(setup);
  const toolbox = createTools(ctx, setup);
  const mcp = createMcpEndpoints({
    ctx,
    toolbox,
    version: VERSION,
    isKeyActive: (caller) => isKeyActive(ctx, caller),
    resources: [...RESOURCES, ...FIXED_RESOURCES],
    prompts: [...PROMPTS, ...FIXED_PROMPTS],
    views: [...TOOL_VIEWS, ...VIEWS],
  });
  const http = await startHttpServer(
    createHttpApp({ ...httpDeps({ setup, ctx, toolbox, isReady: () => true }), mcp }),
    setup.config,
  );
  return {
    port: http.port,
    async [Symbol.asyncDispose]() {
      await Promise.all([mcp.close(), http.close()]);
      await ctx[Symbol.asyncDispose]();
    },
  };
}
