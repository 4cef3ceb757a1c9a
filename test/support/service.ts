import { writeFileSync } from "node:fs";
import { AppError } from "../../src/domain/errors.ts";
import { say } from "../../src/domain/sentences.ts";
import { agentsWordsFor } from "../../src/toolkit/words.ts";
import { createContext, type Context } from "../../src/app/compose.ts";
import type { Caller } from "../../src/domain/permissions.ts";
import type { HttpDeps } from "../../src/http/app.ts";
import { createOutbound } from "../../src/media/outbound/outbound.ts";
import type { AppContext } from "../../src/context.ts";
import { readSandboxSetup } from "../../src/app/setup.ts";
import { httpDeps } from "../../src/app/start-server.ts";
import type { AnyTool } from "../../src/toolkit/define-tool.ts";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import { FakeClock } from "./clock.ts";
import { freshDatabase } from "./fresh-schema.ts";
import { callerOf, createMemoryLogger, isOnPostgres, openEmptyStore } from "./context.ts";
import { startTestServer, type TestServer } from "./http.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** The real door to a network in which no name is known. */
function createNamelessDoor(): ReturnType<typeof createOutbound> {
  return createOutbound({
    allowedHosts: [],
    lookup: async (hostname) => {
      throw Object.assign(new Error(`There is no network in this test: ${hostname}`), { code: "ENOTFOUND" });
    },
  });
}

export interface Service extends TestServer {
  readonly ctx: Context;
  readonly clock: FakeClock;
  readonly log: ReturnType<typeof createMemoryLogger>;
  readonly tools: readonly AnyTool[];
  /** The data folder. */
  readonly folder: string;
  /** Calls a tool past HTTP. */
  call(tool: string, args: object, caller?: Partial<Caller>): Promise<any>;
  /** What a person is asked before the call, who says no. Null: it was done unasked. */
  questionOf(tool: string, args: object): Promise<string | null>;
  /** A new account on the built-in feed. */
  addFeed(ownerId?: string): Promise<string>;
}

/**
 * The real composition on a data folder that goes with the test, with every real tool and platform, but no
 * publisher and no network.
 */
export async function startService(
  options: Partial<Omit<HttpDeps, "ctx" | "toolbox">> = {},
  overrides: Partial<AppContext> = {},
  timezone = "UTC",
): Promise<Service> {
  const folder = temporaryFolder();
  const sandbox = await readSandboxSetup(folder.path);
  if (!isOnPostgres) writeFileSync(sandbox.folder.database, await freshDatabase(), { mode: 0o600 });
  // Whatever zone the machine is in that runs the tests.
  const setup = { ...sandbox, config: { ...sandbox.config, timezone } };
  const clock = new FakeClock();
  const log = createMemoryLogger();
  const outbound = createNamelessDoor();
  const onPostgres = isOnPostgres ? { store: await openEmptyStore() } : {};
  const ctx = await createContext(setup, { clock, log, outbound, ...onPostgres, ...overrides });
  const tools = setup.catalog.tools;
  const toolbox = createToolbox(ctx, tools);
  const deps = httpDeps({ setup, ctx, toolbox, isReady: () => true });
  const server = await startTestServer(ctx, tools, { ...deps, rateLimit: 1_000_000, ...options });
  const call: Service["call"] = async (tool, args, caller) =>
    (await toolbox.call(tool, args, callerOf(caller)).catch(throwInWords)).result;
  const questionOf: Service["questionOf"] = async (tool, args) => {
    let question: string | null = null;
    const no = new Error("no");
    const ask = async ({ text }: { text: string }): Promise<never> => {
      question = text;
      throw no;
    };
    await toolbox.call(tool, args, callerOf(), { ask }).catch((error: unknown) => {
      if (error !== no) throw error;
    });
    return question;
  };
  return {
    ...server,
    ctx,
    questionOf,
    clock,
    log,
    tools,
    folder: folder.path,
    call,
    addFeed: async (ownerId = "default") =>
      (await call("connect_channel", { provider: "feed", name: `Feed of ${ownerId}` }, { ownerId })).account
        .id,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await ctx[Symbol.asyncDispose]();
      await outbound[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

/** As every face answers it: what can be done is part of the message. */
function throwInWords(error: unknown): never {
  if (!(error instanceof AppError)) throw error;
  throw new AppError(error.kind, say(agentsWordsFor(error)), { cause: error.cause });
}
